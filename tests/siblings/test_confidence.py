"""SPC as one method among the others: the same as `simulate`, and it always ends."""

from __future__ import annotations

import numpy as np
import pytest

from cunctator.recorded.simulation import Simulation, simulate
from cunctator.recorded.table import make_table
from cunctator.siblings.confidence import PROCRASTINATION_WITH_CONFIDENCE
from cunctator.siblings.problem import Problem
from tests.siblings.optimality import random_runtimes


def problem_of(runtimes, **more):
    return Problem(make_table(runtimes, cutoff=50.0), 0.1, 50.0, **more)


def test_on_a_finite_set_it_is_simulate():
    problem = problem_of(random_runtimes(3), seed=4)
    outcome = PROCRASTINATION_WITH_CONFIDENCE.solve(problem)
    result = simulate(problem.table, first_cap=0.1, seed=4)
    assert outcome.stop == "proved optimal on this instance set" == result.stop.value
    assert outcome.trajectory == tuple((at, index) for at, _, index in result.trajectory)
    assert (outcome.steps, outcome.charged) == (result.steps, result.charged)
    assert outcome.spent.sum() == pytest.approx(outcome.charged)


def test_drawn_with_replacement_it_sees_the_stream_of_all_methods():
    problem = problem_of(random_runtimes(3), seed=4, resample=True, budget=3000.0)
    outcome = PROCRASTINATION_WITH_CONFIDENCE.solve(problem)
    assert outcome.stop == "the budget is spent" and outcome.charged >= 3000.0
    assert outcome.incumbent == int(problem.table.runtimes.mean(axis=1).argmin())
    # A finite set that is the stream itself is searched in the same way, in that order.
    drawn = make_table(problem.runtimes[:, problem.stream[:40_000]], cutoff=50.0)
    simulation = Simulation(drawn, first_cap=0.1, budget=3000.0, seed=4, closing=False)
    simulation._order = np.arange(40_000)
    simulation.state = simulation.state._replace(
        rules=simulation.state.rules._replace(
            instances=Simulation(problem.table, first_cap=0.1, resample=True).state.rules.instances
        )
    )
    result = simulation.run()
    assert result.charged == outcome.charged and result.steps == outcome.steps


@pytest.mark.parametrize("runtimes", [np.zeros((2, 5)), np.array([[0.0] * 5, [1.0] * 5])])
def test_runs_of_no_length_do_not_go_on_forever(runtimes):
    outcome = PROCRASTINATION_WITH_CONFIDENCE.solve(problem_of(runtimes, resample=True, budget=1e3))
    assert outcome.stop == "the instances are used up" and outcome.incumbent == 0


@pytest.mark.parametrize("shortest", [0.01, 0.2])
def test_the_claim_says_what_short_runs_count_as(shortest):
    runtimes = np.maximum(random_runtimes(3), 0.2)
    runtimes[0] = shortest
    claim = PROCRASTINATION_WITH_CONFIDENCE.solve(problem_of(runtimes)).claim
    assert "no other configuration is faster on average." in claim
    assert ("runs shorter than 100 ms count as 100 ms" in claim) == (shortest < 0.1)
