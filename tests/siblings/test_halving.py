from __future__ import annotations

import math

import numpy as np
import pytest

from cunctator.base.errors import InvalidSetting
from cunctator.siblings.halving import (
    HYPERBAND,
    SUCCESSIVE_HALVING,
    brackets,
    more_instances,
    most_runs,
    round_sizes,
)
from cunctator.siblings.problem import TooFewInstances
from tests.siblings.in_order import problem_of

METHODS = pytest.mark.parametrize("method", [SUCCESSIVE_HALVING, HYPERBAND], ids=lambda m: m.name)

FOUR = [
    [5, 1, 1, 1, 1, 1],
    [2, 2, 9, 9, 9, 9],
    [4, 4, 1, 1, 1, 1],
    [3, 3, 1, 1, 1, 1],
]


def random_problem(seed, **settings):
    random = np.random.default_rng(seed)
    count, instances = random.integers(1, 30), random.integers(60, 200)
    runtimes = random.integers(1, 4, (count, 1)) * random.exponential(2, (count, instances))
    return problem_of(runtimes, seed=seed, **settings)


def test_rounds_by_hand():
    assert round_sizes(1) == []
    assert round_sizes(5) == [5, 3, 2]
    assert round_sizes(8) == [8, 4, 2]
    for count in range(2, 300):
        assert len(round_sizes(count)) == math.ceil(math.log2(count))


def test_instances_of_a_round_by_hand():
    """96 runs in three rounds are 32 each: 8 x 4, 4 x 8 and 2 x 16."""
    assert more_instances(96, [8, 4, 2]) == [4, 8, 16]
    assert more_instances(101, [8, 4, 2]) == [4, 8, 16]
    assert more_instances(102, [8, 4, 2]) == [4, 8, 17]


def test_by_default_the_last_two_see_all_of_the_table():
    assert most_runs(28, [8, 4, 2]) == 101
    for count in (2, 3, 7, 30):
        for positions in (40, 41, 1000):
            runs = most_runs(positions, round_sizes(count))
            assert sum(more_instances(runs, round_sizes(count))) <= positions
            assert sum(more_instances(runs + 1, round_sizes(count))) > positions


def test_halving_by_hand():
    """Sums of two are 6 4 8 6; 1 and 0 go on, 0 before 3 as the lower index, with four more each:
    10 against 40.
    """
    outcome = SUCCESSIVE_HALVING.solve(problem_of(FOUR), instances=16)
    assert outcome.trajectory == ((24.0, 1), (64.0, 0))
    assert outcome.spent.tolist() == [10.0, 40.0, 8.0, 6.0]
    assert (outcome.charged, outcome.steps) == (64.0, 16)
    assert outcome.stop == "one configuration is left"
    assert outcome.facts == {"instances": 6.0}
    assert outcome.claim == ""


def test_of_three_two_go_on():
    """Twelve runs: 3 x 2, then 2 x 3."""
    runtimes = [[1, 1, 9, 9, 9], [2, 2, 1, 1, 1], [3, 3, 1, 1, 1]]
    outcome = SUCCESSIVE_HALVING.solve(problem_of(runtimes), instances=12)
    assert outcome.trajectory == ((12.0, 0), (42.0, 1))
    assert outcome.spent.tolist() == [29.0, 7.0, 6.0]


def test_halving_stays_with_its_last_answer_when_the_budget_is_spent():
    outcome = SUCCESSIVE_HALVING.solve(problem_of(FOUR, budget=30.0), instances=16)
    assert outcome.trajectory == ((24.0, 1),)
    assert (outcome.charged, outcome.steps) == (30.0, 9)
    assert outcome.spent.sum() == 30.0
    assert outcome.stop == "the budget is spent"
    assert SUCCESSIVE_HALVING.solve(problem_of(FOUR, budget=23.0), instances=16).incumbent is None
    exactly = SUCCESSIVE_HALVING.solve(problem_of(FOUR, budget=64.0), instances=16)
    assert exactly.stop == "one configuration is left"


def test_halving_charges_what_was_cut_off_once():
    """All are cut off at 5 s: 4 x 2 and 2 x 4 runs."""
    outcome = SUCCESSIVE_HALVING.solve(problem_of(np.full((4, 6), 9), cutoff=5.0), instances=16)
    assert outcome.charged == 80.0
    assert outcome.incumbent == 0


def test_halving_says_how_many_runs_would_fit():
    """24 runs ask for 3 + 6 instances of 6; 19 for 2 + 4, and 20 for 2 + 5."""
    with pytest.raises(TooFewInstances) as error:
        SUCCESSIVE_HALVING.solve(problem_of(FOUR), instances=24)
    assert (error.value.needed, error.value.found) == (9, 6)
    assert error.value.fits == "instances = 19"
    assert SUCCESSIVE_HALVING.solve(problem_of(FOUR), instances=19).steps == 16


def test_halving_needs_an_instance_for_the_first_round():
    """16 take four rounds, so 64 runs at least: 1 + 2 + 4 + 8 instances."""
    with pytest.raises(TooFewInstances) as error:
        SUCCESSIVE_HALVING.solve(problem_of(np.ones((16, 3))))
    assert (error.value.needed, error.value.found, error.value.fits) == (15, 3, "")
    drawn = SUCCESSIVE_HALVING.solve(problem_of(np.ones((16, 3)), resample=True))
    assert drawn.steps == 64


