"""The betting bound: against brute force, against its promise, and as sharp as theory has it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cunctator.core.betting import NUMBER_OF_BETS, PRICE, log_wealth, lower_mean, stake
from tests.margins import most_events


def bound(values, evidence, weights=None, guess=3, precision=1e-9):
    values = np.asarray(values, dtype=float)
    weights = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=float)
    return lower_mean(values, weights, len(values), evidence, guess, precision)[0]


def best_wealth(values, mean):
    with np.errstate(divide="ignore"):
        return max(
            np.log(1 - stake(d) + stake(d) * np.asarray(values) / mean).sum()
            for d in range(NUMBER_OF_BETS)
        )


@given(
    values=st.lists(st.floats(0.001, 1e4), min_size=1, max_size=60),
    evidence=st.floats(0.5, 40.0),
    guess=st.integers(0, NUMBER_OF_BETS - 1),
)
@settings(max_examples=300)
def test_it_is_the_least_price_that_no_bet_refutes(values, evidence, guess):
    lower = bound(values, evidence, guess=guess)
    assert 0 < lower <= np.mean(values) * (1 + 1e-9)
    assert best_wealth(values, lower) >= evidence - 1e-6
    assert best_wealth(values, lower * 1.001) <= evidence + 1e-6


def test_zeros_and_weights():
    assert bound([0.0, 0.0], 5.0) == 0.0
    once = bound([1.0, 1.0, 1.0, 2.0, 0.0, 0.0], 2.0)
    assert once == pytest.approx(bound([0.0, 1.0, 2.0], 2.0, weights=[2, 3, 1]), rel=1e-9)
    assert once < 5 / 6


def test_stopping_early_is_safe():
    random = np.random.default_rng(1)
    for _ in range(200):
        values = random.exponential(size=random.integers(1, 200))
        rough, fine = (bound(values, 5.0, precision=p) for p in (0.5, 1e-10))
        assert rough <= fine * (1 + 1e-12)
        assert rough > 0.3 * fine


@given(values=st.lists(st.floats(0.1, 10.0), min_size=2, max_size=30), k=st.integers(0, 29))
def test_a_smaller_value_never_raises_it(values, k):
    less = list(values)
    less[k % len(values)] *= 0.5
    assert bound(less, 3.0) <= bound(values, 3.0) * (1 + 1e-9)


DISTRIBUTIONS = {
    "constant": (lambda random, size: np.ones(size), 1.0, 247),
    "exponential": (lambda random, size: random.exponential(size=size), math.log(16), 2663),
    "lognormal": (
        lambda random, size: np.exp(1.5 * random.standard_normal(size)),
        math.exp(1.5 * 1.5341205),
        7084,
    ),
}


@pytest.mark.parametrize("name", sorted(DISTRIBUTIONS))
def test_sharpness(name):
    """Runs until the bound is 0.9 of the capped mean (cap at S = 1/16, error 8e-7): the median of
    21 samples is at most what a mixture of the bets 2^-1/4, 2^-3/4, ... needs."""
    draw, cap, most = DISTRIBUTIONS[name]
    random = np.random.default_rng(7)
    truth = np.minimum(draw(random, 4_000_000), cap).mean()
    evidence = math.log(1 / 8e-7) + PRICE
    reached = 0
    for _ in range(21):
        values = np.minimum(draw(random, most), cap)
        reached += bound(values, evidence) >= 0.9 * truth
    assert reached >= 11


def crossings(draw, truth, error, studies, length, seed, halved=False):
    """In how many studies does the bound ever exceed the truth? Looked at after every run.

    The bound exceeds the truth exactly if the best bet's wealth at that price is above the limit.
    """
    random = np.random.default_rng(seed)
    limit = math.log(1 / error) + PRICE
    bets = np.ldexp(1.0, -np.arange(NUMBER_OF_BETS))[:, None]
    crossed = 0
    for _ in range(studies):
        with np.errstate(divide="ignore"):  # whoever stakes everything may lose everything
            gains = np.log1p(bets * (draw(random, length)[None, :] / truth - 1))
        wealth = np.cumsum(gains, axis=1).max()
        crossed += wealth > (limit / 4 if halved else limit)
    return crossed


@pytest.mark.parametrize("error", [0.2, 0.05])
@pytest.mark.parametrize("name", ["exponential", "two-point", "pareto"])
def test_it_is_crossed_no_more_often_than_promised(name, error):
    """At all times at once; half the width (a quarter of the evidence) fails the same test."""
    draws = {
        "exponential": (lambda random, size: random.exponential(size=size), 1.0),
        "two-point": (lambda random, size: np.where(random.random(size) < 0.1, 10.0, 0.0), 1.0),
        "pareto": (lambda random, size: random.pareto(1.5, size=size) + 1, 3.0),
    }
    draw, truth = draws[name]
    studies = 1500
    ceiling = most_events(studies, error)
    assert crossings(draw, truth, error, studies, 2000, 11) <= ceiling
    if name != "pareto":  # so heavy a tail makes low means, not high ones, within 2,000 runs
        assert crossings(draw, truth, error, studies, 2000, 11, halved=True) > ceiling


def test_wealth_of_a_bet_at_the_true_mean_is_fair():
    wealth, slope = log_wealth(np.array([1.0]), np.array([3.0]), 1, 1.0, 0.5)
    assert wealth == 0.0
    assert slope == pytest.approx(1.5)
