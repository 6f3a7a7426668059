from __future__ import annotations

import math

import numpy as np
import pytest

from cunctator.base.errors import InvalidSetting
from cunctator.siblings.ac_band import (
    AC_BAND,
    DRAW_STREAM,
    Races,
    groups_of,
    kept_of,
    least_instances,
    plan_epochs,
    rounds_by_size,
)
from cunctator.siblings.problem import TooFewInstances
from tests.margins import most_events
from tests.siblings.in_order import problem_of

SHARES = [(0.05, 0.01), (0.01, 0.01), (0.2, 0.1), (0.5, 0.5), (0.9, 0.2), (0.001, 0.5)]
GROUP_SIZES = [2, 3, 4, 8, 16, 100]


def random_problem(seed, **settings):
    runtimes = np.random.default_rng(seed).exponential(4, (15, 300))
    return problem_of(runtimes, seed=seed, **settings)


def test_the_plan_by_hand():
    """N = ceil(4.605 / 0.0513 = 89.8) = 90, n0 = 91, E = ceil(log2 91) = 7.

    With groups of 8 the base of the logarithms is 1 + 7 / 7 = 2, so C1 = 1, C3 = 3 and C2 = 1 +
    log2(91 + 4 * 91) = 9.8297. C_1 = 2 (7 + 127 * 10.8297) / (128 * 11.8297) = 1.8258.
    """
    plan = plan_epochs(0.05, 0.01, 8)
    assert [epoch.number for epoch in plan] == [1, 2, 3, 4, 5, 6, 7]
    assert [epoch.drawn for epoch in plan] == [46, 23, 12, 6, 3, 2, 1]
    assert plan[0].divisor == pytest.approx(1.8258, abs=1e-4)
    assert plan[6].divisor == pytest.approx(128 * 1382.37 / (128 * 5.8297), rel=1e-4)


@pytest.mark.parametrize(("alpha", "draws"), [(0.05, 90), (0.02, 228), (0.01, 459)])
def test_enough_is_drawn(alpha, draws):
    """ln 0.01 = -4.6052 over ln 0.95 = -0.05129, ln 0.98 = -0.02020, ln 0.99 = -0.01005."""
    plan = plan_epochs(alpha, 0.01, 4)
    assert plan[0].drawn == math.ceil((draws + 1) / 2)
    assert draws <= sum(epoch.drawn for epoch in plan) <= draws + len(plan)


@pytest.mark.parametrize(("alpha", "delta"), SHARES)
@pytest.mark.parametrize("group_size", GROUP_SIZES)
def test_the_divisors_are_those_of_the_paper_and_share_out_all_instances(alpha, delta, group_size):
    draws = math.ceil(math.log(delta) / math.log(1 - alpha))
    first = draws + 1
    count = math.ceil(math.log2(first / (first - draws)))
    plan = plan_epochs(alpha, delta, group_size)
    assert len(plan) == count
    base = 1 + (group_size - 1) / count
    c1 = math.log(2, base)
    c2 = 1 + math.log(first + 4 * first / (first - draws), base)
    c3 = math.log(group_size, base)
    for e, epoch in enumerate(plan, start=1):
        top = 2**e * (c1 * count - (2**count - 1) * (2 * c1 - c2 - c3))
        assert epoch.divisor == pytest.approx(top / (2**count * (c2 + c3 - e * c1)))
        assert epoch.drawn == math.ceil(first / 2**e)
    assert sum(1 / epoch.divisor for epoch in plan) == pytest.approx(1)
    for instances in (1, 17, 1000, 20_118, 35_640, 10**7):
        assert sum(math.floor(instances / epoch.divisor) for epoch in plan) <= instances
    assert sum(epoch.drawn for epoch in plan) >= draws


def test_how_many_go_on_by_hand():
    """Of 8: 8/8, 16/9, 24/10 and 56/14; of 10, in groups of 15, 60/20."""
    assert [kept_of(8, 8, epoch) for epoch in (1, 2, 3, 7)] == [1, 1, 2, 4]
    assert kept_of(10, 15, 6) == 3
    assert math.floor(10 / 2 ** math.log2(20 / 6)) == 2  # which is why it is in whole numbers
    assert kept_of(2, 8, 1) == 1


def test_rounds_by_hand():
    """Groups of 4, one goes on: 12, 3, 1, but 11 leave 3 over: 2 + 3, then 1 + 1, then 1."""
    rounds = rounds_by_size(12, 4, 1)
    assert (rounds[1], rounds[4], rounds[11], rounds[12]) == (0, 1, 3, 2)
    assert [groups_of(size, 4) for size in (1, 3, 4, 7, 8)] == [1, 1, 1, 1, 2]


