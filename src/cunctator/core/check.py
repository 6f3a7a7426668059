"""The invariants of the state, checked from scratch.

Plain NumPy on purpose: slow, easy to read, and independent of the kernels it checks. Every
property test calls it after every step. Assertions, because a failure is our error, not a user's.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cunctator.core.runtimes import Chunk
from cunctator.core.sentinels import NONE
from cunctator.core.state import State
from cunctator.core.tournament import ROOT, Tournament
from cunctator.core.values import CRASHED_PAIR, NOT_YET, values_of


def stored_runtimes(state: State, index: int) -> NDArray[np.float64]:
    """All completed runtimes of one configuration, ascending."""
    parts = [state.runtimes.values[cell.link, : cell.count] for cell in _directory(state, index)]
    return np.concatenate(parts) if parts else np.zeros(0)


def _directory(state: State, index: int) -> list[Chunk]:
    """The chunks of one configuration."""
    store, directory = state.runtimes, state.runtimes.headers[index]
    cells = range(directory.start, directory.start + directory.chunks)
    return [store.cells[cell] for cell in cells]


def queued(state: State, index: int) -> list[tuple[int, int]]:
    """The queue of one configuration, head first, as (pair, level)."""
    queue = state.queues.headers[index]
    cells = [
        state.queues.cells[queue.start + (queue.head + offset) % queue.capacity]
        for offset in range(queue.length)
    ]
    return [(int(cell.link), int(cell.level)) for cell in cells]


def caps_up_to(state: State, level: int) -> NDArray[np.float64]:
    """The caps of all levels up to one."""
    rules = state.rules
    caps = rules.first_cap * 2.0 ** np.arange(level + 1)
    return np.minimum(np.where(caps > rules.longest, rules.cutoff, caps), rules.cutoff)


def known_up_to(state: State, level: int) -> float:
    """Up to which value runs are known that were tried at a level: at the cutoff, to a timeout."""
    cap, rules = caps_up_to(state, level)[-1], state.rules
    return float(rules.penalty * rules.cutoff if cap == rules.cutoff else cap)


def known_values(state: State, index: int) -> NDArray[np.float64]:
    """What counts for each started run, ascending (the empirical distribution G of the paper).

    That is min(runtime, known cap), a timeout for a crash, first_cap for a new run in flight.
    """
    tester, rules = state.testers[index], state.rules
    known_cap = known_up_to(state, int(tester.known_level))
    finished = np.minimum(stored_runtimes(state, index), known_cap)
    new, crashed = int(tester.new_in_flight), int(tester.crashed)
    pending = int(tester.started) - finished.size - new - crashed
    parts = [
        np.full(new, rules.first_cap),
        finished,
        np.full(pending, known_cap),
        np.full(crashed, rules.penalty * rules.cutoff),
    ]
    return np.sort(np.concatenate(parts))


def check_state(state: State) -> None:
    """Raise AssertionError if anything does not hold."""
    for index in range(state.testers.size):
        _check_tester(state, index)
    for tree in (state.by_lower, state.by_expiry, state.by_ratio, state.by_bound, state.by_race):
        _check_tree(tree)
    _check_turns(state)
    _check_race(state)
    _check_rungs(state)
    _check_nominations(state)
    busy = len(_busy(state))
    assert busy == state.testers["in_flight"].sum(), "flights and testers disagree"


def _busy(state: State) -> list[int]:
    """The slots with a run in flight."""
    return np.flatnonzero(state.flights["configuration"] != NONE).tolist()


def _check_tester(state: State, index: int) -> None:
    tester, rules = state.testers[index], state.rules
    started, known = int(tester.started), int(tester.known_level)
    runtimes, queue = stored_runtimes(state, index), queued(state, index)
    slots = np.flatnonzero(state.flights["configuration"] == index).tolist()
    flights = [state.flights[slot] for slot in slots]
    flying = [int(flight.pair) for flight in flights]

    assert started <= rules.instances
    accounted = runtimes.size + int(tester.crashed) + len(queue) + len(flying)
    assert accounted == started, "a started pair is lost, or counted twice"
    assert runtimes.size == tester.completed
    assert np.all(np.diff(runtimes) >= 0), "runtimes out of order"
    is_timeout = runtimes == rules.penalty * rules.cutoff
    assert np.all((runtimes <= rules.cutoff) | is_timeout), "longer than a run may take"
    _check_directory(state, index)
    _check_values(state, index, runtimes, queue)

    # Invariant 1: active pairs are the first `started`; none is pending twice.
    pending = [pair for pair, _ in queue] + flying
    assert len(set(pending)) == len(pending) and all(0 <= pair < started for pair in pending)
    levels = [level for _, level in queue]
    assert levels == sorted(levels), "queue out of order"
    # Invariant 3: every pending pair was tried at the known level ...
    tried = [level - 1 for level in levels] + [
        int(flight.level if flight.is_new else flight.tried) for flight in flights
    ]
    assert known == min([*tried, int(tester.cap_level)]), "the known cap is another one"

    low = runtimes[runtimes < known_up_to(state, known)]
    assert low.size == tester.below_count
    assert np.isclose(low.sum(), tester.below_sum, rtol=1e-9)
    if not state.profile.has_ladder:
        # Invariant 2: pending runs never exceed the target.
        assert len(pending) <= tester.queue_target, "more runs put off than allowed"
        # ... and none above the next one.
        assert max([*tried, int(tester.cap_level)]) <= known + 1
        _check_time(state, index)
    assert 0.0 <= tester.least_share <= 1.0


def _check_time(state: State, index: int) -> None:
    """Equation 4 of the appendix: time <= 6 r m, however runs and results interleave.

    6 holds for caps that double. A run has been charged at most all caps up to the one above the
    known one (if it reaches the known one), or those below it and itself. One in flight, its
    earlier tries.
    """
    tester = state.testers[index]
    known = int(tester.known_level)
    caps = caps_up_to(state, known + 1)
    most = max(3.0, caps.sum() / caps[known])
    within_caps = tester.charged - tester.overrun
    values = np.minimum(known_values(state, index), state.rules.cutoff)  # what they take
    assert within_caps <= most * values.sum() * (1 + 1e-9), f"more time spent than {most} r m"


def _check_values(
    state: State, index: int, runtimes: NDArray[np.float64], queue: list[tuple[int, int]]
) -> None:
    """What is known by pair is what the runtimes, the queue and the counts say."""
    tester = state.testers[index]
    values = values_of(state.values, index, int(tester.started))
    assert values.size == tester.started
    finished = np.sort(values[(values > 0) & (values != CRASHED_PAIR)])
    assert np.array_equal(finished, runtimes), "runtimes differ from values by pair"
    assert (values == CRASHED_PAIR).sum() == tester.crashed
    assert (values == NOT_YET).sum() == tester.new_in_flight
    for pair, level in queue:
        tried = caps_up_to(state, level - 1)[-1]
        assert values[pair] == -tried, "a pair was put off at another cap"


def _check_turns(state: State) -> None:
    """The ledgers of all turns add up to what was charged, and caps for what is in flight."""
    levels = state.flights["level"][_busy(state)]
    caps = sum(caps_up_to(state, int(level))[-1] for level in levels)
    charged = state.testers["charged"].sum()
    assert np.isclose(state.turns.sum(), charged + caps, atol=1e-9)


def _check_rungs(state: State) -> None:
    """Whoever is on a rung is known over all its pairs, and nobody is further than that."""
    ladder, values = state.ladder, state.values
    for index in range(state.testers.size):
        tester = state.testers[index]
        seen = values_of(values, index, int(tester.started))
        for rung in range(int(ladder.made)):
            pairs, cap = int(ladder.pairs[rung]), caps_up_to(state, int(ladder.level[rung]))[-1]
            part = seen[:pairs]
            covered = part.size == pairs and bool(np.all((part > 0) | (part <= -cap)))
            if rung == tester.rung:
                assert covered, "a configuration is on a rung that it is not known on"
            if rung == tester.rung + 1 and tester.rung != NONE:
                assert not covered, "a configuration is on too low a rung"


def _check_nominations(state: State) -> None:
    """Somebody is nominated once the first pair after 8, 16, 32, ... has been started."""
    most, nominated = state.testers["started"].max(), state.now.nominated
    for number, index in enumerate(nominated.tolist()):
        assert (index != NONE) == (most > 8 << number), "a nomination is missing, or too early"
        assert index == NONE or 0 <= index < state.testers.size


def _check_race(state: State) -> None:
    """What is known to the end is counted right, and so are the rivals that are not beaten."""
    testers, now = state.testers, state.now
    for index in range(testers.size):
        ended = values_of(state.values, index, int(testers[index].started)) > 0
        whole = ended.size if ended.all() else int(ended.argmin())
        assert testers[index].whole == whole, "pairs known to the end are miscounted"
    if now.racing == NONE:
        return
    assert now.racing == now.incumbent
    rivals = np.arange(now.race_members) != now.racing
    rivals &= testers["proposed_at"][: now.race_members] == NONE
    unbeaten = rivals & (testers["beaten"][: now.race_members] <= now.race_target)
    assert now.unbeaten in (0, unbeaten.sum()), "rivals are miscounted"


def _check_directory(state: State, index: int) -> None:
    for cell in _directory(state, index):
        part = state.runtimes.values[cell.link, : cell.count]
        assert part.size > 0 and part[0] == cell.least
        assert np.isclose(part.sum(), cell.total, rtol=1e-9)


def _check_tree(tree: Tournament) -> None:
    firsts, seconds = (tree[name][tree.size // 2 :].tolist() for name in ("first", "second"))
    keys = [(*key, index) for index, key in enumerate(zip(firsts, seconds, strict=True))]
    assert tree[ROOT].winner == min(keys)[2], "the tournament has the wrong winner"
