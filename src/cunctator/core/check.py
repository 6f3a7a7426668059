"""The invariants of the state, checked from scratch.

Plain NumPy on purpose: slow, easy to read, and independent of the kernels it checks. Every
property test calls it after every step. Assertions, because a failure is our error, not a user's.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cunctator.core.runtimes import Chunk
from cunctator.core.sentinels import NONE
from cunctator.core.state import RUNGS, State
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
    caps = rules.first_cap * 2.0 ** (rules.octaves * np.arange(level + 1))
    return np.minimum(np.where(caps > rules.longest, rules.cutoff, caps), rules.cutoff)


def known_values(state: State, index: int) -> NDArray[np.float64]:
    """What counts for each started run, ascending (the empirical distribution G of the paper).

    That is min(runtime, known cap), the cutoff for a crash, first_cap for a new run in flight.
    """
    tester, rules = state.testers[index], state.rules
    known_cap = caps_up_to(state, int(tester.known_level))[-1]
    finished = np.minimum(stored_runtimes(state, index), known_cap)
    new, crashed = int(tester.new_in_flight), int(tester.crashed)
    pending = int(tester.started) - finished.size - new - crashed
    parts = [
        np.full(new, rules.first_cap),
        finished,
        np.full(pending, known_cap),
        np.full(crashed, rules.cutoff),
    ]
    return np.sort(np.concatenate(parts))


def check_state(state: State) -> None:
    """Raise AssertionError if anything does not hold."""
    for index in range(state.testers.size):
        _check_tester(state, index)
    for tree in (state.by_lower, state.by_expiry, state.by_sharp):
        _check_tree(tree)
    _check_turns(state)
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
    _check_directory(state, index)
    _check_values(state, index, runtimes, queue)

    # Invariant 1: active pairs are the first `started`; none is pending twice.
    pending = [pair for pair, _ in queue] + flying
    assert len(set(pending)) == len(pending) and all(0 <= pair < started for pair in pending)
    # Invariant 2: pending runs never exceed the target.
    assert len(pending) <= tester.queue_target, "more runs put off than allowed"
    # Invariant 3: every pending pair was tried at the known level, none above the next one.
    levels = [level for _, level in queue]
    assert levels == sorted(levels), "queue out of order"
    assert all(known + 1 <= level <= known + 2 for level in levels)
    for flight in flights:
        tried = flight.level - (0 if flight.is_new else 1)
        assert known <= tried <= known + 1
    assert known <= tester.cap_level <= known + 1

    values = known_values(state, index)
    caps = caps_up_to(state, known + 1)
    low = runtimes[runtimes < caps[known]]
    assert low.size == tester.below_count
    assert np.isclose(low.sum(), tester.below_sum, rtol=1e-9)
    # Equation 4 of the appendix: time <= 6 r m, however runs and results interleave; 6 holds for
    # caps that double. A run has been charged at most all caps up to the one above the known one
    # (if it reaches the known one), or those below it and itself. One in flight, its earlier tries.
    most = max(3.0, caps.sum() / caps[known])
    within_caps = tester.charged - tester.overrun
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
    assert np.isclose(state.pools["turns"].sum(), charged + caps, atol=1e-9)


def _check_rungs(state: State) -> None:
    """Everybody is on the rung that its time is enough for, and pools count them right."""
    testers = state.testers
    granted = testers["charged"].copy()
    for slot in _busy(state):
        flight = state.flights[slot]
        granted[flight.configuration] += caps_up_to(state, int(flight.level))[-1]
    assert np.allclose(granted, testers["granted"], rtol=1e-9, atol=1e-9)
    # Not log2, which rounds what is just below a power of two up to it.
    doublings = np.frexp(testers["granted"] / state.rules.first_cap)[1]
    exact = testers["completed"] + testers["crashed"] == state.rules.instances
    rungs = np.where(exact, RUNGS - 1, np.clip(doublings, 0, RUNGS - 1))
    assert np.array_equal(rungs, state.rungs), "a configuration is on the wrong rung"
    counted = [(rungs >= rung).sum() for rung in range(1, RUNGS)]
    assert counted == state.ranks.reached[1:].tolist(), "the rungs are miscounted"


def _check_nominations(state: State) -> None:
    """Somebody is nominated once the first pair after 8, 16, 32, ... has been started."""
    most, nominated = state.testers["started"].max(), state.now.nominated
    for number, index in enumerate(nominated.tolist()):
        assert (index != NONE) == (most > 8 << number), "a nomination is missing, or too early"
        assert index == NONE or 0 <= index < state.testers.size


def _check_directory(state: State, index: int) -> None:
    for cell in _directory(state, index):
        part = state.runtimes.values[cell.link, : cell.count]
        assert part.size > 0 and part[0] == cell.least
        assert np.isclose(part.sum(), cell.total, rtol=1e-9)


def _check_tree(tree: Tournament) -> None:
    firsts, seconds = (tree[name][tree.size // 2 :].tolist() for name in ("first", "second"))
    keys = [(*key, index) for index, key in enumerate(zip(firsts, seconds, strict=True))]
    assert tree[ROOT].winner == min(keys)[2], "the tournament has the wrong winner"