def test_an_epoch_by_hand():
    """Pairs race, the faster goes on, who is left over comes first: 01 23 4, 41 3, 34.

    Twelve instances are four for each of three rounds, so two for each pair of the first:
    2 x 2 x 4 s, 2 x 2 x 2 s, then 4 x 2 x 1 s twice.
    """
    problem = problem_of(np.repeat([[5], [4], [3], [2], [1]], 12, axis=1))
    races = Races(problem, 2)
    assert races.last_of(np.arange(5), problem.stream, 1) == 4
    assert races.spent.tolist() == [8, 12, 4, 8, 8]
    assert races.steps == 4 + 4 + 8 + 8


def test_every_race_has_instances_of_its_own():
    """All take 2^j on instance j: dead heats, which the first wins, and spent is a set of j."""
    problem = problem_of(np.repeat([2.0 ** np.arange(12)], 5, axis=0), cutoff=1e6)
    races = Races(problem, 2)
    assert races.last_of(np.arange(5), problem.stream, 1) == 2
    raced = [[0, 1, 4, 5, 6, 7], [0, 1], [2, 3, 8, 9, 10, 11], [2, 3], [4, 5, 6, 7, 8, 9, 10, 11]]
    assert races.spent.tolist() == [sum(2**j for j in instances) for instances in raced]


def test_nobody_sees_an_instance_twice():
    """As above: a sum of different powers of two has as many ones as terms."""
    for seed in range(20):
        problem = problem_of(np.repeat([2.0 ** np.arange(48)], 9, axis=0), cutoff=1e18, seed=seed)
        outcome = AC_BAND.solve(problem, alpha=0.3, delta=0.1, group_size=3)
        assert outcome.steps == sum(int(spent).bit_count() for spent in outcome.spent)


def test_a_race_is_won_by_whoever_is_first_before_the_cutoff():
    """Two draws of two rows: one each, or the same one, which need not race.

    The rows win one instance each, and nobody the one that takes 10 s: the first to be drawn
    stays. Both are charged 1 + 4 + 10 s.
    """
    seen = set()
    for seed in range(20):
        problem = problem_of([[1, 5, 10], [2, 4, 10]], seed=seed)
        outcome = AC_BAND.solve(problem, alpha=0.5, delta=0.5, group_size=2)
        first, second = np.random.default_rng([seed, DRAW_STREAM]).integers(2, size=2)
        assert outcome.incumbent == first
        assert outcome.charged == (0 if first == second else 30)
        assert outcome.spent.tolist() == [outcome.charged / 2] * 2
        assert outcome.steps == (0 if first == second else 6)
        seen.add(outcome.charged)
    assert seen == {0, 30}


def test_both_score_in_a_dead_heat():
    """Three to two, whoever was drawn first."""
    for seed in range(20):
        problem = problem_of([[5, 5, 5], [5, 5, 2]], seed=seed)
        outcome = AC_BAND.solve(problem, alpha=0.5, delta=0.5, group_size=2)
        assert outcome.incumbent == 1 or outcome.charged == 0


def test_what_it_says():
    outcome = AC_BAND.solve(random_problem(1), alpha=0.2, delta=0.1, group_size=4)
    assert outcome.stop == "all 4 epochs are done"
    assert "at least 0.9," in outcome.claim
    assert "best 0.2 " in outcome.claim and "if 300 instances are enough" in outcome.claim
    assert outcome.facts == {"alpha": 0.2, "delta": 0.1, "instances": 300.0}


def test_nobody_finishes():
    outcome = AC_BAND.solve(problem_of(np.full((6, 60), 99)), alpha=0.3, delta=0.1, group_size=3)
    assert outcome.incumbent == np.random.default_rng([7, DRAW_STREAM]).integers(6)
    assert outcome.charged == outcome.spent.sum() == 10.0 * outcome.steps


def test_one_configuration_is_the_answer():
    assert AC_BAND.solve(problem_of(np.ones((1, 20)))).trajectory == ((0.0, 0),)


@pytest.mark.parametrize(("alpha", "delta"), SHARES)
@pytest.mark.parametrize("group_size", GROUP_SIZES)
def test_the_least_instances_are_one_for_each_race_and_no_more(alpha, delta, group_size):
    plan, count = plan_epochs(alpha, delta, group_size), 40

    def is_enough(instances):
        for epoch in plan:
            part = math.floor(instances / epoch.divisor)
            rounds = rounds_by_size(min(count, epoch.drawn + 1), group_size, epoch.number)
            groups = groups_of(len(rounds) - 1, group_size)
            if part // (groups * max(rounds)) < 1:
                return False
        return True

    least = least_instances(plan, group_size, count)
    assert is_enough(least) and not is_enough(least - 1)


