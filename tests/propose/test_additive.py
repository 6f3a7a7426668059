"""The model: what it learns, what it knows that it does not know, and what it draws."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from cunctator.propose import additive
from cunctator.propose.additive import LEAST_OWN, MOST_OWN, fit
from cunctator.propose.columns import Columns
from cunctator.space.parameters import make_parameter
from cunctator.space.space import Space

PARAMETERS = [
    *(make_parameter(f"x{k}", "real", 0.5, low=0, high=1) for k in range(30)),
    *(make_parameter(f"c{k}", "categorical", "a", values=["a", "b", "c"]) for k in range(10)),
]
SPACE = Space(PARAMETERS, 1)
COLUMNS = Columns(SPACE)
DRAWN = [SPACE.configuration(k) for k in range(1200)]
POSITIONS = COLUMNS.positions(DRAWN)
MATTERING = [3, 11, 20, 34]


def cost(values) -> float:
    """A trend, an optimum within the range, a step, and a choice: four parameters of forty."""
    of_choice = {"a": 0.0, "b": 0.5, "c": -0.5}[values["c4"]]
    step = 0.8 if values["x20"] > 0.7 else 0.0
    return 2.0 * (values["x3"] - 0.5) + 3.0 * (values["x11"] - 0.4) ** 2 + step + of_choice


TRUTH = np.array([cost(one) for one in DRAWN])
UNSEEN = slice(1000, 1200)


def observed(random, rows, own=0.04, variance=0.1):
    """Means of configurations, and their variances: their own parts and noise make them inexact."""
    variances = np.full(len(rows), variance)
    spread = np.sqrt(own + variances)
    return TRUTH[rows] + spread * random.standard_normal(len(rows)), variances


def fitted(seed, count, **more):
    random = np.random.default_rng(seed)
    rows = random.permutation(1000)[:count]
    means, variances = observed(random, rows, **more)
    return fit(COLUMNS, POSITIONS[rows], means, variances), means


def shares(count):
    """Of the variance of unseen configurations, what the model leaves, for a few seeds."""
    for seed in range(4):
        model, means = fitted(seed, count)
        left = model.predict(POSITIONS[UNSEEN])[0] - TRUTH[UNSEEN]
        yield float(np.mean(left**2) / np.mean((TRUTH[UNSEEN] - means.mean()) ** 2))


@pytest.mark.parametrize(("count", "most"), [(20, 0.95), (50, 0.5), (100, 0.3), (200, 0.25)])
def test_what_nobody_has_seen_is_predicted(count, most):
    """Better than by the mean, with fewer configurations (20) than columns (121) as well. A step
    has no smooth curve: its part of the variance, 0.13 of 0.66, is never quite predicted."""
    assert np.mean(list(shares(count))) < most


@pytest.mark.parametrize("count", [100, 200])
def test_it_learns_which_parameters_matter(count):
    for seed in range(4):
        model, _ = fitted(seed, count)
        order = np.argsort(-model.relevance)
        assert set(order[:4].tolist()) == set(MATTERING)
        others = np.delete(model.relevance, MATTERING)
        assert np.median(others) < 0.1 * model.relevance[MATTERING].max()
    assert model.relevance.size == 40


def test_with_few_configurations_those_that_matter_come_first_more_often_than_not():
    """By luck, one of 40 parameters would be among these four with a chance of 1 in 10."""
    firsts = [int(np.argmax(fitted(seed, 50)[0].relevance)) for seed in range(8)]
    assert sum(first in MATTERING for first in firsts) >= 7


def test_products_are_for_those_that_matter():
    assert fitted(0, 60)[0].products == ()
    products = fitted(0, 200)[0].products
    assert len(products) == 10
    within = {frozenset(pair) for pair in products}
    assert {frozenset({3, 11}), frozenset({3, 34}), frozenset({20, 34})} <= within


def test_what_two_parameters_do_together_is_learned():
    random = np.random.default_rng(5)
    truth = 2.0 * (POSITIONS[:, 3] - 0.5) * (POSITIONS[:, 11] - 0.5) * 4.0
    truth = truth + POSITIONS[:, 3] + POSITIONS[:, 11]
    means = truth[:400] + 0.1 * random.standard_normal(400)
    variances = np.full(400, 0.01)
    left = {}
    for fewest in (60, 1000):  # with products, and without them
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(additive, "FEWEST_FOR_PRODUCTS", fewest)
            model = fit(COLUMNS, POSITIONS[:400], means, variances)
        left[fewest] = float(np.mean((model.predict(POSITIONS[UNSEEN])[0] - truth[UNSEEN]) ** 2))
    assert left[60] < 0.5 * left[1000]


def test_the_first_round_is_bayesian_regression(monkeypatch):
    """The same by the kernel: K = X P X', and what is a configuration's own is more noise."""
    monkeypatch.setattr(additive, "ROUNDS", 1)
    random = np.random.default_rng(2)
    rows = random.permutation(1000)[:50]
    means, _ = observed(random, rows)
    variances = random.uniform(0.02, 0.3, 50)
    model = fit(COLUMNS, POSITIONS[rows], means, variances)
    prior = np.full(121, additive.CONSTANT)
    for block in COLUMNS.blocks():
        prior[block.columns] = additive.FIRST_RELEVANCE * block.scales
    matrix, unseen = COLUMNS.matrix(POSITIONS[rows]), COLUMNS.matrix(POSITIONS[UNSEEN])
    noise = variances + additive.FIRST_RELEVANCE
    middle = (means / noise).sum() / (1.0 / noise).sum()
    kernel = matrix * prior @ matrix.T + np.diag(noise)
    across = unseen * prior @ matrix.T
    expected = middle + across @ np.linalg.solve(kernel, means - middle)
    spread = (unseen**2 * prior).sum(axis=1) - (across * np.linalg.solve(kernel, across.T).T).sum(
        axis=1
    )
    found, uncertain = model.predict(POSITIONS[UNSEEN])
    assert np.allclose(found, expected, atol=1e-8)
    assert np.allclose(uncertain, spread, atol=1e-8)


def test_it_knows_how_wrong_it_may_be():
    """Errors over deviations have a standard deviation of about 1: the truth is no draw of the
    prior, so not quite, but a model that is sure of what it does not know is off by far more."""
    for count in (20, 50, 100, 200):
        scores = []
        for seed in range(4):
            model, _ = fitted(seed, count)
            found, uncertain = model.predict(POSITIONS[UNSEEN])
            scores.append((found - TRUTH[UNSEEN]) / np.sqrt(uncertain))
        assert 0.6 < np.std(scores) < 1.4


def test_draws_have_the_mean_and_the_variance_of_the_posterior():
    model, _ = fitted(0, 100)
    random, count = np.random.default_rng(1), 4000
    draws = np.array([model.drawn(random) for _ in range(count)])
    deviations = np.sqrt(np.diag(model.covariance))
    # The largest of some 200 standard normals is above 5.5 with a probability of 1e-5.
    assert (np.abs(draws.mean(axis=0) - model.weights) < 5.5 * deviations / math.sqrt(count)).all()
    assert np.allclose(draws.var(axis=0), deviations**2, rtol=5.5 * math.sqrt(2 / count))
    found, uncertain = model.predict(POSITIONS[UNSEEN])
    costs = model.middle + draws @ model.matrix(POSITIONS[UNSEEN]).T
    limit = 5.5 * np.sqrt(uncertain / count)
    assert (np.abs(costs.mean(axis=0) - found) < limit).all()
    assert np.allclose(costs.var(axis=0), uncertain, rtol=5.5 * math.sqrt(2 / count))
    # As if weights were independent: not the same.
    apart = (model.matrix(POSITIONS[UNSEEN]) ** 2) @ np.diag(model.covariance)
    assert not np.allclose(apart, uncertain, rtol=5.5 * math.sqrt(2 / count))


@pytest.mark.parametrize("own", [0.05, 0.2, 0.4])
def test_what_is_a_configurations_own_is_found(own):
    """Of 400 configurations, some 300 are left when the columns have had theirs: the standard error
    is (own + 0.1) sqrt(2 / 300), and half of that for the mean of 4."""
    found = []
    for seed in range(4):
        random = np.random.default_rng(seed + 10)
        variances = random.uniform(0.02, 0.2, 400)
        spread = np.sqrt(own + variances)
        means = TRUTH[:400] + spread * random.standard_normal(400)
        found.append(fit(COLUMNS, POSITIONS[:400], means, variances).own)
    error = (own + 0.1) * math.sqrt(2 / 300) / 2
    assert abs(np.mean(found) - own) < 4 * error


def test_constant_results():
    for count in (1, 2, 50, 200):
        model = fit(COLUMNS, POSITIONS[:count], np.full(count, 3.0), np.full(count, 0.1))
        found, uncertain = model.predict(POSITIONS[UNSEEN])
        assert np.allclose(found, 3.0) and (uncertain > 0.0).all()
        assert LEAST_OWN <= model.own <= MOST_OWN
        assert np.isfinite(model.drawn(np.random.default_rng(0))).all()


def test_the_more_is_seen_the_surer():
    spreads = [np.mean(fitted(0, count)[0].predict(POSITIONS[UNSEEN])[1]) for count in (1, 20, 200)]
    assert spreads[0] > 1.5 * spreads[1] > 1.5**2 * spreads[2]


def test_of_who_is_known_badly_less_is_believed():
    """One result that is far off, with a variance to match, changes next to nothing."""
    random = np.random.default_rng(8)
    rows = np.arange(100)
    means, variances = observed(random, rows)
    plain = fit(COLUMNS, POSITIONS[rows], means, variances).predict(POSITIONS[UNSEEN])[0]
    means[7], variances[7] = means[7] + 10.0, 1000.0
    odd = fit(COLUMNS, POSITIONS[rows], means, variances).predict(POSITIONS[UNSEEN])[0]
    variances[7] = 0.1
    trusted = fit(COLUMNS, POSITIONS[rows], means, variances).predict(POSITIONS[UNSEEN])[0]
    assert np.abs(odd - plain).mean() < 0.1 < np.abs(trusted - plain).mean()


def test_a_shift_of_all_results_is_a_shift_of_what_is_predicted():
    random = np.random.default_rng(8)
    means, variances = observed(random, np.arange(80))
    one = fit(COLUMNS, POSITIONS[:80], means, variances)
    other = fit(COLUMNS, POSITIONS[:80], means - 20.0, variances)
    assert np.allclose(one.weights, other.weights, atol=1e-8)
    assert other.middle == pytest.approx(one.middle - 20.0)


def test_a_thousand_configurations_take_no_time():
    """A few hundredths of a second; the bound is for slow and busy machines."""
    means, variances = observed(np.random.default_rng(0), np.arange(1000))
    start = time.process_time()
    fit(COLUMNS, POSITIONS[:1000], means, variances)
    assert time.process_time() - start < 1.5
