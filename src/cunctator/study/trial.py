"""The trial of a scenario: the default on three instances, others on one, for real.

What goes wrong in a study mostly goes wrong in its first run, and it should not take a night to
find out. Each trial says what happened and, if it failed, whose fault that seems to be.
"""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cunctator.base.records import Status
from cunctator.scenario import Scenario
from cunctator.study.workers import LocalWorkers, slot_settings
from cunctator.target.execution import Execution, Report
from cunctator.target.replies import Contradiction, Given, Replies
from cunctator.target.verdict import is_far_off

TRIALS = 3
MOST_INITIAL = 5
"""Of the user's own configurations, so many are tried."""
LONGEST_TRIAL = 60.0
"""Seconds for a trial if there is no cutoff."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One run."""

    configuration: int
    execution: Execution
    argv: list[str]
    report: Report

    @property
    def is_good(self) -> bool:
        """Whether the target did what it should: a run that takes long is no failure."""
        return self.report.status in (Status.SOLVED, Status.CAPPED)

    @property
    def reports_another_time(self) -> bool:
        """Whether the target reports something else than the time of the run."""
        is_done = self.report.status in (Status.SOLVED, Status.CAPPED)
        return is_done and is_far_off(self.report.details.reported, self.report.seconds)


def check_scenario(scenario: Scenario) -> list[Trial]:
    """Run the default on the first instances of the stream, and others on the first.

    These are the user's own configurations, and a random one.
    """
    cap = scenario.search.cutoff or LONGEST_TRIAL
    count = scenario.instances.count
    runs = [(0, pair) for pair in range(TRIALS if count is None else min(TRIALS, count))]
    given = scenario.space.fixed
    others = [*range(1, min(given, 1 + MOST_INITIAL)), given]
    runs.extend((other, 0) for other in others if _exists(scenario, other))
    trials = []
    with tempfile.TemporaryDirectory(prefix="cunctator-") as folder:
        workers = LocalWorkers(slot_settings(scenario, Path(folder)), 1)
        try:
            for number, (configuration, pair) in enumerate(runs):
                instance, seed = scenario.instances.pair(pair)
                settings = scenario.space.configuration(configuration)
                execution = Execution(number, settings, instance, seed, cap)
                report = workers.submit(execution).result()
                trials.append(Trial(configuration, execution, workers.argv(execution), report))
        finally:
            workers.close()
    return trials


def contradiction_in(trials: list[Trial]) -> Contradiction | None:
    """Two trials that replied differently on the same instance, if there are any."""
    replies = Replies({})
    for trial in trials:
        reply = trial.report.details.reply
        if trial.report.status is Status.SOLVED and reply:
            found = replies.tell(trial.execution.instance, Given(reply, tuple(trial.argv)))
            if found is not None:
                return found
    return None


def _exists(scenario: Scenario, configuration: int) -> bool:
    size = scenario.space.size
    most = min(
        math.inf if size is None else size,
        math.inf if scenario.configurations is None else scenario.configurations,
    )
    return configuration < most
