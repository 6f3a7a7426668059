"""LeapsAndBounds (Weisz, György and Szepesvári, 2018).

A guess theta of the best mean is raised until some configuration is found to be below it. Each
guess is a phase: every configuration has a budget of b theta for b instances, each under a cap of
4 theta / (3 delta), and stops early once an empirical Bernstein race has told enough. It answers
only when it returns, and each phase runs its instances anew.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cunctator.siblings.bernstein import ZETA_1_1, is_accurate, level_of, log_term, radius
from cunctator.siblings.compiled import compiled
from cunctator.siblings.method import Method
from cunctator.siblings.problem import SPENT, Found, Problem
from cunctator.siblings.settings import (
    FINE_DELTAS,
    FINE_EPSILONS,
    check_shares,
    number_within,
    require,
)

FIRST_GUESS = 16.0 / 7.0
"""Times the shortest cap."""

LEAST_MULTIPLIER = 1.001
"""Of the guess: with less, it would take forever to reach anything."""

ZETA_1_5 = 2.612375348685488
"""Riemann's zeta(1.5): the sum of k^-1.5 over all phases k."""


@compiled
def sample_size(epsilon: float, delta: float, zeta: float, count: int, phase: int) -> float:
    """Compute b = ceil(44 ln(6 n k (k+1) / zeta) / (delta eps^2)), as a float: it may be infinite.

    (`math.ceil` of a compiled function gives 64 bits, whatever does not fit.)
    """
    term = math.log(6.0 * count * phase * (phase + 1.0) / zeta)
    return float(np.ceil(44.0 * term / delta / epsilon / epsilon))


@compiled
def estimate(
    row: NDArray[np.float64],
    stream: NDArray[np.int64],
    guess: float,
    phase: int,
    count: int,
    settings: tuple[float, float, float, float],
) -> tuple[float, float, int]:
    """RuntimeEst: the mean if it is below the guess, or else the guess; seconds; runs.

    Runs shorter than the first cap count as that long, which the size of the sample relies on, but
    are charged what they take.
    """
    epsilon, delta, zeta, first_cap = settings
    most = int(sample_size(epsilon, delta, zeta, count, phase))
    allowed, longest = most * guess, 4.0 * guess / (3.0 * delta)
    inverse = 2.1 * ZETA_1_5 * ZETA_1_1 * phase**1.5 * count / zeta
    scale = 120.0 * count * phase * (phase + 1.0) / zeta
    spent, used, mean, squares, level, term = 0.0, 0.0, 0.0, 0.0, 0, 0.0
    for position in range(most):
        seconds = min(row[stream[position]], longest)
        runtime = max(seconds, first_cap)
        if used + runtime >= allowed:
            return guess, spent + min(seconds, allowed - used), position + 1
        spent += seconds
        used += runtime
        runs = position + 1
        shift = runtime - mean
        mean += shift / runs
        squares += shift * (runtime - mean)
        now = level_of(runs, max(1, level))
        if now != level:
            level = now
            term = log_term(level, inverse * level**1.1)
        half_width = radius(squares / runs, longest, runs, term)
        if mean > guess and (1.0 + 3.0 * epsilon / 7.0) * (mean - half_width) > guess:
            return guess, spent, runs
        if is_accurate(mean, half_width, epsilon):
            enough = 32.0 * math.log(scale * runs * (runs + 1.0)) / delta
            if runs >= enough:
                return mean, spent, runs
    return mean, spent, most


@compiled
def _phase(
    runtimes: NDArray[np.float64],
    stream: NDArray[np.int64],
    guess: float,
    phase: int,
    settings: tuple[float, float, float, float],
    means: NDArray[np.float64],
    spent: NDArray[np.float64],
    left: float,
) -> tuple[int, float]:
    """One guess, for all configurations; returns the runs, and the seconds left (0: none)."""
    steps, count = 0, runtimes.shape[0]
    for index in range(count):
        means[index], seconds, runs = estimate(
            runtimes[index], stream, guess, phase, count, settings
        )
        seconds = min(seconds, left)
        spent[index] += seconds
        steps += runs
        left -= seconds
        if left <= 0.0:
            break
    return steps, left


def _needed(zeta: float, count: int, phase: int, epsilon: float, delta: float) -> float:
    return sample_size(epsilon, delta, zeta, count, phase)


def solve(problem: Problem, epsilon: float, delta: float, zeta: float, multiplier: float) -> Found:
    """Run it until it returns."""
    check_shares(epsilon=epsilon, delta=delta, zeta=zeta)
    number_within("multiplier", multiplier, LEAST_MULTIPLIER, 2.0)
    count, pair = problem.configurations, (epsilon, delta)
    settings = (epsilon, delta, zeta, problem.first_cap)
    means, spent = np.zeros(count), np.zeros(count)
    guess, phase, steps, left = FIRST_GUESS * problem.first_cap, 1, 0, problem.budget
    while True:
        require(problem, LEAPS_AND_BOUNDS.title, partial(_needed, zeta, count, phase), pair)
        runs, left = _phase(
            problem.runtimes, problem.stream, guess, phase, settings, means, spent, left
        )
        steps += runs
        if left <= 0.0:
            return Found((), float(spent.sum()), steps, spent, SPENT)
        if means.min() < guess:
            break
        guess *= multiplier
        phase += 1
    incumbent, charged = int(means.argmin()), float(spent.sum())
    cap = min(4.0 * guess / (3.0 * delta), problem.cutoff)
    where = f"a cap of {cap:.4g} s" if cap < problem.cutoff else "no cap but the cutoff"
    return Found(
        trajectory=((charged, incumbent),),
        charged=charged,
        steps=steps,
        spent=spent,
        stop=f"a mean below the guess was found in phase {phase}",
        claim=(
            f"With probability at least {1 - zeta:g}, it is (epsilon, delta)-optimal for"
            f" epsilon = {epsilon:g} and delta = {delta:g}: with {where} its mean is"
            f" about {means[incumbent]:.4g} s.{problem.floor_note}"
        ),
        facts={"epsilon": epsilon, "delta": delta, "cap": cap, "mean": float(means[incumbent])},
    )


LEAPS_AND_BOUNDS = Method(
    name="lb",
    title="LeapsAndBounds",
    run=solve,
    charges="restart",
    guarantee="(epsilon, delta)-optimal with probability 1 - zeta",
    stops="when a mean below the guess is found",
    defaults={"epsilon": 0.2, "delta": 0.2, "zeta": 0.1, "multiplier": 1.25},
    grid={"epsilon": FINE_EPSILONS, "delta": FINE_DELTAS},
)
