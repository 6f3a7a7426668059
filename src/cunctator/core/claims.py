"""What is claimed of an answer, and the capital that games about it have won (`games.py`).

R_i is the runtime of configuration i, not below first_cap; what a timeout counts (the cutoff, or
several times that) for timeouts and crashes. The cap theta is that too (`WHOLE`), or an octave
first_cap 2^g below the cutoff. Of each pair, Y <= R
stands for what is known from below: the runtime, or the longest cap that was tried, or first_cap
while the first run is in flight. X, with min(X, theta) >= min(R, theta), stands for what is known
from above: the runtime, or theta. All configurations run the same pairs in the same order.

- *The mean of min(R_i, theta) is below u*: V = theta - min(X_i, theta), price theta - u.
- *The share of runs beyond theta is below s*: V = 1 if R_i <= theta is known, else 0; price 1 - s.
- *At most so many times as fast as the default*, mean R_0 <= rho mean R_i: with a timeout as
  theta, V = rho Y_i + theta - min(X_0, theta) at the price theta.

The answer i is chosen by the data. So half of the capital of each of these is spread over all
configurations (`answer_share`) and half over nominations (`nominations.py`), and the first two have
some for each theta, fixed in advance. Whatever the answer, its capital is part of one
supermartingale.

- *Faster than the default*, mean R_i <= rho mean R_0: most of the capital, divided in the same way,
  on V = rho Y_0 + theta - min(X_i, theta) at the price theta, a timeout; the rest on V = Y_0 at
  the price u / rho, u the upper bound on mean R_i. If u holds and the claim is false, that price is
  mean R_0 or more, whatever i is: this part has no choice to pay for.
- *Close to the best*, mean min(R_i, theta) <= rho mean R_k for a rival k: the same, with capital by
  theta and i for the first part. Both parts together are one supermartingale, about k alone. If k
  is not the best of all, the claim may be false of it and do no harm: so only one rival counts, and
  there is no union over them.

This needs: the best of a pool and the default are what they are whatever comes out of runs. So what
is proposed because of results may be an answer but never a rival, and its capital is put on pairs
that nobody had started when it was proposed (`proposals.py`). Caps are fixed in advance, pairs come
in one random order, and a repeated run keeps its pair's seed. `docs/algorithm.md` has the proofs.
"""

from __future__ import annotations

import math

from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.games import ROUNDING, after, capital_of, gain_of, play, stake, sum_of_all
from cunctator.core.known import is_exact, last_octave, least_mean, mean_runtime, octave_cap
from cunctator.core.nominations import nomination_pairs, nomination_weight
from cunctator.core.proposals import capital_begins, is_proposal
from cunctator.core.rules import Rules, timeout_value
from cunctator.core.runtimes import below
from cunctator.core.sentinels import NONE, WHOLE
from cunctator.core.state import ENDLESS, MOST_NOMINATIONS, State
from cunctator.core.tight import OPEN_SHARE, error_share
from cunctator.core.values import value_at

FASTER, SLOWER, MEAN, BEYOND = 0, 1, 2, 3
"""Claims about an answer alone, or about it and the default."""

ERROR_SHARES = (0.25, 0.05, 0.1, 0.1)
"""Of the error, for each of them."""

RIVALS = 0.5
"""Of the error, for being close to the best."""

RIVAL_ALONE = 0.4
"""Of the capital against a rival, the part that is put on the rival's runs alone ..."""

DEFAULT_ALONE = 0.2
"""... and of that against the default, which is run beside the answer more often."""

SPREAD = 0.5
"""Of the capital of a claim about an answer, the part for whatever it is; the rest is nominated."""

PROPOSED = 0.5
"""Of what is spread, the part for proposals, if there may be any."""

PRECISION = 5e-4
"""Of bounds, relative; they are on the safe side by this at most."""

MOST_PAIRS = 2**17
"""Later ones do not count, which is valid: a certificate after millions takes no minutes."""

SMALLEST = 1e-9
"""Nobody asks for less than this part of a bound that is certain."""


@compiled
def claim_target(rules: Rules, claim: int) -> float:
    """The capital that certifies a claim about an answer."""
    return 1.0 / (ERROR_SHARES[claim] * rules.error)


