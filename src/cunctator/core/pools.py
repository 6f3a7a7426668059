"""Endlessly many configurations: pools that grow, and how the time is shared among them.

The appendix "Handling Many Configurations": pool k holds about k 2^k configurations drawn at
random, so it misses the best 2^-k of the space with a probability that is exponentially small in
k; each pool has an SPC of its own, and a share of the time proportional to 1 / k^2. Here pools are
nested, pool k being the first configurations of one numbered sequence, and share their testers, so
that nothing is run twice. Each pool alone is still a set of independent draws, which is all that
its guarantee needs.

Those shares are for the worst case: nobody knows which pool is large enough. They leave a pool of
a thousand a few per cent of the time. So they get `SAFE_SHARE` of it, and the rest goes to the
*frontier*, the pool that is as large as the time spent so far can pay for. The frontier widens
once its configurations have been screened: the least index belongs to one that has been run about
as often as any, and often enough to tell the best of so many from the lucky ones. Then a quarter as
much time again is given to knowing the good ones better. So four fifths of the time look further
and one fifth looks closer, whatever a run costs.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.sentinels import EXHAUSTED, FINISHED, NONE, WAIT, WIDEN
from cunctator.core.state import TURNS, State
from cunctator.core.tournament import winner_between
from cunctator.core.turns import choose_within, pool_time

SAFE_SHARE = 0.0625
"""Of the charged time, for the shares that the theorem asks for."""

CLOSER = 0.25
"""Time for knowing a pool better, as a multiple of the time its screening took."""

ABOUT_AS_OFTEN = 0.5
"""Share of the most started runs that a screened pool's best must have."""

RUNS_PER_DOUBLING = 6.0
"""Runs that it must have for each doubling of the pool's size, from `SMALL` on. The luckiest of n
looks better than it is by what grows with log n: with fewer runs, a wide pool is led by whoever had
easy ones, or is good on those that end within a short cap."""

SMALL = 4
"""Of a pool of so few, one run of each is enough: a larger one is worth more than knowing who is
best of these."""

MOST_POOLS = 20
"""Pool 20 has 21 million configurations."""


def pool_sizes(fixed: int, limit: int | None) -> NDArray[np.int64]:
    """Sizes of the pools: the `fixed` first configurations and k 2^k draws; at most `limit`.

    The default, and what the user proposes, belong to every pool but are no draws.
    """
    sizes = [fixed + k * 2**k for k in range(1, MOST_POOLS + 1)]
    if limit is not None:
        sizes = [size for size in sizes if size < limit] + [limit]
    return np.array(sizes, dtype=np.int64)


@compiled
def choose(state: State) -> int:
    """The configuration to run next, or WAIT, FINISHED or WIDEN.

    Pools move with a run only. Asking for one in vain leaves no trace: it is in no journal, and a
    study that is restored from its journal must come out the same.
    """
    now = state.now
    opened, frontier = now.opened, now.frontier
    since, screened_at = now.frontier_since, now.screened_at
    index = choose_within(state, 0, False) if state.pools.size == 1 else _choose_from_pools(state)
    if index in (WAIT, WIDEN):
        now.opened, now.frontier = opened, frontier
        now.frontier_since, now.screened_at = since, screened_at
    return FINISHED if index == EXHAUSTED else index


@compiled_apart
def _choose_from_pools(state: State) -> int:
    """The same, of a pool that is large enough; EXHAUSTED if the largest of all is.

    It moves the pools on the way.
    """
    pools = state.pools
    ahead = safe = 0.0
    for pool in range(pools.size):
        for turn in range(TURNS):
            ahead += pools[pool].turns[turn]
            safe += pools[pool].turns[TURNS + turn]
    total = ahead + safe
    while state.now.proved == NONE:
        code = _open_pools(state, total)
        if code != 0:
            return code
        pool = NONE
        if safe < SAFE_SHARE * total:
            pool = _neediest_pool(state)
        if pool != NONE:
            index = _choose_within(state, pool, True)
            if index >= 0:
                return index
            if index == EXHAUSTED:
                pools[pool].is_done = True
                continue
        pool = state.now.frontier
        index = _choose_within(state, pool, False)
        if index != EXHAUSTED:
            return index
        pools[pool].is_done = True
    return EXHAUSTED


@compiled_apart
def _choose_within(state: State, pool: int, is_safe: bool) -> int:
    """`choose_within`, which is long, but once for both places that call it."""
    return choose_within(state, pool, is_safe)


@compiled
def _open_pools(state: State, total: float) -> int:
    """Move the frontier, or open a pool for its safe share, if it is time; 0, or WIDEN."""
    pools, now = state.pools, state.now
    frontier = now.frontier
    if frontier + 1 < pools.size and (pools[frontier].is_done or _may_widen(state, total)):
        if pools[frontier + 1].members > state.testers.size:
            return WIDEN
        now.frontier = frontier + 1
        now.opened = max(now.opened, frontier + 2)
        now.frontier_since, now.screened_at = total, NONE
    number = now.opened + 1
    if number <= pools.size:
        needed = number * number * pools[number - 1].members * state.rules.first_cap
        if total * SAFE_SHARE >= needed:
            if pools[number - 1].members > state.testers.size:
                return WIDEN
            now.opened = number
    return 0


@compiled
def _may_widen(state: State, total: float) -> bool:
    """Whether the frontier has been screened, and looked at closely since."""
    now = state.now
    size = state.pools[now.frontier].members
    best = state.testers[winner_between(state.by_sharp, 0, size)]
    if best.chosen < ABOUT_AS_OFTEN * now.most_chosen:
        return False
    needed = max(1.0, RUNS_PER_DOUBLING * math.log2(size / SMALL))
    if best.started < min(needed, state.rules.instances):
        return False
    if now.screened_at == NONE:
        now.screened_at = total
    screening = now.screened_at - now.frontier_since
    return bool(total - now.screened_at >= CLOSER * screening)


@compiled
def _neediest_pool(state: State) -> int:
    """The pool k of least k^2 time_k, as in the appendix; NONE if all are done."""
    best, least = NONE, math.inf
    for pool in range(state.now.opened):
        if state.pools[pool].is_done:
            continue
        claim = (pool + 1.0) * (pool + 1.0) * pool_time(state, pool)
        if claim < least:
            best, least = pool, claim
    return best


def missed_share(draws: int, error: float) -> float:
    """gamma: with at most this error, no draw is among the best gamma of the space.

    (1 - gamma)^draws = error.
    """
    return 1.0 if draws == 0 else -math.expm1(math.log(error) / draws)


def pool_error(error: float, number: int) -> float:
    """The part of an error that pool k = `number` may spend: all add up to it."""
    return error * 6 / (math.pi * number) ** 2
