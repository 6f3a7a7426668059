"""The search by pair: what to run next to find good configurations soon.

Three selectors share the time, and each of them takes a configuration to its next rung:

    newcomers   the next configuration that has not entered the ladder;
    ratio       the one most likely to be better than the incumbent: the least difference in
                standard errors;
    bound       the one that may be better by most: the least difference less z standard errors.

The first looks further, the second gets to the point, and the third makes good what chance did to
somebody: alone, the second is stuck with a lucky incumbent. If their choice has come as far as the
incumbent, the incumbent goes first: nobody can be compared with it further up. Nobody is ever out.

Where a guide asks for configurations (`tasks.py`), its tasks have most of the time and these three
what is left.

A selector's choice does not change before a rung is reached, so its runs are made one after the
other, and with several runs in flight beside each other.
"""

from __future__ import annotations

import math

from cunctator.core.climbing import is_flying, may_climb, missing_pair, next_rung
from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.known import cap_at
from cunctator.core.ladder import is_known, tried_first, tried_pairs
from cunctator.core.proposals import is_proposal
from cunctator.core.sentinels import NONE, WIDEN
from cunctator.core.state import BOUND, NEWCOMER, RATIO, SEEKING, State
from cunctator.core.tasks import are_tasks_due, choose_task
from cunctator.core.tournament import ROOT

PARTS_NEW, PARTS_RATIO, PARTS_BOUND = 2.0, 2.0, 1.0
"""How the time is shared; a factor of two in any of them makes little difference."""

AT_LEAST = 8
"""So many configurations enter the ladder before anybody climbs it."""


@compiled_apart
def choose_by_pair(state: State) -> int:
    """The configuration to run next, or WIDEN, or NONE: there is nothing to do but wait.

    Its pair, the level of its cap and for whose sake it is run are in `state.now`.
    """
    now = state.now
    if state.ladder.made == 0:
        now.turn = SEEKING
        return _choose_for_trial(state)
    newcomer = _next_newcomer(state)
    if newcomer != NONE and now.entered < AT_LEAST:
        return _take(state, newcomer, NEWCOMER)
    if are_tasks_due(state):
        index = choose_task(state)
        if index != NONE:
            return index
    selector = _neediest_selector(state)
    if newcomer == NONE or _is_behind(state, selector):
        other = BOUND if selector == RATIO else RATIO  # it may know somebody else
        for turn in (selector, other):
            index = _choose_climber(state, turn)
            if index != NONE:
                return _take(state, index, turn)
    return _take(state, newcomer, NEWCOMER)


@compiled
def _take(state: State, index: int, turn: int) -> int:
    """The next run for the sake of a configuration's next rung."""
    now = state.now
    now.turn = turn
    if index >= 0:
        now.pair = missing_pair(state, index)
        now.level = state.ladder.level[next_rung(state, index)]
    return index


@compiled
def _neediest_selector(state: State) -> int:
    """Of the two that choose among climbers, the one that has had less of its share."""
    if state.turns[RATIO] / PARTS_RATIO <= state.turns[BOUND] / PARTS_BOUND:
        return RATIO
    return BOUND


@compiled
def _is_behind(state: State, selector: int) -> bool:
    """Whether a selector has had less of its share than newcomers."""
    parts = PARTS_RATIO if selector == RATIO else PARTS_BOUND
    return bool(state.turns[selector] / parts < state.turns[NEWCOMER] / PARTS_NEW)


@compiled
def _choose_climber(state: State, selector: int) -> int:
    """Who is to climb next by one of the selectors; NONE if nobody can."""
    testers, incumbent = state.testers, state.now.incumbent
    tree = state.by_ratio if selector == RATIO else state.by_bound
    index = tree[ROOT].winner
    if math.isinf(tree[ROOT].first):
        index = NONE
    is_ahead = index != NONE and testers[index].rung < testers[incumbent].rung
    if not is_ahead and may_climb(state, incumbent):
        return int(incumbent)
    return int(index)


@compiled
def _next_newcomer(state: State) -> int:
    """The first configuration that has not entered the ladder and has something to run for it, of
    those that nobody has proposed because of results.

    WIDEN if that is beyond the arrays; NONE if there is none.
    """
    now, testers = state.now, state.testers
    for index in range(now.entered, testers.size):
        is_new = testers[index].rung == NONE and not is_proposal(state, index)
        if is_new and missing_pair(state, index) != NONE:
            return index
    if testers.size < state.pools[state.pools.size - 1].members:
        return WIDEN
    return NONE


@compiled
def _choose_for_trial(state: State) -> int:
    """A run that helps to find the cap to begin with: see `ladder.seek_base`."""
    now, level = state.now, state.ladder.trial
    cap = cap_at(state.rules, level)
    for index in range(tried_first(state)):
        started = state.testers[index].started
        for pair in range(tried_pairs(state)):
            if pair < started and (
                is_known(state, index, pair, cap) or is_flying(state, index, pair)
            ):
                continue
            now.pair, now.level = pair, level
            return index
    return NONE
