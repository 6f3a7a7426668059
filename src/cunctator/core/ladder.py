"""The ladder: which pairs, and up to which cap, configurations are compared over.

All configurations run the same pairs in the same order, so two of them are compared over the same
pairs up to the same cap. A rung says over which: the first so many pairs, up to the cap of a level.
Each rung has half as many pairs again as the one before (a factor of sqrt 2), and sooner or later a
longer cap. There is one ladder for all; who climbs it, `climbing.py` and `search.py` say.

The first cap. Under a cap at which nothing is solved, all configurations are the same, and above
one at which most runs are solved there is nothing to see. So a few configurations run a few pairs
each, under longer and longer caps, until one of them solves most of its pairs. That is the cap of
the base rung; below it there are rungs of as few pairs and shorter caps, for the time when better
configurations have been found, which solve half of their runs under a shorter cap. Newcomers enter
the ladder there: whoever is to become the incumbent should solve something within that cap.

Longer caps. A rung may cost more because it has more pairs, or because its runs are longer. If few
of the seconds on a rung were spent on runs that reached the cap, a longer cap costs little; so the
cap grows by a factor of 1.25 to the power of 1/phi for each rung, where phi is their share. Without
a cutoff, a cap that no run has reached stays.
"""

from __future__ import annotations

import math

from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.known import cap_at
from cunctator.core.rules import timeout_value
from cunctator.core.state import RUNGS, State
from cunctator.core.values import CRASHED_PAIR, NOT_YET, value_at

FIRST_PAIRS = 3
"""Of the lowest rungs. With fewer, good ones are missed; with more, everybody costs more."""

PAIRS_GROWTH = math.sqrt(2.0)
CAP_GROWTH = 1.25
LEAST_UNSOLVED = 0.05
"""phi is not taken for less than this."""

TRIED, TRIED_PAIRS, MOST = 4, 8, 0.75
"""To find the first cap: configurations, pairs of each, and the share that one of them solves."""

TRIAL_STEP = 2
"""Levels between the caps that are tried for that, and between those of the rungs below it."""

LONGEST_TRIAL = 1 / 16
"""Of the cutoff: the first cap is not longer."""

MOST_LEVELS = 40
"""Without a cutoff, the first cap is not longer than 2^40 times the shortest."""

HALF = 0.5
LOOKED_AT = 64
"""Newcomers enter at the lowest cap within which the incumbent solves half of its first pairs."""


@compiled
def is_known(state: State, index: int, pair: int, cap: float) -> bool:
    """Whether a pair that has been started is known up to a cap."""
    value = value_at(state.values, index, pair)
    return value > 0.0 or (value != NOT_YET and -value >= cap)


@compiled
def solved_within(state: State, index: int, pair: int, cap: float) -> bool:
    """Whether a pair that has been started is known to be solved within a cap."""
    value = value_at(state.values, index, pair)
    return 0.0 < value <= cap and value != CRASHED_PAIR and value < timeout_value(state.rules)


@compiled
def tried_first(state: State) -> int:
    """How many configurations the first cap is found with."""
    return min(TRIED, state.pools[0].members)


@compiled
def tried_pairs(state: State) -> int:
    """How many pairs of each."""
    return min(TRIED_PAIRS, state.rules.instances)


@compiled_apart
def seek_base(state: State) -> bool:
    """Begin the ladder, if what has been run shows which cap to begin with; or try a longer one."""
    ladder, rules, size = state.ladder, state.rules, tried_pairs(state)
    while True:
        cap, all_known, all_ended = cap_at(rules, ladder.trial), True, True
        for index in range(tried_first(state)):
            known = solved = crashed = 0
            for pair in range(min(size, state.testers[index].started)):
                known += is_known(state, index, pair, cap)
                solved += solved_within(state, index, pair, cap)
                crashed += value_at(state.values, index, pair) == CRASHED_PAIR
            all_known = all_known and known == size
            all_ended = all_ended and solved + crashed == size
            if known == size and solved >= MOST * size:
                _begin_ladder(state)
                return True
        if not all_known:
            return False
        longer = ladder.trial + TRIAL_STEP
        is_long = longer > MOST_LEVELS or cap_at(rules, longer) > LONGEST_TRIAL * rules.cutoff
        if all_ended or is_long:  # what has crashed is not solved under a longer cap either
            _begin_ladder(state)
            return True
        ladder.trial = longer