@pytest.mark.parametrize("instances", [7, -1, 16.5, math.nan, math.inf, 1e300])
def test_halving_refuses_other_numbers_of_runs(instances):
    with pytest.raises(InvalidSetting, match="instances is"):
        SUCCESSIVE_HALVING.solve(problem_of(FOUR), instances=instances)


@METHODS
def test_one_configuration_is_the_answer(method):
    assert method.solve(problem_of(np.ones((1, 20)))).incumbent == 0
    with pytest.raises(InvalidSetting):
        method.solve(problem_of(np.ones((1, 20))), instances=-1)


def test_brackets_by_hand():
    """R = 81, eta = 3: smax = 4, and ceil(5 * 27 / 4) = 34, ceil(5 * 9 / 3) = 15, ..."""
    assert brackets(1000, 81, 3) == [
        [(81, 1), (27, 3), (9, 9), (3, 27), (1, 81)],
        [(34, 3), (11, 9), (3, 27), (1, 81)],
        [(15, 9), (5, 27), (1, 81)],
        [(8, 27), (2, 81)],
        [(5, 81)],
    ]
    assert brackets(5, 10, 3) == [[(5, 1), (1, 3), (1, 10)], [(5, 3), (1, 10)], [(3, 10)]]
    assert brackets(9, 1, 3) == [[(1, 1)]]
    assert brackets(9, 10, 11) == [[(1, 10)]]


def test_a_power_of_eta_has_all_its_brackets():
    assert math.log(243, 3) < 5  # which is why the logarithm is not computed
    assert len(brackets(1000, 243, 3)) == 6


def test_hyperband_by_hand():
    """Both on one (3 s), the better one on two (9 s more), then both on two (3 s more): 10 to 5."""
    for seed in range(10):
        outcome = HYPERBAND.solve(problem_of([[1, 9], [2, 3]], seed=seed), eta=2)
        assert outcome.trajectory == ((3.0, 0), (15.0, 1))
        assert outcome.spent.tolist() == [10.0, 5.0]
        assert (outcome.charged, outcome.steps) == (15.0, 4)
        assert outcome.stop == "all brackets are done"
        assert outcome.facts == {"instances": 2.0}


def test_hyperband_stays_with_its_last_answer_when_the_budget_is_spent():
    outcome = HYPERBAND.solve(problem_of([[1, 9], [2, 3]], budget=14.0), eta=2)
    assert outcome.trajectory == ((3.0, 0),)
    assert outcome.charged == outcome.spent.sum() == 14.0
    assert outcome.stop == "the budget is spent"


def test_hyperband_answers_with_the_best_of_those_that_have_seen_the_most():
    for seed in range(200):
        problem = random_problem(seed)
        outcome = HYPERBAND.solve(problem)
        sums = problem.runtimes.sum(axis=1)
        have_seen_all = np.flatnonzero(outcome.spent >= sums * (1 - 1e-9))
        assert have_seen_all.size
        assert outcome.incumbent == have_seen_all[sums[have_seen_all].argmin()]
        assert outcome.steps <= problem.runtimes.size


def test_hyperband_needs_as_many_instances_as_a_configuration_may_get():
    with pytest.raises(TooFewInstances) as error:
        HYPERBAND.solve(problem_of(FOUR), instances=7)
    assert (error.value.needed, error.value.found) == (7, 6)
    assert error.value.fits == "instances = 6"
    assert HYPERBAND.solve(problem_of(FOUR, resample=True), instances=7).facts["instances"] == 7


@pytest.mark.parametrize(
    "wrong", [{"eta": 1}, {"eta": 2.5}, {"eta": math.nan}, {"instances": -3}, {"instances": 0.5}]
)
def test_hyperband_refuses_other_settings(wrong):
    with pytest.raises(InvalidSetting, match="expected a whole number"):
        HYPERBAND.solve(problem_of(FOUR), **wrong)


def test_hyperband_draws_by_its_seed():
    runtimes = np.random.default_rng(5).exponential(2, (300, 27))
    charged = {HYPERBAND.solve(problem_of(runtimes, seed=seed)).charged for seed in range(10)}
    assert len(charged) == 10


@METHODS
def test_it_is_the_same_again_and_what_is_spent_adds_up(method):
    for seed in range(50):
        budget = [math.inf, 300.0][seed % 2]
        first, again = (method.solve(random_problem(seed, budget=budget)) for _ in range(2))
        assert first.trajectory == again.trajectory
        assert first.charged == again.charged == pytest.approx(first.spent.sum())
        assert first.charged <= budget * (1 + 1e-12)
        assert [at for at, _ in first.trajectory] == sorted(at for at, _ in first.trajectory)
        assert all(at <= first.charged for at, _ in first.trajectory)


@METHODS
def test_it_finds_the_best_where_that_is_easy(method):
    """Means are 1, 1.5, 2, ... with hardly any noise, so that only a draw can miss the best."""
    random = np.random.default_rng(3)
    misses = 0
    for seed in range(30):
        means = random.permutation(1 + 0.5 * np.arange(12))
        runtimes = means[:, None] * random.uniform(0.95, 1.05, (12, 81))
        misses += method.solve(problem_of(runtimes, seed=seed)).incumbent != means.argmin()
    assert misses == 0
