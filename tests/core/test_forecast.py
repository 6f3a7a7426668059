"""What it would take: when something is said of it, what, and in which words.

How often forecasts come true is in `tests/statistical/test_forecasts.py`.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from cunctator.core.certificate import Point
from cunctator.core.forecast import NOTHING_SAID, Forecast, ToBeClose, ToBeFaster
from cunctator.core.known import charged_so_far
from cunctator.core.outlook import (
    close_in_words,
    faster_in_words,
    out_of_reach,
    outlook,
)
from cunctator.core.scheduler import Scheduler
from cunctator.recorded.simulation import Simulation
from cunctator.recorded.table import make_table
from tests.core.driving import drive, made_up, of_table

FACTORS = [2.0, 1.0, 2.2, 2.5, 3.0, 4.0]


def forecast_of(scheduler, **settings):
    return scheduler.forecast(scheduler.certificate(), **settings)


def searched(table, instances, steps, cutoff=60.0, **settings):
    scheduler = Scheduler(len(table), instances, first_cap=0.5, cutoff=cutoff, **settings)
    drive(scheduler, of_table(table), steps)
    return scheduler


@pytest.mark.parametrize("instances", [300, None])
def test_it_is_said_until_it_is_certified_and_not_from_then_on(instances):
    scheduler = Scheduler(6, instances, first_cap=0.5, cutoff=60.0)
    runtime_of, said, certified = of_table(made_up(1, FACTORS, 3000)), [], 0
    while certified < 5 and scheduler.stop is None:
        drive(scheduler, runtime_of, 20)
        certificate = scheduler.certificate()
        faster = scheduler.forecast(certificate).faster
        if certificate.versus_default[0] >= 1.0:
            assert faster is None, "certified, or the answer is the default"
            certified += certificate.incumbent != 0
        elif faster is not None:
            said.append(charged_so_far(scheduler.state) + faster.charged)
    assert len(said) > 5 and certified == 5
    # It comes nearer the truth, and is near it in the end.
    assert abs(math.log2(said[-1] / charged_so_far(scheduler.state))) < 0.5


@pytest.mark.parametrize("instances", [60, None])
def test_the_race_is_forecast_target_by_target(instances):
    scheduler = Scheduler(6, instances, first_cap=0.5, cutoff=60.0)
    runtime_of, epsilons = of_table(made_up(1, FACTORS, 3000)), []
    for _ in range(60):
        drive(scheduler, runtime_of, 20)
        certificate = scheduler.certificate()
        close = scheduler.forecast(certificate).close
        if close is not None:
            assert close.charged > 0.0 and close.delta == 0.1 and close.looked_at is None
            assert close.epsilon < certificate.epsilon_at(0.1)
            epsilons.append(close.epsilon)
    assert epsilons == sorted(epsilons, reverse=True)
    assert set(epsilons) <= {1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01} and len(set(epsilons)) > 2


def test_what_is_asked_for_is_forecast_until_it_is_certified():
    scheduler = searched(made_up(1, FACTORS, 3000), None, 300)
    certificate = scheduler.certificate()
    easy, hard = (
        scheduler.forecast(certificate, Point(0.05, epsilon, math.inf)).close
        for epsilon in (1.5, 0.3)
    )
    assert easy is None or easy.charged <= hard.charged
    assert (hard.epsilon, hard.delta) == (0.3, 0.05)
    reached = Point(0.1, certificate.epsilon_at(0.1), math.inf)
    assert math.isfinite(reached.epsilon)
    assert scheduler.forecast(certificate, reached).close is None


def test_nothing_is_said_of_a_default_that_is_the_answer():
    scheduler = searched(made_up(2, [1.0, 2.0, 3.0, 4.0]), None, 600)
    assert scheduler.recommend() == 0
    assert forecast_of(scheduler).faster is None


def test_nothing_is_said_of_one_configuration_or_before_the_first_runs():
    assert forecast_of(Scheduler(4, 60, cutoff=60.0)) == NOTHING_SAID
    assert forecast_of(searched(made_up(2, [1.0]), 60, 20)) == NOTHING_SAID
    assert forecast_of(searched(made_up(2, [1.0]), None, 20)) == NOTHING_SAID


def test_nothing_is_said_when_the_search_is_over():
    scheduler = searched(made_up(2, FACTORS, 12), 12, 10**4)
    assert scheduler.stop is not None
    assert forecast_of(scheduler) == NOTHING_SAID


@pytest.mark.parametrize("instances", [30, None])
def test_nothing_tells_apart_what_is_always_capped(instances):
    scheduler = Scheduler(4, instances, first_cap=0.5, cutoff=8.0)
    for _ in range(10):
        drive(scheduler, lambda configuration, pair: 100.0, 30)
        assert forecast_of(scheduler).faster is None


def nearly_the_same(instances, **settings):
    """A search of two that are too close, by pair and for certain; the second is the answer."""
    hardness = np.random.default_rng(1).lognormal(1.0, 1.0, 5000)
    scheduler = Scheduler(2, instances, first_cap=0.5, cutoff=60.0, **settings)
    drive(scheduler, of_table(hardness * np.array([[1.01], [1.0]])), 100)
    assert scheduler.recommend() == 1
    return scheduler


def test_two_that_are_too_close_are_known_at_the_end_of_a_set_and_never_without():
    scheduler = nearly_the_same(200)
    faster = forecast_of(scheduler).faster
    assert faster.exact
    hardness = np.random.default_rng(1).lognormal(1.0, 1.0, 5000)
    before, runtime_of = (
        charged_so_far(scheduler.state),
        of_table(hardness * np.array([[1.01], [1.0]])),
    )
    while scheduler.certificate().versus_default[0] < 1.0:
        drive(scheduler, runtime_of, 1)
    took = charged_so_far(scheduler.state) - before
    assert 0.25 < faster.charged / took < 4.0
    assert math.isinf(forecast_of(nearly_the_same(None)).faster.charged)


def test_without_a_cutoff_it_is_known_when_all_has_been_run():
    table = made_up(1, FACTORS, 60)
    scheduler = Scheduler(6, 60, first_cap=0.5)
    said = []
    while scheduler.certificate().versus_default[0] <= 1.0:
        drive(scheduler, of_table(table), 10)
        said.append(forecast_of(scheduler).faster)
    said = [faster for faster in said if faster is not None]
    assert said and all(faster.exact and 0.0 < faster.charged < math.inf for faster in said)
    endless = forecast_of(searched(table, None, 400, None))
    assert endless.faster is None, "then it is never known"


def test_crashes_have_no_end_to_wait_for():
    table = made_up(1, FACTORS, 60)
    crashed = np.zeros(table.shape, dtype=bool)
    crashed[0, ::3] = crashed[1, ::20] = True
    for cutoff in (None, 60.0):
        scheduler = Scheduler(6, 60, first_cap=0.5, cutoff=cutoff)
        for _ in range(20):
            drive(scheduler, of_table(table, crashed), 20)
            said = forecast_of(scheduler)
            for one in (said.faster, said.close):
                assert one is None or not math.isnan(one.charged)


def test_at_the_end_of_a_budget_all_of_the_time_is_for_the_two():
    scheduler = searched(made_up(1, [1.2, 1.0, 2.5, 3.0, 4.0, 5.0], 3000), None, 250)
    search = forecast_of(scheduler)
    closing = forecast_of(scheduler, closing_in=0.0)
    assert 0.0 < closing.faster.charged < 0.5 * search.faster.charged
    assert closing.close is None
    later = forecast_of(scheduler, closing_in=10.0)
    assert later.faster.charged == pytest.approx(closing.faster.charged + 10.0)
    assert later.close == search.close
    assert forecast_of(scheduler, closing_in=1e9) == search


def test_of_a_space_without_end_it_is_about_those_looked_at():
    random = np.random.default_rng(3)
    table = made_up(3, [2.0, *random.uniform(1.0, 4.0, 199)], 400)
    simulation = Simulation(make_table(table, cutoff=60.0), first_cap=0.5, ladder=True, budget=1e5)
    sizes = set()
    while simulation.stop is None and len(sizes) < 3:
        simulation.advance(300)
        close = simulation.forecast(simulation.certificate()).close
        if close is not None:
            assert close.looked_at in simulation.state.pools["members"]
            sizes.add(close.looked_at)
    assert sizes


def test_profiles_without_a_search_by_pair_forecast_nothing():
    scheduler = searched(made_up(1, FACTORS), 60, 600, profile="proved")
    assert forecast_of(scheduler) == NOTHING_SAID


def test_asking_leaves_no_trace():
    scheduler = searched(made_up(1, FACTORS), 60, 300)
    state = scheduler.state
    kept = {
        name: [np.array(array).tobytes() for array in (part if isinstance(part, tuple) else [part])]
        for name, part in state._asdict().items()
        if name not in ("profile", "rules", "scratch")
    }
    certificate = scheduler.certificate()
    assert scheduler.forecast(certificate) == scheduler.forecast(certificate) != NOTHING_SAID
    for name, before in kept.items():
        part = getattr(state, name)
        parts = part if isinstance(part, tuple) else [part]
        assert [np.array(array).tobytes() for array in parts] == before, name


def test_words():
    def faster(seconds, left=math.inf, clock=1.0, exact=False):
        return faster_in_words(ToBeFaster(seconds, exact), left, clock)

    assert faster(200.0) == "faster than the default: about 4 more minutes at this rate"
    assert (
        faster(200.0, clock=0.5) == "faster than the default: about 100 more seconds at this rate"
    )
    assert faster(0.2) == "faster than the default: about 1 more second at this rate"
    known = faster(6.2 * 3600, 100.0, exact=True)
    assert known == (
        "faster than the default? Known exactly after about 7 more hours, more than is left"
    )
    assert "not in sight" in faster(math.inf, 100.0)
    assert "about 130 more days of runs" in faster(86400 * 121.0, clock=None)

    def close(seconds, epsilon=0.2, looked_at=None, left=math.inf, clock=1.0):
        return close_in_words(ToBeClose(seconds, epsilon, 0.1, looked_at), left, clock)

    assert close(6.9 * 3600) == "within 20% of the best: not before 6 more hours"
    assert close(44.0 * 60) == "within 20% of the best: not before 40 more minutes"
    assert close(300.0, 1.0, 24, 200.0) == (
        "within 2 times the best of 24 looked at: not before 5 more minutes, more than is left"
    )
    assert "not in sight" in close(math.inf)
    assert close(0.02, 0.5) == "within 50% of the best: perhaps within a second"
    assert close(0.02, 0.5, clock=60.0).endswith("not before 1 more second")
    longest = [faster(86400.0 * 999), faster(math.inf), close(86400.0 * 999, 0.02, 10_000)]
    assert max(map(len, longest)) <= 80


def test_data():
    said = outlook(
        Forecast(ToBeFaster(100.0, False), ToBeClose(math.inf, 0.5, 0.1, None)), 1.0, 2.0
    )
    assert said["faster"]["wall"] == 200.0 and said["faster"]["charged"] == 100.0
    assert said["close"]["charged"] is said["close"]["wall"] is None
    recorded = outlook(Forecast(ToBeFaster(100.0, False), None))
    assert recorded["faster"]["wall"] is None and recorded["close"] is None


def test_a_set_that_is_too_small_is_said_before_the_search():
    words = out_of_reach(Scheduler(9, 20, cutoff=9.0, confidence=0.999999).state)
    assert words.startswith("with 99.9999% confidence, 20 instances can never show ")
    assert words.endswith("ask for less confidence or give more instances")
    assert out_of_reach(Scheduler(9, 200, cutoff=9.0).state) == ""
    assert out_of_reach(Scheduler(9, None, cutoff=9.0, confidence=0.999999).state) == ""
    assert out_of_reach(Scheduler(1, 2, cutoff=9.0).state) == "", "there is nothing to compare"
