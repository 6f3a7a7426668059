"""Do the lower bounds hold as often as they promise? Ceil bins do, the printed floor bins do not.

Lemma 3.2 of the paper needs, for each bin k at step t with r runs: the probability that anywhere in
the bin S_hat(x) / (1 + eps(k, r, t)) exceeds the true S(x) is at most (k t)^(-9/4). If the runtimes
have survival function S, the S(x_j) are uniform, so the m-th longest run has S equal to the m-th
least of r uniforms, U_m; just below that run S_hat = m / r. So bin k fails if some m in it has
m / r > (1 + eps) U_m, whatever the distribution.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from cunctator.core.equation1 import bin_edge, squared_epsilon
from cunctator.core.profiles import PROFILES
from cunctator.recorded.simulation import Simulation
from cunctator.recorded.table import make_table
from tests.margins import most_events

# The least r for which bin k counts at step t (eps <= 1/2): there the promise is tightest.
PLACES = [(1, 10), (2, 8), (3, 10), (5, 5)]


def runs_needed(k: int, step: int) -> int:
    return math.ceil(36 * 2**k * math.log(k * step))


def bin_failures(name: str, k: int, step: int, trials: int, seed: int) -> int:
    """In how many samples does bin k of this profile exceed the true survival somewhere?"""
    runs = runs_needed(k, step)
    rounding = PROFILES[name].rounding
    first = bin_edge(rounding, runs, k)
    last = bin_edge(rounding, runs, k - 1) - 1 if k > 1 else runs
    widened = 1 + math.sqrt(squared_epsilon(k, runs, math.log(step)))
    limits = np.arange(first, last + 1) / runs / widened
    random = np.random.default_rng([seed, k, step])
    failures = 0
    for _ in range(trials // 1000):
        # The `last` least of `runs` uniforms, in order: partial sums of exponentials, normalised.
        sums = random.exponential(size=(1000, last)).cumsum(axis=1)
        whole = sums[:, -1] + random.gamma(runs + 1 - last, size=1000)
        failures += int((sums[:, first - 1 :] < limits * whole[:, None]).any(axis=1).sum())
    return failures


@pytest.mark.parametrize(("k", "step"), PLACES)
def test_proved_bins_hold_at_their_rate(k, step):
    trials = 40_000
    promised = (k * step) ** -2.25
    assert bin_failures("proved", k, step, trials, 1) <= most_events(trials, promised)


@pytest.mark.parametrize(("k", "step", "rate"), [(3, 10, 1.9e-3), (5, 5, 3.3e-3)])
def test_the_printed_floor_bins_do_not(k, step, rate):
    """Trap 1: more failures than the promised rate explains, at odds of a million to one."""
    trials = 40_000
    promised = (k * step) ** -2.25
    failures = bin_failures("paper", k, step, trials, 2)
    assert failures > most_events(trials, promised)
    assert failures / trials == pytest.approx(rate, rel=0.35)


def capped_mean(spread: float, cap: float) -> float:
    """The mean of min(X, cap) for X log-normal with median 1."""

    def normal(x: float) -> float:
        return (1 + math.erf(x / math.sqrt(2))) / 2

    log_cap = math.log(cap)
    below = math.exp(spread**2 / 2) * normal((log_cap - spread**2) / spread)
    return below + cap * (1 - normal(log_cap / spread))


def test_lower_bounds_stay_below_the_capped_means():
    """Over a whole search no `proved` bound exceeds the true capped mean; plain means do.

    Promised: Pr(a given bound is ever invalid after step T) <= 2.63 T^(-5/4), with T = 100,000
    and 300 configurations a chance of 0.0005 in all.
    """
    random = np.random.default_rng(5)
    spreads = np.repeat([0.5, 1.0, 2.0], 100)
    table = make_table(np.exp(random.normal(0, 1, (300, 8000)) * spreads[:, None]))
    simulation = Simulation(table, profile="proved", first_cap=0.01)
    simulation.advance(100_000)
    tested = exceeded = 0
    while simulation.steps < 1_000_000 and simulation.stop is None:
        simulation.advance(20_000)
        for i in range(300):
            known = simulation.standing(i)
            if known.started == 8000:
                continue  # the whole table is another truth than the distribution's
            truth = max(0.01, capped_mean(spreads[i], known.known_cap))
            assert known.lower <= truth
            if known.lower > 0.01:
                tested += 1
                exceeded += known.mean > truth
    assert tested > 3_000
    assert exceeded > tested / 4, "plain means fail often, so this test can fail"


@pytest.mark.slow
@pytest.mark.parametrize(("k", "step"), PLACES)
def test_proved_bins_hold_at_their_rate_with_many_trials(k, step):
    trials = 1_000_000
    promised = (k * step) ** -2.25
    assert bin_failures("proved", k, step, trials, 3) <= most_events(trials, promised)
