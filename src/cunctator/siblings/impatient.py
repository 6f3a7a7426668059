"""ImpatientCapsAndRuns (Weisz, György, Lin, Graham, Leyton-Brown, Szepesvári and Lucier, 2020).

CapsAndRuns for configurations drawn from a large space: its answer is about as good as the best
share gamma of them. K pools are drawn, each of which holds the one before: small ones of larger
gamma first, for a good T soon. Whatever is new in a pool is prechecked against T, a few runs that
most configurations do not survive, and the rest raced until phase II has b runs of each. In the
end all that are left are prechecked with the final T, and the race goes on to its end.

The space is here the table: draws are uniform over its rows, with replacement. A row that is drawn
again is the same configuration and is not run again, so that a pool is the set of rows drawn.
Errors are shared out as by the authors: zeta' = zeta / 12 takes the place of zeta in the race,
which may fail with 6 zeta'; drawing and prechecks may with less than 3 zeta'.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cunctator.base.errors import InvalidSetting
from cunctator.siblings.caps_and_runs import (
    FINISHED,
    SPENT,
    VARIANTS,
    needed_instances,
    race,
    report,
)
from cunctator.siblings.method import Method
from cunctator.siblings.prechecks import (
    MOST,
    NEW,
    PAUSED,
    Check,
    Racers,
    RaceRules,
    make_check,
    make_rules,
    new_racers,
    precheck,
)
from cunctator.siblings.problem import Found, Problem
from cunctator.siblings.settings import check_shares, require

DRAWS = 17
"""Keeps the random numbers of the draws apart from others of the same seed."""

SHARES = 12
"""zeta' = zeta / 12."""

LARGEST_DELTA = 0.2
"""Prechecks find caps of the 0.9-quantile at most: they say nothing of shares delta / 2 > 0.1."""

SMALLEST_GAMMA = 1e-4
"""Of a table with up to ten thousand rows, that is the best row itself."""


def draws_needed(gamma: float, error: float) -> int:
    """How many draws miss the best share gamma of a space with probability `error` at most."""
    return math.ceil(math.log(error) / math.log1p(-gamma))


def pool_sizes(gamma: float, zeta: float) -> list[int]:
    """Draws for the pools of 2^(K-1) gamma to gamma, K = ceil(log2(0.5 / gamma))."""
    pools = math.ceil(math.log2(0.5 / gamma))
    error = zeta / (SHARES * pools)
    return [draws_needed(2**k * gamma, error) for k in range(pools - 1, -1, -1)]


def draw_pools(rows: int, sizes: list[int], seed: int) -> list[NDArray[np.int64]]:
    """Rows of each pool that were not in the one before, in the order of their first draw."""
    draws = np.random.default_rng([seed, DRAWS]).integers(rows, size=sizes[-1])
    found, firsts = np.unique(draws, return_index=True)
    order = np.argsort(firsts)
    return np.split(found[order], np.searchsorted(firsts[order], sizes[:-1]))


def _left(problem: Problem, racers: Racers) -> float:
    return max(0.0, problem.budget - float(racers.spent.sum()))


def _search(
    problem: Problem,
    racers: Racers,
    rules: RaceRules,
    check: Check,
    pools: list[NDArray[np.int64]],
) -> int:
    """Run all pools, then the final race; returns how it ended."""
    for place in range(len(pools) + 1):
        is_last = place == len(pools)
        members = np.flatnonzero(racers.phase == PAUSED) if is_last else pools[place]
        if place > 0:
            left = _left(problem, racers)
            if not precheck(problem.runtimes, problem.stream, racers, check, members, left):
                return SPENT
            members = members[racers.phase[members] == (PAUSED if is_last else NEW)]
        left, pause = _left(problem, racers), 0 if is_last else rules.sample
        status = race(problem.runtimes, problem.stream, racers, rules, members, pause, left)
        if status != FINISHED:
            return status
    return FINISHED


def solve(problem: Problem, epsilon: float, delta: float, gamma: float, zeta: float) -> Found:
    """Run it until every configuration drawn is accepted or rejected."""
    check_shares(epsilon=epsilon, delta=delta, gamma=gamma, zeta=zeta)
    if delta > LARGEST_DELTA:
        raise InvalidSetting("delta", delta, f"expected at most {LARGEST_DELTA:g}")
    if not SMALLEST_GAMMA <= gamma < 0.5:
        expected = f"expected at least {SMALLEST_GAMMA:g} and less than 0.5"
        raise InvalidSetting("gamma", gamma, expected)
    sizes, error = pool_sizes(gamma, zeta), zeta / SHARES
    pools = draw_pools(problem.configurations, sizes, problem.seed)
    count = sum(pool.size for pool in pools)
    check = make_check(len(pools), error)

    def rules_for(epsilon: float, delta: float) -> RaceRules:
        shared = 2 * check.sample
        return make_rules(VARIANTS["car++"], epsilon, delta, count, error, shared)

    def needed(epsilon: float, delta: float) -> float:
        return needed_instances(rules_for(epsilon, delta)) if delta <= LARGEST_DELTA else MOST

    require(problem, IMPATIENT_CAPS_AND_RUNS.title, needed, (epsilon, delta))
    rules = rules_for(epsilon, delta)
    assert rules.shared <= rules.sample, "phase I runs all that prechecks run"
    racers = new_racers(problem.configurations, rules)
    status = _search(problem, racers, rules, check, pools)
    facts = {"epsilon": epsilon, "delta": delta, "gamma": gamma, "probability": 1 - zeta}
    rival = f"what the best {gamma:g} of all configurations have"
    return report(problem, racers, status, rival, facts)


IMPATIENT_CAPS_AND_RUNS = Method(
    name="icar",
    title="ImpatientCapsAndRuns",
    run=solve,
    charges="resume",
    guarantee=(
        "mean up to its cap at most 1 + epsilon times what the best gamma of all configurations "
        "have with the longest delta/2 of their runs cut off, and at most delta of its runs beyond "
        "the cap, with probability 1 - zeta"
    ),
    stops="when every configuration drawn is accepted or rejected",
    defaults={"epsilon": 0.05, "delta": 0.1, "gamma": 0.05, "zeta": 0.05},
    grid={"gamma": (0.05, 0.02, 0.01)},
)
