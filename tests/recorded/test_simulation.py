"""Simulating recorded runtimes: answers, ledgers, stops, odd tables."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cunctator as cn
from cunctator.base.errors import InvalidSetting
from cunctator.base.records import StopReason


def lognormal(n, m, seed=0, spread=1.0):
    random = np.random.default_rng(seed)
    return np.exp(random.normal(0, 0.7, (n, 1)) + spread * random.normal(0, 1, (n, m)))


@pytest.mark.parametrize("profile", ["paper", "proved", "tight"])
@pytest.mark.parametrize("cutoff", [None, 5.0])
def test_finds_the_best_and_proves_it(profile, cutoff):
    runtimes = lognormal(8, 3000)
    result = cn.simulate(runtimes, profile=profile, first_cap=0.001, cutoff=cutoff)
    means = np.minimum(runtimes, cutoff or math.inf).mean(axis=1)
    proved = profile != "paper"  # no proof covers the bounds of that one
    assert result.stop is (StopReason.PROVED_OPTIMAL if proved else StopReason.BY_THE_PAPER)
    assert result.incumbent == means.argmin()
    assert result.standings[result.incumbent].mean == pytest.approx(means.min())
    assert result.standings[result.incumbent].lower == pytest.approx(means.min())
    assert result.charged < 3 * np.minimum(runtimes, cutoff or math.inf).sum()


def test_runtimes_below_the_first_cap_count_as_it_and_cost_what_they_cost():
    result = cn.simulate([[0.1, 0.2], [0.3, 3.0]], first_cap=1.0)
    assert result.incumbent == 0
    assert result.standings[0].mean == 1.0
    assert result.standings[0].charged == pytest.approx(0.3)


def test_the_two_ledgers():
    """One configuration, one run of 5 s: caps 1, 2, 4, 8 cost 1 + 2 + 4 + 5, resumed just 5."""
    result = cn.simulate([[5.0]], first_cap=1.0, profile="proved")
    assert (result.charged, result.charged_resumed, result.steps) == (12.0, 5.0, 4)
    result = cn.simulate([[5.0]], first_cap=1.0)
    assert (result.charged, result.charged_resumed, result.steps) == (12.0, 5.0, 4)
    result = cn.simulate([[25.0]], first_cap=1.0, cutoff=20.0)  # caps 1, 2, 4, 8, 20: no 16
    assert (result.charged, result.charged_resumed, result.steps) == (35.0, 20.0, 5)
    # With a cutoff of 4.5 the last try ends there and counts as complete.
    result = cn.simulate([[5.0]], first_cap=1.0, cutoff=4.5, profile="proved")
    assert (result.charged, result.charged_resumed, result.steps) == (11.5, 4.5, 4)
    assert result.standings[0].mean == 4.5


def test_budget():
    runtimes = lognormal(5, 500)
    result = cn.simulate(runtimes, budget=10.0)
    assert result.stop is StopReason.BUDGET
    assert 10.0 <= result.charged < 10.0 + runtimes.max()


def test_trajectory_is_the_answer_at_its_steps():
    table = cn.make_table(lognormal(6, 200))
    whole = cn.simulate(table)
    assert whole.trajectory[-1][2] == whole.incumbent
    assert len({step for _, step, _ in whole.trajectory}) == len(whole.trajectory)
    for charged, step, index in whole.trajectory:
        simulation = cn.Simulation(table)
        simulation.advance(step)
        assert (simulation.charged, simulation.incumbent) == (charged, index)


def test_the_same_seed_gives_the_same_search():
    table = cn.make_table(lognormal(6, 400))
    one, again, other = (cn.simulate(table, seed=seed) for seed in (1, 1, 2))
    assert one.trajectory == again.trajectory
    assert one.trajectory != other.trajectory
    assert one.incumbent == other.incumbent


@pytest.mark.parametrize(
    "runtimes",
    [
        [[1.0]],
        [[1.0, 2.0, 3.0]],
        [[3.0], [1.0], [2.0]],
        [[1.0] * 50] * 4,
        [[0.0] * 5] * 2,
        np.full((3, 40), 1e6),
    ],
)
def test_odd_tables(runtimes):
    result = cn.simulate(runtimes)
    assert result.stop is StopReason.PROVED_OPTIMAL
    means = np.asarray(runtimes).mean(axis=1)
    assert means[result.incumbent] == means.min()


def test_a_table_of_timeouts():
    table = cn.make_table(np.full((4, 30), 10.0), cutoff=10.0)
    result = cn.simulate(table)
    assert result.stop is StopReason.PROVED_OPTIMAL
    assert [s.mean for s in result.standings][result.incumbent] == 10.0


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"budget": 0.0}, "budget is 0"),
        ({"budget": math.nan}, "budget is nan"),
        ({"seed": -1}, "seed is -1"),
        ({"cutoff": 20.0}, "recorded with a cutoff of 10 seconds"),
        ({"cutoff": 0.05}, "at least the first cap"),
        ({"first_cap": 11.0}, "at least the first cap"),
        ({"first_cap": -1.0}, "first_cap is -1"),
        ({"profile": "tightest"}, "profile is 'tightest'"),
    ],
)
def test_settings_that_make_no_sense(settings, complaint):
    table = cn.make_table(lognormal(2, 5), cutoff=10.0)
    with pytest.raises(InvalidSetting, match=complaint):
        cn.simulate(table, **settings)


@pytest.mark.parametrize("name", ["ASP-POTASSCO", "MAXSAT15-PMS-INDU", "QBF-2014", "SAT12-INDU"])
def test_real_scenarios(data_folder, name):
    table = cn.load_table(data_folder / "aslib" / name)
    simulation = cn.Simulation(table, first_cap=1.0)
    result = simulation.run()
    simulation.check()
    assert result.stop is StopReason.PROVED_OPTIMAL
    assert result.incumbent == np.maximum(table.runtimes, 1.0).mean(axis=1).argmin()
