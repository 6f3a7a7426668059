"""Whom each step runs: against a scan of all configurations, one run at a time and several."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cunctator.base.records import Outcome, Status
from cunctator.core.bounds import lower_bound
from cunctator.core.pools import choose
from cunctator.core.scheduler import Scheduler
from cunctator.core.sentinels import FINISHED, NONE
from cunctator.core.state import RIVAL, RUNGS, SHARP
from cunctator.core.tester import NOTHING, next_kind
from cunctator.recorded.simulation import Simulation
from cunctator.recorded.table import make_table


def brute_force_choice(state, sharp, without=None):
    log_step = math.log(state.now.step + 1)

    def key(i):
        exact = state.testers[i].completed == state.rules.instances
        bound = lower_bound(state, i, log_step)
        return state.testers[i].sharp if sharp and not exact else bound

    others = (i for i in range(state.testers.size) if i != without)
    return min(others, key=lambda i: (key(i), state.testers[i].started, i), default=without)


def price(state, index):
    completed = state.testers[index].completed
    return state.testers[index].granted / completed if completed else math.inf


def promotion(state):
    return [state.now.promoted, state.now.goal]


def brute_force_promoted(state, promoted):
    """Whom `promotion.py` promotes and to where, by a scan; `promoted` was the last one."""
    rungs = state.rungs

    def can_run(index):
        return next_kind(state, index) != NOTHING

    if promoted[0] != NONE and rungs[promoted[0]] < promoted[1] and can_run(promoted[0]):
        return promoted
    for rung in range(RUNGS - 2, 0, -1):
        if (rungs > rung).sum() + 1 <= (rungs >= rung).sum() / 2:
            on_it = [i for i in np.flatnonzero(rungs == rung) if can_run(i)]
            if on_it:
                return [min(on_it, key=lambda i: (price(state, i), i)), rung + 1]
    return None


@pytest.mark.parametrize("profile", ["paper", "proved", "tight"])
@pytest.mark.parametrize("size", [1, 7, 64, 127])
def test_choice_is_the_argmin_at_every_step(profile, size):
    """Bit for bit against a full scan, from the first step and where bounds are positive."""
    random = np.random.default_rng(size)
    means = random.normal(0.5, 0.5, (size, 1))
    table = make_table(np.exp(means + random.normal(0, 1.0, (size, 6000))))
    simulation = Simulation(table, profile=profile, first_cap=0.3)
    for warm_up in (0, 500 * size, 500 * size, 500 * size, 1000 * size, 2000 * size):
        simulation.advance(warm_up)
        simulation.check()
        for _ in range(300):
            promoted = promotion(simulation.state)
            choice = choose(simulation.state)
            turn = simulation.state.now.turn
            expected = brute_force_choice(simulation.state, turn == SHARP)
            if turn == SHARP:
                better = brute_force_promoted(simulation.state, promoted)
                if better is not None:
                    assert promotion(simulation.state) == better
                    expected = better[0]
            if turn == RIVAL:
                leader = brute_force_choice(simulation.state, True)
                expected = brute_force_choice(simulation.state, False, without=leader)
            if choice == FINISHED:
                assert next_kind(simulation.state, expected) == NOTHING
                return
            assert choice == expected
            simulation.advance(1)


@pytest.mark.parametrize("workers", [2, 7])
def test_promotions_with_runs_in_flight(workers):
    """What is in flight counts at its cap, in rungs and in prices."""
    random = np.random.default_rng(workers)
    means = random.uniform(1.0, 1.5, 30)
    scheduler = Scheduler(30, None, first_cap=0.3, cutoff=20.0)
    flying, promotions, with_flights = [], 0, 0
    for _ in range(3000):
        promoted = promotion(scheduler.state)
        choice = choose(scheduler.state)
        better = brute_force_promoted(scheduler.state, promoted)
        if choice >= 0 and scheduler.state.now.turn == SHARP and better is not None:
            assert choice == better[0]
            assert promotion(scheduler.state) == better
            promotions += better != promoted
            with_flights += scheduler.state.testers[choice].in_flight > 0
        run = scheduler.ask()
        flying += [] if run is None else [run]
        if len(flying) == workers or run is None:
            run = flying.pop(random.integers(len(flying)))
            runtime = means[run.configuration] * hardness_of(run.pair)
            status = Status.SOLVED if runtime < run.cap else Status.CAPPED
            scheduler.tell(run, Outcome(status, min(runtime, run.cap)))
    scheduler.check()
    assert promotions > 100 and with_flights > 100


def hardness_of(pair):
    """How hard a pair is: the same for all."""
    return np.random.default_rng([pair, 5]).lognormal(0.0, 1.0)
