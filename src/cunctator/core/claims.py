"""What is claimed of an answer, and the capital that games about it have won (`games.py`).

R_i is the runtime of configuration i, not below first_cap; crashes and timeouts count as the
cutoff. The cap theta is the cutoff (`WHOLE`), or an octave first_cap 2^g. Of each pair, Y <= R
stands for what is known from below: the runtime, or the longest cap that was tried, or first_cap
while the first run is in flight. X, with min(X, theta) >= min(R, theta), stands for what is known
from above: the runtime, or theta. All configurations run the same pairs in the same order.

- *Faster than the default*: V = rho Y_0 + theta - min(X_i, theta) at the price theta, which is the
  cutoff. It is fair at rho = mean R_i / mean R_0; the least rho that is refuted is more than that.
- *At most so many times as fast*: the same with the two exchanged.
- *The mean of min(R_i, theta) is below u*: V = theta - min(X_i, theta), price theta - u.
- *The share of runs beyond theta is below s*: V = 1 if R_i <= theta is known, else 0; price 1 - s.

The answer is chosen by the data. So half of the capital of each of these is spread over all
configurations (`error_share`) and half over nominations (`nominations.py`), and the last two have
some for each theta, fixed in advance. Whatever the answer, its capital is part of one
supermartingale.

- *Close to the best*: against a rival k, mean min(R_i, theta) <= rho mean R_k, given an upper bound
  u on the left: capital UNPAIRED on V = Y_k at the price u / rho, and the rest, by theta and i, on
  V = rho Y_k + theta - min(X_i, theta) at the price theta. Were the claim false of the best of all,
  k, then the first is at most the wealth at the price mean R_k, whatever i, theta and u are. So
  both together are part of one supermartingale, about k alone. Of other rivals the claim may be
  false and do no harm: there is no union over rivals.

This needs: the best of a pool and the default are what they are whatever comes out of runs. So what
is proposed because of results may be an answer but never a rival, and has no part in `error_share`
before the pair at which it was proposed. Caps are fixed in advance, pairs come in one random order,
and a repeated run keeps its pair's seed. `docs/algorithm.md` has the proofs.
"""

from __future__ import annotations

import math

from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.games import ROUNDING, after, gain_of, play, stake, sum_of_all
from cunctator.core.known import is_exact, last_octave, least_mean, mean_runtime, octave_cap
from cunctator.core.nominations import nomination_pairs, nomination_weight
from cunctator.core.runtimes import below
from cunctator.core.sentinels import NONE, WHOLE
from cunctator.core.state import ENDLESS, MOST_NOMINATIONS, Rules, State
from cunctator.core.tight import error_share
from cunctator.core.values import value_at

FASTER, SLOWER, MEAN, BEYOND = 0, 1, 2, 3
"""Claims about an answer alone, or about it and the default."""

ERROR_SHARES = (0.25, 0.05, 0.1, 0.1)
"""Of the error, for each of them."""

RIVALS = 0.5
"""Of the error, for being close to the best."""

UNPAIRED = 0.4
"""Of the capital against a rival, the part that is put on the rival's runs alone."""

SPREAD = 0.5
"""Of the capital of a claim about an answer, the part for whatever it is; the rest is nominated."""

PRECISION = 5e-4
"""Of bounds, relative; they are on the safe side by this at most."""

SMALLEST = 1e-9
"""Nobody asks for less than this part of a bound that is certain."""


@compiled
def claim_target(rules: Rules, claim: int) -> float:
    """The capital that certifies a claim about an answer."""
    return 1.0 / (ERROR_SHARES[claim] * rules.error)


@compiled
def claim_cap(rules: Rules, octave: int) -> float:
    """The cap theta."""
    return rules.cutoff if octave == WHOLE else octave_cap(rules, octave)