@compiled
def claim_cap(rules: Rules, octave: int) -> float:
    """The cap theta, of what runs count."""
    return timeout_value(rules) if octave == WHOLE else octave_cap(rules, octave)


@compiled
def cap_weight(rules: Rules, octave: int) -> float:
    """The part of the capital for one cap: half for whole runs, the other half for all octaves.

    Without a cutoff there is no end of octaves, and nothing to put on whole runs.
    """
    if math.isinf(rules.cutoff):
        return 0.0 if octave == WHOLE else 1.0 / ((octave + 1.0) * (octave + 2.0))
    return 0.5 if octave == WHOLE else 0.5 / last_octave(rules)


@compiled
def at_least(rules: Rules, value: float) -> float:
    """What a runtime is at least, Y, given what is known of its pair (`values.py`)."""
    if value > 0.0:
        return min(value, timeout_value(rules))
    return -value if value < 0.0 else rules.first_cap


@compiled
def known_from_below(state: State, index: int, pair: int) -> float:
    """Y of a pair that has been started; what was put off may have been measured for less."""
    rules, value = state.rules, value_at(state.values, index, pair)
    least = at_least(rules, value)
    if value < 0.0:
        least = max(rules.first_cap, least * state.testers[index].least_share)
    return float(least)


@compiled
def room_below(value: float, cap: float) -> float:
    """What is left to a cap for certain: theta - min(X, theta)."""
    return cap - value if 0.0 < value < cap else 0.0


@compiled
def answer_share(state: State, index: int) -> float:
    """The part of the capital spread over all that is on one of them, should it be the answer.

    By rank, which is fixed in advance: of those that are there anyway, or of proposals, which share
    a part of their own, if there may be any.
    """
    rank, initial = state.testers[index].rank, state.pools[0].members
    if is_proposal(state, index):
        return float(PROPOSED * error_share(rank, 0) / OPEN_SHARE)
    share = error_share(rank, initial)
    return float(share * (1.0 - PROPOSED) if state.rules.guided > 0.0 else share)


@compiled
def stake_on_answer(state: State, answer: int, weight: float, to_come: bool) -> int:
    """Put capital on the games about an answer; returns how many there are.

    `to_come`: as if it were nominated by all nominations that are still to come.
    """
    scratch, nominated = state.scratch, state.now.nominated
    stake(scratch.books, 0, weight * SPREAD * answer_share(state, answer))
    scratch.begins[0], games = capital_begins(state, answer), 1
    for number in range(MOST_NOMINATIONS):
        if nominated[number] == NONE and not to_come:
            break
        if nominated[number] in (NONE, answer):
            stake(scratch.books, games, weight * (1.0 - SPREAD) * nomination_weight(number))
            scratch.begins[games] = nomination_pairs(number)
            games += 1
    return games


@compiled
def play_all(state: State, games: int, pair: int, gain: float) -> float:
    """Play the games that have begun; returns the capital of these."""
    scratch, capital = state.scratch, 0.0
    for game in range(games):
        if pair >= scratch.begins[game]:
            capital += play(scratch.books, game, gain)
    return capital


@compiled
def claim_weight(rules: Rules, claim: int, octave: int) -> float:
    """The part of the capital of a claim that is for one cap."""
    if claim == BEYOND and not math.isinf(rules.cutoff):
        return 2.0 * cap_weight(rules, octave)  # nothing is beyond the cutoff
    return cap_weight(rules, octave)


@compiled_apart
def answer_capital(state: State, claim: int, answer: int, octave: int, bound: float) -> float:
    """The most capital after any pair, up to the target, for: the answer's mean up to a cap, or
    its share beyond that, is below `bound`; `claim` is MEAN or BEYOND.
    """
    rules, enough = state.rules, claim_target(state.rules, claim)
    instances, cap = rules.instances, claim_cap(rules, octave)
    games = stake_on_answer(state, answer, claim_weight(rules, claim, octave), False)
    whole = left = sum_of_all(instances, cap - bound if claim == MEAN else 1.0 - bound)
    most = capital_of(state.scratch.books, 0)
    for pair in range(min(state.testers[answer].started, MOST_PAIRS)):
        known, capital = value_at(state.values, answer, pair), 0.0
        value = room_below(known, cap)
        if claim == BEYOND:
            value = 1.0 if 0.0 < known <= cap else 0.0
        if left > ROUNDING * whole:
            capital = play_all(state, games, pair, gain_of(instances, pair, value, left))
        left = after(instances, value, left)
        most = math.inf if left < -ROUNDING * whole else max(most, capital)
        if most >= enough:
            break
    return float(most)


