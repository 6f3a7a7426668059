"""The sorted store, the queues, the slabs and the tournament, each against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cunctator.core.check import check_state, queued, stored_runtimes
from cunctator.core.profiles import PROFILES
from cunctator.core.queues import head_level, head_pair, push, take
from cunctator.core.rules import Rules
from cunctator.core.runtimes import below, insert
from cunctator.core.state import grow, new_state, room_for_result
from cunctator.core.tournament import ROOT, new_tournament, set_key


@given(seed=st.integers(0, 2**32 - 1), owners=st.integers(1, 4), size=st.integers(1, 3000))
@settings(max_examples=40)
def test_store_keeps_everything_sorted(seed, owners, size):
    random = np.random.default_rng(seed)
    state = new_state(owners, Rules(1.0, np.inf, 10**6), PROFILES["proved"])
    kept: list[list[float]] = [[] for _ in range(owners)]
    values = random.choice([random.exponential(5.0, size), random.integers(0, 5, size) * 1.0])
    for value in values:
        owner = int(random.integers(owners))
        if not room_for_result(state, owner):
            state = grow(state, owner)
        insert(state.runtimes, owner, value)
        kept[owner].append(value)
    for owner in range(owners):
        np.testing.assert_array_equal(stored_runtimes(state, owner), sorted(kept[owner]))
        limit = float(random.exponential(5.0))
        count, total = below(state.runtimes, owner, limit)
        low = [value for value in kept[owner] if value < limit]
        assert count == len(low)
        assert total == pytest.approx(sum(low))


@given(seed=st.integers(0, 2**32 - 1), owners=st.integers(1, 3))
@settings(max_examples=40)
def test_queues_keep_the_lowest_level_at_the_head(seed, owners):
    random = np.random.default_rng(seed)
    state = new_state(owners, Rules(1.0, np.inf, 10**6), PROFILES["proved"])
    plain: list[list[tuple[int, int]]] = [[] for _ in range(owners)]
    for pair in range(500):
        owner = int(random.integers(owners))
        if random.random() < 0.6 or not plain[owner]:
            level = pair // 100 + int(random.integers(2))
            if not room_for_result(state, owner):
                state = grow(state, owner)
            push(state.queues, owner, pair, level)
            plain[owner] = sorted([*plain[owner], (pair, level)], key=lambda entry: entry[1])
        else:
            # Mostly the head, which is the tester's own choice.
            place = 0 if random.random() < 0.5 else int(random.integers(len(plain[owner])))
            taken, level = plain[owner].pop(place)
            assert take(state.queues, owner, taken) == level
        assert queued(state, owner) == plain[owner]
        if plain[owner]:
            head = head_pair(state.queues, owner), head_level(state.queues, owner)
            assert head == plain[owner][0]


@given(size=st.integers(1, 40), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_tournament_has_the_least_key_at_its_root(size, seed):
    random = np.random.default_rng(seed)
    tree = new_tournament(size)
    keys = [(np.inf, np.inf)] * size
    for _ in range(100):
        index = int(random.integers(size))
        keys[index] = tuple(random.integers(3, size=2).astype(float))
        set_key(tree, index, *keys[index])
        least = min((*key, i) for i, key in enumerate(keys))
        assert tuple(tree[ROOT]) == least


def test_check_notices_a_broken_state():
    state = new_state(3, Rules(1.0, np.inf, 10), PROFILES["tight"])
    check_state(state)
    state.testers[1].started = 2
    with pytest.raises(AssertionError, match="lost"):
        check_state(state)
