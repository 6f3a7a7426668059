"""Promotions: of all that have had as much time, the better half gets as much again.

An index judges a configuration by its own runs. Where runtimes differ a hundredfold from instance
to instance and configurations by a tenth, that keeps nearly all of them in the race for hundreds
of runs. But all of them run the same instances in the same order: whoever has had the same time
has seen about the same instances, and what they cost compares much better than bounds do. That is
what successive halving lives on, and this is successive halving without rounds or a budget, as in
ASHA (L. Li et al., "A System for Massively Parallel Hyperparameter Tuning", MLSys 2020), with time
in the place of runs, so that what is long is still put off.

Rung k is reached with first_cap 2^(k - 1) seconds. While fewer than half of those who have reached
a rung have reached the next one, the best of those who have not is promoted: it is run until it
has. Higher rungs come first. When nobody is to be promoted, the sharper index decides whom to run,
so that a clear winner is not kept waiting. Bounds and certificates hold for any schedule.

With pools that grow (`ladder.py`) nobody is promoted: how many are looked at, and for how long, is
decided there.
"""

from __future__ import annotations

import math

from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.slabs import NONE
from cunctator.core.state import RUNGS, State
from cunctator.core.tester import NOTHING, next_kind

INDEX, GOAL = 0, 1
"""Places in `Ranks.promoted`."""

TAKEN, LISTED = 0, 1
"""Columns of `Ranks.listed`."""

LISTED_SHARE = 64
"""Of so many on a rung, one is on its shortlist: making it costs a look at all, and while it is
used up the rung changes by a few per cent at most."""


@compiled
def choose_promoted(state: State) -> int:
    """Whom to promote now, or NONE."""
    promoted, reached = state.ranks.promoted, state.ranks.reached
    index, goal = promoted[INDEX], promoted[GOAL]
    if index != NONE and state.testers.rung[index] < goal and next_kind(state, index) != NOTHING:
        return int(index)
    for rung in range(RUNGS - 2, 0, -1):
        if 2 * (reached[rung + 1] + 1) <= reached[rung]:
            index = _best_on(state, rung)
            if index != NONE:
                promoted[INDEX], promoted[GOAL] = index, rung + 1
                return int(index)
    return NONE


@compiled
def _best_on(state: State, rung: int) -> int:
    """The best on a rung, by its shortlist; NONE if none can be run."""
    shortlist, listed = state.ranks.shortlist[rung], state.ranks.listed[rung]
    for attempt in range(2):
        while listed[TAKEN] < listed[LISTED]:
            index = shortlist[listed[TAKEN]]
            listed[TAKEN] += 1
            if _may_leave(state, index, rung):
                return int(index)
        if attempt == 0:
            _make_shortlist(state, rung)
    return NONE


@compiled
def _may_leave(state: State, index: int, rung: int) -> bool:
    """Whether a configuration is on a rung and can be run."""
    return state.testers.rung[index] == rung and next_kind(state, index) != NOTHING


@compiled_apart
def _make_shortlist(state: State, rung: int) -> None:
    """List those on a rung whose runs cost least, the best one first."""
    shortlist, listed = state.ranks.shortlist[rung], state.ranks.listed[rung]
    prices, reached = state.candidate_means, state.ranks.reached
    members = reached[rung] - reached[rung + 1]
    room, count = max(1, min(shortlist.size, members // LISTED_SHARE)), 0
    for index in range(state.testers.rung.size):
        if not _may_leave(state, index, rung):
            continue
        price = price_of_run(state, index)
        place = min(count, room - 1)
        if count == room and price >= prices[place]:
            continue
        while place > 0 and price < prices[place - 1]:
            shortlist[place], prices[place] = shortlist[place - 1], prices[place - 1]
            place -= 1
        shortlist[place], prices[place] = index, price
        count = min(count + 1, room)
    listed[TAKEN], listed[LISTED] = 0, count


@compiled
def price_of_run(state: State, index: int) -> float:
    """Seconds for each run that has come to its end, what was put off and restarted included.

    Not the mean of what is known: one of which little is known would have the least. A crash costs
    as much as a run to the cutoff, or nobody could afford it.
    """
    testers = state.testers
    if testers.completed[index] == 0:
        return math.inf
    seconds = testers.granted[index]
    if testers.crashed[index] > 0:
        seconds += testers.crashed[index] * state.rules.cutoff
    return float(seconds / testers.completed[index])
