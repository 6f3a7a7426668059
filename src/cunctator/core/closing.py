"""Closing: what the last part of a budget is for.

A search that has no end of time puts long runs off, and may do so for ever. One whose budget is
about to end should not: an answer that rests on runs up to an eighth of the cutoff, while most of
its mean lies beyond that, is a guess. So whoever knows the budget tells the search when it is time
to close (`is_closing_due`), and from then on

    the incumbent runs to the end what was put off, over the pairs that it is known on;
    the default catches up with it, and so do the last contenders, the most promising first, as long
    as they may still be better;
    then the incumbent goes on with some more pairs, all of them run to the end, and so on.

On a finite set that ends with the last pair, so that the speed-up over the default is known
exactly, and nobody becomes the incumbent who has not run all of it.

For this the ladder is turned to the cutoff: its next rung has the pairs of the incumbent's, up to
the cutoff, and those above it have more pairs. Who is the incumbent is decided there as on any
rung. When the rest of the budget has no use for any of this, or there is more time after all, the
search goes on as before, on the ladder as it is now.
"""

from __future__ import annotations

import math

from cunctator.core.beside import choose_beside, level_to_end, unfinished_pair
from cunctator.core.claims import at_least
from cunctator.core.climbing import climb
from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.known import cap_at
from cunctator.core.sentinels import NONE
from cunctator.core.state import CLOSING, ENDLESS, RUNGS, State
from cunctator.core.values import value_at

MOST = 0.5
"""Of a budget: closing does not begin before the rest has been spent."""

SLACK = 2.0
"""It begins when so many times what it is expected to take is left: the incumbent may change."""

PROOF = 0.25
"""Of a budget: the last part, in which there is time for proof even if closing takes less ..."""

EARLY_PROOF = 0.25
"""... so that before it, proof may do with this part of its usual time: all the more is left for
finding a better answer. `benchmarks/budgets.py` measures what that gains."""

CONTENDERS, MAY_BE_BETTER = 1, 0.5
"""So many others are run to the end with the incumbent, if they are slower by so many standard
errors at most. (On subsets of the table `minisat`, when closing had at most 0.4 of a budget, with 3
and 1.0 a speed-up over the default was certified in 32 to 89% of studies of 500 to 2,000 default
runs, with these and the slack above in 62 to 98%. On other instances the answers of the former were
faster by less than a hundredth.)"""

LONGER = 3.0
"""What a run that was put off is expected to take, in caps."""


@compiled_apart
def set_closing(state: State, is_closing: bool) -> None:
    """Begin to close, or go back to the search: there is more time after all."""
    now = state.now
    now.closing = is_closing
    now.closing_rung = NONE
    if is_closing and state.profile.has_ladder and state.ladder.made > 0:
        _turn_to_the_cutoff(state)


@compiled_apart
def _turn_to_the_cutoff(state: State) -> None:
    """Make the next rung one of the same pairs as the incumbent's, up to the cutoff."""
    now, ladder, rules = state.now, state.ladder, state.rules
    rung = state.testers[now.incumbent].rung
    if rung < ladder.base_rung or rung + 2 >= RUNGS or math.isinf(rules.cutoff):
        return  # hardly anything has been compared yet; or nobody knows when runs end
    if cap_at(rules, ladder.level[rung]) >= rules.cutoff:
        now.closing_rung = rung
        return
    for place in range(rung + 1, RUNGS):
        ladder.unsolved[place] = ladder.clipped[place] = 0.0
        ladder.measured[place] = ladder.variances[place] = 0.0
    now.closing_rung = rung + 1
    ladder.made, ladder.top = rung + 2, RUNGS
    ladder.pairs[rung + 1], ladder.wanted[rung + 1] = ladder.pairs[rung], rules.cutoff
    level = ladder.level[rung]
    while cap_at(rules, level) < rules.cutoff:
        level += 1
    ladder.level[rung + 1] = level
    for index in range(now.last_entered + 1):
        tester = state.testers[index]
        if tester.rung > rung:
            now.compared_pairs -= ladder.pairs[tester.rung] - ladder.pairs[rung]
            tester.rung = rung
        if tester.rung == rung:
            tester.covered = 0
    for index in range(now.last_entered + 1):
        if state.testers[index].rung == rung:
            climb(state, index)


