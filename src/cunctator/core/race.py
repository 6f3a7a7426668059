"""The race: what it takes to show that no other configuration is much better than the incumbent.

The incumbent is close to the best if it is close to each of its rivals, the configurations of a
pool; `claims.py` says when that has been shown. The targets fall, one after the other: not more
than 4 times as slow as any, twice, 1.5 times, and so on. At each, the rivals that it has not been
shown of are worked on, the most promising first: if one of them is better after all, the race has
been for nothing, and the sooner that is known the better. Each has a task: some more pairs, or a
longer cap for those that it has, whichever seems to get there with less time. So a rival is run no
longer than it takes to show it worse. The incumbent itself is run to the end, ahead of its rivals.

A rival that is better than the incumbent reaches its rung sooner or later, and is the incumbent
from then on (`climbing.py`); with a new incumbent the race begins anew. The less others look as if
they might be better, the larger is the share of the time for the race, and the less is left for
the search.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cunctator.core.beside import level_to_end, unfinished_pair
from cunctator.core.claims import (
    RIVAL_ALONE,
    RIVALS,
    answer_share,
    at_least,
    cap_weight,
    claim_cap,
    rival_capital,
    room_below,
    upper_mean_of,
)
from cunctator.core.climbing import is_flying
from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.games import after, gain_of, sum_of_all
from cunctator.core.known import (
    cap_at,
    charged_so_far,
    has_lasted,
    last_octave,
    least_mean,
    pairs_worth,
    proof_share,
    ramp,
    taken_for,
)
from cunctator.core.ladder import is_known
from cunctator.core.proposals import is_proposal
from cunctator.core.sentinels import NONE, WHOLE
from cunctator.core.state import BETS, MOST_OCTAVES, RACE, State
from cunctator.core.tournament import ROOT, set_key
from cunctator.core.values import value_at

LEAST_SHARE, MOST_SHARE = 0.25, 0.75
"""Of the charged time: the less while others may well be better than the incumbent ..."""

DOUBTFUL, CLEAR = 0.5, 2.0
"""... by less than the first number of standard errors slower; from the second on, the more."""

FEW_PAIRS, MANY_PAIRS = 5.0, 25.0
"""The share begins when everybody could have had the first number of runs, and is whole with the
second: before, hardly anything can be shown, and all of the time is for the search."""

LASTED = 0.25
"""Of the charged time: the race begins when the incumbent has been that for so long."""

TARGETS = (4.0, 2.0, 1.5, 1.2, 1.1, 1.05, 1.02, 1.01, 1.0)
"""How many times as slow as a rival the incumbent is at most."""

GROWTH = 1.1
"""By which a rival's pairs grow at a time, and those of the incumbent before all is looked at."""

CUT_OFF, OF_THAT = 0.1, 0.6
"""People ask for at most a tenth of the runs to be cut off; so this part of that is aimed at."""

LONGER = 1.7
"""What a run that reached a cap is expected to take, in caps."""

SLACK = 4.0
"""Evidence that is aimed at beyond what is needed: the best bet is not known beforehand."""


@compiled
def is_race_due(state: State) -> bool:
    """Whether the race is to have the next run."""
    now = state.now
    if now.racing == NONE or now.unbeaten == 0:
        return False
    share = LEAST_SHARE
    share += (MOST_SHARE - LEAST_SHARE) * ramp(state.by_ratio[ROOT].first, DOUBTFUL, CLEAR)
    share *= ramp(pairs_worth(state, now.race_size), FEW_PAIRS, MANY_PAIRS) * proof_share(state)
    return bool(state.turns[RACE] < share * charged_so_far(state))


@compiled_apart
def choose_in_race(state: State) -> int:
    """The most promising rival, or the incumbent if it is not ahead of it; or NONE."""
    now, testers = state.now, state.testers
    if math.isinf(state.by_race[ROOT].first):
        return NONE
    rival = state.by_race[ROOT].winner
    now.turn = RACE
    if testers[rival].race_pairs > testers[now.incumbent].whole:
        pair = unfinished_pair(state, now.incumbent)
        if pair < state.rules.instances:
            now.pair, now.level = pair, level_to_end(state, now.incumbent, pair)
            return int(now.incumbent)
    now.pair, now.level = task_pair(state, rival), testers[rival].race_level
    return int(rival)


@compiled
def task_pair(state: State, index: int) -> int:
    """The first pair that a rival's task lacks and that is not in flight, or NONE."""
    tester = state.testers[index]
    cap = cap_at(state.rules, tester.race_level)
    for pair in range(tester.race_pairs):
        if pair == tester.started:
            return pair
        if not is_known(state, index, pair, cap) and not is_flying(state, index, pair):
            return pair
    return NONE


