"""Closing: what is run to its end before a budget is spent, and who is the answer then."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cunctator.core.closing import CONTENDERS, MOST
from cunctator.core.known import cap_at
from cunctator.core.scheduler import Scheduler
from cunctator.core.sentinels import NONE
from cunctator.core.state import BESIDE, CLOSING, RACE
from cunctator.core.values import values_of
from cunctator.recorded.simulation import Simulation
from cunctator.recorded.table import make_table
from tests.core.driving import drive, made_up, of_table, runs_for

FACTORS = [2.0, 1.0, 1.1, 1.2, 1.3, 4.0, 6.0, 8.0]


def searched(table, instances, steps=300, cutoff=60.0, size=None):
    """A scheduler after a search, not yet closing."""
    scheduler = Scheduler(size or len(table), instances, first_cap=0.05, cutoff=cutoff)
    drive(scheduler, of_table(table), steps)
    return scheduler


def ended(scheduler, index):
    """Of the first pairs of a configuration, how many are known to their end."""
    tester = scheduler.state.testers[index]
    is_open = values_of(scheduler.state.values, index, int(tester.started)) <= 0.0
    return int(np.argmax(is_open)) if is_open.any() else int(tester.started)


@pytest.mark.parametrize("instances", [60, None])
def test_what_was_put_off_is_run_to_its_end(instances):
    """The incumbent's pairs, of the incumbent, the default and a few contenders; in that order."""
    table = made_up(1, FACTORS, 3000)
    scheduler = Scheduler(8, instances, first_cap=0.05, cutoff=60.0)
    state, incumbent, pairs = scheduler.state, 0, 0
    while incumbent == 0 or ended(scheduler, incumbent) >= pairs:
        drive(scheduler, of_table(table), 10)
        incumbent = scheduler.recommend()
        pairs = int(state.ladder.pairs[state.testers[incumbent].rung])
    scheduler.close(True)
    scheduler.check()
    assert state.ladder.pairs[state.now.closing_rung] == pairs
    assert cap_at(state.rules, state.ladder.level[state.now.closing_rung]) == 60.0
    order = []
    for run in runs_for(scheduler, CLOSING, of_table(table), 400):
        assert run.cap == 60.0
        order.append((run.configuration, run.pair))
        if scheduler.recommend() != incumbent:
            break
        goal = max(state.testers[incumbent].rung, state.now.closing_rung)
        assert run.configuration == incumbent or run.pair < state.ladder.pairs[goal], "ahead of it"
    first = [configuration for configuration, _ in order]
    assert first[0] == incumbent
    goals = len({pair for pair in map(int, state.ladder.pairs) if pairs <= pair <= len(order)})
    assert len(set(first) - {0, incumbent}) <= CONTENDERS * goals
    final = scheduler.recommend()
    assert ended(scheduler, final) >= pairs and ended(scheduler, 0) >= pairs


@pytest.mark.parametrize("slots", [1, 5])
@pytest.mark.parametrize("cutoff", [None, 60.0])
def test_a_finite_set_is_run_to_its_end_and_the_speed_up_is_exact(cutoff, slots):
    table = made_up(3, FACTORS, 40, 0.02)
    scheduler = searched(table, 40, 300, cutoff)
    before = scheduler.certificate().versus_default
    assert before[0] < 0.99 * before[1]
    scheduler.close(True)
    drive(scheduler, of_table(table), 150, slots, scheduler.check)
    means = np.clip(table, 0.05, cutoff).mean(axis=1)
    answer = scheduler.recommend()
    assert answer == 1
    exact = scheduler.certificate().versus_default
    assert np.allclose(exact, means[0] / means[answer], rtol=1e-9)


def test_an_answer_whose_long_runs_are_longer_gives_way():
    """One is the fastest where it is fast, and reaches the cutoff on every sixth pair."""
    pairs = np.arange(48)
    hard = np.where(pairs % 6 == 0, 100.0, 0.2)
    steady = np.full(48, 0.9)
    table = np.array([np.full(48, 6.0), hard, steady, np.full(48, 7.0)])
    scheduler = Scheduler(4, 48, first_cap=0.05, cutoff=100.0)
    for run in runs_for(scheduler, NONE, of_table(table), 400):
        raise AssertionError(run)
    # Whoever it is before: the shares of search and proof may have found it out already.
    scheduler.close(True)
    drive(scheduler, of_table(table), 200, after=scheduler.check)
    assert scheduler.recommend() == 2
    assert ended(scheduler, 2) == 48


def test_who_cannot_be_better_any_more_is_not_run_to_the_end():
    """Whose runs, cut off as they are, have taken longer than all of the incumbent's."""
    table = made_up(1, [2.0, 1.0, 20.0, 30.0, 40.0], 60)
    scheduler = searched(table, 60, 200)
    scheduler.close(True)
    for run in runs_for(scheduler, CLOSING, of_table(table), 300):
        assert run.configuration in (0, 1)