@compiled_apart
def choose_to_close(state: State) -> int:
    """Whose run is to be made next, or NONE; `state.now` has its pair and level."""
    now = state.now
    rung = state.testers[now.incumbent].rung
    if NONE not in (now.closing_rung, rung):
        goal = max(rung, now.closing_rung)
        for index in (now.incumbent, 0, _contender(state, goal)):
            if index != NONE and _has_more(state, index, state.ladder.pairs[goal]):
                return int(index)
        may_go_on = now.incumbent != 0 and rung == goal and rung < state.ladder.top
        if may_go_on and _has_more(state, now.incumbent, state.ladder.pairs[rung + 1]):
            return int(now.incumbent)
    if now.incumbent == 0 or (math.isinf(state.rules.cutoff) and state.rules.instances == ENDLESS):
        return NONE  # there is nothing to show
    index = choose_beside(state)
    if index != NONE:
        now.turn = CLOSING
    return index


@compiled
def _has_more(state: State, index: int, pairs: int) -> bool:
    """Whether a configuration has something to run of the first pairs, and if so, what."""
    now, pair = state.now, unfinished_pair(state, index)
    if pair >= pairs:
        return False
    now.turn, now.pair, now.level = CLOSING, pair, level_to_end(state, index, pair)
    return True


@compiled
def _contender(state: State, goal: int) -> int:
    """The most promising of those who have come nearly as far as the incumbent, or NONE."""
    now, best, least, closed = state.now, NONE, MAY_BE_BETTER, 0
    for index in range(1, now.last_entered + 1):
        tester = state.testers[index]
        if index == now.incumbent or tester.rung < now.closing_rung - 2:
            continue
        if tester.rung >= goal:
            closed += 1
        elif tester.difference < least * tester.deviation and _may_be_better(state, index, goal):
            best, least = index, tester.difference / tester.deviation
    return best if closed < CONTENDERS else NONE


@compiled
def _may_be_better(state: State, index: int, goal: int) -> bool:
    """Whether what is known of a contender leaves it a chance on a rung of the incumbent's."""
    total = 0.0
    pairs = state.ladder.pairs[goal]
    for pair in range(min(pairs, state.testers[index].started)):
        total += at_least(state.rules, value_at(state.values, index, pair))
    return bool(total < state.now.incumbent_mean * pairs)


@compiled_apart
def seconds_until_closing(state: State, left: float, whole: float) -> float:
    """How much of what is left of a budget is spent before it is time to close; infinite if that
    cannot be said yet.
    """
    if not state.profile.has_ladder or state.ladder.made == 0 or math.isinf(left):
        return math.inf
    needed = min(MOST * whole, SLACK * _time_to_close(state))
    if state.rules.early_proof < 1.0:
        needed = max(needed, PROOF * whole)
    return max(0.0, left - needed)


@compiled
def is_closing_due(state: State, left: float, whole: float) -> bool:
    """Whether it is time to close, with so many seconds left of a budget."""
    return seconds_until_closing(state, left, whole) <= 0.0


@compiled
def _time_to_close(state: State) -> float:
    """How many seconds closing is expected to take."""
    now, rules = state.now, state.rules
    rung = state.testers[now.incumbent].rung
    if rung == NONE:
        return 0.0
    pairs = state.ladder.pairs[rung]
    both = pairs if rules.instances == ENDLESS or now.incumbent == 0 else rules.instances
    total = _time_to_end(state, now.incumbent, both)
    if now.incumbent != 0:
        total += _time_to_end(state, 0, both)
    contenders = 0
    for index in range(1, now.last_entered + 1):
        tester = state.testers[index]
        is_near = tester.rung >= rung - 1 and tester.difference < MAY_BE_BETTER * tester.deviation
        if is_near and index != now.incumbent and contenders < CONTENDERS:
            contenders += 1
            total += _time_to_end(state, index, pairs)
    return total


@compiled_apart
def _time_to_end(state: State, index: int, pairs: int) -> float:
    """Seconds until the first pairs, so many, of a configuration are known to their end."""
    tester, rules = state.testers[index], state.rules
    seen = ended = left = 0.0
    for pair in range(min(pairs, tester.started)):
        value = value_at(state.values, index, pair)
        if value > 0.0:
            ended += min(value, rules.cutoff) if not math.isinf(value) else 0.0
        else:
            left += min(LONGER * at_least(rules, value), rules.cutoff)
        seen += 1.0
    others = max(0, pairs - tester.started)
    mean = (ended + left) / seen if seen > 0.0 else state.now.incumbent_seconds
    return left + others * mean
