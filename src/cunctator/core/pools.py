"""Endlessly many configurations: pools that grow, and how the time is shared among them.

The appendix "Handling Many Configurations": pool k holds about k 2^k configurations drawn at
random, so it misses the best 2^-k of the space with a probability that is exponentially small in
k; each pool has an SPC of its own, and a share of the time proportional to 1 / k^2. Here pools are
nested, pool k being the first configurations of one numbered sequence, and share their testers, so
that nothing is run twice. Each pool alone is still a set of independent draws, which is all that
its guarantee needs.

Those shares are for the worst case: nobody knows which pool is large enough. They leave a pool of
a thousand a few per cent of the time. So they are shares of what the profile gives to the least
lower bound (`turns.py`); the rest of the time goes to a search that takes in one configuration
after the other, as fast as it can tell them apart (`search.py`). When it takes in the first of a
pool, that pool is opened.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cunctator.core.choice import choose_honestly
from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.sentinels import EXHAUSTED, NONE, WIDEN
from cunctator.core.state import HONEST, State
from cunctator.core.tester import choose_next

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


@compiled_apart
def choose_from_pools(state: State) -> int:
    """The configuration of least lower bound, of the pool that has had least of its share.

    WAIT, WIDEN, or EXHAUSTED if the best of the largest pool is known. `state.now` has its pair,
    the level of its cap and the turn. It may open pools.
    """
    now, pools = state.now, state.pools
    while now.proved == NONE:
        if pools.size > 1 and _open_pool(state) == WIDEN:
            return WIDEN
        pool = _neediest_pool(state)
        if pool == NONE:  # what is left is in pools that are not open yet
            if pools[now.opened].members > state.testers.size:
                return WIDEN
            now.opened += 1
            continue
        index = choose_honestly(state, pools[pool].members)
        if index != EXHAUSTED:
            if index >= 0:
                now.turn = HONEST + pool
                choose_next(state, index)
            return index
        pools[pool].is_done = True
    return EXHAUSTED


@compiled
def _open_pool(state: State) -> int:
    """Open the next pool, if its share of the time is enough to look at it; WIDEN, or NONE."""
    now, pools = state.now, state.pools
    if now.opened < pools.size:
        number = now.opened + 1
        needed = number * number * pools[now.opened].members * state.rules.first_cap
        honest = 0.0
        for place in range(HONEST, state.turns.size):
            honest += state.turns[place]
        if honest >= needed:
            if pools[now.opened].members > state.testers.size:
                return WIDEN
            now.opened += 1
    return NONE


@compiled
def _neediest_pool(state: State) -> int:
    """The pool k of least k^2 time_k, as in the appendix; NONE if all are done."""
    best, least = NONE, math.inf
    for pool in range(state.now.opened):
        if state.pools[pool].is_done:
            continue
        claim = (pool + 1.0) * (pool + 1.0) * state.turns[HONEST + pool]
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