def test_it_says_what_would_fit():
    problem = problem_of(np.ones((50, 30)))
    with pytest.raises(TooFewInstances) as error:
        AC_BAND.solve(problem, group_size=2)
    assert error.value.found == 30
    assert error.value.needed == least_instances(plan_epochs(0.05, 0.01, 2), 2, 50) > 30
    alpha = float(error.value.fits.split()[2].rstrip(","))
    assert error.value.fits == f"alpha = {alpha:g}, group_size = 2 and instances = 30"
    assert AC_BAND.solve(problem, group_size=2, alpha=alpha, instances=30).claim
    with pytest.raises(TooFewInstances):
        AC_BAND.solve(problem, group_size=2, alpha=alpha - 0.01)
    with pytest.raises(TooFewInstances) as error:
        AC_BAND.solve(problem, group_size=2, alpha=alpha, instances=31)
    assert error.value.fits == "group_size = 2 and instances = 30"
    with pytest.raises(TooFewInstances) as error:
        AC_BAND.solve(problem_of(np.ones((50, 1))), delta=1e-9)
    assert error.value.fits == ""
    assert AC_BAND.solve(problem_of(np.ones((50, 30)), resample=True), group_size=2).claim


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"alpha": 0.0}, "alpha is"),
        ({"alpha": 1.0}, "alpha is"),
        ({"alpha": math.nan}, "alpha is"),
        ({"alpha": 1e-5}, "expected at least 0.0001"),
        ({"delta": 0.0}, "delta is"),
        ({"delta": 1.5}, "delta is"),
        ({"group_size": 1}, "group_size is"),
        ({"group_size": 2.5}, "group_size is"),
        ({"group_size": 1e300}, "group_size is"),
        ({"instances": -1}, "instances is"),
        ({"instances": math.inf}, "instances is"),
        ({"instances": 3}, "an instance for each race"),
    ],
)
def test_other_settings_are_refused(wrong, complaint):
    with pytest.raises(InvalidSetting, match=complaint):
        AC_BAND.solve(random_problem(1), **wrong)


def test_it_is_the_same_again_and_what_is_spent_adds_up():
    for seed in range(50):
        budget = [math.inf, 250.0][seed % 2]
        first, again = (AC_BAND.solve(random_problem(seed, budget=budget)) for _ in range(2))
        assert first.trajectory == again.trajectory
        assert first.charged == again.charged == pytest.approx(first.spent.sum())
        assert first.charged <= budget * (1 + 1e-12)
        assert all(at <= first.charged for at, _ in first.trajectory)


def test_the_budget_ends_it_without_a_claim():
    whole = AC_BAND.solve(random_problem(3))
    early = AC_BAND.solve(random_problem(3, budget=whole.trajectory[0][0] / 2))
    assert early.trajectory == () and early.claim == ""
    assert early.charged == pytest.approx(whole.trajectory[0][0] / 2)
    late = AC_BAND.solve(random_problem(3, budget=whole.charged * 0.99))
    assert late.trajectory == whole.trajectory[: len(late.trajectory)] != ()
    assert late.stop == early.stop == "the budget is spent" and late.claim == ""


ROWS, TABLES = 20, 1000


def misses(delta: float) -> int:
    """How often the answer is none of the best fifth, asked for with probability 1 - delta.

    Each of the 20 rows takes 1.5 times as long as the one before, on average over 400 instances;
    that is far enough for races to be won by the better, as a rule.
    """
    random = np.random.default_rng(11)
    found = 0
    for seed in range(TABLES):
        ranks = random.permutation(ROWS)
        noise = np.exp(random.normal(0, 1, 400) + random.normal(0, 0.5, (ROWS, 400)))
        problem = problem_of(1.5 ** ranks[:, None] * noise, cutoff=1000.0, seed=seed)
        outcome = AC_BAND.solve(problem, alpha=0.2, delta=delta, group_size=4)
        found += ranks[outcome.incumbent] >= 0.2 * ROWS
    return found


def test_the_guarantee_holds_where_there_are_enough_instances():
    assert misses(0.1) <= most_events(TABLES, 0.1)


def test_fewer_draws_would_not_do():
    assert misses(0.5) > most_events(TABLES, 0.1)
