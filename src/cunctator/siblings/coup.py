"""COUP: OUP on pools of random configurations that grow from phase to phase.

Graham and Leyton-Brown, "Utilitarian Algorithm Configuration for Infinite Parameter Spaces" (2024).
Phase p has the first n_p = ceil(ln(pi^2 p^2 / (3 delta)) / gamma_p) draws, which miss the top
gamma_p of all configurations with probability 3 delta / (pi^2 p^2) at most, and runs OUP until the
gap is at most eps_p. As in the paper's experiments, gamma_p = e^(-p/3) and eps_p = e^(-p/6).

Here the configurations are the rows of a table, drawn with replacement. A row that comes up again
is the same configuration and is run only once.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cunctator.base.errors import InvalidSetting
from cunctator.siblings.method import Method
from cunctator.siblings.problem import Found, Problem
from cunctator.siblings.utilitarian import (
    CLOSED,
    Changes,
    Facts,
    gap_below,
    go_for_the_highest,
    lower_bound,
    new_race,
    new_world,
    outcome,
)
from cunctator.siblings.utilities import DEFAULTS, check_settings, choose_utility

DRAWS = 31
"""Keeps the random numbers of the draws apart from others of the same seed."""

LEAST_EPSILON = 0.001
"""No gap gets there: it is at least a, and after the four million runs of the longest stream a is
still above 0.002. Without a limit, phases might go on for ever should bounds cross by bad luck."""


LEAST_DELTA = 1e-300
"""What is divided by it stays finite."""


def top_share(phase: int) -> float:
    """gamma_p."""
    return math.exp(-phase / 3.0)


def target_gap(phase: int, epsilon: float) -> float:
    """eps_p, and never below epsilon: the last phase asks for epsilon itself."""
    return max(math.exp(-phase / 6.0), epsilon)


def last_phase(epsilon: float) -> int:
    """The first phase p with eps_p <= epsilon."""
    phase = 1
    while target_gap(phase, epsilon) > epsilon:
        phase += 1
    return phase


def draws_of(phase: int, delta: float) -> int:
    """n_p."""
    return math.ceil(math.log(math.pi**2 * phase**2 / (3.0 * delta)) / top_share(phase))


def log_term_of(phase: int, delta: float) -> float:
    """ln(36 p^2 n_p / delta): 36 > 8 (pi^2 / 6)^3, so all phases' bounds together fail with
    probability delta / 2 at most; the draws have the other half.
    """
    return math.log(36.0 * phase**2 * draws_of(phase, delta) / delta)


def first_draws(configurations: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Configurations in the order in which they are first drawn, and by how many draws that is."""
    random = np.random.default_rng([seed, DRAWS])
    drawn = np.empty(0, np.int64)
    while True:
        drawn = np.append(drawn, random.integers(configurations, size=2 * configurations))
        found, position = np.unique(drawn, return_index=True)
        if found.size == configurations:
            order = np.argsort(position)
            return found[order], position[order] + 1


def _solve(
    problem: Problem,
    epsilon: float,
    delta: float,
    utility: str,
    scale: float | str,
    alpha: float,
) -> Found:
    check_settings(epsilon, delta, LEAST_EPSILON)
    if delta < LEAST_DELTA:
        raise InvalidSetting("delta", delta, f"expected at least {LEAST_DELTA:g}")
    world = new_world(problem, choose_utility(problem, utility, scale, alpha))
    race = new_race(problem.configurations)
    order, drawn_by = first_draws(problem.configurations, problem.seed)
    changes: Changes = []
    claim, facts, stop = "", Facts(), CLOSED
    for phase in range(1, last_phase(epsilon) + 1):
        pool = order[: np.searchsorted(drawn_by, draws_of(phase, delta), side="right")]
        # Bounds of earlier phases stay: with probability 1 - delta / 2 those of all phases hold.
        target = target_gap(phase, epsilon)
        stop, more = go_for_the_highest(world, race, pool, log_term_of(phase, delta), target)
        changes += more[1:]
        if stop != CLOSED:
            break
        # The answer's LCB never falls, so what a phase has shown holds for all later answers.
        facts = {
            "epsilon": gap_below(race, race.upper[pool].max()),
            "gamma": top_share(phase) if pool.size < order.size else 0.0,
            "delta": delta,
            "lower_bound": lower_bound(race),
            "phases": phase,
        }
        claim = _claim(facts)
    return outcome(race, changes, stop, claim, facts)


def _claim(facts: Facts) -> str:
    # Once every configuration has been drawn, the best of all is in the pool.
    who = f"less than {facts['gamma']:.4%} of the configurations have"
    if facts["gamma"] == 0.0:
        who = "no configuration has"
    return (
        f"With probability at least {1.0 - facts['delta']:g}, {who} a mean utility more than"
        f" {facts['epsilon']:.4f} above the answer's."
    )


COUP = Method(
    name="coup",
    title="COUP",
    run=_solve,
    charges="restart",
    guarantee=(
        "with probability 1 - delta, after every phase p: less than a share gamma_p of the"
        " configurations have a mean utility more than eps_p above the answer's"
    ),
    stops="after the first phase whose eps_p is at most epsilon, or when the instances are used up",
    defaults={**DEFAULTS, "epsilon": LEAST_EPSILON},
    anytime=True,
    ends=False,
)
