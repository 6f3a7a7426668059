"""Climbing the ladder: which rung a configuration is on, how it compares there, and the incumbent.

A configuration is on a rung if it is known over all of the rung's pairs up to its cap, for whatever
sake they were run. What a run counts on a rung: its time, if it was solved within the cap; a
timeout, if it reached the cutoff; otherwise twice the cap, because it would have taken longer than
the cap, and nobody knows how much (more, if timeouts count more than they take; `known.taken_for`).
A crash is a run that is never solved. The mean of these over a rung's pairs is the score.

The incumbent is the default, until another one has a lower score on a rung that the incumbent has
reached too; when the incumbent reaches a rung, whoever else is there and has the lowest score
becomes the incumbent. Ties keep it. So nobody who has come as far as the incumbent is better on its
rung, the default neither. Whoever is better on a lower rung is among the first to climb.

Whoever may climb further has a difference and a deviation: how much slower than the incumbent it
is, relative to that one's mean, over the pairs of the highest rung that both have reached; and the
standard error of that. Few pairs say little about their own variance, so it is combined with those
of all configurations on that rung, as if those were `PRIOR` more pairs.
"""

from __future__ import annotations

import math

from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.known import cap_at, charged_so_far, taken_for
from cunctator.core.ladder import count_pair, find_entry, is_known, make_rung, seek_base
from cunctator.core.proposals import is_proposal
from cunctator.core.rules import timeout_value
from cunctator.core.sentinels import NONE
from cunctator.core.state import State
from cunctator.core.tournament import set_key
from cunctator.core.values import value_at

LONGER = 2.0
"""What a run counts that reached a cap, in caps."""

NEVER = 1e12
"""What a crash counts without a cutoff, in seconds: more than all runs together, and still little
enough for the seconds of others to be told apart beside it."""

PRIOR = 8.0
LEAST_SPREAD = 3.0
"""z: how many standard errors a configuration may be better than it looks, at least."""


@compiled
def settle(state: State, index: int, has_crashed: bool) -> None:
    """Take into account that something new is known of a configuration."""
    if not state.profile.has_ladder:
        return
    if state.ladder.made == 0:
        if seek_base(state):
            for other in range(state.testers.size):
                climb(state, other)
    else:
        climb(state, index)
        is_judged = index == state.now.incumbent and state.testers[index].rung != NONE
        if has_crashed and is_judged and math.isinf(state.rules.cutoff):
            # Its score is another one, wherever it crashed, and so is who is hopeless.
            _reconsider(state, index)
            _begin_reign(state)


@compiled_apart
def climb(state: State, index: int) -> None:
    """Let a configuration reach all rungs that it is known well enough for."""
    tester, ladder = state.testers[index], state.ladder
    while tester.started > 0 and tester.rung < ladder.top:
        rung = next_rung(state, index)
        if not _is_covered(state, index, rung):
            break
        _arrive(state, index, rung)
    rekey_climber(state, index)


@compiled
def next_rung(state: State, index: int) -> int:
    """The rung that a configuration is to reach next."""
    rung = state.testers[index].rung
    return int(state.ladder.entry if rung == NONE else rung + 1)


@compiled
def _is_covered(state: State, index: int, rung: int) -> bool:
    """Whether all pairs of a rung are known up to its cap; remembers how many at least."""
    tester, ladder = state.testers[index], state.ladder
    cap = cap_at(state.rules, ladder.level[rung])
    if tester.rung == NONE:
        tester.covered = 0  # newcomers may have been on their way to another rung
    while tester.covered < min(ladder.pairs[rung], tester.started):
        if not is_known(state, index, tester.covered, cap):
            return False
        tester.covered += 1
    return bool(tester.covered == ladder.pairs[rung])


@compiled
def missing_pair(state: State, index: int) -> int:
    """The first pair that the next rung lacks and that is not in flight, or NONE."""
    tester, ladder = state.testers[index], state.ladder
    rung = next_rung(state, index)
    cap = cap_at(state.rules, ladder.level[rung])
    pair = 0 if tester.rung == NONE else tester.covered
    while pair < ladder.pairs[rung]:
        if pair == tester.started:
            return int(pair)
        if not is_known(state, index, pair, cap) and not is_flying(state, index, pair):
            return int(pair)
        pair += 1
    return NONE