@compiled_apart
def _pair_capital(
    state: State,
    slow: int,
    quick: int,
    octave: int,
    ratio: float,
    upper: float,
    games: int,
    alone: float,
    enough: float,
) -> float:
    """The most capital after any pair, up to `enough`, for: the mean of one up to a cap is at most
    `ratio` times the mean of another.

    The first `games` in the books are about both. Pairs that the quick one has not started are
    unknown. Capital `alone` is put on the slow one's runs; `upper` bounds the quick one's mean.
    """
    rules, scratch = state.rules, state.scratch
    if state.testers[slow].crashed > 0 and math.isinf(rules.cutoff):
        return math.inf
    instances, cap, started = (
        rules.instances,
        claim_cap(rules, octave),
        state.testers[quick].started,
    )
    stake(scratch.books, games, alone)
    whole = left = sum_of_all(instances, upper / ratio) if alone > 0.0 else 0.0
    both = left_of_both = sum_of_all(instances, cap) if games > 0 else 0.0
    most = alone + (capital_of(scratch.books, 0) if games > 0 else 0.0)
    for pair in range(min(state.testers[slow].started, MOST_PAIRS)):
        least, capital = known_from_below(state, slow, pair), 0.0
        if games > 0:
            value = ratio * least
            if pair < started:
                value += room_below(value_at(state.values, quick, pair), cap)
            if left_of_both > ROUNDING * both:
                gain = gain_of(instances, pair, value, left_of_both)
                capital += play_all(state, games, pair, gain)
            left_of_both = after(instances, value, left_of_both)
        if alone > 0.0:
            if left > ROUNDING * whole:
                capital += play(scratch.books, games, gain_of(instances, pair, least, left))
            left = after(instances, least, left)
        refuted = left < -ROUNDING * whole or left_of_both < -ROUNDING * both
        most = math.inf if refuted else max(most, capital)
        if most >= enough:
            break
    return float(most)


@compiled
def default_capital(state: State, answer: int, ratio: float, upper: float) -> float:
    """Capital, up to the target, for: the answer's mean is at most `ratio` times the default's.

    `upper` bounds the former (`upper_mean_of`). Without a cutoff, only the latter's runs count.
    """
    games, alone = 0, 1.0
    if not math.isinf(state.rules.cutoff):
        games, alone = stake_on_answer(state, answer, 1.0 - DEFAULT_ALONE, False), DEFAULT_ALONE
    enough = claim_target(state.rules, FASTER)
    return _pair_capital(state, 0, answer, WHOLE, ratio, upper, games, alone, enough)


@compiled
def slower_capital(state: State, answer: int, ratio: float) -> float:
    """Capital, up to the target, for: the default's mean is at most `ratio` times the answer's."""
    games = 0 if math.isinf(state.rules.cutoff) else stake_on_answer(state, answer, 1.0, False)
    enough = claim_target(state.rules, SLOWER)
    return _pair_capital(state, answer, 0, WHOLE, ratio, math.inf, games, 0.0, enough)


@compiled
def rival_capital(
    state: State,
    answer: int,
    rival: int,
    octave: int,
    ratio: float,
    upper: float,
    enough: float,
) -> float:
    """Capital, up to `enough`, for: the answer's mean up to a cap is at most `ratio` times the
    rival's mean; `upper` bounds the former (`upper_mean_of`).
    """
    weight = (1.0 - RIVAL_ALONE) * cap_weight(state.rules, octave)
    stake(state.scratch.books, 0, weight * answer_share(state, answer))
    state.scratch.begins[0] = capital_begins(state, answer)
    games = 1 if weight > 0.0 else 0
    return _pair_capital(state, rival, answer, octave, ratio, upper, games, RIVAL_ALONE, enough)


@compiled
def claim_capital(
    state: State, claim: int, answer: int, octave: int, bound: float, upper: float
) -> float:
    """Capital for any of the claims about an answer, up to the target."""
    if claim == FASTER:
        return default_capital(state, answer, bound, upper)
    if claim == SLOWER:
        return slower_capital(state, answer, bound)
    return answer_capital(state, claim, answer, octave, bound)


