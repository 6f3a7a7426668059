"""Does the default work at all? It is tried for its own sake when there is reason to doubt it.

The search would leave a default that crashes at that: what crashes is not worth more runs. But if
it always crashes, the target or the scenario is broken (a wrong list of exit codes is an everyday
mistake), and whatever is found is worth nothing. So its first pairs are run apart from the search,
and nothing else is made of them. A run that is cut off says nothing: it is made again under longer
caps, up to the cutoff, whenever the search has spent so much more that this is cheap beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from cunctator.base.records import Run, Status, StopReason
from cunctator.base.units import counted
from cunctator.scenario import Scenario
from cunctator.target.execution import Details

FIRST_PAIRS = 3
"""If the default crashes on so many pairs, the target or the scenario is broken."""

GROWTH = 4.0
"""Of the cap, from one try to the next."""

CHEAP = 4.0
"""A further try costs at most one part in so many of what the search has spent."""

DOUBTFUL = 10
"""Crashes without a run that is solved, until the default is tried even if it has not crashed."""

ENOUGH, MOST = 50, 0.9
"""If nothing was solved, so many crashes, and that share of all runs, end a study."""

USUAL = frozenset([10, 20])
"""Exit codes of SAT solvers, which come together."""


@dataclass(slots=True)
class DefaultCheck:
    """What came of the default's first pairs so far."""

    undecided: list[int]
    """Pairs that have neither ended nor reached the cutoff."""
    cap: float
    """Of the next try."""
    cutoff: float
    tries: int = 0
    crashed: int = 0
    cut_off: int = 0
    works: bool = False
    """Whether it solved any of them: then there is nothing more to find out."""

    @property
    def always_crashes(self) -> bool:
        """On each of the first pairs."""
        return not (self.works or self.undecided or self.cut_off)

    def due(self, charged: float) -> list[Run]:
        """The runs to make after so much time was charged; none if it is too soon, or all known."""
        is_cheap = CHEAP * self.cap * len(self.undecided) <= charged
        if self.works or not (is_cheap or self.tries == 0):
            return []
        return [Run(0, 0, pair, self.cap, 0.0) for pair in self.undecided]

    def take(self, statuses: dict[int, Status | None]) -> None:
        """What came of one try of each pair that was undecided."""
        self.tries += 1
        self.works = Status.SOLVED in statuses.values()
        self.crashed += sum(status is Status.CRASHED for status in statuses.values())
        self.undecided = [pair for pair, status in statuses.items() if status is not Status.CRASHED]
        if self.cap >= self.cutoff:
            self.cut_off, self.undecided = len(self.undecided), []
        self.cap = min(GROWTH * self.cap, self.cutoff)


def default_check(scenario: Scenario) -> DefaultCheck:
    """Before the first try."""
    count = scenario.instances.count
    pairs = FIRST_PAIRS if count is None else min(FIRST_PAIRS, count)
    search = scenario.search
    return DefaultCheck(list(range(pairs)), search.first_cap, search.cutoff or math.inf)


@dataclass(frozen=True, slots=True)
class Doubts:
    """What makes people doubt that a target works."""

    runs: int
    solved: int
    crashed: int
    default_crashed: int

    @property
    def are_serious(self) -> bool:
        """Whether to try the default, if it has solved nothing yet."""
        return self.default_crashed > 0 or (self.solved == 0 and self.crashed >= DOUBTFUL)

    def ending(self, check: DefaultCheck) -> tuple[StopReason, str] | None:
        """Why the study should end, and what it is that crashed; None: go on."""
        if check.always_crashes:
            return StopReason.DEFAULT_CRASHES, f"on its first {counted(check.crashed, 'pair')}"
        enough = max(ENOUGH, MOST * self.runs)
        if self.solved == 0 and self.crashed >= enough and not check.works:
            crashes = f"{self.crashed:,} of {self.runs:,} runs crashed, the last so"
            return StopReason.NOTHING_SOLVED, crashes
        return None


def advice(scenario: Scenario, crash: Details) -> str:
    """What to look at if every run crashes as this one did; "" if its own words say it all."""
    target = scenario.target
    judged_by_code = target.protocol == "native" and target.function is None
    success = frozenset(target.success or [0])
    if not judged_by_code or crash.exit_code is None or crash.exit_code in success:
        return ""
    codes = success | {crash.exit_code} | (USUAL if crash.exit_code in USUAL else frozenset())
    words = ", ".join(str(code) for code in sorted(codes))
    return f"if that exit code means success, say so in [target]: success = [{words}]"
