"""The games played on: how many pairs it takes to certify something, and how long their runs take.

Pairs to come are taken to be like those before, over and over in the same order, and the games of
`claims.py` are played on until enough has been won. That counts what is hard to put in a formula:
the price of the bets, the nominations to come, and that the rest of a finite set becomes known. A
run that was put off is expected to take some caps. The upper bound on a mean is taken to close in
on what was seen, like one over the root of the pairs.

The race has an estimate of its own (`race.py`), for whom to run next: it must be cheap after each
result, and only compares. This one is for people (`forecast.py`), now and then.
"""

from __future__ import annotations

import math

from cunctator.core.claims import (
    BEYOND,
    DEFAULT_ALONE,
    FASTER,
    MOST_PAIRS,
    RIVAL_ALONE,
    answer_share,
    at_least,
    cap_weight,
    claim_cap,
    claim_target,
    claim_weight,
    play_all,
    share_beyond,
    stake_on_answer,
    upper_mean_of,
)
from cunctator.core.closing import LONGER
from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.games import ROUNDING, after, gain_of, play, stake, sum_of_all
from cunctator.core.known import cap_at, least_mean
from cunctator.core.proposals import capital_begins, is_proposal
from cunctator.core.race import TARGETS, least_octave
from cunctator.core.sentinels import NONE, WHOLE
from cunctator.core.state import ENDLESS, State
from cunctator.core.values import value_at

FEWEST = 8
"""Pairs that two must have started: fewer say nothing of those to come."""

FARTHEST = 64
"""What takes more than so many times the pairs that were seen is not in sight."""

ROUNDS = 3
"""How often it is asked how many pairs it takes, given the upper bound after so many. The first
answer is too low, the second too high, the third in between."""


@compiled
def _expected(state: State, index: int, pair: int, cap: float) -> float:
    """What is expected to be known of a runtime from below, were its pair tried up to a cap."""
    value = value_at(state.values, index, pair)
    least = at_least(state.rules, value)
    return least if value > 0.0 or least >= cap else min(LONGER * least, cap)


@compiled
def _mean_expected(state: State, index: int, cap: float) -> float:
    """The mean over all started pairs of what is expected to be known, up to a cap."""
    total, started = 0.0, state.testers[index].started
    for pair in range(started):
        total += min(cap, _expected(state, index, pair, cap))
    return total / started


@compiled_apart
def _seconds_needed(state: State, index: int, pairs: int, cap: float) -> float:
    """Seconds until the first so many pairs of a configuration have been tried up to a cap."""
    started = state.testers[index].started
    left = mean = 0.0
    for pair in range(started):
        value = value_at(state.values, index, pair)
        if not math.isinf(value):  # nobody knows how long another crash would take
            expected = min(_expected(state, index, pair, cap), state.rules.cutoff)
            mean += expected / started
            if pair < pairs and value <= 0.0 and at_least(state.rules, value) < cap:
                left += expected
    return left + max(0, pairs - started) * mean


@compiled
def _later_upper(state: State, index: int, upper: float, mean: float, pairs: int) -> float:
    """What an upper bound on a mean is expected to be when so many pairs are known to the end."""
    known, instances = max(1, state.testers[index].whole), state.rules.instances
    if pairs <= known or upper <= mean:
        return upper
    left = known / pairs
    if instances != ENDLESS:
        left *= (instances - pairs) / (instances - known)
    return mean + (upper - mean) * math.sqrt(left)


@compiled
def _farthest(state: State, seen: int) -> int:
    """How many pairs are looked at, if so many have been seen."""
    instances = state.rules.instances
    return min(MOST_PAIRS, FARTHEST * seen if instances == ENDLESS else instances)


@compiled_apart
def _pairs_needed(
    state: State,
    slow: int,
    quick: int,
    octave: int,
    ratio: float,
    upper: float,
    games: int,
    alone: float,
    enough: float,
    cap: float,
) -> int:
    """After how many pairs the capital is enough for: the mean of one up to a cap is at most
    `ratio` times the mean of another; see `claims.py`. If it never is, one more than are looked at.

    Pairs of the slow one are tried up to `cap`, those of the quick one to the end.
    """
    rules, scratch = state.rules, state.scratch
    instances, theta = rules.instances, claim_cap(rules, octave)
    seen = min(state.testers[slow].started, state.testers[quick].started)
    most = _farthest(state, seen)
    stake(scratch.books, games, alone)
    left = whole = sum_of_all(instances, upper / ratio)
    left_of_both = both = sum_of_all(instances, theta)
    for pair in range(most):
        least, capital = _expected(state, slow, pair % seen, cap), 0.0
        if games > 0:
            room = theta - _expected(state, quick, pair % seen, rules.cutoff)
            value = ratio * least + max(0.0, room)
            if left_of_both > ROUNDING * both:
                gain = gain_of(instances, pair, value, left_of_both)
                capital += play_all(state, games, pair, gain)
            left_of_both = after(instances, value, left_of_both)
        if left > ROUNDING * whole:
            capital += play(scratch.books, games, gain_of(instances, pair, least, left))
        left = after(instances, least, left)
        is_certain = left < -ROUNDING * whole or left_of_both < -ROUNDING * both
        if is_certain or capital >= enough:
            return pair + 1
    return most + 1


