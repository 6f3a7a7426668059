from __future__ import annotations

import numpy as np
import pytest

from cunctator.siblings.uniform import UNIFORM
from tests.siblings.in_order import problem_of

SEED = 7
BY_HAND = [[4, 1, 1], [2, 2, 5], [3, 3, 3]]


def test_by_hand():
    """Sums 4 2 3 (9 s), 5 4 6 (15 s), 6 9 9 (24 s)."""
    outcome = UNIFORM.solve(problem_of(BY_HAND))
    assert outcome.trajectory == ((9.0, 1), (24.0, 0))
    assert outcome.incumbent == 0
    assert (outcome.charged, outcome.steps) == (24.0, 9)
    assert outcome.spent.tolist() == [6.0, 9.0, 9.0]
    assert outcome.stop == "all instances have been run"
    assert outcome.facts == {"instances": 3.0, "mean": 2.0}
    assert "all 3 configurations" in outcome.claim and "all 3 instances" in outcome.claim


def test_of_equal_means_the_lower_index_is_the_answer():
    assert UNIFORM.solve(problem_of([[3, 1], [2, 2], [2, 2]])).trajectory == ((7.0, 1), (12.0, 0))


def test_what_is_not_solved_counts_as_the_cutoff():
    """5 + 5 s and 4 + 5 s."""
    outcome = UNIFORM.solve(problem_of([[99, 99], [4, 7]], cutoff=5.0))
    assert outcome.spent.tolist() == [10.0, 9.0]
    assert outcome.incumbent == 1


@pytest.mark.parametrize(
    ("budget", "trajectory", "spent", "steps"),
    [
        (0.0, (), [0, 0, 0], 0),
        (8.5, (), [4, 2, 2.5], 3),
        (9.0, ((9.0, 1),), [4, 2, 3], 3),
        (16.0, ((9.0, 1),), [6, 4, 6], 7),
        (17.5, ((9.0, 1),), [6, 5.5, 6], 8),
    ],
)
def test_the_budget_ends_it_in_the_middle_of_a_run(budget, trajectory, spent, steps):
    outcome = UNIFORM.solve(problem_of(BY_HAND, budget=budget))
    assert outcome.stop == "the budget is spent"
    assert outcome.trajectory == trajectory
    assert outcome.charged == budget
    assert outcome.spent.tolist() == spent
    assert outcome.steps == steps
    assert outcome.claim == ""


def test_a_budget_for_the_whole_table_is_enough():
    outcome = UNIFORM.solve(problem_of(BY_HAND, budget=24.0))
    assert outcome.claim and outcome.stop == "all instances have been run"


def test_the_answer_is_the_best_of_the_table_and_costs_all_of_it():
    random = np.random.default_rng(1)
    for _ in range(200):
        runtimes = random.integers(1, 50, size=random.integers(1, 12, size=2))
        outcome = UNIFORM.solve(problem_of(runtimes, cutoff=40.0))
        cut = np.minimum(runtimes, 40)
        assert outcome.incumbent == cut.sum(axis=1).argmin()
        assert outcome.charged == outcome.spent.sum() == cut.sum()
        assert outcome.steps == runtimes.size


def test_draws_with_replacement_prove_nothing():
    problem = problem_of(BY_HAND, resample=True)
    outcome = UNIFORM.solve(problem)
    assert outcome.steps == 3 * problem.stream.size
    assert outcome.stop == "all instances have been run"
    assert outcome.claim == "" and outcome.facts == {"instances": float(problem.stream.size)}
    assert outcome.spent.sum() == pytest.approx(outcome.charged)
