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

With pools that grow (`pools.py`) nobody is promoted: how many are looked at, and for how long, is
decided there.
"""

from __future__ import annotations

import math

from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.sentinels import NONE
from cunctator.core.state import RUNGS, SHORTLIST, State
from cunctator.core.tester import NOTHING, next_kind

LISTED_SHARE = 64
"""Of so many on a rung, one is on its shortlist: making it costs a look at all, and while it is
used up the rung changes by a few per cent at most."""


@compiled
def choose_promoted(state: State) -> int:
    """Whom to promote now, or NONE."""
    now, reached = state.now, state.ranks.reached
    index = now.promoted
    if index != NONE and state.rungs[index] < now.goal and next_kind(state, index) != NOTHING:
        return int(index)
    for rung in range(RUNGS - 2, 0, -1):
        if 2 * (reached[rung + 1] + 1) <= reached[rung]:
            index = _best_on(state, rung)
            if index != NONE:
                now.promoted, now.goal = index, rung + 1
                return int(index)
    return NONE


@compiled
def _best_on(state: State, rung: int) -> int:
    """The best on a rung, by its shortlist; NONE if none can be run."""
    ranks = state.ranks
    for attempt in range(2):
        while ranks.taken[rung] < ranks.listed[rung]:
            index = ranks.shortlist[rung, ranks.taken[rung]]
            ranks.taken[rung] += 1
            if _may_leave(state, index, rung):
                return int(index)
        if attempt == 0:
            _make_shortlist(state, rung)
    return NONE


@compiled
def _may_leave(state: State, index: int, rung: int) -> bool:
    """Whether a configuration is on a rung and can be run."""
    return bool(state.rungs[index] == rung) and next_kind(state, index) != NOTHING


@compiled_apart
def _make_shortlist(state: State, rung: int) -> None:
    """List those on a rung whose runs cost least, the best one first."""
    ranks, candidates = state.ranks, state.candidates
    shortlist, members = ranks.shortlist, ranks.reached[rung] - ranks.reached[rung + 1]
    room, count = max(1, min(SHORTLIST, members // LISTED_SHARE)), 0
    for index in range(state.testers.size):
        if state.rungs[index] != rung:
            continue
        price = price_of_run(state, index)
        place = min(count, room - 1)
        if count == room and price >= candidates[place].price:
            continue
        if next_kind(state, index) == NOTHING:  # last, since it has to look at most
            continue
        while place > 0 and price < candidates[place - 1].price:
            shortlist[rung, place] = shortlist[rung, place - 1]
            candidates[place].price = candidates[place - 1].price
            place -= 1
        shortlist[rung, place], candidates[place].price = index, price
        count = min(count + 1, room)
    ranks.taken[rung], ranks.listed[rung] = 0, count


@compiled
def price_of_run(state: State, index: int) -> float:
    """Seconds for each run that has come to its end, what was put off and restarted included.

    Not the mean of what is known: one of which little is known would have the least. A crash costs
    as much as a run to the cutoff, or nobody could afford it.
    """
    tester = state.testers[index]
    if tester.completed == 0:
        return math.inf
    seconds = tester.granted
    if tester.crashed > 0:
        seconds += tester.crashed * state.rules.cutoff
    return float(seconds / tester.completed)
