"""The invariants of the state, checked from scratch.

Plain NumPy on purpose: slow, easy to read, and independent of the kernels it checks. Every
property test calls it after every step. Assertions, because a failure is our error, not a user's.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cunctator.core.slabs import NONE
from cunctator.core.state import RUNGS, State
from cunctator.core.tournament import ROOT, Tournament


def stored_runtimes(state: State, index: int) -> NDArray[np.float64]:
    """All completed runtimes of one configuration, ascending."""
    store = state.runtimes
    entries = range(store.start[index], store.start[index] + store.entries[index])
    parts = [store.chunks[store.slabs.links[e], : store.counts[e]] for e in entries]
    return np.concatenate(parts) if parts else np.zeros(0)


def queued(state: State, index: int) -> list[tuple[int, int]]:
    """The queue of one configuration, head first, as (pair, level)."""
    queues = state.queues
    cells = [
        queues.start[index] + (queues.head[index] + offset) % queues.capacity[index]
        for offset in range(queues.length[index])
    ]
    return [(int(queues.slabs.links[cell]), int(queues.levels[cell])) for cell in cells]


def caps_up_to(state: State, level: int) -> NDArray[np.float64]:
    """The caps of all levels up to one."""
    rules = state.rules
    caps = rules.first_cap * 2.0 ** (rules.octaves * np.arange(level + 1))
    return np.minimum(np.where(caps > rules.longest, rules.cutoff, caps), rules.cutoff)


def known_values(state: State, index: int) -> NDArray[np.float64]:
    """What counts for each started run, ascending (the empirical distribution G of the paper).

    That is min(runtime, known cap), the cutoff for a crash, first_cap for a new run in flight.
    """
    testers, rules = state.testers, state.rules
    known_cap = caps_up_to(state, int(testers.known_level[index]))[-1]
    finished = np.minimum(stored_runtimes(state, index), known_cap)
    new, crashed = int(testers.new_in_flight[index]), int(testers.crashed[index])
    pending = int(testers.started[index]) - finished.size - new - crashed
    parts = [
        np.full(new, rules.first_cap),
        finished,
        np.full(pending, known_cap),
        np.full(crashed, rules.cutoff),
    ]
    return np.sort(np.concatenate(parts))


def check_state(state: State) -> None:
    """Raise AssertionError if anything does not hold."""
    for index in range(state.testers.started.size):
        _check_tester(state, index)
    for tree in (state.by_lower, state.by_expiry, state.by_sharp):
        _check_tree(tree)
    _check_turns(state)
    _check_rungs(state)
    busy = state.flights.configuration[state.flights.configuration != NONE]
    assert busy.size == state.testers.in_flight.sum(), "flights and testers disagree"


def _check_tester(state: State, index: int) -> None:
    testers, rules = state.testers, state.rules
    started, known = int(testers.started[index]), int(testers.known_level[index])
    runtimes, queue = stored_runtimes(state, index), queued(state, index)
    slots = np.flatnonzero(state.flights.configuration == index)
    flying = [int(state.flights.pair[slot]) for slot in slots]

    assert started <= rules.instances
    accounted = runtimes.size + int(testers.crashed[index]) + len(queue) + len(flying)
    assert accounted == started, "a started pair is lost, or counted twice"
    assert runtimes.size == testers.completed[index]
    assert np.all(np.diff(runtimes) >= 0), "runtimes out of order"
    _check_directory(state, index)

    # Invariant 1: active pairs are the first `started`; none is pending twice.
    pending = [pair for pair, _ in queue] + flying
    assert len(set(pending)) == len(pending) and all(0 <= pair < started for pair in pending)
    # Invariant 2: pending runs never exceed the target.
    assert len(pending) <= testers.queue_target[index], "more runs put off than allowed"
    # Invariant 3: every pending pair was tried at the known level, none above the next one.
    levels = [level for _, level in queue]
    assert levels == sorted(levels), "queue out of order"
    assert all(known + 1 <= level <= known + 2 for level in levels)
    for slot in slots:
        tried = state.flights.level[slot] - (0 if state.flights.is_new[slot] else 1)
        assert known <= tried <= known + 1
    assert known <= testers.cap_level[index] <= known + 1

    values = known_values(state, index)
    caps = caps_up_to(state, known + 1)
    low = runtimes[runtimes < caps[known]]
    assert low.size == testers.below_count[index]
    assert np.isclose(low.sum(), testers.below_sum[index], rtol=1e-9)
    # Equation 4 of the appendix: time <= 6 r m, however runs and results interleave; 6 holds for
    # caps that double. A run has been charged at most all caps up to the one above the known one
    # (if it reaches the known one), or those below it and itself. One in flight, its earlier tries.
    most = max(3.0, caps.sum() / caps[known])
    within_caps = testers.charged[index] - testers.overrun[index]
    assert within_caps <= most * values.sum() * (1 + 1e-9), f"more time spent than {most} r m"


def _check_turns(state: State) -> None:
    """The ledgers of all turns add up to what was charged, and caps for what is in flight."""
    levels = state.flights.level[state.flights.configuration != NONE]
    caps = sum(caps_up_to(state, int(level))[-1] for level in levels)
    assert np.isclose(state.turns.sum(), state.testers.charged.sum() + caps, atol=1e-9)


def _check_rungs(state: State) -> None:
    """Everybody is on the rung that its time is enough for, and pools count them right."""
    testers, flights = state.testers, state.flights
    granted = testers.charged.copy()
    for slot in np.flatnonzero(flights.configuration != NONE):
        granted[flights.configuration[slot]] += caps_up_to(state, int(flights.level[slot]))[-1]
    assert np.allclose(granted, testers.granted, rtol=1e-9, atol=1e-9)
    # Not log2, which rounds what is just below a power of two up to it.
    doublings = np.frexp(testers.granted / state.rules.first_cap)[1]
    exact = testers.completed + testers.crashed == state.rules.instances
    rungs = np.where(exact, RUNGS - 1, np.clip(doublings, 0, RUNGS - 1))
    assert np.array_equal(rungs, testers.rung), "a configuration is on the wrong rung"
    counted = [(rungs >= rung).sum() for rung in range(1, RUNGS)]
    assert counted == state.ranks.reached[1:].tolist(), "the rungs are miscounted"


def _check_directory(state: State, index: int) -> None:
    store = state.runtimes
    for entry in range(store.start[index], store.start[index] + store.entries[index]):
        part = store.chunks[store.slabs.links[entry], : store.counts[entry]]
        assert part.size > 0 and part[0] == store.least[entry]
        assert np.isclose(part.sum(), store.sums[entry], rtol=1e-9)


def _check_tree(tree: Tournament) -> None:
    leaves = tree.winner.size // 2
    keys = [(*key, index) for index, key in enumerate(tree.keys[leaves:].tolist())]
    assert tree.winner[ROOT] == min(keys)[2], "the tournament has the wrong winner"