@compiled
def cap_weight(rules: Rules, octave: int) -> float:
    """The part of the capital for one cap: half for the cutoff, the other half for all octaves.

    Without a cutoff there is no end of octaves, and nothing to put on whole runs.
    """
    if math.isinf(rules.cutoff):
        return 0.0 if octave == WHOLE else 1.0 / ((octave + 1.0) * (octave + 2.0))
    return 0.5 if octave == WHOLE else 0.5 / last_octave(rules)


@compiled
def at_least(rules: Rules, value: float) -> float:
    """What a runtime is at least, Y, given what is known of its pair (`values.py`)."""
    if value > 0.0:
        return min(value, rules.cutoff)
    return -value if value < 0.0 else rules.first_cap


@compiled
def room_below(value: float, cap: float) -> float:
    """What is left to a cap for certain: theta - min(X, theta)."""
    return cap - value if 0.0 < value < cap else 0.0


@compiled
def _stake_on_answer(state: State, answer: int, weight: float) -> tuple[int, float]:
    """Put capital on the games about an answer; returns how many there are, and that of the first."""
    scratch, nominated = state.scratch, state.now.nominated
    first = weight * SPREAD * error_share(answer, state.pools[0].members)
    stake(scratch.books, 0, first)
    scratch.begins[0], games = 0, 1
    for number in range(MOST_NOMINATIONS):
        if nominated[number] == NONE:
            break
        if nominated[number] == answer:
            stake(scratch.books, games, weight * (1.0 - SPREAD) * nomination_weight(number))
            scratch.begins[games] = nomination_pairs(number)
            games += 1
    return games, first


@compiled
def claim_weight(rules: Rules, claim: int, octave: int) -> float:
    """The part of the capital of a claim that is for one cap."""
    if claim in (FASTER, SLOWER):
        return 1.0
    if claim == BEYOND and not math.isinf(rules.cutoff):
        return 2.0 * cap_weight(rules, octave)  # nothing is beyond the cutoff
    return cap_weight(rules, octave)


@compiled
def _price(state: State, claim: int, quick: int, cap: float, bound: float) -> float:
    if claim == MEAN:
        return cap - bound
    if claim == BEYOND:
        return 1.0 - bound
    return mean_runtime(state, quick) / bound if math.isinf(cap) else cap


@compiled
def _outcome(
    state: State, claim: int, slow: int, quick: int, pair: int, cap: float, ratio: float
) -> float:
    """What a pair comes to: V."""
    if claim == MEAN:
        return room_below(value_at(state.values, quick, pair), cap)
    if claim == BEYOND:
        return 1.0 if 0.0 < value_at(state.values, quick, pair) <= cap else 0.0
    least = at_least(state.rules, value_at(state.values, slow, pair))
    if math.isinf(cap):
        return least
    return ratio * least + room_below(value_at(state.values, quick, pair), cap)


@compiled_apart
def answer_capital(state: State, claim: int, answer: int, octave: int, bound: float) -> float:
    """The most capital that the games about an answer had after any pair, up to the target.

    `bound` is the claim's rho, u or s. Without a cutoff, faster and slower are claims about the
    runs of one, given that the other is known exactly.
    """
    rules, scratch = state.rules, state.scratch
    instances, cap = rules.instances, claim_cap(rules, octave)
    slow, quick = (answer, 0) if claim == SLOWER else (0, answer)
    pairs = state.testers[quick].started
    if claim in (FASTER, SLOWER):
        started = state.testers[slow].started
        pairs = started if math.isinf(cap) else min(pairs, started)
    enough = claim_target(rules, claim)
    games, most = _stake_on_answer(state, answer, claim_weight(rules, claim, octave))
    whole = left = sum_of_all(instances, _price(state, claim, quick, cap, bound))
    for pair in range(pairs):
        value, capital = _outcome(state, claim, slow, quick, pair, cap, bound), 0.0
        if left > ROUNDING * whole:
            gain = gain_of(instances, pair, value, left)
            for game in range(games):
                if pair >= scratch.begins[game]:
                    capital += play(scratch.books, game, gain)
        left = after(instances, value, left)
        most = math.inf if left < -ROUNDING * whole else max(most, capital)
        if most >= enough:
            break
    return float(most)