def test_with_the_default_as_the_answer_nothing_is_run_beside_it():
    table = made_up(1, [1.0, 4.0, 5.0, 6.0], 3000)
    scheduler = searched(table, None)
    assert scheduler.recommend() == 0
    scheduler.close(True)
    pairs = scheduler.state.ladder.pairs[scheduler.state.now.closing_rung]
    for run in runs_for(scheduler, CLOSING, of_table(table), 300):
        assert run.pair < pairs
    assert ended(scheduler, 0) >= pairs


@pytest.mark.parametrize("instances", [1, 12, None])
@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("steps", [0, 1, 40])
def test_with_hardly_anything_to_close(instances, size, steps):
    """One configuration, one pair, no run at all: it goes on as well as it can."""
    table = made_up(2, [2.0, 1.0], 100)
    scheduler = Scheduler(size, instances, first_cap=0.05, cutoff=60.0)
    drive(scheduler, of_table(table), steps)
    scheduler.close(True)
    drive(scheduler, of_table(table), 100, 3, scheduler.check)
    scheduler.close(False)
    drive(scheduler, of_table(table), 100, 3, scheduler.check)


def test_all_runs_cut_off():
    scheduler = Scheduler(4, 20, first_cap=0.05, cutoff=1.0)
    drive(scheduler, lambda *_: 5.0, 60)
    scheduler.close(True)
    drive(scheduler, lambda *_: 5.0, 60, 2, scheduler.check)
    assert scheduler.recommend() == 0


@pytest.mark.parametrize("size", [8, None])
def test_the_search_goes_on_where_there_is_more_time(size):
    """On the ladder as it is, again and again, and gets as far as one that never closed."""
    table = made_up(5, FACTORS * 40, 200)
    scheduler = Scheduler(size, None, first_cap=0.05, cutoff=60.0)
    for _ in range(6):
        drive(scheduler, of_table(table), 150, 2)
        scheduler.close(True)
        scheduler.check()
        drive(scheduler, of_table(table), 40, 2, scheduler.check)
        scheduler.close(False)
        assert not scheduler.is_closing and scheduler.state.now.closing_rung == NONE
        scheduler.check()
    means = np.minimum(table, 60.0).mean(axis=1)
    assert means[scheduler.recommend()] <= 1.25 * means[: len(FACTORS)].min()


def test_it_is_due_when_as_much_is_left_as_it_takes():
    table = made_up(1, FACTORS, 60)
    scheduler = Scheduler(8, 60, first_cap=0.05, cutoff=60.0)
    until = scheduler.seconds_until_closing
    assert until(0.0, 100.0) == math.inf, "nobody has been compared"
    drive(scheduler, of_table(table), 300)
    assert until(100.0 * MOST + 1.0, 100.0) == pytest.approx(1.0), "not before most is spent"
    assert until(MOST * 1e6, 1e6) > 0.0, "there is time enough"
    assert until(math.inf, math.inf) == math.inf
    assert until(20.0, 100.0) == 0.0, "to run all of 60 pairs twice takes longer"


def test_proof_has_the_last_quarter_of_a_budget_and_little_before():
    """Until then the search has the time; then both are run to the end, then there is a race."""
    table, shares = made_up(1, FACTORS * 4, 60), {}
    for will_close in (False, True):
        scheduler = Scheduler(len(table), 60, first_cap=0.05, cutoff=60.0, will_close=will_close)
        drive(scheduler, of_table(table), 900)
        turns = scheduler.state.turns
        shares[will_close] = (turns[BESIDE] + turns[RACE]) / turns.sum()
    assert shares[True] < 0.5 * shares[False]
    assert scheduler.seconds_until_closing(0.26e6, 1e6) == pytest.approx(0.01e6)
    scheduler.close(True)
    before = scheduler.state.turns.copy()
    drive(scheduler, of_table(table), 700, after=scheduler.check)
    spent = scheduler.state.turns - before
    assert scheduler.standing(0).exact and scheduler.standing(scheduler.recommend()).exact
    assert spent[RACE] > 0.25 * (spent.sum() - spent[CLOSING])


def test_profiles_without_a_search_have_nothing_to_close():
    scheduler = Scheduler(8, None, first_cap=0.05, cutoff=60.0, profile="paper")
    drive(scheduler, of_table(made_up(1, FACTORS, 60)), 300)
    assert scheduler.seconds_until_closing(1.0, 1e6) == math.inf


@pytest.mark.parametrize("resample", [False, True])
def test_the_answer_of_a_simulation_is_known_up_to_the_cutoff(resample):
    """With the same budget, searches that are cut short rest on a part of the mean."""

    def reached(seed, is_closing):
        factors = np.random.default_rng(seed).lognormal(0.0, 0.5, 60).tolist()
        heavy = made_up(seed, factors, 150, 0.5) ** 2  # most of a mean is in the longest runs
        table = make_table(np.minimum(heavy, 1000.0), cutoff=1000.0)
        budget = 0.006 * table.runtimes.sum()
        simulation = Simulation(
            table, first_cap=0.05, budget=budget, resample=resample, closing=is_closing
        )
        state, incumbent = simulation.state, simulation.run().incumbent
        simulation.check()
        return cap_at(state.rules, state.ladder.level[state.testers[incumbent].rung])

    assert all(reached(seed, True) == 1000.0 for seed in range(6))
    assert any(reached(seed, False) < 200.0 for seed in range(6))
