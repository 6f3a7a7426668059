"""The incumbent and the default side by side: when, how far, and for how much of the time."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cunctator.core.beside import FEW_PAIRS, LASTED, SHARE, SHARE_AFTER
from cunctator.core.known import charged_so_far, has_lasted, pairs_worth
from cunctator.core.scheduler import Scheduler
from cunctator.core.state import BESIDE
from cunctator.recorded.simulation import Simulation
from cunctator.recorded.table import make_table
from tests.core.driving import drive, made_up, of_table, runs_for

FACTORS = [2.0, 1.0, 3.0, 4.0, 5.0, 6.0]


@pytest.mark.parametrize("instances", [60, None])
def test_both_are_run_pair_by_pair_to_the_cutoff(instances):
    scheduler = Scheduler(6, instances, first_cap=0.5, cutoff=60.0)
    seen = []
    for run in runs_for(scheduler, BESIDE, of_table(made_up(1, FACTORS, 3000)), 800):
        state, incumbent = scheduler.state, scheduler.recommend()
        assert incumbent != 0 and run.configuration in (0, incumbent)
        assert run.cap == 60.0
        other = incumbent - run.configuration
        assert run.pair == state.testers[run.configuration].whole <= state.testers[other].whole
        assert has_lasted(state, LASTED)
        assert pairs_worth(state, int(state.now.last_entered) + 1) > FEW_PAIRS
        seen.append(run.configuration)
    assert {0, 1} <= set(seen) and len(seen) > 20


def test_a_share_of_the_time_until_it_is_certified_and_less_from_then_on():
    scheduler = Scheduler(6, None, first_cap=0.5, cutoff=60.0)
    before, after = [], []
    for run in runs_for(scheduler, BESIDE, of_table(made_up(1, FACTORS, 3000)), 2500):
        state = scheduler.state
        share = (state.turns[BESIDE] - run.cap) / (charged_so_far(state) - run.cap)
        is_certified = state.now.faster == state.now.incumbent
        (after if is_certified else before).append(share)
    assert before and max(before) < SHARE
    assert after and max(after) < SHARE_AFTER
    assert scheduler.certificate().versus_default[0] > 1.0
    final = scheduler.state.turns[BESIDE] / charged_so_far(scheduler.state)
    assert final > 0.95 * SHARE_AFTER


def test_the_share_is_used_while_nothing_is_certified():
    """Two that are too close, by pair and for certain: a quarter is what is lost."""
    hardness = np.random.default_rng(1).lognormal(1.0, 1.0, 5000)
    table = make_table(hardness * np.array([[1.01], [1.0]]), cutoff=60.0)
    simulation = Simulation(table, first_cap=0.5, budget=20_000.0, resample=True)
    assert simulation.run().incumbent == 1
    state = simulation.state
    simulation.check()
    assert state.now.faster != 1
    assert math.isclose(state.turns[BESIDE], SHARE * charged_so_far(state), rel_tol=0.02)


@pytest.mark.parametrize("slots", [1, 5])
def test_no_such_runs_while_the_default_is_the_incumbent(slots):
    scheduler = Scheduler(4, None, first_cap=0.5, cutoff=60.0)
    drive(scheduler, lambda c, p: 1.0 + c + p % 5, 600, slots, scheduler.check)
    assert scheduler.recommend() == 0
    assert scheduler.state.turns[BESIDE] == 0.0


def test_no_such_runs_where_no_run_need_ever_end():
    """Without a cutoff, nothing is certified of an endless stream."""
    scheduler = Scheduler(6, None, first_cap=0.5)
    drive(scheduler, of_table(made_up(1, FACTORS)), 600)
    scheduler.check()
    assert scheduler.recommend() == 1
    assert scheduler.state.turns[BESIDE] == 0.0


def test_without_a_cutoff_caps_double():
    scheduler = Scheduler(6, 60, first_cap=0.5)
    retried = 0
    for run in runs_for(scheduler, BESIDE, of_table(made_up(1, FACTORS)), 600):
        base = scheduler.state.ladder.level[scheduler.state.ladder.base_rung]
        assert run.cap == max(2.0 * run.spent, 0.5 * 2.0**base)
        retried += run.spent > 0
    assert retried > 5


@pytest.mark.parametrize("slots", [1, 5])
@pytest.mark.parametrize("cutoff", [None, 60.0])
def test_a_finite_set_is_run_to_its_end_and_the_speed_up_is_known_exactly(cutoff, slots):
    table = made_up(3, FACTORS, 40, 0.02)
    scheduler = Scheduler(6, 40, first_cap=0.5, cutoff=cutoff)
    exact, spent = [], set()

    def note():
        scheduler.check()
        state = scheduler.state
        if min(state.testers[0].whole, state.testers[1].whole) == 40:
            exact.append(scheduler.certificate().versus_default)
            spent.add(float(state.turns[BESIDE]))

    drive(scheduler, of_table(table), 1500, slots, note)
    means = np.clip(table, 0.5, cutoff).mean(axis=1)
    assert scheduler.recommend() == 1
    assert len(exact) > 5 and len(spent) == 1, "the search goes on, without such runs"
    assert np.allclose(exact, means[0] / means[1], rtol=1e-9)
