"""Configurations and pairs told apart, and where little is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cunctator.propose.evidence import (
    LEAST_NOISE,
    MOST_NOISE,
    Results,
    evidence,
    hazard,
)

NOISE, OWN, OF_PAIR = 0.5, 0.7, 1.0
SEEDS = range(10)


class Made:
    """A made-up table: a number of the configuration, plus one of the pair, plus noise."""

    def __init__(self, seed, cap=math.inf, confounded=False, configurations=60, pairs=12, runs=3):
        random = np.random.default_rng(seed)
        self.own = OWN * random.standard_normal(configurations)
        self.of_pair = 1.0 + OF_PAIR * random.standard_normal(pairs)
        order, half = np.argsort(self.of_pair), pairs // 2
        chosen = []
        for k in range(configurations):
            among = order
            if confounded:  # every other one has met hard pairs only, but for one of the middle
                among = order[half - 1 :] if k % 2 else order[: half + 1]
            chosen.append(random.choice(among, runs, replace=False))
        pair = np.concatenate(chosen)
        configuration = np.repeat(np.arange(configurations), runs)
        logs = self.own[configuration] + self.of_pair[pair]
        logs = logs + NOISE * random.standard_normal(pair.size)
        seconds = np.minimum(np.exp(logs), cap)
        self.runs = runs
        self.seen = Results(configuration, pair, seconds, seconds >= cap)

    def found(self, seen=None):
        return evidence(seen or self.seen, self.own.size, self.of_pair.size)

    def means(self, seen=None):
        return self.found(seen).means

    def raw(self):
        """What is said of configurations by who does not tell pairs apart."""
        logs = np.log(self.seen.seconds)
        return np.bincount(self.seen.configuration, logs) / self.runs

    def least_squares(self):
        """The best there is without bias."""
        size, pairs = self.own.size, self.of_pair.size
        rows = np.zeros((self.seen.pair.size, size + pairs))
        rows[np.arange(len(rows)), self.seen.configuration] = 1.0
        rows[np.arange(len(rows)), size + self.seen.pair] = 1.0
        return np.linalg.lstsq(rows, np.log(self.seen.seconds), rcond=None)[0][:size]

    def error(self, means):
        """Root mean square, but for a constant, which is the pairs' as well."""
        left = means - self.own
        return float(np.sqrt(np.mean((left - left.mean()) ** 2)))


def average(numbers):
    return float(np.mean(list(numbers)))


def test_means_are_as_good_as_those_of_least_squares():
    """Three runs each: noise alone makes them 0.5 / sqrt(3) = 0.29 wrong, if pairs were known. The
    mean over 10 tables of 60 has a standard error of 0.29 / sqrt(2 * 600) = 0.008."""
    tables = [Made(seed) for seed in SEEDS]
    ours = average(table.error(table.means()) for table in tables)
    best = average(table.error(table.least_squares()) for table in tables)
    least = NOISE / math.sqrt(3)
    assert ours < 1.15 * best
    assert least - 0.04 < ours < 1.3 * least
    assert average(table.error(table.raw()) for table in tables) > 1.5 * ours
    # A truth that varies by 0.7, seen with an error of 0.3: corr = 0.7 / sqrt(0.49 + 0.09) = 0.92.
    assert average(np.corrcoef(t.means(), t.own)[0, 1] for t in tables) > 0.89


def test_pairs_are_found_and_noise_too():
    for seed in SEEDS:
        table = Made(seed)
        found = table.found()
        # 15 runs of a pair, each 0.5 of noise and 0.7 of a configuration away: 0.86 / sqrt(15)
        assert np.corrcoef(found.pairs, table.of_pair)[0, 1] > 0.95
        left = found.pairs - table.of_pair
        assert np.std(left) < 2 * 0.86 / math.sqrt(15)
        assert 0.6 * NOISE < found.noise < 1.4 * NOISE
        assert (found.runs == 3).all()


