"""Certificates: what may not be claimed, and what repeated runs that differ do to it."""

from __future__ import annotations

import numpy as np
import pytest

from cunctator.base.records import Outcome, Status, StopReason
from cunctator.core.certificate import certify
from cunctator.core.scheduler import Scheduler
from cunctator.recorded.simulation import Simulation
from cunctator.recorded.table import make_table


def test_optimal_is_said_only_when_all_is_known():
    """A slow rival need not be run to the end to be ruled out at 95%."""
    runtimes = np.vstack([np.full(300, 1.0), np.full(300, 500.0)])
    simulation = Simulation(make_table(runtimes), first_cap=0.5)
    result = simulation.run()
    assert result.stop is StopReason.PROVED_OPTIMAL and not result.standings[1].exact
    assert result.certificate.epsilon_at(0.0) == 0.0 and not result.certificate.optimal


def test_a_configuration_that_was_never_run_may_be_the_best():
    """Nothing is known of it but the first cap."""
    simulation = Simulation(make_table(np.full((3, 500), 8.0), cutoff=10.0), first_cap=0.5)
    simulation.advance(1)
    testers = simulation.state.testers
    begun = int(testers["started"].argmax())
    assert testers["started"].sum() == 1
    assert certify(simulation.state, begun).epsilon_at(0.0) == pytest.approx(
        10.0 / 0.5 - 1, rel=1e-3
    )


def noisy(random, n, pairs, tries, factor):
    """What each try of a pair takes, at [configuration, pair, level]: up to `factor` apart."""
    base = np.exp(random.normal(0, 1.0, (n, 1, 1)) * 0.1 + random.normal(0, 1.0, (1, pairs, 1)))
    return base * random.uniform(1.0, factor, (n, pairs, tries))


def search_noisy(times, cutoff, steps):
    """Certificates along a search whose repeated runs take other times."""
    n, pairs, _ = times.shape
    scheduler = Scheduler(n, pairs, first_cap=0.1, cutoff=cutoff)
    for step in range(1, steps + 1):
        run = scheduler.ask()
        if run is not None:
            level = round(np.log2(run.cap / 0.1) / 2)
            time = float(times[run.configuration, run.pair, min(level, times.shape[2] - 1)])
            status = Status.SOLVED if time <= run.cap and time < cutoff else Status.CAPPED
            scheduler.tell(run, Outcome(status, min(time, run.cap)))
        if run is None or step % 50 == 0:
            yield from (certify(scheduler.state, answer) for answer in range(n))
        if run is None:
            break


@pytest.mark.parametrize("seed", range(4))
def test_with_noise_the_fastest_tries_are_certified_against_the_slowest(seed):
    """A run put off at 4 s may take 3 s next time. Whatever is imputed lies between the fastest
    and the slowest try of its pair, so this is what a certificate is about then."""
    cutoff = 20.0
    times = np.minimum(noisy(np.random.default_rng(seed), 4, 80, 5, 2.0), cutoff)
    fastest, slowest = times.min(axis=2), times.max(axis=2).mean(axis=1)
    said = 0
    for certificate in search_noisy(times, cutoff, 3000):
        answer = fastest[certificate.incumbent]
        low, high = certificate.versus_default
        if certificate.incumbent:
            assert low <= slowest[0] / answer.mean() * (1 + 1e-9)
            assert high >= fastest[0].mean() / slowest[certificate.incumbent] * (1 - 1e-9)
        for point in certificate.points:
            allowed = (1 + point.epsilon) * slowest.min() * (1 + 1e-9)
            assert np.minimum(answer, point.cap).mean() <= allowed
            said += point.epsilon < 1.0
    assert said > 20, "nothing was said that could be false"


def test_with_noise_a_certificate_is_off_by_what_tries_differ_by():
    """Repeated runs of one configuration take half of what the first does, those of the default
    the same: what is certified is about repeated runs, which is what was seen, and no more."""
    times = np.full((2, 60, 5), 5.0)
    times[1, :, 2:] = 2.5
    *_, last = search_noisy(times, 20.0, 3000)
    assert 1.0 < last.versus_default[0] <= 2.0 * (1 + 1e-9)
