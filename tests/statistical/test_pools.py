"""The (epsilon, delta, gamma) certificate of pools that grow, over studies with known truth.

The space is endless with a known quantile function: a configuration drawn at the quantile u has
mean m(u), and its runtimes are exponential, so that means up to a cap have a closed form.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from cunctator.core.certificate import certify
from cunctator.core.ladder import pool_sizes
from cunctator.core.profiles import PROFILES
from cunctator.core.scheduler import check_rules, rekey_all
from cunctator.core.state import new_state
from cunctator.simulation import Simulation
from cunctator.target.table import make_table
from margins import most_events

FIRST_CAP, CUTOFF = 0.01, 20.0
CONFIGURATIONS, RUNS = 400, 1200
LOOKS, BUDGET = 6, 250.0


def quantile(u):
    """m(u): one configuration in a hundred takes a fifth of what the median does."""
    return 0.05 + 0.6 * np.asarray(u) ** 0.7


def mean_up_to(mean: float, cap: float) -> float:
    """Mean of max(FIRST_CAP, min(X, cap)) for exponential X."""
    return FIRST_CAP + mean * (math.exp(-FIRST_CAP / mean) - math.exp(-cap / mean))


def study(seed: int, confidence: float, narrowed: float = 1.0) -> bool:
    """Whether any certificate of a study was false; gammas count as `narrowed` times theirs."""
    random = np.random.default_rng([seed, 31])
    means = quantile(random.random(CONFIGURATIONS))
    means[0] = quantile(0.5)  # the default is no draw
    runtimes = np.clip(
        means[:, None] * random.exponential(size=(CONFIGURATIONS, RUNS)), FIRST_CAP, CUTOFF
    )
    simulation = Simulation(make_table(runtimes, cutoff=CUTOFF), first_cap=FIRST_CAP, ladder=True)
    tight = PROFILES["tight"]
    rules = check_rules(tight, CONFIGURATIONS, None, FIRST_CAP, CUTOFF, confidence)
    # The sizes of an endless space: the table has room for more than is looked at.
    sizes = pool_sizes(1, None)[: int(np.searchsorted(pool_sizes(1, None), CONFIGURATIONS)) + 1]
    simulation.state = new_state(CONFIGURATIONS, rules, tight, sizes)
    rekey_all(simulation.state)
    for look in range(1, LOOKS + 1):
        simulation.budget = BUDGET * look / LOOKS
        simulation.stop = None
        simulation.run()
        assert simulation.state.testers.started.max() < RUNS, "the endless stream has ended"
        pools = simulation.state.pools
        assert sizes[pools.opened[0] - 1] <= CONFIGURATIONS, "the space has ended"
        certificate = certify(simulation.state, simulation.incumbent, fixed=1)
        if is_false(certificate, means, narrowed):
            return True
    return False


def is_false(certificate, means, narrowed: float) -> bool:
    mean = float(means[certificate.incumbent])
    for pool in certificate.pools:
        best = mean_up_to(float(quantile(pool.gamma * narrowed)), CUTOFF)
        for point in pool.points:
            if mean_up_to(mean, point.cap) > (1 + point.epsilon) * best * (1 + 1e-9):
                return True
            if point.cap < CUTOFF and math.exp(-point.cap / mean) > point.delta:
                return True
    return False


@pytest.mark.parametrize(
    ("confidence", "studies"),
    [
        (0.8, 30),
        pytest.param(0.8, 500, marks=pytest.mark.slow),
        pytest.param(0.95, 500, marks=pytest.mark.slow),
    ],
)
def test_certificates_hold_against_the_best_share_of_the_space(confidence, studies):
    false = sum(study(seed, confidence) for seed in range(studies))
    assert false <= most_events(studies, 1 - confidence)


@pytest.mark.slow
def test_a_gamma_that_is_too_small_would_be_noticed():
    """Were gamma a twentieth, an honest epsilon against the pool would be false too often."""
    studies = 100
    false = sum(study(seed, 0.8, narrowed=0.05) for seed in range(studies))
    assert false > most_events(studies, 0.2)
