"""Whose turn it is: within a pool, three indices share the time.

A profile with a sharper index (`tight`) gives it most of the turns, as long as the honest one, at
full confidence, has had its share, and so have the rivals of the sharp one's choice: an incumbent
is certified against the least lower bound of all others, and theirs would never rise above its
own if only the least were worked on. That waits until its own is known well: before, a certificate
says nothing, and finding good ones comes first. Where the sharp index sees nothing left to learn,
and if there is none, the honest one decides.

What every turn has cost is in `Pool.turns`, six numbers a pool: what its SPC spent at the turn of
each index, for the sake of the frontier (`pools.py`; with one pool, that is all there is) and,
behind those, for the sake of its safe share.
"""

from __future__ import annotations

from cunctator.core.choice import choose_honestly
from cunctator.core.compiled import compiled
from cunctator.core.promotion import choose_promoted
from cunctator.core.sentinels import NONE
from cunctator.core.state import FULL, RIVAL, SHARP, TURNS, State
from cunctator.core.tester import NOTHING, next_kind
from cunctator.core.tournament import winner_between, winner_without

WELL_KNOWN = 0.8
"""Least bound at full confidence, as a share of the sharper index, for rivals to have turns."""


@compiled
def turn_time(state: State, pool: int, turn: int) -> float:
    """Seconds that a pool's SPC has spent at the turn of an index, runs in flight at their caps."""
    turns = state.pools[pool].turns
    return float(turns[turn] + turns[TURNS + turn])


@compiled
def pool_time(state: State, pool: int) -> float:
    """Seconds that a pool's SPC has spent, runs in flight counted at their caps."""
    total = 0.0
    for turn in range(TURNS):
        total += turn_time(state, pool, turn)
    return total


@compiled
def choose_within(state: State, pool: int, is_safe: bool) -> int:
    """What a pool's own SPC runs next, WAIT or EXHAUSTED; `turn` says for whose sake."""
    size, profile, now = state.pools[pool].members, state.profile, state.now
    account = 2 * TURNS * pool
    if is_safe:
        account += TURNS
    if profile.has_sharp:
        charged = pool_time(state, pool)
        best = winner_between(state.by_sharp, 0, size)
        has_share = turn_time(state, pool, FULL) >= profile.full_share * charged
        if has_share and next_kind(state, best) != NOTHING:
            tester = state.testers[best]
            known = tester.full >= WELL_KNOWN * tester.sharp
            if known and turn_time(state, pool, RIVAL) < profile.rival_share * charged:
                rival = winner_without(state.by_lower, best, size)
                if rival != NONE and next_kind(state, rival) != NOTHING:
                    now.turn = account + RIVAL
                    return rival
            now.turn = account + SHARP
            promoted = NONE if state.pools.size > 1 else choose_promoted(state)
            return best if promoted == NONE else promoted
    now.turn = account + FULL
    return choose_honestly(state, size)