@compiled
def default_capital(state: State, answer: int, ratio: float) -> float:
    """Capital for: the answer's mean is below `ratio` times the default's; see `claim_target`."""
    return answer_capital(state, FASTER, answer, WHOLE, ratio)


@compiled_apart
def least_refuted(
    state: State, claim: int, answer: int, octave: int, low: float, high: float
) -> float:
    """The least bound that has capital enough, between one that nobody asks below and one that
    is known to hold.
    """
    target = claim_target(state.rules, claim)
    while high > low * (1.0 + PRECISION):
        middle = math.sqrt(low * high)
        if answer_capital(state, claim, answer, octave, middle) >= target:
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
    return least_refuted(state, MEAN, answer, octave, min(rules.first_cap, high), high)


@compiled_apart
def share_beyond(state: State, answer: int, octave: int) -> float:
    """An upper bound s on the share of an answer's runs that are longer than theta."""
    rules, started = state.rules, state.testers[answer].started
    cap = claim_cap(rules, octave)
    if octave == WHOLE or cap >= rules.cutoff:
        return 0.0  # by definition: a run that reaches the cutoff is complete
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
    return least_refuted(state, BEYOND, answer, octave, SMALLEST * high, high)


@compiled
def most_mean(state: State, index: int) -> float:
    """What the mean is at most for certain: on a finite set, unknown pairs count as the cutoff."""
    rules = state.rules
    if is_exact(state, index):
        return mean_runtime(state, index)
    if rules.instances == ENDLESS or math.isinf(rules.cutoff):
        return rules.cutoff
    count, total = below(state.runtimes, index, rules.cutoff)
    return float((total + (rules.instances - count) * rules.cutoff) / rules.instances)


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
    return least_refuted(state, claim, answer, WHOLE, SMALLEST * most / least, most / least)


@compiled_apart
def rival_capital(
    state: State,
    answer: int,
    rival: int,
    octave: int,
    ratio: float,
    upper: float,
    enough: float,
) -> float:
    """The most capital after any pair, up to `enough`, for: mean min(R_answer, theta) is at most
    `ratio` times the rival's mean.

    `upper` bounds the former (`upper_mean_of`). Pairs that the answer has not started are unknown.
    """
    rules, books = state.rules, state.scratch.books
    instances, cap = rules.instances, claim_cap(rules, octave)
    if state.testers[rival].crashed > 0 and math.isinf(rules.cutoff):
        return math.inf
    share = error_share(answer, state.pools[0].members)
    paired = (1.0 - UNPAIRED) * cap_weight(rules, octave) * share
    known = state.testers[answer].started if paired > 0.0 else 0
    stake(books, 0, UNPAIRED)
    stake(books, 1, paired)
    most = UNPAIRED + paired
    whole = left = sum_of_all(instances, upper / ratio)
    both = left_of_both = sum_of_all(instances, cap) if paired > 0.0 else 0.0
    for pair in range(state.testers[rival].started):
        least, capital = at_least(rules, value_at(state.values, rival, pair)), 0.0
        if left > ROUNDING * whole:
            capital = play(books, 0, gain_of(instances, pair, least, left))
        left = after(instances, least, left)
        if paired > 0.0:
            value = ratio * least
            if pair < known:
                value += room_below(value_at(state.values, answer, pair), cap)
            if left_of_both > ROUNDING * both:
                capital += play(books, 1, gain_of(instances, pair, value, left_of_both))
            left_of_both = after(instances, value, left_of_both)
        refuted = left < -ROUNDING * whole or left_of_both < -ROUNDING * both
        most = math.inf if refuted else max(most, capital)
        if most >= enough:
            break
    return float(most)


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
    """The least ratio, not below `ratio`, that is certified against all of the first `members`;
    infinity as soon as it is seen to be `most` or more.
    """
    for rival in range(members):
        least = least_mean(state, rival)
        if rival == answer or upper <= ratio * least:
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