@compiled
def rekey_rival(state: State, index: int) -> None:
    """Set the key by which it is decided whose turn it is; infinite for who has nothing to run."""
    key = math.inf
    if is_unbeaten(state, index) and task_pair(state, index) != NONE:
        key = state.testers[index].difference / state.testers[index].deviation
    set_key(state.by_race, index, key, 0.0)


@compiled
def is_unbeaten(state: State, index: int) -> bool:
    """Whether a configuration is a rival that has not been beaten at the target."""
    now = state.now
    if now.unbeaten == 0 or not _is_rival(state, index):
        return False
    return bool(state.testers[index].beaten <= now.race_target)


@compiled
def _is_rival(state: State, index: int) -> bool:
    """Whether a configuration is one of those that the incumbent is shown to be close to."""
    now = state.now
    if now.racing in (NONE, index) or index >= now.race_members:
        return False
    return not is_proposal(state, index)


@compiled
def note_in_race(state: State, index: int) -> None:
    """Take into account that something new is known of a configuration."""
    if not state.profile.has_ladder or state.ladder.made == 0:
        return
    now, members = state.now, _members(state)
    if now.racing == NONE or members != now.race_members:
        if members > 1 and has_lasted(state, LASTED):
            _begin_race(state, members)
    elif index == now.racing:
        if state.testers[index].whole >= now.race_look_at:
            _look_at_incumbent(state)
    elif is_unbeaten(state, index) and _is_task_done(state, index):
        judge(state, index)
        _fall(state)
    rekey_rival(state, index)


@compiled
def _members(state: State) -> int:
    """The size of the largest pool all of whose configurations have entered the ladder."""
    for pool in range(state.now.opened - 1, -1, -1):
        if state.pools[pool].members <= state.now.entered:
            return int(state.pools[pool].members)
    return 0


@compiled_apart
def _begin_race(state: State, members: int) -> None:
    now, testers = state.now, state.testers
    now.racing, now.race_members, now.race_size = now.incumbent, members, 0
    for index in range(members):
        if is_proposal(state, index):
            continue
        tester = testers[index]
        now.race_size += 1
        tester.beaten = tester.race_pairs = 0
        tester.race_level = max(tester.known_level, state.ladder.level[tester.rung])
    now.race_target = 0
    _look_at_incumbent(state)


@compiled_apart
def _look_at_incumbent(state: State) -> None:
    """Bring what is known of the incumbent up to date, and who is beaten."""
    now, testers = state.now, state.testers
    whole = testers[now.racing].whole
    now.race_look_at = 1 + int(GROWTH * whole)
    octave = least_octave(state, now.racing, CUT_OFF)
    if octave != now.race_octave:  # what was shown was shown for another cap
        for index in range(now.race_members):
            testers[index].beaten = 0
        now.race_octave, now.race_target = octave, 0
    now.race_upper = upper_mean_of(state, now.racing, octave)
    now.unbeaten = 0
    if not math.isinf(now.race_upper):  # otherwise there is nothing to be shown
        _judge_all(state)
        _fall(state)


@compiled
def least_octave(state: State, index: int, cut_off: float) -> int:
    """The least octave that few enough runs of a configuration are longer than for a share of at
    most `cut_off` to be certified.
    """
    rules = state.rules
    started = state.testers[index].whole
    octaves = MOST_OCTAVES if math.isinf(rules.cutoff) else last_octave(rules)
    for octave in range(octaves):
        cap, beyond = claim_cap(rules, octave), 0
        for pair in range(started):
            beyond += value_at(state.values, index, pair) > cap
        if beyond <= OF_THAT * cut_off * started - 1.0:
            return octave
    return WHOLE


@compiled
def _fall(state: State) -> None:
    """Go on to the next target as long as all rivals are beaten."""
    now = state.now
    while now.unbeaten == 0 and now.race_target + 1 < len(TARGETS):
        now.race_target += 1
        _judge_all(state)


@compiled_apart
def _judge_all(state: State) -> None:
    now = state.now
    now.unbeaten = 0
    for index in range(now.race_members):
        if _is_rival(state, index) and state.testers[index].beaten <= now.race_target:
            now.unbeaten += 1
            judge(state, index)
        rekey_rival(state, index)


