"""The first instances of a configuration: phase I of CapsAndRuns, and ICAR's precheck.

Both run the same instances, and whichever comes second goes on with the runs of the first: only
what a run takes beyond its earlier cap is charged. So they are in one file, with the state that
they leave to the race in `caps_and_runs.py`.

The precheck finds a cap as phase I does, at 80 % of b' instances, and bounds the mean below it from
b' fresh ones. By Chernoff, the cap is at most the 0.9-quantile, and the work on the way to it less
than 1.9 b' times the mean up to that quantile, with probability at least 1 - zeta / (2 K) each if
b' = 32.1 ln(2 K / zeta). So it serves shares delta / 2 of up to 0.1, whatever they are.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cunctator.siblings.bernstein import ZETA_1_1, log_term, radius
from cunctator.siblings.compiled import compiled

NEW, PHASE_ONE, PHASE_TWO, PAUSED, ACCEPTED, REJECTED = range(6)

MOST = 2.0**62
"""Stands for more instances than can be counted."""


class Variant(NamedTuple):
    """Constants of phase I: b = ceil(scale ln(inside n / zeta) / delta)."""

    scale: float
    inside: float
    patience: float


class RaceRules(NamedTuple):
    """The numbers of a race."""

    epsilon: float
    sample: int
    """b"""
    finishing: int
    """How many of them end phase I."""
    patience: float
    inverse_error: float
    """n zeta(1.1) / zeta: 1 / d_l at level l = 1."""
    shared: int
    """How many of the first instances prechecks run, too."""


class Check(NamedTuple):
    """The numbers of a precheck."""

    sample: int
    """b'"""
    finishing: int
    term: float
    """ln(3 K / zeta)"""


class Racers(NamedTuple):
    """What is known of each configuration, and of all of them."""

    phase: NDArray[np.int64]
    cap: NDArray[np.float64]
    """tau"""
    known: NDArray[np.float64]
    """The cap that the first instances, those that prechecks run, have all been run at."""
    runs: NDArray[np.int64]
    """Finished in phase II; then their mean, and the sum of squares about it."""
    mean: NDArray[np.float64]
    squares: NDArray[np.float64]
    level: NDArray[np.int64]
    term: NDArray[np.float64]
    begun: NDArray[np.int64]
    """Runs begun: always the first positions of the stream."""
    spent: NDArray[np.float64]
    least_upper: NDArray[np.float64]
    """T, one number, and whose bound it is."""
    holder: NDArray[np.int64]


def make_rules(
    variant: Variant, epsilon: float, delta: float, count: int, error: float, shared: int = 0
) -> RaceRules:
    """The rules for `count` configurations; zeta is `error`."""
    term = math.log(variant.inside * count) - math.log(error)
    is_countable = variant.scale * term < MOST * delta
    sample = math.ceil(variant.scale * term / delta) if is_countable else int(MOST)
    finishing = math.ceil((1.0 - 0.75 * delta) * sample)
    return RaceRules(epsilon, sample, finishing, variant.patience, count * ZETA_1_1 / error, shared)


def make_check(pools: int, error: float) -> Check:
    """The precheck for K = `pools` of them; zeta is `error`."""
    sample = math.ceil(32.1 * math.log(2 * pools / error))
    return Check(sample, math.ceil(0.8 * sample), math.log(3 * pools / error))


def new_racers(count: int, rules: RaceRules) -> Racers:
    """No configuration has run."""
    return Racers(
        phase=np.full(count, NEW),
        cap=np.zeros(count),
        known=np.zeros(count),
        runs=np.zeros(count, dtype=np.int64),
        mean=np.zeros(count),
        squares=np.zeros(count),
        level=np.ones(count, dtype=np.int64),
        term=np.full(count, log_term(1, rules.inverse_error)),
        begun=np.zeros(count, dtype=np.int64),
        spent=np.zeros(count),
        least_upper=np.array([math.inf]),
        holder=np.array([-1]),
    )


