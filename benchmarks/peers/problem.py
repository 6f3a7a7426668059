"""What is configured, and the account that every tool spends from.

A tool sees a problem through its account only: it asks for runs of configurations on training
instances, each of which is charged what it took and counted, and it says which configuration is its
incumbent. Once the budget is spent there are no more runs, so nobody has to look at a clock, and
test instances are out of reach.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from cunctator.space.parameters import Value
from cunctator.space.space import Space

Values = Mapping[str, Value]
"""The active parameters of a configuration."""

NEARLY = 0.99
"""A run that was not solved and took less than this share of its cap has crashed."""


class Problem(Protocol):
    """A space, training instances 0 to `train` - 1, and test instances."""

    name: str
    space: Space
    cutoff: float
    train: int

    def run(self, values: Values, instance: int, seed: int, cap: float) -> tuple[float, bool]:
        """(seconds charged <= about cap, solved)."""

    def test_mean(self, values: Values) -> float:
        """On test instances; timeouts count the cutoff."""


class BudgetSpent(Exception):
    """There is nothing left to make a run with."""


class Made(NamedTuple):
    """A run that was made."""

    seconds: float
    """What was charged."""
    solved: bool
    counts: float
    """What it counts in a mean: the cap if it was stopped there, the cutoff if it crashed."""


class Point(NamedTuple):
    """The incumbent from some moment on."""

    charged: float
    values: Values


class Account:
    """A budget in charged seconds, and what a tool has done with it."""

    def __init__(self, problem: Problem, budget: float) -> None:
        """The default is the incumbent until the tool says something else."""
        self.space = problem.space
        self.cutoff = problem.cutoff
        self.train = problem.train
        self.budget = budget
        self.charged = 0.0
        self.runs = 0
        self.inside = 0.0
        """Seconds on the clock that runs have taken: the rest is the tool's own."""
        self.trajectory = [Point(0.0, problem.space.default)]
        self._problem = problem

    @property
    def left(self) -> float:
        """Seconds that can still be charged."""
        return max(0.0, self.budget - self.charged)

    def run(self, values: Values, instance: int, cap: float | None = None) -> Made:
        """Make a run, with the instance's number as its seed; by default up to the cutoff.

        As in a study, the last run is made to its end and may take more than is left.
        """
        if self.left <= 0.0:
            raise BudgetSpent
        if not 0 <= instance < self.train:
            raise IndexError(f"there is no training instance {instance}")
        limit = self.cutoff if cap is None else min(cap, self.cutoff)
        begun = time.perf_counter()
        taken, solved = self._problem.run(values, instance, instance, limit)
        seconds = float(taken)
        self.inside += time.perf_counter() - begun
        self.charged += seconds
        self.runs += 1
        if solved:
            return Made(seconds, True, seconds)
        return Made(seconds, False, self.cutoff if seconds < NEARLY * limit else limit)

    def seeded_space(self, seed: int) -> Space:
        """The space with draws of its own."""
        return Space(self.space.parameters, seed, self.space.forbidden)

    def note(self, values: Values) -> None:
        """From now on this is the tool's incumbent."""
        if values != self.trajectory[-1].values:
            self.trajectory.append(Point(self.charged, dict(values)))

    def incumbent_at(self, share: float) -> Values:
        """The incumbent when this share of the budget had been charged."""
        moment = share * self.budget
        if share >= 1.0:
            return self.trajectory[-1].values
        return [point.values for point in self.trajectory if point.charged <= moment][-1]
