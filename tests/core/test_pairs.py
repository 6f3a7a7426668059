"""Two configurations side by side: over the same pairs, up to the same cap."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cunctator.base.records import Outcome, Status
from cunctator.core.scheduler import Scheduler
from cunctator.recorded.simulation import Simulation
from cunctator.recorded.table import make_table

FIRST_CAP, CUTOFF = 0.1, 10.0


def runtimes(rows=5, columns=60, seed=3):
    return np.minimum(np.random.default_rng(seed).lognormal(0, 1.5, (rows, columns)), CUTOFF)


def conduct(scheduler, table, steps):
    """What came of every pair at last, by configuration, and how far it was tried."""
    tried = {}
    for _ in range(steps):
        run = scheduler.ask()
        if run is None:
            break
        runtime = table[run.configuration, run.pair]
        solved = runtime <= run.cap and runtime < CUTOFF
        outcome = Outcome(Status.SOLVED if solved else Status.CAPPED, min(runtime, run.cap))
        tried[run.configuration, run.pair] = run.cap
        scheduler.tell(run, outcome)
    return tried


@pytest.mark.parametrize("penalty", [1, 10])
@pytest.mark.parametrize("steps", [20, 200, 100_000])
def test_it_is_over_the_pairs_that_both_have_run(steps, penalty):
    table = runtimes()
    scheduler = Scheduler(5, 60, first_cap=FIRST_CAP, cutoff=CUTOFF, penalty=penalty)
    tried = conduct(scheduler, table, steps)
    for one in range(5):
        for other in range(5):
            found = scheduler.compared(one, other)
            common = [pair for pair in range(60) if {(one, pair), (other, pair)} <= set(tried)]
            assert found.pairs == len(common)
            if not common:
                continue
            for index, mean in ((one, found.one), (other, found.other)):
                values = np.clip(table[index, common], FIRST_CAP, found.cap)
                if found.cap == CUTOFF:  # else nobody knows yet who reaches it
                    values = np.where(values == CUTOFF, penalty * CUTOFF, values)
                assert mean == pytest.approx(values.mean())
                known = [
                    tried[index, pair] >= found.cap or table[index, pair] <= tried[index, pair]
                    for pair in common
                ]
                assert all(known), "nothing is said that has not been seen"


def test_a_simulation_says_the_same():
    table = runtimes()
    simulation = Simulation(make_table(table, cutoff=CUTOFF), first_cap=FIRST_CAP)
    simulation.advance(150)
    scheduler = Scheduler(5, 60, first_cap=FIRST_CAP, cutoff=CUTOFF)
    conduct(scheduler, table[:, simulation._order], simulation.steps)
    for other in range(5):
        theirs, ours = simulation.compared(0, other), scheduler.compared(0, other)
        assert theirs == pytest.approx(ours, nan_ok=True)


@pytest.mark.parametrize("penalty", [1, 10])
def test_crashes_and_runs_of_which_nothing_is_known(penalty):
    scheduler = Scheduler(2, 10, first_cap=1.0, cutoff=8.0, penalty=penalty)
    outcomes = {
        (0, 0): Outcome(Status.CRASHED, 0.5),
        (1, 0): Outcome(Status.SOLVED, 1.0),
    }
    for _ in range(20):  # all others stay in flight
        run = scheduler.ask()
        if run is not None and (run.configuration, run.pair) in outcomes:
            scheduler.tell(run, outcomes.pop((run.configuration, run.pair)))
    found = scheduler.compared(0, 1)
    assert not outcomes and min(scheduler.state.testers["started"]) > 1
    assert (found.pairs, found.one, found.other) == (1, penalty * 8.0, 1.0)
    assert math.isnan(Scheduler(2, 10).compared(0, 1).one)