@compiled_apart
def least_refuted(
    state: State, claim: int, answer: int, octave: int, high: float, upper: float
) -> float:
    """The least bound that has capital enough, if it is below `high`, which is certain."""
    low, target = SMALLEST * high, claim_target(state.rules, claim)
    while high > low * (1.0 + PRECISION):
        middle = math.sqrt(low * high)
        if claim_capital(state, claim, answer, octave, middle, upper) >= target:
            high = middle
        else:
            low = middle
    return high


@compiled_apart
def upper_mean_of(state: State, answer: int, octave: int) -> float:
    """An upper bound u on the mean of min(R, theta) of an answer; the mean itself, if it is known.

    On a finite set, what is known of all pairs bounds it for certain.
    """
    rules = state.rules
    cap = claim_cap(rules, octave)
    if math.isinf(cap):
        return mean_runtime(state, answer) if is_exact(state, answer) else math.inf
    high = cap
    if rules.instances != ENDLESS:
        count, total = below(state.runtimes, answer, cap)
        high = (total + (rules.instances - count) * cap) / rules.instances
    if is_exact(state, answer):
        return float(high)
    return least_refuted(state, MEAN, answer, octave, high, high)


@compiled_apart
def share_beyond(state: State, answer: int, octave: int) -> float:
    """An upper bound s on the share of an answer's runs that are longer than theta."""
    rules, started = state.rules, state.testers[answer].started
    cap = claim_cap(rules, octave)
    if cap >= timeout_value(rules):
        return 0.0  # nothing counts more
    if started == 0:
        return 1.0
    high = 1.0
    if rules.instances != ENDLESS:
        within = 0
        for pair in range(started):
            within += 0.0 < value_at(state.values, answer, pair) <= cap
        high = 1.0 - within / rules.instances
    if is_exact(state, answer):
        return high
    return least_refuted(state, BEYOND, answer, octave, high, high)


@compiled
def most_mean(state: State, index: int) -> float:
    """What the mean is at most for certain: on a finite set, unknown pairs count as timeouts."""
    rules, most = state.rules, timeout_value(state.rules)
    if is_exact(state, index):
        return mean_runtime(state, index)
    if rules.instances == ENDLESS or math.isinf(most):
        return most
    count, total = below(state.runtimes, index, most)
    return float((total + (rules.instances - count) * most) / rules.instances)


@compiled_apart
def ratio_bound(state: State, claim: int, answer: int) -> float:
    """FASTER: what the answer's mean over the default's is at most; SLOWER: the other way round.

    Infinite, if nothing is known of it.
    """
    slow, quick = (answer, 0) if claim == SLOWER else (0, answer)
    most, least = most_mean(state, quick), least_mean(state, slow)
    if math.isinf(most) or math.isinf(least):
        return math.inf if math.isinf(most) else 0.0
    if is_exact(state, quick) and is_exact(state, slow):
        return float(most / least)
    upper = upper_mean_of(state, answer, WHOLE) if claim == FASTER else math.inf
    return least_refuted(state, claim, answer, WHOLE, most / least, upper)


@compiled_apart
def worst_ratio(
    state: State,
    answer: int,
    octave: int,
    upper: float,
    members: int,
    ratio: float,
    most: float,
    target: float,
) -> float:
    """The least ratio, not below `ratio`, that is certified against all of the pool that ends with
    `members`; infinity as soon as it is seen to be `most` or more.
    """
    for rival in range(members):
        least = least_mean(state, rival)
        if rival == answer or is_proposal(state, rival) or upper <= ratio * least:
            continue
        if rival_capital(state, answer, rival, octave, ratio, upper, target) >= target:
            continue
        high = upper / least
        if high >= most:
            if rival_capital(state, answer, rival, octave, most, upper, target) < target:
                return math.inf
            high = most
        while high > ratio * (1.0 + PRECISION):
            middle = math.sqrt(ratio * high)
            if rival_capital(state, answer, rival, octave, middle, upper, target) >= target:
                high = middle
            else:
                ratio = middle
        ratio = high
    return math.inf if ratio >= most else ratio