@compiled
def begin_phase_one(
    runtimes: NDArray[np.float64],
    stream: NDArray[np.int64],
    racers: Racers,
    rules: RaceRules,
    row: int,
) -> tuple[float, float]:
    """Begin phase I; returns the work that a precheck has already done, and that left to do.

    Runs that a precheck brought to its own cap wait there until the others have come as far.
    """
    values = np.empty(rules.sample)
    for place in range(rules.sample):
        values[place] = runtimes[row, stream[place]]
    cap = np.sort(values)[rules.finishing - 1]
    done = left = 0.0
    for place in range(rules.sample):
        earlier = min(values[place], racers.known[row]) if place < rules.shared else 0.0
        done += earlier
        left += max(0.0, min(values[place], cap) - earlier)
    racers.phase[row], racers.cap[row] = PHASE_ONE, cap
    racers.begun[row] = rules.sample
    return done, left


@compiled
def _common_cap(ordered: NDArray[np.float64], work: float) -> float:
    """The cap at which these runs, in parallel, have had so much work in all."""
    finished = 0.0
    for place in range(ordered.size):
        running = ordered.size - place
        if finished + running * ordered[place] >= work:
            return float((work - finished) / running)
        finished += ordered[place]
    return float(ordered[-1])


@compiled
def _find_cap(
    runtimes: NDArray[np.float64],
    stream: NDArray[np.int64],
    racers: Racers,
    check: Check,
    row: int,
) -> tuple[bool, float, float]:
    """First half of a precheck; returns whether it rejects, the cap, and the seconds to charge."""
    values = np.empty(check.sample)
    for place in range(check.sample):
        values[place] = runtimes[row, stream[place]]
    ordered = np.sort(values)
    cap = ordered[check.finishing - 1]
    limit = 1.9 * check.sample * racers.least_upper[0]
    is_rejected = np.minimum(values, cap).sum() >= limit
    reached = _common_cap(ordered, limit) if is_rejected else cap
    charge = 0.0
    for value in values:
        charge += max(0.0, min(value, reached) - min(value, racers.known[row]))
    racers.begun[row] = max(racers.begun[row], check.sample)
    return is_rejected, cap, charge


@compiled
def _precheck(
    runtimes: NDArray[np.float64],
    stream: NDArray[np.int64],
    racers: Racers,
    check: Check,
    row: int,
) -> tuple[bool, float]:
    """Whether one configuration is rejected, and the seconds to charge."""
    is_rejected, cap, charge = _find_cap(runtimes, stream, racers, check, row)
    if is_rejected:
        return True, charge
    left = 2.99 * check.sample * racers.least_upper[0]
    mean = squares = 0.0
    for count in range(1, check.sample + 1):
        place = check.sample + count - 1
        racers.begun[row] = max(racers.begun[row], place + 1)
        runtime = runtimes[row, stream[place]]
        value = min(runtime, cap, left)
        charge += max(0.0, value - min(runtime, racers.known[row]))
        left -= value
        if left <= 0.0:
            # So much work is as unlikely for a good configuration as in the first half. The bound
            # below would not hold for a sample that ends when its sum is large.
            return True, charge
        change = value - mean
        mean += change / count
        squares += change * (value - mean)
    racers.known[row] = max(racers.known[row], cap)
    half_width = radius(squares / check.sample, cap, check.sample, check.term)
    return mean - half_width > racers.least_upper[0], charge


@compiled
def precheck(
    runtimes: NDArray[np.float64],
    stream: NDArray[np.int64],
    racers: Racers,
    check: Check,
    members: NDArray[np.int64],
    budget: float,
) -> bool:
    """Reject some of these, one after the other; returns False if the budget did not suffice.

    Whoever holds T is exempt: what was rejected because of T was so because this one is better, so
    it has to be there in the end.
    """
    for row in members:
        if row == racers.holder[0]:
            continue
        is_rejected, charge = _precheck(runtimes, stream, racers, check, row)
        if charge > budget:
            racers.spent[row] += budget
            return False
        racers.spent[row] += charge
        budget -= charge
        if is_rejected:
            racers.phase[row] = REJECTED
    return True