def test_who_has_met_hard_pairs_is_not_taken_for_slow():
    """Half of them only hard ones: their runtimes look worse by more than one, in logarithms."""
    tables = [Made(seed, confounded=True) for seed in SEEDS]

    def gap(table, means):
        left = means - table.own
        return left[1::2].mean() - left[::2].mean()

    raw = average(gap(table, table.raw()) for table in tables)
    assert raw > 1.0
    assert abs(average(gap(table, table.means()) for table in tables)) < 0.3 * raw
    ours = average(table.error(table.means()) for table in tables)
    assert ours < average(table.error(table.least_squares()) for table in tables) + 0.05
    assert ours < 0.6 * average(table.error(table.raw()) for table in tables)


@pytest.mark.parametrize("cap", [3.0, 2.0])
def test_what_was_put_off_has_taken_longer_than_its_cap(cap):
    """About half of all runs: who takes caps for runtimes is more wrong, in every table."""
    respected, ignored, shares = [], [], []
    for seed in SEEDS:
        table = Made(seed, cap=cap)
        seen = table.seen
        shares.append(seen.is_capped.mean())
        as_if_ended = Results(
            seen.configuration, seen.pair, seen.seconds, np.zeros(seen.pair.size, bool)
        )
        respected.append(table.error(table.means()))
        ignored.append(table.error(table.means(as_if_ended)))
    assert 0.35 < average(shares) < 0.75
    assert sum(one < other for one, other in zip(respected, ignored, strict=True)) >= 9
    assert average(respected) < 0.9 * average(ignored)


def test_who_was_put_off_is_taken_for_slower_than_who_ended_then():
    table = Made(3, cap=2.0)
    seen = table.seen
    is_capped = np.zeros(seen.pair.size, bool)
    as_if_ended = Results(seen.configuration, seen.pair, seen.seconds, is_capped)
    lifted = table.means() - table.means(as_if_ended)
    counts = np.bincount(seen.configuration, seen.is_capped)
    assert lifted[counts == 3].mean() > lifted[counts == 0].mean() + 0.2


def test_it_knows_how_well_means_are_known():
    """Squares of errors times precisions are 1 on average, and a little more, for pairs are not
    known exactly: 600 of them have a standard error of sqrt(2 / 600) = 0.06."""
    squares = []
    for seed in SEEDS:
        table = Made(seed)
        found = table.found()
        left = found.means - table.own
        squares += ((left - left.mean()) ** 2 * found.precisions).tolist()
    assert 0.75 < average(squares) < 1.6
    more, fewer = (Made(1, runs=runs).found().precisions.mean() for runs in (6, 2))
    assert 1.5 < more / fewer < 4.5


def test_twice_the_time_for_all_says_the_same_of_configurations():
    table = Made(1)
    seen = table.seen
    twice = Results(seen.configuration, seen.pair, 1000.0 * seen.seconds, seen.is_capped)
    ours, theirs = table.found(), table.found(twice)
    assert theirs.noise == pytest.approx(ours.noise)
    total = theirs.means + theirs.pairs.mean() - ours.means - ours.pairs.mean()
    assert np.allclose(total, math.log(1000.0))


def test_pairs_that_nobody_has_run_are_as_the_others():
    seen = Results(
        np.array([0, 0, 1]), np.array([0, 3, 3]), np.array([1.0, 5.0, 9.0]), np.zeros(3, bool)
    )
    found = evidence(seen, 4, 6)
    assert found.runs.tolist() == [2, 1, 0, 0] and (found.means[2:] == 0.0).all()
    assert (found.precisions[:2] > 0.0).all() and (found.precisions[2:] == 0.0).all()
    assert len(set(found.pairs[[1, 2, 4, 5]].tolist())) == 1
    assert found.pairs[[0, 3]].min() <= found.pairs[1] <= found.pairs[[0, 3]].max()


SMALL = {
    "one run": ([0], [0], [1.0], [0]),
    "one run, put off": ([0], [0], [7.0], [1]),
    "the shortest and the longest": ([0, 0, 1, 1], [0, 1, 0, 1], [1e-9, 1e9, 1e9, 1e-9], [0] * 4),
    "one pair": ([0, 1, 2], [0, 0, 0], [1.0, 2.0, 3.0], [0, 0, 0]),
    "one pair, all put off": ([0, 1, 2], [0, 0, 0], [1.0, 1.0, 1.0], [1, 1, 1]),
    "one configuration": ([0] * 4, [0, 1, 2, 3], [1.0, 2.0, 3.0, 4.0], [0] * 4),
    "one configuration, all put off": ([0] * 4, [0, 1, 2, 3], [4.0] * 4, [1] * 4),
    "all put off at different caps": ([0, 0, 1], [0, 1, 0], [1.0, 64.0, 1e6], [1, 1, 1]),
    "all the same": ([0, 0, 1, 1], [0, 1, 0, 1], [2.0] * 4, [0] * 4),
    "the last of many": ([9], [7], [2.0], [0]),
}


