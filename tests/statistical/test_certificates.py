"""Are certificates true as often as they say? Whole studies with known truth, stopped at will.

A study is counted as false if *any* certificate, of its answer or of others, looked at often and
all along, says anything that is not so: that is what the worst moment to stop and the worst choice
would find. The promise is that at most 1 - confidence of the studies are. That such a test can fail
is shown in `test_by_pair.py`.
"""

from __future__ import annotations

import copy

import numpy as np
import pytest

from cunctator.base.records import StopReason
from cunctator.core.certificate import certify
from cunctator.core.profiles import PROFILES
from cunctator.core.scheduler import check_rules, rekey_all
from cunctator.core.state import new_state
from cunctator.recorded.simulation import Simulation, simulate
from cunctator.recorded.table import make_table
from tests.margins import most_events

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


class Truth:
    """The true means of one configuration: of a distribution's shape, or of the runs themselves."""

    def __init__(self, sample: np.ndarray, factor: float = 1.0) -> None:
        self.ordered, self.factor = sample, factor
        self.sums = np.concatenate([[0.0], np.cumsum(sample)])

    def scaled(self, factor: float) -> Truth:
        other = copy.copy(self)
        other.factor = factor
        return other

    def mean(self, cap: float) -> float:
        """The mean of max(FIRST_CAP, min(runtime, cap))."""
        low, high = np.searchsorted(self.ordered, np.array([FIRST_CAP, cap]) / self.factor)
        between = self.factor * (self.sums[high] - self.sums[low])
        size = self.ordered.size
        return float((low * FIRST_CAP + between + (size - high) * cap) / size)

    def share_above(self, cap: float) -> float:
        rank = np.searchsorted(self.ordered, cap / self.factor, side="right")
        return 1 - rank / self.ordered.size


def shape_of(draw):
    return Truth(np.sort(draw(np.random.default_rng(99), 1, 1_000_000)[0]))


def study(draw, shape, n, confidence, endless, seed):
    """Run a study and say whether any of its certificates was false; `shape`: None if finite."""
    random = np.random.default_rng([seed, n])
    factors = np.exp(random.normal(0, SCALES[n], n))
    runs = 2000 if endless else 150
    table = make_table(np.minimum(draw(random, n, runs) * factors[:, None], CUTOFF), cutoff=CUTOFF)
    simulation = Simulation(table, first_cap=FIRST_CAP, seed=seed, confidence=confidence)
    tight, instances = PROFILES["tight"], None if endless else runs
    rules = check_rules(tight, n, instances, FIRST_CAP, CUTOFF, confidence)
    simulation.state = new_state(n, rules, tight)
    rekey_all(simulation.state)
    if endless:
        truth = [shape.scaled(factor) for factor in factors]
    else:
        truth = [Truth(np.sort(row)) for row in table.runtimes]
    while simulation.stop is None:
        steps = max(12 * n, simulation.steps // 10)
        # The endless stream ends with the table: stop well before.
        if endless and simulation.state.testers["started"].max() + steps >= runs:
            break
        simulation.advance(steps)
        # A certificate must hold for any answer, so a few others are looked at too.
        answers = {simulation.incumbent, *random.choice(n, 4, replace=False)}
        if any(is_false(certify(simulation.state, int(one)), truth) for one in answers):
            return True
    return False


def is_false(certificate, truth):
    """Whether anything that a certificate says is not so."""
    means = [one.mean(CUTOFF) for one in truth]
    answer = truth[certificate.incumbent]
    slack = 1 + 1e-9
    for point in certificate.points:
        if answer.mean(point.cap) > (1 + point.epsilon) * min(means) * slack:
            return True
        if point.cap < CUTOFF and answer.share_above(point.cap) > point.delta * slack:
            return True
    low, high = certificate.versus_default
    ratio = means[0] / means[certificate.incumbent]
    return not low <= ratio * slack or not ratio <= high * slack


def false_studies(draws, n, confidence, endless, seeds):
    return sum(
        study(draw, shape, n, confidence, endless, seed)
        for draw in draws
        for shape in [shape_of(draw)]
        for seed in range(seeds)
    )


DRAWS = [lognormal, pareto, two_point, constant, all_capped]
STUDIES = {5: 40, 50: 12}
"""For each of 5 distributions, 2 streams, 2 confidences: 1,040 studies in all."""


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("n", sorted(STUDIES))
@pytest.mark.parametrize("endless", [False, True])
def test_certificates_are_true_as_often_as_they_say(n, confidence, endless):
    """Chernoff: with 200 (60) studies that fail with probability 1 - confidence each, more than
    `most_events` failures have a chance of one in a million."""
    studies = len(DRAWS) * STUDIES[n]
    false = false_studies(DRAWS, n, confidence, endless, STUDIES[n])
    assert false <= most_events(studies, 1 - confidence)
    # The margin only excuses chance; the union bounds leave more room than it takes.
    assert false <= studies * (1 - confidence)


@pytest.mark.parametrize("spread", [1.0, 1.5])
@pytest.mark.parametrize("seed", range(5))
def test_five_per_cent_takes_at_most_25_000_runs_of_the_best(spread, seed):
    """Twenty log-normal configurations, until epsilon and delta are both at most 0.05."""
    random = np.random.default_rng(seed)
    medians = random.normal(1.0, 1.0, (20, 1))
    runtimes = np.exp(medians + spread * random.standard_normal((20, 60_000)))
    table = make_table(np.minimum(runtimes, 900.0), cutoff=900.0)
    result = simulate(table, seed=seed, stop_at=(0.05, 0.05))
    assert result.stop is StopReason.CERTIFIED
    assert result.certificate.epsilon_at(0.05) <= 0.05
    means = table.runtimes.mean(axis=1)
    assert result.standings[int(means.argmin())].started <= 25_000
    for point in result.certificate.points:
        answer = table.runtimes[result.incumbent]
        assert np.minimum(answer, point.cap).mean() <= (1 + point.epsilon) * means.min()
        assert (answer > point.cap).mean() <= point.delta