@compiled
def is_flying(state: State, index: int, pair: int) -> bool:
    """Whether a pair of a configuration is in flight."""
    if state.testers[index].in_flight > 0:
        for slot in range(state.flights.size):
            flight = state.flights[slot]
            if flight.configuration == index and flight.pair == pair:
                return True
    return False


@compiled
def worth(state: State, index: int, pair: int, cap: float, unsolved: float) -> float:
    """What a pair that is known up to a cap counts there; `unsolved` is for one that reached it."""
    value = value_at(state.values, index, pair)
    return float(value) if 0.0 < value <= cap and value < timeout_value(state.rules) else unsolved


@compiled
def score(state: State, index: int, rung: int) -> float:
    """The mean over the pairs of a rung that a configuration has reached."""
    cap = cap_at(state.rules, state.ladder.level[rung])
    return _mean_on(state, index, rung, taken_for(state.rules, cap, LONGER))


@compiled
def seconds_a_run(state: State, index: int, rung: int) -> float:
    """The same of the seconds that its runs would take to their end, whatever timeouts count."""
    rules = state.rules
    cap = cap_at(rules, state.ladder.level[rung])
    return _mean_on(state, index, rung, min(LONGER * cap, rules.cutoff))


@compiled
def _mean_on(state: State, index: int, rung: int, unsolved: float) -> float:
    """The mean over the pairs of a rung, with `unsolved` for runs that reached its cap.

    Without a cutoff the mean of whoever crashes is infinite; fewer crashes are better.
    """
    cap, pairs = cap_at(state.rules, state.ladder.level[rung]), state.ladder.pairs[rung]
    total = 0.0
    for pair in range(pairs):
        total += worth(state, index, pair, cap, unsolved)
    if math.isinf(state.rules.cutoff):
        total += state.testers[index].crashed * NEVER
    return float(total / pairs)


@compiled
def _arrive(state: State, index: int, rung: int) -> None:
    """A configuration reaches a rung: the incumbent, and what is known of others, may change."""
    tester, ladder, now = state.testers[index], state.ladder, state.now
    for pair in range(ladder.pairs[rung]):
        count_pair(state, index, pair, rung)
    before = 0 if tester.rung == NONE else ladder.pairs[tester.rung]
    now.compared_pairs += ladder.pairs[rung] - before
    is_newcomer, tester.rung = tester.rung == NONE, rung
    if is_newcomer:
        _note_entry(state, index)
    if rung == ladder.made - 1 and rung < ladder.top:
        make_rung(state)
    # Those pairs are known up to the next cap, too, if it is the same.
    if rung == ladder.top or ladder.level[rung + 1] != ladder.level[rung]:
        tester.covered = 0
    incumbent = now.incumbent
    _reconsider(state, index)
    if index != now.incumbent and state.testers[now.incumbent].rung >= rung:
        _, squares = _difference(state, index, rung)
        ladder.measured[rung] += 1.0
        size = ladder.pairs[rung]
        ladder.variances[rung] += squares / (size - 1) if size > 1 else 1.0
    if now.incumbent != incumbent:
        _begin_reign(state)
    elif index != incumbent:
        measure(state, index)
    else:
        _note_means(state)
        find_entry(state)
        # Whoever was ahead of it can be compared over more pairs now.
        for other in range(now.last_entered + 1):
            if state.testers[other].rung >= rung:
                measure(state, other)
                rekey_climber(state, other)


@compiled
def _note_entry(state: State, index: int) -> None:
    """A configuration has entered the ladder: where newcomers are looked for."""
    now, testers = state.now, state.testers
    now.last_entered = max(now.last_entered, index)
    while now.entered < testers.size and (
        testers[now.entered].rung != NONE or is_proposal(state, now.entered)
    ):
        now.entered += 1


