"""The answer against the default on other instances than those it was found on.

Both are run on the same pairs, to the cutoff. The speed-up is the ratio of their mean runtimes;
its interval comes from resampling pairs, not runs, so that what makes an instance hard for both
cancels out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from cunctator.errors import InvalidSetting
from cunctator.records import Status
from cunctator.scenario import Scenario
from cunctator.units import finite_or_none, format_duration
from cunctator.workers import Execution, LocalWorkers, Report

RESAMPLES = 10_000
MOST_PAIRS = 100
"""Of an endless stream, unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Validation:
    """Runtimes of both on the same pairs; infinite for a crash."""

    configuration: int
    default: NDArray[np.float64]
    answer: NDArray[np.float64]
    capped: tuple[int, int]
    crashed: tuple[int, int]
    confidence: float

    @property
    def speed_up(self) -> float:
        """Mean of the default over mean of the answer."""
        return _ratio(self.default.mean(), self.answer.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """Of the speed-up, at the given confidence: percentiles over resampled pairs."""
        if any(self.crashed) or self.default.size < 2:
            return 0.0, math.inf
        random = np.random.default_rng(0)
        rows = random.integers(self.default.size, size=(RESAMPLES, self.default.size))
        ratios = self.default[rows].mean(axis=1) / self.answer[rows].mean(axis=1)
        tail = (1 - self.confidence) / 2
        low, high = np.quantile(ratios, [tail, 1 - tail])
        return float(low), float(high)

    def as_data(self) -> dict[str, object]:
        """Plain data, for JSON."""
        low, high = self.interval
        return {
            "configuration": self.configuration,
            "pairs": int(self.default.size),
            "speed_up": finite_or_none(self.speed_up),
            "interval": [low, finite_or_none(high)],
            "confidence": self.confidence,
            "default": [finite_or_none(seconds) for seconds in self.default.tolist()],
            "answer": [finite_or_none(seconds) for seconds in self.answer.tolist()],
            "capped": list(self.capped),
            "crashed": list(self.crashed),
        }


def validate(
    scenario: Scenario,
    configuration: int,
    folder: Path,
    most: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Validation:
    """Run the default and a configuration on the test instances; `folder` is for generated ones."""
    instances = scenario.test_instances
    if instances is None:
        fix = "add a table [test_instances] to the scenario"
        raise InvalidSetting("test_instances", None, fix)
    pairs = most or MOST_PAIRS
    if instances.count is not None:
        pairs = min(pairs if most else instances.count, instances.count)
    cap = scenario.search.cutoff
    if cap is None:
        raise InvalidSetting("cutoff", None, "runs must end: give a cutoff in the scenario")
    workers = LocalWorkers(scenario, scenario.search.workers, folder, instances)
    try:
        futures: list[Future[Report]] = []
        for pair in range(pairs):
            instance, seed = instances.pair(pair)
            for index in (0, configuration):
                settings = scenario.space.configuration(index)
                execution = Execution(len(futures), settings, instance, seed, cap)
                futures.append(workers.submit(execution))
        reports = []
        for future in futures:
            reports.append(future.result())
            if progress is not None:
                progress(len(reports), len(futures))
    finally:
        workers.close()
    return _summed_up(scenario, configuration, reports)


def _summed_up(scenario: Scenario, configuration: int, reports: list[Report]) -> Validation:
    cap = scenario.search.cutoff or math.inf
    sides = reports[0::2], reports[1::2]
    for report in reports:
        if report.abort:
            raise InvalidSetting("target", report.details.problem, "it cannot be run")
    default, answer = (np.array([_seconds(report, cap) for report in side]) for side in sides)
    return Validation(
        configuration,
        default,
        answer,
        capped=_count(sides, Status.CAPPED),
        crashed=_count(sides, Status.CRASHED),
        confidence=scenario.search.confidence,
    )


def _count(sides: tuple[list[Report], list[Report]], status: Status) -> tuple[int, int]:
    default, answer = (sum(report.status is status for report in side) for side in sides)
    return default, answer


def _seconds(report: Report, cap: float) -> float:
    if report.status is Status.CRASHED:
        return math.inf
    return cap if report.status is Status.CAPPED else report.seconds


def validation_table(validation: Validation) -> RenderableType:
    """Both side by side, and a sentence."""
    grid = Grid(title=f"On {validation.default.size:,} test instances")
    grid.add_column("")
    for heading in ("mean", "median", "longest", "cut off", "crashed"):
        grid.add_column(heading, justify="right")
    names = ("default", f"configuration {validation.configuration}")
    sides = (validation.default, validation.answer)
    for place, (name, runtimes) in enumerate(zip(names, sides, strict=True)):
        grid.add_row(
            name,
            _words(float(runtimes.mean())),
            _words(float(np.median(runtimes))),
            _words(float(runtimes.max())),
            str(validation.capped[place]),
            str(validation.crashed[place]),
        )
    low, high = validation.interval
    sentence = "Runs crashed, so there is no speed-up to speak of."
    if not any(validation.crashed):
        sentence = (
            f"Speed-up {validation.speed_up:.3g}: between {low:.3g} and {high:.3g} with"
            f" {100 * validation.confidence:.6g}% confidence, by resampling pairs."
        )
    return Group(grid, Text(sentence))


def _words(seconds: float) -> str:
    return "never" if math.isinf(seconds) else format_duration(seconds)


def _ratio(above: float, below: float) -> float:
    if math.isinf(above) or math.isinf(below) or below == 0:
        return math.inf if math.isinf(above) and not math.isinf(below) else 0.0
    return float(above / below)
