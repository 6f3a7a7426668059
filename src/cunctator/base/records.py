"""The small frozen records that pass between the core, the study loop and the target."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Status(Enum):
    """How a run ended."""

    SOLVED = "solved"
    """It finished within its cap."""
    CAPPED = "capped"
    """It was stopped at its cap; it may be run again under a longer one."""
    CRASHED = "crashed"
    """It failed; it counts as a run that never finishes."""


class StopReason(Enum):
    """Why a search ended, in words for the user."""

    PROVED_OPTIMAL = "proved optimal on this instance set"
    """Nothing can beat the answer: its mean over all instances is known, and no other
    configuration's lower bound is below it."""
    BEST_OF_POOL = "proved the best of those looked at, on this instance set"
    """The same, but there are configurations that were not looked at."""
    BY_THE_PAPER = "nothing is better by the bounds of the paper, which are not proved"
    """The same, with bounds that no proof covers."""
    CERTIFIED = "the certificate has reached its target"
    """The (epsilon, delta) asked for is certified at the given confidence."""
    BUDGET = "the budget is spent"
    USED_UP = "the instances are used up"
    """A stream that was to be long enough for everything has come to its end."""
    INTERRUPTED = "interrupted"
    DEFAULT_CRASHES = "the default configuration crashes"
    """It did so on each of the first pairs: the target or the scenario is broken."""
    NOTHING_SOLVED = "no run was solved"
    """Nearly all runs crashed: the same."""
    CONTRADICTION = "two runs contradict each other"
    """They gave different answers for the same instance: one of them is wrong."""
    ABORTED = "the target cannot be run"


@dataclass(frozen=True, slots=True)
class Run:
    """One execution to make: this configuration on this pair, for at most `cap` seconds."""

    number: int
    """Counts the runs asked for, from 1; the scheduler's step t."""
    configuration: int
    pair: int
    """Position in the stream of (instance, seed) pairs, from 0; see `instances.py`."""
    cap: float
    spent: float
    """Seconds already spent on this pair: what a resumed run would not have to repeat."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run."""

    status: Status
    seconds: float
    """Time it took; may exceed the cap, and is charged in full."""
