"""Are certificates true as often as they say? Whole studies with known truth, stopped adversarially.

A study is counted as false if *any* certificate of its answer, looked at often and at all times,
says anything that is not so: that is what the worst moment to stop would find. The promise is that
at most 1 - confidence of the studies are. With half the width of every bound, more are.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from cunctator.core.certificate import certify
from cunctator.core.profiles import PROFILES
from cunctator.core.scheduler import check_rules, rekey_all
from cunctator.core.state import ENDLESS, new_state
from cunctator.core.tight import error_share, evidence
from cunctator.simulation import Simulation
from cunctator.target.table import make_table
from margins import most_events

FIRST_CAP, CUTOFF = 0.25, 64.0
SCALES = {5: 0.15, 50: 0.05}
"""How much configurations differ: close calls, where a bound that is too high does harm."""


def lognormal(random, n, m):
    return np.exp(random.normal(0, 1.2, (n, m)))


def pareto(random, n, m):
    return 0.5 * (1 - random.random((n, m))) ** (-1 / 1.3)  # infinite variance


def two_point(random, n, m):
    return np.where(random.random((n, m)) < 0.05, 30.0, 0.5)


def constant(random, n, m):
    return np.ones((n, m))


def all_capped(random, n, m):
    return np.full((n, m), 100.0)


def true_means(draw, factors, cutoff):
    """Capped means and survival of the distribution itself, from a large sample of its shape."""
    shape = draw(np.random.default_rng(99), 1, 400_000)[0]
    return [np.minimum(shape * factor, cutoff) for factor in factors]


def study(draw, n, confidence, endless, seed, weakened=False):
    """Run a study and say whether any of its certificates was false."""
    random = np.random.default_rng([seed, n])
    factors = np.exp(random.normal(0, SCALES[n], n))
    runs = 1500 if endless else 150
    table = make_table(np.minimum(draw(random, n, runs) * factors[:, None], CUTOFF), cutoff=CUTOFF)
    simulation = Simulation(table, first_cap=FIRST_CAP, seed=seed, confidence=confidence)
    rules = check_rules(n, None if endless else runs, FIRST_CAP, CUTOFF, confidence)
    if weakened:
        # Widths go with the square root of the evidence: a quarter of it is half the width.
        needed = evidence(rules._replace(instances=ENDLESS), error_share(0, n), 2, 1)
        rules = rules._replace(error=rules.error * math.exp(0.75 * needed))
    simulation.state = new_state(n, rules, PROFILES["tight"])
    rekey_all(simulation.state)
    truth = true_means(draw, factors, CUTOFF) if endless else list(table.runtimes)
    while simulation.stop is None and simulation.state.testers.started.max() < runs - 100:
        simulation.advance(60 if n == 5 else 600)
        if is_false(certify(simulation.state, simulation.incumbent), truth):
            return True
    return is_false(certify(simulation.state, simulation.incumbent), truth)


def is_false(certificate, truth):
    """Whether anything that a certificate says is not so (means below first_cap count as it)."""
    samples = [np.maximum(sample, FIRST_CAP) for sample in truth]
    means = [sample.mean() for sample in samples]
    answer = samples[certificate.incumbent]
    slack = 1 + 1e-9
    for point in certificate.points:
        if np.minimum(answer, point.cap).mean() > (1 + point.epsilon) * min(means) * slack:
            return True
        if point.cap < CUTOFF and (answer > point.cap).mean() > point.delta * slack:
            return True
    low, high = certificate.versus_default
    ratio = means[0] / means[certificate.incumbent]
    return not low <= ratio * slack or not ratio <= high * slack


DRAWS = [lognormal, pareto, two_point, constant, all_capped]
STUDIES = {5: 90, 50: 15}
"""For each of 5 distributions, 2 streams, 2 confidences: 2,100 studies in all."""


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("n", sorted(STUDIES))
@pytest.mark.parametrize("endless", [False, True])
def test_certificates_are_true_as_often_as_they_say(n, confidence, endless):
    """Chernoff: with 450 (75) studies that fail with probability 1 - confidence each, more than
    `most_events` failures have a chance of one in a million."""
    studies = [(draw, seed) for draw in DRAWS for seed in range(STUDIES[n])]
    false = sum(study(draw, n, confidence, endless, seed) for draw, seed in studies)
    # The margin only excuses chance; the union bounds leave more room than it takes.
    assert false <= most_events(len(studies), 1 - confidence)
    assert false <= len(studies) * (1 - confidence)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_half_the_width_fails_the_same_test(confidence):
    studies = [(draw, seed) for draw in (lognormal, pareto, two_point) for seed in range(60)]
    false = sum(study(draw, 5, confidence, True, seed, weakened=True) for draw, seed in studies)
    assert false > most_events(len(studies), 1 - confidence)
