"""The answer against the default on other instances than those it was found on.

Both are run on the same pairs, to the cutoff, every instance equally often. The speed-up is the
ratio of their mean runtimes; its interval comes from resampling instances, not runs: what makes an
instance hard for both cancels out, and runs of one instance with other seeds are no new instances.

Where runs were cut off, the ratio is a bound on that of whole runtimes, or none. Not so if timeouts
count several times the cutoff: that is the mean which was asked for, with crashes among them, and
the ratio of two such means is known, while it says nothing of whole runtimes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cunctator.base.errors import InvalidScenario, InvalidSetting
from cunctator.base.records import Status
from cunctator.base.units import finite_or_none
from cunctator.scenario import Scenario
from cunctator.study.bulk import completed, new_reply
from cunctator.study.snapshot import Incumbent
from cunctator.study.workers import LocalWorkers, Workers, slot_settings
from cunctator.target.execution import Execution, Report
from cunctator.target.instances import Instances
from cunctator.target.replies import Replies

RESAMPLES = 10_000
PAIRS = 100
"""At least so many of an endless stream, unless told otherwise."""

FEWEST_PAIRS = 2
"""Fewer are not worth a report, if it is interrupted."""

AT_LEAST, AT_MOST, NO_BOUND = "at least", "at most", "no bound"
"""What the ratio of the means is of the speed-up, if runs of the default, of the answer or of both
were cut off."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Validation:
    """Runtimes of both on the same pairs; infinite for a crash."""

    configuration: int
    pairs: tuple[tuple[str, int], ...]
    """Instance and seed."""
    default: NDArray[np.float64]
    incumbent: NDArray[np.float64]
    capped: tuple[int, int]
    crashed: tuple[int, int]
    confidence: float
    cutoff: float
    """Runs that were cut off count as this, which is less than they would have taken."""
    problem: str = ""
    """What a run said that crashed, if one did."""
    interrupted: bool = False
    """Whether it ended early. Runs under way then are left out, and long ones likelier to be so."""
    penalty: float = 1.0
    """How many cutoffs runs count that were cut off. If it is more than one, so do crashes."""

    @property
    def speed_up(self) -> float:
        """Mean of the default over mean of the answer, runs counted up to the cutoff."""
        default, incumbent = self.counted
        return _ratio(default.mean(), incumbent.mean())

    @cached_property
    def counted(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What the runs of default and answer count in means; infinity for a crash."""
        if self.penalty == 1:
            return self.default, self.incumbent
        timeout = self.penalty * self.cutoff
        default, incumbent = (
            np.where(side >= self.cutoff, timeout, side) for side in (self.default, self.incumbent)
        )
        return default, incumbent

    @property
    def bound(self) -> str:
        """What that is of the speed-up without a cutoff; "" if no run was cut off: that itself.

        No bound is meant where timeouts count several times: that is a mean of another kind.
        """
        default, incumbent = self.capped if self.penalty == 1 else (0, 0)
        if default and incumbent:
            return NO_BOUND
        return AT_LEAST if default else AT_MOST if incumbent else ""

    @cached_property
    def instances(self) -> int:
        """How many different ones there are."""
        return len({instance for instance, _ in self.pairs})

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Of the speed-up, at the given confidence: percentiles over resampled instances.

        What is cut off leaves it open above, below, or both.
        """
        if math.isinf(self._worst) or self.instances < 2 or self.bound == NO_BOUND:
            return 0.0, math.inf
        _, group = np.unique([instance for instance, _ in self.pairs], return_inverse=True)
        default, incumbent = (np.bincount(group, side) for side in self.counted)
        random = np.random.default_rng(0)
        rows = random.integers(self.instances, size=(RESAMPLES, self.instances))
        ratios = default[rows].sum(axis=1) / incumbent[rows].sum(axis=1)
        tail = (1 - self.confidence) / 2
        low, high = np.quantile(ratios, [tail, 1 - tail])
        return (
            0.0 if self.bound == AT_MOST else float(low),
            math.inf if self.bound == AT_LEAST else float(high),
        )

    @property
    def _worst(self) -> float:
        """What the longest run counts; infinite if one crashed that is not taken for a timeout."""
        return float(np.max(self.counted))

    def as_data(self) -> dict[str, object]:
        """Plain data, for JSON."""
        low, high = self.interval
        return {
            "configuration": self.configuration,
            "pairs": [{"instance": instance, "seed": seed} for instance, seed in self.pairs],
            "instances": self.instances,
            "speed_up": finite_or_none(self.speed_up),
            "bound": self.bound or None,
            "interval": [low, finite_or_none(high)],
            "confidence": self.confidence,
            "default": [finite_or_none(seconds) for seconds in self.default.tolist()],
            "answer": [finite_or_none(seconds) for seconds in self.incumbent.tolist()],
            "cutoff": self.cutoff,
            "penalty": self.penalty,
            "capped": list(self.capped),
            "crashed": list(self.crashed),
            "problem": self.problem or None,
            "interrupted": self.interrupted,
        }


def validate(
    scenario: Scenario,
    answer: Incumbent,
    folder: Path,
    count: int | None = None,
    cutoff: float | None = None,
    progress: Progress | None = None,
) -> Validation:
    """Run the default and an answer on the test instances; `folder` is for generated ones.

    The answer is as its study has written it down: its number may mean another one elsewhere.
    Whoever interrupts it gets what there is, if that is two pairs or more.
    """
    instances = scenario.test_instances
    if instances is None:
        problem = "there are no test instances"
        fix = "add a table [test_instances], like [instances]"
        raise InvalidScenario(scenario.path, None, "test_instances", problem, fix)
    pairs = [instances.even_pair(place) for place in range(_pair_count(instances, count))]
    cap = cutoff or scenario.search.cutoff
    if cap is None:
        problem, fix = "there is none, and runs must end", "give --cutoff, e.g. --cutoff 60s"
        raise InvalidScenario(scenario.path, None, "cutoff", problem, fix)
    settings = slot_settings(scenario, folder, instances)
    workers = LocalWorkers(settings, scenario.search.workers)
    both = [scenario.space.default, answer.configuration]
    executions = [
        Execution(2 * place + side, values, instance, seed, cap)
        for place, (instance, seed) in enumerate(pairs)
        for side, values in enumerate(both)
    ]
    reports: dict[int, Report] = {}
    interrupted = False
    try:
        _run_all(workers, executions, reports, progress)
    except KeyboardInterrupt:
        if len(_complete(reports)) < FEWEST_PAIRS:
            raise
        interrupted = True
    finally:
        workers.close()
    return _summed_up(scenario, answer.index, pairs, cap, reports, interrupted)


def _run_all(
    workers: Workers,
    executions: list[Execution],
    reports: dict[int, Report],
    progress: Progress | None,
) -> None:
    """Fill in reports as they come in; ends at the first run that cannot be made."""
    replies = Replies({})
    for execution, report in completed(workers, executions):
        if report.abort:
            raise InvalidSetting("target", report.details.problem, "it cannot be run")
        fix = "find out which of the two is wrong: a wrong answer is no fast one"
        new_reply(replies, workers, execution, report, fix)
        reports[execution.number] = report
        if progress is not None:
            progress(len(reports), len(executions))


def _complete(reports: dict[int, Report]) -> list[int]:
    """Places of the pairs that both have run."""
    return sorted(number // 2 for number in reports if number % 2 and number - 1 in reports)


def _pair_count(instances: Instances, asked: int | None) -> int:
    """Unless told otherwise all of a finite set, or a whole number of rounds of 100 or more."""
    if instances.count is not None:
        return min(asked or instances.count, instances.count)
    round_size = len(instances.names) or 1
    return asked or math.ceil(PAIRS / round_size) * round_size


def _summed_up(
    scenario: Scenario,
    configuration: int,
    pairs: list[tuple[str, int]],
    cap: float,
    reports: dict[int, Report],
    interrupted: bool,
) -> Validation:
    places = _complete(reports)
    crashed = (report for report in reports.values() if report.status is Status.CRASHED)
    sides = [reports[2 * place] for place in places], [reports[2 * place + 1] for place in places]
    default, incumbent = (np.array([_seconds(report, cap) for report in side]) for side in sides)
    return Validation(
        configuration,
        tuple(pairs[place] for place in places),
        default,
        incumbent,
        capped=_count(sides, Status.CAPPED),
        crashed=_count(sides, Status.CRASHED),
        confidence=scenario.search.confidence,
        cutoff=cap,
        penalty=scenario.search.penalty,
        problem=next((report.details.problem for report in crashed), ""),
        interrupted=interrupted,
    )


def _count(sides: tuple[list[Report], list[Report]], status: Status) -> tuple[int, int]:
    default, incumbent = (sum(report.status is status for report in side) for side in sides)
    return default, incumbent


def _seconds(report: Report, cap: float) -> float:
    if report.status is Status.CRASHED:
        return math.inf
    return cap if report.status is Status.CAPPED else report.seconds


def _ratio(above: float, below: float) -> float:
    if math.isinf(above) or math.isinf(below) or below == 0:
        return math.inf if math.isinf(above) and not math.isinf(below) else 0.0
    return float(above / below)