@pytest.mark.parametrize("name", SMALL)
def test_where_little_is_known(name):
    """Finite, within bounds, and without a warning, which would fail here."""
    configuration, pair, seconds, capped = (np.array(one) for one in SMALL[name])
    found = evidence(Results(configuration, pair, seconds, capped.astype(bool)), 10, 8)
    assert np.isfinite(found.means).all() and np.isfinite(found.pairs).all()
    assert LEAST_NOISE <= found.noise <= MOST_NOISE
    assert found.runs.sum() == pair.size and found.means.size == 10 and found.pairs.size == 8


@given(st.data())
def test_anything_that_may_be_seen(data):
    configurations, pairs = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    cells = st.tuples(st.integers(0, configurations - 1), st.integers(0, pairs - 1))
    chosen = sorted(data.draw(st.sets(cells, min_size=1)))
    size = len(chosen)
    exponents = data.draw(st.lists(st.floats(-9, 9), min_size=size, max_size=size))
    capped = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
    configuration, pair = np.array(chosen).T
    seen = Results(configuration, pair, 10.0 ** np.array(exponents), np.array(capped))
    found = evidence(seen, configurations, pairs)
    assert np.isfinite(found.means).all() and np.isfinite(found.pairs).all()
    assert LEAST_NOISE <= found.noise <= MOST_NOISE
    assert np.isfinite(found.precisions).all() and found.precisions.any()
    assert ((found.precisions > 0.0) == (found.runs > 0)).all()


# The mean beyond a point


def reference_hazard(at):
    """1 / E exp(-at * u - u^2 / 2) over u > 0, by Simpson's rule."""
    end = 12.0 + max(0.0, -2.0 * at) if at < 1.0 else 45.0 / at
    u = np.linspace(0.0, end, 40_001)
    heights = np.exp(-at * u - 0.5 * u * u - min(0.0, at) ** 2 / 2.0)
    weights = np.full(u.size, 2.0)
    weights[1::2], weights[0], weights[-1] = 4.0, 1.0, 1.0
    return math.exp(-(min(0.0, at) ** 2) / 2.0) / (float(heights @ weights) * (u[1] - u[0]) / 3.0)


@pytest.mark.parametrize("at", [-8.0, -5.0, -2.0, -0.5, 0.0, 0.7, 2.0, 3.5, 4.9, 4.999999])
def test_the_density_over_what_is_beyond(at):
    assert hazard(np.array([at]))[0] == pytest.approx(reference_hazard(at), rel=1e-7)


@pytest.mark.parametrize("at", [5.0, 5.5, 7.0, 10.0, 20.0, 40.0])
def test_the_density_over_what_is_beyond_far_out(at):
    """Its series is at + 1 / at - 2 / at^3 + ...: it is wrong by the third term at most."""
    found = float(hazard(np.array([at]))[0])
    assert reference_hazard(at) <= found <= reference_hazard(at) + 2.0 / at**3


def test_it_goes_on_where_the_series_begins():
    at = np.linspace(-8.0, 40.0, 4801)
    found = hazard(at)
    assert (np.diff(found) > 0.0).all() and (found > np.maximum(at, 0.0)).all()
    below, above = hazard(np.array([5.0 - 1e-9, 5.0])).tolist()
    assert abs(above - below) < 2.0 / 5.0**3, "what the series leaves out there"
    # Its slope is between 0 and 1 everywhere, but for the step where the series begins.
    slopes = np.diff(found) / np.diff(at)
    assert (slopes[(at[:-1] < 4.985) | (at[:-1] > 5.005)] <= 1.0).all()


def test_extremes_are_no_trouble():
    found = hazard(np.array([-1e9, -40.0, 40.0, 1e9]))
    assert np.isfinite(found).all() and (found >= 0.0).all()
    assert found[:2].max() < 1e-300 and found[3] == pytest.approx(1e9)