@compiled_apart
def runs_to_be_faster(state: State, answer: int) -> tuple[float, int]:
    """Seconds of runs of answer and default, and their pairs, until the one is certified to be
    faster; infinite if that is not in sight, not a number if nothing can be said.
    """
    rules, testers = state.rules, state.testers
    seen = min(testers[0].started, testers[answer].started)
    is_hopeless = rules.instances == ENDLESS and math.isinf(rules.cutoff)
    if answer == 0 or is_hopeless or seen < min(FEWEST, rules.instances):
        return math.nan, 0
    most = _farthest(state, seen)
    pairs = most
    if not math.isinf(rules.cutoff):
        upper = upper_mean_of(state, answer, WHOLE)
        mean = _mean_expected(state, answer, rules.cutoff)
        for _ in range(ROUNDS):
            later = _later_upper(state, answer, upper, mean, pairs)
            games = stake_on_answer(state, answer, 1.0 - DEFAULT_ALONE, True)
            alone, enough = DEFAULT_ALONE, claim_target(rules, FASTER)
            needed = _pairs_needed(
                state, 0, answer, WHOLE, 1.0, later, games, alone, enough, rules.cutoff
            )
            if needed > most and rules.instances == ENDLESS:
                return math.inf, 0
            pairs = min(needed, most)
    if pairs == most and rules.instances != ENDLESS:
        pairs = rules.instances
    seconds = _seconds_needed(state, 0, pairs, rules.cutoff)
    return seconds + _seconds_needed(state, answer, pairs, rules.cutoff), pairs


@compiled_apart
def _pairs_for_share(state: State, answer: int, octave: int, delta: float) -> int:
    """After how many pairs it is certified that a share of at most delta is longer than a cap."""
    rules = state.rules
    cap = claim_cap(rules, octave)
    if share_beyond(state, answer, octave) <= delta:
        return 0
    started = state.testers[answer].started
    most = _farthest(state, started)
    games = stake_on_answer(state, answer, claim_weight(rules, BEYOND, octave), True)
    left = whole = sum_of_all(rules.instances, 1.0 - delta)
    for pair in range(most):
        value = 1.0 if _expected(state, answer, pair % started, rules.cutoff) <= cap else 0.0
        capital = 0.0
        if left > ROUNDING * whole:
            gain = gain_of(rules.instances, pair, value, left)
            capital = play_all(state, games, pair, gain)
        left = after(rules.instances, value, left)
        if left < -ROUNDING * whole or capital >= claim_target(rules, BEYOND):
            return pair + 1
    return most + 1


@compiled_apart
def runs_to_be_close(state: State, ratio: float, delta: float, target: float) -> float:
    """Seconds of runs until the incumbent is certified to be at most `ratio` times as slow as any
    of its rivals, with a share of at most delta of its runs cut off; `target` is the capital.

    Infinite if that is not in sight, not a number if nothing can be said.
    """
    now, rules = state.now, state.rules
    if now.racing == NONE or now.racing != now.incumbent:
        return math.nan
    octave = least_octave(state, now.racing, delta)
    upper = upper_mean_of(state, now.racing, octave)
    if math.isinf(upper):
        return math.nan
    mean = _mean_expected(state, now.racing, claim_cap(rules, octave))
    most = _farthest(state, state.testers[now.racing].started)
    own = _pairs_for_share(state, now.racing, octave, delta)
    _, pairs = _rivals_need(state, octave, ratio, upper, target)
    later = _later_upper(state, now.racing, upper, mean, min(most, max(own, pairs)))
    seconds, pairs = _rivals_need(state, octave, ratio, later, target)
    pairs = max(own, pairs)
    if pairs > most and rules.instances == ENDLESS:
        return math.inf
    pairs = min(pairs, rules.instances)
    return seconds + _seconds_needed(state, now.racing, pairs, rules.cutoff)


@compiled_apart
def _rivals_need(
    state: State, octave: int, ratio: float, upper: float, target: float
) -> tuple[float, int]:
    """Seconds of runs of all rivals, and the most pairs of any, until none is in question."""
    now, testers = state.now, state.testers
    total, most, reached = 0.0, 0, 0
    while reached < len(TARGETS) and TARGETS[reached] > ratio:
        reached += 1
    for index in range(now.race_members):
        is_beaten = octave == now.race_octave and testers[index].beaten > reached
        if index == now.racing or is_beaten or testers[index].started == 0:
            continue
        if is_proposal(state, index):
            continue
        if upper <= ratio * least_mean(state, index):
            continue
        longer = cap_at(state.rules, testers[index].race_level + 1)
        seconds, pairs = _rival_needs(state, index, octave, ratio, upper, target, 0.0)
        climbing, others = _rival_needs(state, index, octave, ratio, upper, target, longer)
        if climbing < seconds:
            seconds, pairs = climbing, others
        total += seconds
        most = max(most, pairs)
    return total, most


@compiled
def _rival_needs(
    state: State,
    index: int,
    octave: int,
    ratio: float,
    upper: float,
    target: float,
    cap: float,
) -> tuple[float, int]:
    """Seconds of runs of a rival, and its pairs, until it is not in question any more, if pairs are
    tried up to `cap`, or as long as they have been if that is shorter.
    """
    rules, answer = state.rules, state.now.racing
    weight = (1.0 - RIVAL_ALONE) * cap_weight(rules, octave)
    stake(state.scratch.books, 0, weight * answer_share(state, answer))
    state.scratch.begins[0] = capital_begins(state, answer)
    games = 1 if weight > 0.0 else 0
    pairs = _pairs_needed(
        state, index, answer, octave, ratio, upper, games, RIVAL_ALONE, target, cap
    )
    if pairs > _farthest(state, min(state.testers[index].started, state.testers[answer].started)):
        if rules.instances == ENDLESS:
            return math.inf, pairs
        pairs, cap = rules.instances, rules.cutoff
    return _seconds_needed(state, index, pairs, cap), pairs
