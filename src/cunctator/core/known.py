"""What is known of a configuration: caps, means, whether anything is left to learn.

Caps are seconds that a run may take; means are of what runs count. That differs for one kind of run
only: one that reaches the cutoff, or crashes, counts as a timeout (`state.timeout_value`), which
may be several times the cutoff.
"""

from __future__ import annotations

import math

from cunctator.core.compiled import compiled
from cunctator.core.rules import Rules, timeout_value
from cunctator.core.runtimes import below
from cunctator.core.state import ENDLESS, State


@compiled
def cap_at(rules: Rules, level: int) -> float:
    """The cap of a level, in seconds: first_cap * 2^level; the last one is the cutoff."""
    cap = math.ldexp(rules.first_cap, int(level))
    return rules.cutoff if cap > rules.longest else min(cap, rules.cutoff)


@compiled
def known_up_to(rules: Rules, cap: float) -> float:
    """Up to which value a run is known that was tried at a cap.

    That is the cap; but at the cutoff nothing is left to learn, not even of a timeout.
    """
    return timeout_value(rules) if cap >= rules.cutoff else cap


@compiled
def known_at(rules: Rules, level: int) -> float:
    """Up to which value a run is known that was tried at a level."""
    return known_up_to(rules, cap_at(rules, level))


@compiled
def taken_for(rules: Rules, cap: float, longer: float) -> float:
    """What a run that reached a cap is taken to count when that is a guess: `longer` caps.

    Some of those runs will be timeouts. If these count p times what they take, it is p - 1 caps
    more: so it comes out if a run is as likely to reach the cutoff as the cap is short beside it.
    """
    if cap >= rules.cutoff:
        return timeout_value(rules)
    return min((longer + (rules.penalty - 1.0)) * cap, timeout_value(rules))


@compiled
def octave_cap(rules: Rules, octave: int) -> float:
    """The cap of an octave, which bounds are certified at: first_cap * 2^octave, or the cutoff."""
    return min(math.ldexp(rules.first_cap, int(octave)), rules.cutoff)


@compiled
def octave_at(rules: Rules, level: int) -> int:
    """The octave whose cap is that of a level; the cutoff's is the first that reaches it."""
    if math.isinf(rules.cutoff) or cap_at(rules, level) < rules.cutoff:
        return int(level)
    return last_octave(rules)


@compiled
def last_octave(rules: Rules) -> int:
    """The octave of the cutoff, if there is one."""
    octave = math.ceil(math.log2(rules.cutoff / rules.first_cap))
    # The quotient may have been rounded down to a power of two.
    return octave if math.ldexp(rules.first_cap, int(octave)) >= rules.cutoff else octave + 1


@compiled
def charged_so_far(state: State) -> float:
    """Seconds charged in all, runs in flight counted at their caps."""
    total = 0.0
    for place in range(state.turns.size):
        total += state.turns[place]
    return total


@compiled
def ramp(value: float, low: float, high: float) -> float:
    """0 up to `low`, 1 from `high` on, and in between in proportion."""
    return min(1.0, max(0.0, (value - low) / (high - low)))


@compiled
def pairs_worth(state: State, members: int) -> float:
    """The charged time as a number of pairs that so many configurations could have run, were they
    all as fast as the incumbent.
    """
    return charged_so_far(state) / (state.now.incumbent_seconds * members)


@compiled
def proof_share(state: State) -> float:
    """Of the time that is meant for proof, the part that is for it now: see `closing.py`."""
    return 1.0 if state.now.closing else state.rules.early_proof


@compiled
def has_lasted(state: State, share: float) -> bool:
    """Whether the incumbent has been that for this share of the charged time."""
    charged = charged_so_far(state)
    return bool(charged - state.now.incumbent_since >= share * charged)


@compiled
def is_exact(state: State, index: int) -> bool:
    """Whether every pair of a finite set has been run to its end: the mean is the true mean."""
    tester = state.testers[index]
    return bool(tester.completed + tester.crashed == state.rules.instances)


@compiled
def known_sum(state: State, index: int) -> float:
    """Sum over all started runs of min(runtime, known cap); a crash counts as a timeout.

    Runs that have not finished count with what is known of them, so a mean of these is never an
    average over finished runs alone. Without a cutoff, one crash makes it infinite.
    """
    tester = state.testers[index]
    return _sum_up_to(state, index, tester.known_level, tester.below_count, tester.below_sum)


@compiled
def _sum_up_to(state: State, index: int, level: int, count: int, total: float) -> float:
    tester, rules = state.testers[index], state.rules
    new, crashed = tester.new_in_flight, tester.crashed
    total += new * rules.first_cap
    capped = tester.started - new - crashed - count
    if capped > 0:
        total += capped * known_at(rules, level)
    if crashed > 0:
        total += crashed * timeout_value(rules)
    return float(total)


@compiled
def least_mean(state: State, index: int) -> float:
    """What the mean over a finite set is at least: pairs not started count as first_cap."""
    rules = state.rules
    if rules.instances == ENDLESS:
        return rules.first_cap
    tester = state.testers[index]
    others = rules.instances - tester.started
    total = known_sum(state, index)
    if tester.least_share < 1.0:
        waiting = tester.started - tester.completed - tester.crashed - tester.new_in_flight
        total -= waiting * (1.0 - tester.least_share) * known_at(rules, tester.known_level)
    return float((total + others * rules.first_cap) / rules.instances)


@compiled
def mean_runtime(state: State, index: int) -> float:
    """Mean over all started runs of min(runtime, known cap); first_cap before the first run."""
    started = state.testers[index].started
    if started == 0:
        return state.rules.first_cap
    return float(known_sum(state, index) / started)


def common_cap(state: State, one: int, other: int) -> float:
    """The longest cap that two configurations have been tried at; whoever is exact has, at any."""
    inexact = [index for index in (one, other) if not is_exact(state, index)]
    if not inexact:
        return float(state.rules.cutoff)
    return float(cap_at(state.rules, int(state.testers["known_level"][inexact].min())))


@compiled
def mean_up_to(state: State, index: int, level: int) -> float:
    """Mean over all started runs of min(runtime, cap of a level that is known)."""
    tester = state.testers[index]
    started = tester.started
    if started == 0:
        return state.rules.first_cap
    if level == tester.known_level:
        return float(known_sum(state, index) / started)
    count, total = below(state.runtimes, index, known_at(state.rules, level))
    return float(_sum_up_to(state, index, level, count, total) / started)
