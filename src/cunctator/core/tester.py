"""The configuration tester: what one configuration runs next, and what a result does to it.

Algorithm 1, lines 10 to 30, with three additions. Runs may be in flight: they count as pending (so
the queue never outgrows its target) and hold the known cap down, and no pair is run at more than
the cap after the known one, so that the paper's three invariants hold at every moment. Runs may
crash: a crash never finishes, is never tried again, and counts as a timeout (infinity without a
cutoff). And with a ladder (`ladder.py`) runs are made besides that the tester did not choose: of
any pair that is put off, or of the next new one, up to any cap. Then more may be put off than the
target, and to different caps; the tester itself goes on with those of the lowest cap.
"""

from __future__ import annotations

from cunctator.core.bounds import lasting_lower_bound, measure, queue_target
from cunctator.core.compiled import compiled
from cunctator.core.known import cap_at, is_exact, known_at
from cunctator.core.nominations import nominate
from cunctator.core.proposals import is_proposal
from cunctator.core.queues import head_level, head_pair, push, take
from cunctator.core.rules import timeout_value
from cunctator.core.runtimes import below, insert
from cunctator.core.state import State
from cunctator.core.tight import bin_runtime
from cunctator.core.tournament import set_key
from cunctator.core.values import CRASHED_PAIR, add_pair, put_value

NOTHING, NEW, RETRY = 0, 1, 2
SOLVED, CAPPED, CRASHED = 0, 1, 2
BLOCKED, NEVER = 2.0**62, 2.0**63
"""Stand for `started` in the keys of configurations that have nothing to run just now, and of those
that belong to no pool."""


@compiled
def reachable_level(state: State, index: int) -> int:
    """The level that every started pair of this configuration has been tried at.

    A new pair in flight will have been tried at its own level when its result arrives, and counts
    as first_cap until then.
    """
    tester = state.testers[index]
    level = tester.cap_level
    if state.queues.headers[index].length > 0:
        level = min(level, head_level(state.queues, index) - 1)
    if tester.in_flight > 0:
        for slot in range(state.flights.size):
            flight = state.flights[slot]
            if flight.configuration == index:
                level = min(level, flight.level if flight.is_new else flight.tried)
    return int(level)


@compiled
def next_kind(state: State, index: int) -> int:
    """What this configuration would run next: a NEW pair, a RETRY from its queue, or NOTHING."""
    tester = state.testers[index]
    waiting = state.queues.headers[index].length
    pending = waiting + tester.in_flight
    may_start = pending < tester.queue_target and tester.started < state.rules.instances
    # If new runs begin in the middle of a round and finish within the longer cap, the queue may
    # never fill up again, and what is known stays clipped at the shorter one. So it is in
    # Algorithm 1; a profile may have a round finished first.
    in_round = waiting > 0 and head_level(state.queues, index) <= tester.cap_level
    if waiting > 0 and (not may_start or (in_round and state.profile.finishes_round)):
        if tester.in_flight == 0:
            return RETRY
        if head_level(state.queues, index) <= reachable_level(state, index) + 1:
            return RETRY
    return NEW if may_start else NOTHING


@compiled
def choose_next(state: State, index: int) -> None:
    """Choose the run that `next_kind` says this configuration would make: its pair and level."""
    tester, now = state.testers[index], state.now
    if next_kind(state, index) == RETRY:
        now.pair, now.level = head_pair(state.queues, index), head_level(state.queues, index)
    else:
        now.pair, now.level = tester.started, tester.cap_level
        if state.profile.has_ladder:
            now.level = reachable_level(state, index)


@compiled
def begin(state: State, index: int) -> tuple[bool, int]:
    """Begin the run that was chosen; returns whether its pair is new, and the level tried before.

    The latter is the run's own if the pair is new.
    """
    tester, now = state.testers[index], state.now
    level = tried = now.level
    is_new = now.pair == tester.started
    tester.in_flight += 1
    if not is_proposal(state, index):
        while state.pools[now.opened - 1].members <= index:  # the first of a pool opens it
            now.opened += 1
    if is_new:
        nominate(state, now.pair)
        tester.started += 1
        tester.new_in_flight += 1
        add_pair(state.values, index, now.pair)
    else:
        tried = take(state.queues, index, now.pair) - 1
    if state.profile.has_ladder:
        tester.cap_level = max(tester.cap_level, level)
    elif not is_new:
        tester.cap_level = level
    state.turns[now.turn] += cap_at(state.rules, level)
    return is_new, int(tried)


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
    """Record a result: `seconds` were spent; SOLVED counts only within the cap, and the cutoff."""
    tester, rules = state.testers[index], state.rules
    cap = cap_at(rules, level)
    tester.in_flight -= 1
    if is_new:
        tester.new_in_flight -= 1
    state.turns[turn] += seconds - cap
    tester.charged += seconds
    tester.overrun += max(0.0, seconds - cap)
    if status == CRASHED:
        tester.crashed += 1
        put_value(state.values, index, pair, CRASHED_PAIR)
    elif status == SOLVED and seconds <= cap and seconds < rules.cutoff:
        _complete(state, index, pair, max(seconds, rules.first_cap))
    elif cap >= rules.cutoff:
        _complete(state, index, pair, timeout_value(rules))
    else:
        push(state.queues, index, pair, level + 1)
        put_value(state.values, index, pair, -cap)
        tester.least_share = min(tester.least_share, seconds / cap)
    tester.queue_target = queue_target(state, index)


@compiled
def _complete(state: State, index: int, pair: int, value: float) -> None:
    tester = state.testers[index]
    put_value(state.values, index, pair, value)
    insert(state.runtimes, index, value)
    bin_runtime(state.edges, state.histogram[index], value)
    tester.completed += 1
    if value < known_at(state.rules, tester.known_level):
        tester.below_count += 1
        tester.below_sum += value


@compiled
def update(state: State, index: int, has_result: bool, only_retried: bool) -> None:
    """Bring the bounds and keys of one configuration up to date.

    `has_result` says that a result has come in, rather than that a run has begun. `only_retried`
    says that all that happened since the last update is one retry, begun and finished. That
    changes nothing that is known below the known cap, so nothing needs to be computed unless it
    raised that cap or was the last run of all.
    """
    tester = state.testers[index]
    level = reachable_level(state, index)
    raised = level != tester.known_level
    if raised:
        tester.known_level = level
        count, total = below(state.runtimes, index, known_at(state.rules, level))
        tester.below_count, tester.below_sum = count, total
    elif only_retried and not is_exact(state, index):
        return
    measure(state, index, raised, has_result)
    rekey(state, index)


@compiled
def rekey(state: State, index: int) -> None:
    """Set the scheduling keys of one configuration for the steps from the next one on."""
    if is_proposal(state, index):
        set_key(state.by_lower, index, float("inf"), NEVER)
        set_key(state.by_expiry, index, float("inf"), 0.0)
        return
    if next_kind(state, index) == NOTHING and not is_exact(state, index):
        set_key(state.by_lower, index, float("inf"), BLOCKED)
        set_key(state.by_expiry, index, float("inf"), 0.0)
        return
    key, last = lasting_lower_bound(state, index, state.now.step + 1)
    set_key(state.by_lower, index, key, float(state.testers[index].started))
    set_key(state.by_expiry, index, last, 0.0)
