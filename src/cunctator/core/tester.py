"""The configuration tester: what one configuration runs next, and what a result does to it.

Algorithm 1, lines 10 to 30, with two additions. Runs may be in flight: they count as pending (so
the queue never outgrows its target) and hold the known cap down, and no pair is run at more than
the cap after the known one, so that the paper's three invariants hold at every moment. And runs
may crash: a crash never finishes, is never tried again, and counts as the cutoff (infinity without
one).
"""

from __future__ import annotations

from cunctator.core.bounds import lasting_lower_bound, measure, queue_target
from cunctator.core.compiled import compiled
from cunctator.core.known import cap_at, is_exact
from cunctator.core.queues import head_level, pop, push
from cunctator.core.rungs import regrade
from cunctator.core.runtimes import below, insert
from cunctator.core.state import TURNS, State
from cunctator.core.tight import bin_runtime, sharp_in_flight
from cunctator.core.tournament import set_key

NOTHING, NEW, RETRY = 0, 1, 2
SOLVED, CAPPED, CRASHED = 0, 1, 2
BLOCKED = 2.0**62
"""Stands for `started` in the key of a configuration that has nothing to run just now."""


@compiled
def reachable_level(state: State, index: int) -> int:
    """The level that every started pair of this configuration has been tried at.

    A retry in flight has been tried at the level below its own; a new pair in flight will have
    been tried at its own level when its result arrives, and counts as first_cap until then.
    """
    level = state.testers.cap_level[index]
    if state.queues.length[index] > 0:
        level = min(level, head_level(state.queues, index) - 1)
    if state.testers.in_flight[index] > 0:
        flights = state.flights
        for slot in range(flights.configuration.size):
            if flights.configuration[slot] == index:
                level = min(level, flights.level[slot] - (0 if flights.is_new[slot] else 1))
    return int(level)


@compiled
def next_kind(state: State, index: int) -> int:
    """What this configuration would run next: a NEW pair, a RETRY from its queue, or NOTHING."""
    testers = state.testers
    waiting = state.queues.length[index]
    pending = waiting + testers.in_flight[index]
    may_start = (
        pending < testers.queue_target[index] and testers.started[index] < state.rules.instances
    )
    # If new runs begin in the middle of a round and finish within the longer cap, the queue may
    # never fill up again, and what is known stays clipped at the shorter one. So it is in
    # Algorithm 1; a profile may have a round finished first.
    in_round = waiting > 0 and head_level(state.queues, index) <= testers.cap_level[index]
    if waiting > 0 and (not may_start or (in_round and state.profile.finishes_round)):
        if testers.in_flight[index] == 0:
            return RETRY
        if head_level(state.queues, index) <= reachable_level(state, index) + 1:
            return RETRY
    return NEW if may_start else NOTHING


@compiled
def begin(state: State, index: int, kind: int) -> tuple[int, int]:
    """Take the next pair out; returns the pair and the level of its cap."""
    testers = state.testers
    testers.in_flight[index] += 1
    if kind == NEW:
        pair, level = testers.started[index], testers.cap_level[index]
        testers.started[index] += 1
        if state.turn[0] < TURNS * state.pools.sizes.size:
            testers.chosen[index] += 1
            most = state.pools.most_chosen
            most[0] = max(most[0], testers.chosen[index])
        testers.new_in_flight[index] += 1
    else:
        level = head_level(state.queues, index)
        pair = pop(state.queues, index)
        testers.cap_level[index] = level
    cap = cap_at(state.rules, level)
    state.turns[state.turn[0]] += cap
    testers.granted[index] += cap
    regrade(state, index)
    return int(pair), int(level)


@compiled
def finish(
    state: State,
    index: int,
    pair: int,
    level: int,
    is_new: bool,
    turn: int,
    status: int,
    seconds: float,
) -> None:
    """Record a result: `seconds` were spent; SOLVED counts only within the cap."""
    testers, rules = state.testers, state.rules
    cap = cap_at(rules, level)
    testers.in_flight[index] -= 1
    if is_new:
        testers.new_in_flight[index] -= 1
    state.turns[turn] += seconds - cap
    testers.charged[index] += seconds
    testers.granted[index] += seconds - cap
    testers.overrun[index] += max(0.0, seconds - cap)
    if status == CRASHED:
        testers.crashed[index] += 1
    elif status == SOLVED and seconds <= cap:
        _complete(state, index, max(seconds, rules.first_cap))
    elif cap >= rules.cutoff:
        _complete(state, index, rules.cutoff)
    else:
        push(state.queues, index, pair, level + 1)
    testers.queue_target[index] = queue_target(state, index)
    regrade(state, index)


@compiled
def _complete(state: State, index: int, value: float) -> None:
    testers = state.testers
    insert(state.runtimes, index, value)
    bin_runtime(state.edges, state.histogram[index], value)
    testers.completed[index] += 1
    if value < cap_at(state.rules, testers.known_level[index]):
        testers.below_count[index] += 1
        testers.below_sum[index] += value


@compiled
def update(state: State, index: int, has_result: bool, only_retried: bool) -> None:
    """Bring the bounds and keys of one configuration up to date.

    `has_result` says that a result has come in, rather than that a run has begun. `only_retried`
    says that all that happened since the last update is one retry, begun and finished. That
    changes nothing that is known below the known cap, so nothing needs to be computed unless it
    raised that cap or was the last run of all.
    """
    testers = state.testers
    level = reachable_level(state, index)
    raised = level != testers.known_level[index]
    if raised:
        testers.known_level[index] = level
        count, total = below(state.runtimes, index, cap_at(state.rules, level))
        testers.below_count[index], testers.below_sum[index] = count, total
    elif only_retried and not is_exact(state, index):
        return
    measure(state, index, raised, has_result)
    rekey(state, index)


@compiled
def rekey(state: State, index: int) -> None:
    """Set the scheduling keys of one configuration for the steps from the next one on."""
    if next_kind(state, index) == NOTHING and not is_exact(state, index):
        set_key(state.by_lower, index, float("inf"), BLOCKED)
        set_key(state.by_expiry, index, float("inf"), 0.0)
        if state.profile.full_share < 1.0:
            set_key(state.by_sharp, index, float("inf"), BLOCKED)
        return
    key, last = lasting_lower_bound(state, index, state.step[0] + 1)
    started = float(state.testers.started[index])
    set_key(state.by_lower, index, key, started)
    set_key(state.by_expiry, index, last, 0.0)
    if state.profile.full_share < 1.0:
        sharp = key if is_exact(state, index) else state.testers.sharp[index]
        if state.testers.new_in_flight[index] > 0:
            sharp = sharp_in_flight(state, index)
        set_key(state.by_sharp, index, sharp, started)
