"""The search by pair as a whole: asking in vain, going on after a replay, and what it is for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cunctator import load_table
from cunctator.base.records import Outcome, Status, StopReason
from cunctator.core.known import cap_at
from cunctator.core.queues import head_level
from cunctator.core.replay import replay
from cunctator.core.scheduler import Scheduler
from cunctator.core.state import HONEST
from cunctator.recorded.simulation import Simulation
from cunctator.recorded.table import make_table
from tests.core.driving import asked_row, events_of, outcome, told_row
from tests.core.test_climbing import runtimes


@pytest.mark.parametrize(("instances", "first_cap"), [(10, 0.01), (100, 0.05), (8, 0.05)])
def test_nobody_is_looked_for_who_cannot_be_better(instances, first_cap):
    """If all runs count as the first cap, no larger pool has anybody better."""
    cutoff = 5.0 if instances == 10 else 4.0
    scheduler = Scheduler(None, instances, first_cap=first_cap, cutoff=cutoff)
    while (run := scheduler.ask()) is not None:
        scheduler.tell(run, Outcome(Status.SOLVED, 0.001))
        assert scheduler.step < 1000
    assert scheduler.stop is StopReason.BEST_OF_POOL
    assert scheduler.state.testers.size < 100
    assert scheduler.standing(scheduler.recommend()).exact


@given(
    problem=runtimes,
    configurations=st.sampled_from([(1, None), (5, None), (12, None), (None, None), (None, 11)]),
    instances=st.sampled_from([1, 3, 10, 60, None]),
    cutoff=st.sampled_from([None, 1.0, 9.0, 64.0]),
    slots=st.integers(1, 40),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=100)
def test_asking_in_vain_leaves_no_trace(problem, configurations, instances, cutoff, slots, seed):
    """One is asked as often as it likes, one only when there is a run, one from the journal."""
    size, limit = configurations

    def new():
        return Scheduler(size, instances, first_cap=0.5, cutoff=cutoff, limit=limit)

    asked_often, asked_rarely = new(), new()
    random, flying, rows = np.random.default_rng(seed), [], []
    for _ in range(400):
        wanted = int(random.integers(1, slots + 1))
        while len(flying) < wanted and (run := asked_often.ask()) is not None:
            assert asked_rarely.ask() == run
            flying.append(run)
            rows.append(asked_row(run))
        if len(flying) < wanted:
            assert all(asked_often.ask() is None for _ in range(3))
        if not flying:
            break
        run = flying.pop(int(random.integers(len(flying))))
        result = outcome(asked_often, run, problem)
        rows.append(told_row(run, result))
        for scheduler in (asked_often, asked_rarely):
            scheduler.tell(run, result)
    asked_often.check()
    restored = new()
    unfinished = replay(restored, events_of(rows))
    restored.check()
    assert {run.number for run in unfinished} == {run.number for run in flying}
    for _ in range(30):
        runs = [scheduler.ask() for scheduler in (asked_often, asked_rarely, restored)]
        assert runs[0] == runs[1] == runs[2]
        if runs[0] is not None:
            flying.append(runs[0])
        if not flying:
            break
        run = flying.pop()
        for scheduler in (asked_often, asked_rarely, restored):
            scheduler.tell(run, outcome(scheduler, run, problem))
    schedulers = (asked_often, asked_rarely, restored)
    assert len({scheduler.stop for scheduler in schedulers}) == 1
    assert len({scheduler.recommend() for scheduler in schedulers}) == 1


def test_eight_enter_before_anybody_climbs():
    scheduler = Scheduler(30, None, first_cap=0.5, cutoff=60.0)
    highest = []
    while scheduler.state.now.entered < 8:
        run = scheduler.ask()
        ladder = scheduler.state.ladder
        if ladder.made and scheduler.state.now.turn < 4:
            highest.append(int(run.pair))
        scheduler.tell(run, outcome(scheduler, run, lambda c, p: 2.0 + 0.1 * c))
    assert max(highest, default=0) < 8


def test_more_slots_than_runs_for_the_search():
    """Forty runs in flight, of twelve configurations: the search goes ahead on many at once."""
    scheduler = Scheduler(12, 50, first_cap=0.5, cutoff=60.0)
    runs = [run for run in (scheduler.ask() for _ in range(60)) if run is not None]
    assert len({(run.configuration, run.pair) for run in runs}) == len(runs) > 12
    scheduler.check()
    for run in reversed(runs):
        scheduler.tell(run, outcome(scheduler, run, lambda c, p: 1.0 + c))
        scheduler.check()


def test_close_configurations_are_told_apart_soon():
    """MiniSat's 216: by each one's own runs, the answer was 8% slower than the best by then."""
    table = load_table("minisat")
    means = table.runtimes.mean(axis=1)
    excess = []
    for seed in range(12):
        rows = np.random.default_rng(seed).permutation(len(means))
        shuffled = make_table(table.runtimes[rows], cutoff=table.cutoff)
        simulation = Simulation(shuffled, first_cap=0.01, budget=240.0, seed=seed, resample=True)
        excess.append(means[rows[simulation.run().incumbent]] / means.min() - 1)
    assert np.mean(excess) < 0.07


@pytest.mark.parametrize("seed", range(3))
def test_a_lucky_incumbent_is_found_out(seed):
    """Noise of one on a difference of a tenth: the best of 50 is found, not the luckiest."""
    random = np.random.default_rng(seed)
    means = np.linspace(1.0, 2.0, 50)[random.permutation(50), None]
    table = make_table(means * random.lognormal(-0.5, 1.0, (50, 4000)), cutoff=100.0)
    simulation = Simulation(table, first_cap=0.05, budget=40_000.0)
    assert means[simulation.run().incumbent, 0] < 1.1


@given(
    problem=runtimes,
    configurations=st.sampled_from([1, 5, None]),
    instances=st.sampled_from([10, 60, None]),
    cutoff=st.sampled_from([None, 1.0, 9.0, 64.0]),
    slots=st.sampled_from([1, 1, 6]),
)
@settings(max_examples=60)
def test_what_the_worst_case_rests_on(problem, configurations, instances, cutoff, slots):
    """docs/algorithm.md, "The worst case", 2 and 3: of honest turns, whatever else is run."""
    scheduler = Scheduler(configurations, instances, first_cap=0.5, cutoff=cutoff)
    random, flying, honest = np.random.default_rng(1), [], {}
    for _ in range(500):
        testers, queues = scheduler.state.testers.copy(), scheduler.state.queues
        lengths = queues.headers["length"].copy()
        lowest = {i: head_level(queues, i) for i in np.flatnonzero(lengths).tolist()}
        run = scheduler.ask() if len(flying) < slots else None
        if run is not None:
            state = scheduler.state
            is_honest = state.now.turn >= HONEST
            flying.append((run, is_honest))
            if is_honest and run.configuration < testers.size:
                before, index = testers[run.configuration], run.configuration
                assert run.cap <= cap_at(state.rules, int(before.known_level) + 1)
                if run.spent == 0 and slots == 1:
                    assert run.cap == cap_at(state.rules, int(before.cap_level))
                    assert lengths[index] < before.queue_target
                    assert lowest.get(index, math.inf) > before.cap_level
        if run is None or len(flying) == slots:
            if not flying:
                break
            run, is_honest = flying.pop(int(random.integers(len(flying))))
            result = outcome(scheduler, run, problem)
            scheduler.tell(run, result)
            if is_honest:
                spent, _ = honest.get((run.configuration, run.pair), (0.0, 0.0))
                spent += result.seconds
                honest[run.configuration, run.pair] = spent, run.cap
    for (configuration, pair), (spent, longest) in honest.items():
        runtime = problem(configuration, pair)
        if runtime > 0:
            assert spent <= 3 * min(runtime, longest) * (1 + 1e-9)