@compiled
def _reconsider(state: State, index: int) -> None:
    """Who is the incumbent, now that a configuration has reached another rung, or has crashed."""
    testers, now = state.testers, state.now
    rung = testers[now.incumbent].rung
    if rung == NONE:
        return  # the default is, until it can be compared
    best = score(state, now.incumbent, rung)
    if index != now.incumbent:
        if testers[index].rung >= rung and score(state, index, rung) < best:
            now.incumbent = index
        return
    for other in range(now.last_entered + 1):
        if testers[other].rung >= rung:
            rival = score(state, other, rung)
            if rival < best:
                now.incumbent, best = other, rival


@compiled
def _begin_reign(state: State) -> None:
    """Compare everybody with the incumbent, which may be another one than before."""
    now = state.now
    now.incumbent_since, now.look_at, now.racing = charged_so_far(state), 0, NONE
    _note_means(state)
    find_entry(state)
    for index in range(state.now.last_entered + 1):
        measure(state, index)
        rekey_climber(state, index)


@compiled
def _note_means(state: State) -> None:
    """What the incumbent's runs count, and take, on the rung that it has reached."""
    now = state.now
    rung = state.testers[now.incumbent].rung
    now.incumbent_mean = score(state, now.incumbent, rung)
    now.incumbent_seconds = seconds_a_run(state, now.incumbent, rung)


@compiled
def _difference(state: State, index: int, rung: int) -> tuple[float, float]:
    """Over the pairs of a rung that both have reached: how much slower than the incumbent one is.

    Returns the mean difference and the sum of its squared deviations, relative to the incumbent's
    mean and its square.
    """
    cap, size = cap_at(state.rules, state.ladder.level[rung]), state.ladder.pairs[rung]
    total = squares = mean = 0.0
    unsolved = taken_for(state.rules, cap, LONGER)
    for pair in range(size):
        least = worth(state, state.now.incumbent, pair, cap, unsolved)
        gap = worth(state, index, pair, cap, unsolved) - least
        total += gap
        squares += gap * gap
        mean += least / size
    return total / size / mean, (squares - total * total / size) / (mean * mean)


@compiled_apart
def measure(state: State, index: int) -> None:
    """Compare a configuration with the incumbent, by pair."""
    tester, ladder = state.testers[index], state.ladder
    rung = min(tester.rung, state.testers[state.now.incumbent].rung)
    if rung == NONE or index == state.now.incumbent:
        return
    tester.difference, squares = _difference(state, index, rung)
    usual = (1.0 + ladder.variances[rung]) / (1.0 + ladder.measured[rung])
    size = ladder.pairs[rung]
    variance = (PRIOR * usual + squares) / (PRIOR + size - 1)
    tester.deviation = math.sqrt(variance / size)


@compiled_apart
def rekey_climber(state: State, index: int) -> None:
    """Set the keys by which it is decided who climbs next; infinite for those who cannot."""
    tester, now = state.testers[index], state.now
    ratio = bound = math.inf
    if may_climb(state, index) and index != now.incumbent and not _is_hopeless(state, index):
        ratio = tester.difference / tester.deviation
        # Who is never looked at again because of bad luck: the better known others are, the more
        # often that would happen.
        known = max(1.0, now.compared_pairs / (now.last_entered + 1))
        spread = max(LEAST_SPREAD, math.sqrt(2.0 * math.log(known)))
        bound = tester.difference - spread * tester.deviation
    set_key(state.by_ratio, index, ratio, 0.0)
    set_key(state.by_bound, index, bound, 0.0)


@compiled
def may_climb(state: State, index: int) -> bool:
    """Whether a configuration on the ladder has something to run for its next rung."""
    tester = state.testers[index]
    if tester.rung == NONE or tester.rung >= state.ladder.top:
        return False
    return missing_pair(state, index) != NONE


@compiled
def _is_hopeless(state: State, index: int) -> bool:
    """Without a cutoff: whoever crashes more often than the incumbent has the larger mean."""
    testers, incumbent = state.testers, state.now.incumbent
    return math.isinf(state.rules.cutoff) and testers[index].crashed > testers[incumbent].crashed
