from __future__ import annotations

import numpy as np

from cunctator.instances import LARGEST_SEED, endless_pair, shuffled


def test_a_finite_set_comes_up_whole_and_in_the_same_order():
    order = shuffled(100, seed=3)
    assert sorted(order) == list(range(100))
    np.testing.assert_array_equal(order, shuffled(100, seed=3))
    assert list(order) != list(shuffled(100, seed=4))


def test_the_endless_stream_is_a_function_of_seed_and_position():
    pairs = [endless_pair(10, 5, position) for position in range(2000)]
    assert pairs[1234] == endless_pair(10, 5, 1234)
    assert pairs[:50] != [endless_pair(10, 6, position) for position in range(50)]
    counts = np.bincount([instance for instance, _ in pairs], minlength=10)
    # 2,000 draws, 200 expected of each: five standard deviations of a binomial are 67.
    assert (abs(counts - 200) < 67).all()
    seeds = {seed for _, seed in pairs}
    assert len(seeds) > 1990 and min(seeds) >= 1 and max(seeds) <= LARGEST_SEED