@compiled_apart
def judge(state: State, index: int) -> None:
    """See whether a rival is beaten at the target, or give it another task."""
    now, tester = state.now, state.testers[index]
    ratio, target = TARGETS[now.race_target], 1.0 / (RIVALS * state.rules.error)
    is_beaten = now.race_upper <= ratio * least_mean(state, index)
    if not is_beaten:
        capital = rival_capital(
            state, now.racing, index, now.race_octave, ratio, now.race_upper, target
        )
        is_beaten = capital >= target
    if is_beaten:
        tester.beaten = now.race_target + 1
        now.unbeaten -= 1
    elif _is_task_done(state, index):
        _set_task(state, index, ratio, target)


@compiled
def _is_task_done(state: State, index: int) -> bool:
    tester = state.testers[index]
    cap = cap_at(state.rules, tester.race_level)
    if tester.started < tester.race_pairs:
        return False
    known = 0
    for pair in range(tester.race_pairs):
        known += is_known(state, index, pair, cap)
    return bool(known == tester.race_pairs)


@compiled
def _set_task(state: State, index: int, ratio: float, target: float) -> None:
    """More pairs up to the same cap, or a longer cap: whichever seems to be cheaper."""
    now, tester, rules = state.now, state.testers[index], state.rules
    pairs = min(tester.started, state.testers[now.racing].started)
    level = tester.race_level
    if pairs == rules.instances:
        # Nothing is left to begin, and for others' sake it may have been run longer than its task.
        level = max(level, tester.known_level)
    longer = level + 1
    pending = 0
    for pair in range(pairs):
        pending += not is_known(state, index, pair, cap_at(rules, longer))
    raised = pending > 0 and pairs == rules.instances
    if pending > 0 and not raised:
        stay = _time_needed(state, index, pairs, ratio, target, 0.0)
        climbing = _time_needed(state, index, pairs, ratio, target, cap_at(rules, longer))
        raised = math.isinf(stay) or climbing < stay
    tester.race_level = longer if raised else level
    tester.race_pairs = pairs
    if not raised:
        more = max(pairs + 1, int(GROWTH * pairs))
        tester.race_pairs = min(more, rules.instances)


@compiled_apart
def _time_needed(
    state: State, index: int, pairs: int, ratio: float, target: float, cap: float
) -> float:
    """Seconds that it may take to beat a rival, if its evidence goes on as it has grown so far.

    With a `cap`, pairs that have not been tried at it are tried first, and take a bit longer than
    the cap that they were tried at.
    """
    now, rules = state.now, state.rules
    logs = state.scratch.books
    for place in range(BETS):
        logs[0, place] = logs[1, place] = 0.0
    theta, upper = claim_cap(rules, now.race_octave), now.race_upper
    left = sum_of_all(rules.instances, upper / ratio)
    both = sum_of_all(rules.instances, theta)
    spent = first = 0.0
    for pair in range(pairs):
        value = value_at(state.values, index, pair)
        least = at_least(rules, value)
        seconds = min(least, rules.cutoff)
        if cap > 0.0 and value < 0.0 and least < cap:
            seconds = min(LONGER * least, rules.cutoff)
            first += seconds
            # Timeouts are seen under the cutoff only.
            least = seconds if cap < rules.cutoff else taken_for(rules, least, LONGER)
        spent += seconds
        if left > 0.0:
            _count(logs, 0, gain_of(rules.instances, pair, least, left))
        left = after(rules.instances, least, left)
        if both > 0.0 and theta < math.inf:
            paired = ratio * least + room_below(value_at(state.values, now.racing, pair), theta)
            _count(logs, 1, gain_of(rules.instances, pair, paired, both))
            both = after(rules.instances, paired, both)
    if left <= 0.0 or both <= 0.0:
        return first
    weight = (1.0 - RIVAL_ALONE) * cap_weight(rules, now.race_octave)
    weight *= answer_share(state, now.racing)
    grown = _best(logs, 0) / (math.log(target / RIVAL_ALONE) + SLACK)
    if weight > 0.0:
        grown = max(grown, _best(logs, 1) / (math.log(target / weight) + SLACK))
    return first + max(0.0, 1.0 - grown) / grown * spent if grown > 0.0 else math.inf


@compiled
def _count(logs: NDArray[np.float64], game: int, gain: float) -> None:
    """Add what each bet of a game wins on a pair."""
    fraction = 1.0
    for place in range(BETS):
        logs[game, place] += math.log(max(1e-300, 1.0 - fraction + fraction * gain))
        fraction *= 0.5


@compiled
def _best(logs: NDArray[np.float64], game: int) -> float:
    """What the best bet of a game has won."""
    most = logs[game, 0]
    for place in range(1, BETS):
        most = max(most, logs[game, place])
    return float(most)