@compiled
def _begin_ladder(state: State) -> None:
    """The base rung, those below it, and the next one."""
    ladder, rules = state.ladder, state.rules
    base = ladder.trial // TRIAL_STEP
    for rung in range(base + 1):
        ladder.pairs[rung] = min(FIRST_PAIRS, rules.instances)
        ladder.level[rung] = ladder.trial - TRIAL_STEP * (base - rung)
        ladder.wanted[rung] = cap_at(rules, ladder.level[rung])
    ladder.base_rung = ladder.entry = base
    ladder.made = base + 1
    # What was seen while the first cap was sought is all that is known of the base rung.
    cap, size = cap_at(rules, ladder.trial), tried_pairs(state)
    for index in range(tried_first(state)):
        for pair in range(min(size, state.testers[index].started)):
            if is_known(state, index, pair, cap):
                count_pair(state, index, pair, base)
    make_rung(state)


@compiled
def count_pair(state: State, index: int, pair: int, rung: int) -> None:
    """Count a pair that is known up to a rung's cap for what is seen on that rung."""
    ladder, cap = state.ladder, cap_at(state.rules, state.ladder.level[rung])
    if solved_within(state, index, pair, cap):
        ladder.clipped[rung] += value_at(state.values, index, pair)
    else:
        ladder.clipped[rung] += cap
        ladder.unsolved[rung] += 1.0


@compiled
def make_rung(state: State) -> None:
    """Make the rung above the highest one, unless that is the top."""
    ladder, rules, rung = state.ladder, state.rules, state.ladder.made
    below = rung - 1
    is_whole = ladder.pairs[below] == rules.instances
    if (is_whole and cap_at(rules, ladder.level[below]) >= rules.cutoff) or rung == RUNGS:
        ladder.top = below
        return
    wanted, level, share = ladder.wanted[below], ladder.level[below], _unsolved_share(state, below)
    # Without a cutoff there is no end of longer caps: one that nobody has reached is long enough.
    if share > 0.0 or not math.isinf(rules.cutoff):
        wanted *= CAP_GROWTH ** (1.0 / max(LEAST_UNSOLVED, share))
    if is_whole:  # there is nothing else left that may grow
        wanted = max(wanted, math.ldexp(rules.first_cap, int(level + 1)))
    while cap_at(rules, level) < rules.cutoff and (
        math.ldexp(rules.first_cap, int(level + 1)) <= wanted
    ):
        level += 1
    ladder.level[rung], ladder.wanted[rung] = level, min(wanted, rules.cutoff)
    pairs = math.ceil(min(ladder.pairs[below] * PAIRS_GROWTH, 1.0 * rules.instances))
    ladder.pairs[rung] = min(pairs, rules.instances)
    ladder.made = rung + 1


@compiled
def _unsolved_share(state: State, rung: int) -> float:
    """phi: of the seconds on rungs of the same cap, those of runs that reached it."""
    ladder = state.ladder
    cap, unsolved, clipped = cap_at(state.rules, ladder.level[rung]), 0.0, 0.0
    while rung >= 0 and cap_at(state.rules, ladder.level[rung]) == cap:
        unsolved += ladder.unsolved[rung]
        clipped += ladder.clipped[rung]
        rung -= 1
    if clipped == 0.0:
        return 1.0
    return min(1.0, unsolved * cap / clipped)


@compiled_apart
def find_entry(state: State) -> None:
    """Find the rung that newcomers are to reach: the lowest where the incumbent solves half."""
    ladder, incumbent = state.ladder, state.now.incumbent
    rung = state.testers[incumbent].rung
    ladder.entry = ladder.base_rung
    size = min(ladder.pairs[rung], LOOKED_AT)
    while ladder.entry > 0:
        cap, solved = cap_at(state.rules, ladder.level[ladder.entry - 1]), 0
        for pair in range(size):
            solved += solved_within(state, incumbent, pair, cap)
        if solved < HALF * size:
            return
        ladder.entry -= 1
