"""Whose turn it is: how the charged time is shared.

A sixteenth is for SPC itself: the configuration of least lower bound, of a pool that is large
enough (`pools.py`). On that rests what is proved for the worst case. Of the rest, if the profile
has a search by pair, a share is for running the incumbent and the default side by side
(`beside.py`), another one for the race against rivals (`race.py`), as soon as there is an incumbent
worth it; what these two leave, and all of it before, is for the search (`search.py`). Where none of
them finds anything to do, the least lower bound decides alone, and so it does without a search.

When a budget is about to end, all of the time is for what is put off of the incumbent, the default
and the last contenders (`closing.py`).
"""

from __future__ import annotations

from cunctator.core.beside import choose_beside, is_beside_due, note_whole
from cunctator.core.choice import choose_honestly
from cunctator.core.climbing import settle
from cunctator.core.closing import choose_to_close
from cunctator.core.compiled import compiled
from cunctator.core.known import is_exact
from cunctator.core.pools import choose_from_pools
from cunctator.core.race import choose_in_race, is_race_due, note_in_race
from cunctator.core.search import choose_by_pair
from cunctator.core.sentinels import EXHAUSTED, FINISHED, NONE, WAIT
from cunctator.core.state import HONEST, State
from cunctator.core.tournament import ROOT


@compiled
def choose(state: State) -> int:
    """The configuration to run next, or WAIT, FINISHED or WIDEN.

    Pair and level are in `state.now`. Asking in vain leaves no trace: it is in no journal, and a
    study that is restored from its journal must come out the same.
    """
    if not state.profile.has_ladder:
        index = choose_from_pools(state)
        return FINISHED if index == EXHAUSTED else index
    if _is_proved(state):
        return FINISHED
    if state.now.closing:
        index = choose_to_close(state)
        if index != NONE:
            return index
    if not _is_honest_due(state):
        if is_beside_due(state):
            index = choose_beside(state)
            if index != NONE:
                return index
        if is_race_due(state):
            index = choose_in_race(state)
            if index != NONE:
                return index
        index = choose_by_pair(state)
        if index != NONE:
            return index
    opened = state.now.opened
    index = choose_from_pools(state)
    if index < 0:
        state.now.opened = opened
    if index == WAIT and _is_honest_due(state):
        searched = choose_by_pair(state)
        return WAIT if searched == NONE else searched
    return FINISHED if index == EXHAUSTED else index


@compiled
def note_result(state: State, index: int, has_crashed: bool) -> None:
    """Take into account, for whatever is chosen by, that a result of a configuration is in."""
    note_whole(state, index)
    settle(state, index, has_crashed)
    note_in_race(state, index)


@compiled
def _is_proved(state: State) -> bool:
    """Whether the best of all is known, so that the search is over, whatever else could be run.

    It may not depend on whose turn it is: that is another one when it is asked again later.
    """
    size = state.pools[state.pools.size - 1].members
    if size > state.testers.size or not is_exact(state, state.by_lower[ROOT].winner):
        return False
    return choose_honestly(state, size) == EXHAUSTED


@compiled
def _is_honest_due(state: State) -> bool:
    """Whether the least lower bound has not had its share."""
    total = honest = 0.0
    for place in range(state.turns.size):
        total += state.turns[place]
        if place >= HONEST:
            honest += state.turns[place]
    return honest < state.profile.full_share * total
