"""The incumbent and the default side by side: how much faster is it?

That is what users ask first, and a search gives the default up early. So a share of the time is for
running both of them to the end, pair by pair, as soon as an incumbent has lasted: a quarter until
it is certified to be faster (`claims.py`), and a sixteenth from then on, which makes the certified
speed-up larger, until a finite set has been run to its end and it is known exactly. If it never is
certified, because the two are too close, a quarter is what is lost. These runs serve the search
as well.
"""

from __future__ import annotations

import math

from cunctator.core.claims import FASTER, claim_target, default_capital, upper_mean_of
from cunctator.core.climbing import is_flying
from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.known import (
    cap_at,
    charged_so_far,
    has_lasted,
    pairs_worth,
    proof_share,
    ramp,
)
from cunctator.core.sentinels import NONE, WHOLE
from cunctator.core.state import BESIDE, ENDLESS, State
from cunctator.core.values import value_at

SHARE, SHARE_AFTER = 0.25, 0.0625
"""Of the charged time, until the incumbent is certified to be faster, and from then on."""

LASTED = 0.5
"""An incumbent has lasted if it was that for this part of the charged time. One that comes and goes
would be run to the end for nothing."""

FEW_PAIRS, MANY_PAIRS = 4.0, 12.0
"""The share begins when everybody could have had the first number of runs, and is whole with the
second: before, all of the time is for finding somebody worth it ..."""

MOST_MEMBERS = 32
"""... where everybody is not more than so many: with pools that grow there are ever more."""

LOOK_GROWTH = 16
"""The certificate is looked at again when there is a sixteenth more to see."""


@compiled
def is_beside_due(state: State) -> bool:
    """Whether the incumbent and the default are to be run side by side."""
    now, rules = state.now, state.rules
    if now.incumbent == 0 or (math.isinf(rules.cutoff) and rules.instances == ENDLESS):
        return False
    share = SHARE_AFTER if now.faster == now.incumbent else SHARE
    members = min(now.last_entered + 1, MOST_MEMBERS)
    share *= ramp(pairs_worth(state, members), FEW_PAIRS, MANY_PAIRS) * proof_share(state)
    return bool(has_lasted(state, LASTED) and state.turns[BESIDE] < share * charged_so_far(state))


@compiled_apart
def choose_beside(state: State) -> int:
    """Of the two, the one that is behind, or NONE; `state.now` has its pair and level."""
    now = state.now
    ahead, behind = unfinished_pair(state, now.incumbent), unfinished_pair(state, 0)
    index, pair = (now.incumbent, ahead) if ahead <= behind else (0, behind)
    if pair == state.rules.instances:
        return NONE
    now.turn, now.pair, now.level = BESIDE, pair, level_to_end(state, index, pair)
    return int(index)


@compiled
def unfinished_pair(state: State, index: int) -> int:
    """The first pair that is neither known to its end nor in flight; or how many there are."""
    tester = state.testers[index]
    pair = tester.whole
    while pair < tester.started:
        if not value_at(state.values, index, pair) > 0.0 and not is_flying(state, index, pair):
            return int(pair)
        pair += 1
    return int(pair)


@compiled
def level_to_end(state: State, index: int, pair: int) -> int:
    """The level of the cutoff; without one, that of the next longer cap."""
    rules, level = state.rules, state.ladder.level[state.ladder.base_rung]
    if math.isinf(rules.cutoff):
        if pair < state.testers[index].started:
            while cap_at(rules, level) <= -value_at(state.values, index, pair):
                level += 1
        return int(level)
    while cap_at(rules, level) < rules.cutoff:
        level += 1
    return int(level)


@compiled
def note_whole(state: State, index: int) -> None:
    """Take into account that something new is known of a configuration."""
    tester, now = state.testers[index], state.now
    while tester.whole < tester.started and value_at(state.values, index, tester.whole) > 0.0:
        tester.whole += 1
    if now.incumbent in (0, now.faster) or index not in (0, now.incumbent):
        return
    pairs = min(state.testers[0].whole, state.testers[now.incumbent].whole)
    if pairs > 0 and pairs >= now.look_at:
        now.look_at = pairs + 1 + pairs // LOOK_GROWTH
        _look(state)


@compiled_apart
def _look(state: State) -> None:
    incumbent = state.now.incumbent
    upper = upper_mean_of(state, incumbent, WHOLE)
    if default_capital(state, incumbent, 1.0, upper) >= claim_target(state.rules, FASTER):
        state.now.faster = incumbent
