"""GGA: races and their costs by hand, how children come about, and whole searches."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from cunctator.base.errors import InvalidSetting, InvalidTable
from cunctator.recorded.table import make_table
from cunctator.siblings.genetic import (
    GGA,
    Breeding,
    GeneticLedger,
    GeneticRules,
    Half,
    compete,
    first_halves,
    instances_in,
    replace_old,
)
from cunctator.siblings.problem import Problem, TooFewInstances
from cunctator.siblings.table_space import TableSpace, read_parameters
from tests.margins import most_events

PUBLISHED = GeneticRules(**GGA.defaults)
SMALL = {"population": 16, "generations": 12, "tournament": 4, "winners": 0.25}
SHORT = {"first_instances": 2, "last_instances": 20, "full_generation": 9}


def ledger_of(in_order, **more):
    """Rows are given in the order of the stream."""
    in_order = np.asarray(in_order, dtype=float)
    blank = Problem(make_table(in_order), 1.0, 100.0, **more)
    runtimes = np.empty_like(in_order)
    runtimes[:, blank.stream] = in_order
    problem = Problem(make_table(runtimes), 1.0, 100.0, **more)
    return GeneticLedger(problem, np.zeros(in_order.shape, dtype=bool), np.zeros(len(in_order)))


def race(ledger, rows, positions, count=1):
    winners, means = ledger.race(np.array(rows), np.array(positions), count)
    return winners.tolist(), means.tolist()


def grid_problem(seed, sizes=(3, 3, 2, 2), columns=60, noise=0.3, **more):
    random = np.random.default_rng([seed, 78])
    rows = list(itertools.product(*map(range, sizes)))
    effects = [random.permutation(size) * random.uniform(0.3, 0.6) for size in sizes]
    means = np.exp([sum(e[v] for e, v in zip(effects, row, strict=True)) for row in rows])
    runtimes = means[:, None] * np.exp(noise * random.standard_normal((len(rows), columns)))
    names = [" ".join(f"p{k}={v}" for k, v in enumerate(row)) for row in rows]
    return Problem(make_table(np.clip(runtimes, 0.05, 50.0), names), 0.1, 50.0, seed=seed, **more)


def breeding_of(sizes, ordered, seed=0, **changes):
    """As many rows as there are values; what is in them does not matter for `mix` and `mutate`."""
    values = np.zeros((2, len(sizes)), dtype=np.int64)
    names = tuple(f"p{k}" for k in range(len(sizes)))
    space = TableSpace(names, values, np.array(sizes), np.array(ordered))
    return Breeding(space, PUBLISHED._replace(**changes), np.random.default_rng(seed))


def test_the_published_number_of_instances_grows_from_5_to_100_at_the_75th_generation():
    counts = [instances_in(PUBLISHED, generation) for generation in range(100)]
    assert counts[0] == 5
    assert counts[37] == 5 + 95 // 2  # half way between the 1st and the 75th
    assert (counts[73], counts[74], counts[99]) == (5 + 95 * 73 // 74, 100, 100)
    assert counts == sorted(counts)
    at_once = PUBLISHED._replace(full_generation=1)
    assert {instances_in(at_once, generation) for generation in range(5)} == {100}


def test_a_race_ends_for_all_when_the_first_has_finished():
    ledger = ledger_of([[3, 4], [5, 1], [9, 9]])
    # In 5 + 1 s the second is done. The first has finished 3 s and used 3 of 4 s; the third none.
    assert race(ledger, [0, 1, 2], [0, 1]) == ([1], [3.0])
    assert ledger.spent.tolist() == [6, 6, 6]
    assert (ledger.charged, ledger.steps) == (18, 2 + 2 + 1)
    assert ledger.finished.tolist() == [[True, False], [True, True], [False, False]]


def test_a_race_may_have_several_winners_and_ties_go_to_the_first_in_it():
    ledger = ledger_of([[3, 4], [5, 1], [4, 2]])
    assert race(ledger, [0, 2, 1], [0, 1], 2) == ([2, 1], [3.0, 3.0])
    assert ledger.charged == 6 + 6 + 6
    ledger = ledger_of([[3, 4], [5, 1], [4, 2]])
    assert race(ledger, [0, 2, 1], [0, 1], 3) == ([2, 1, 0], [3.0, 3.0, 3.5])
    assert ledger.charged == 7 + 6 + 6


def test_kept_results_count_in_a_race_and_cost_nothing():
    ledger = ledger_of([[3, 4, 2], [5, 1, 1], [9, 9, 9]])
    race(ledger, [0, 1, 2], [0, 1])
    # On the first and the third: 3 + 2 s, 5 + 1 s and 18 s. The first two have run the first one.
    assert race(ledger, [0, 1, 2], [2, 0]) == ([0], [2.5])
    assert ledger.spent.tolist() == [6 + 2, 6 + 0, 6 + 5]
    assert ledger.steps == 5 + 2
    assert ledger.finished.tolist() == [[True, False, True], [True, True, False], [False] * 3]
    # Once more: nothing needs to be run, and whoever is stopped would have begun later.
    assert race(ledger, [0, 1], [2, 0]) == ([0], [2.5])
    assert ledger.charged == 18 + 7


def test_whoever_has_kept_results_does_not_win_for_that():
    ledger = ledger_of([[8, 2], [4, 4]])
    race(ledger, [0], [0])
    assert race(ledger, [0, 1], [0, 1]) == ([1], [4.0])
    assert ledger.spent.tolist() == [8, 8]  # 8 + 2 s would end after 4 + 4 s


@pytest.mark.parametrize(
    ("budget", "spent", "steps"),
    [
        (9, [3, 3, 3], 3),
        (18, [6, 6, 6], 5),
        # 18 s, then the third alone until the clock is at 3 s, then it and the first.
        (22, [6 + 0.5, 6, 6 + 3.5], 5 + 2),
        (20, [6, 6, 6 + 2], 5 + 1),
    ],
)
def test_a_budget_stops_the_clock_of_a_race(budget, spent, steps):
    ledger = ledger_of([[3, 4, 2], [5, 1, 1], [9, 9, 9]], budget=budget)
    race(ledger, [0, 1, 2], [0, 1])
    if not ledger.is_spent:
        race(ledger, [0, 1, 2], [2, 0])
    assert ledger.is_spent
    assert ledger.charged == budget
    assert ledger.spent.tolist() == pytest.approx(spent)
    assert ledger.steps == steps


def test_unsolved_runs_cost_and_count_the_cutoff():
    ledger = ledger_of([[900, 900], [100, 1]])
    assert race(ledger, [0], [0, 1]) == ([0], [100.0])
    assert ledger.charged == 200


def test_members_of_a_tournament_that_are_the_same_row_are_run_once():
    ledger = ledger_of([[3, 4], [5, 1], [9, 9]])
    rules = PUBLISHED._replace(tournament=4, winners=0.25)
    found = compete(ledger, rules, np.array([2, 0, 0, 2, 1, 1, 1, 1]), np.array([0, 1]))
    assert found == [(3.0, 1), (3.5, 0)]
    assert ledger.spent.tolist() == [7, 6, 7]


@pytest.mark.parametrize(
    ("share", "size", "winners"),
    [(0.125, 8, 1), (0.125, 9, 2), (0.28, 25, 7), (0, 8, 1), (1, 8, 8)],
)
def test_the_share_of_winners_is_rounded_up(share, size, winners):
    ledger = ledger_of(np.arange(1.0, size + 1)[:, None])
    rules = PUBLISHED._replace(tournament=size, winners=share)
    found = compete(ledger, rules, np.arange(size), np.array([0]))
    assert [row for _, row in found] == list(range(winners))


def test_what_is_left_over_makes_a_smaller_tournament():
    ledger = ledger_of(np.arange(1.0, 12)[:, None])
    found = compete(ledger, PUBLISHED, np.arange(11), np.array([0]))
    assert [row for _, row in found] == [0, 8]


def test_a_generation_that_the_budget_ends_has_no_winners():
    ledger = ledger_of(np.arange(1.0, 12)[:, None], budget=8 + 1)
    assert compete(ledger, PUBLISHED, np.arange(11), np.array([0])) == []


def test_the_first_population_has_the_default_in_the_half_that_competes():
    competing, other = first_halves(PUBLISHED, 1000, np.random.default_rng(1))
    assert (competing.rows.size, other.rows.size) == (64, 64)
    assert competing.rows[0] == 0
    assert np.bincount(np.append(competing.ages, other.ages)).tolist() == [43, 43, 42]


def test_everybody_lives_through_three_generations_and_is_replaced():
    space = read_parameters(grid_problem(0).table)
    breeding = Breeding(space, PUBLISHED, np.random.default_rng(2))
    halves = first_halves(PUBLISHED, 36, breeding.random)
    for _ in range(5):
        before = [half.ages.copy() for half in halves]
        rows = [half.rows.copy() for half in halves]
        replace_old(breeding, halves, [4, 5])
        for half, ages, old in zip(halves, before, rows, strict=True):
            assert half.ages.tolist() == np.where(ages == 2, 0, ages + 1).tolist()
            assert half.rows[ages < 2].tolist() == old[ages < 2].tolist()


def test_children_of_equal_parents_without_mutations_are_their_parents():
    space = read_parameters(grid_problem(0).table)
    rules = PUBLISHED._replace(mutation=0.0, age=1)
    breeding = Breeding(space, rules, np.random.default_rng(3))
    halves = (Half(np.arange(8), np.zeros(8, int)), Half(np.full(8, 7), np.zeros(8, int)))
    replace_old(breeding, halves, [7])
    assert halves[0].rows.tolist() == halves[1].rows.tolist() == [7] * 8


def test_children_take_the_values_of_their_parents_in_stretches():
    count = 4000
    breeding = breeding_of([3] * count, [True] * count)
    first, second = np.zeros(count, int), np.full(count, 2)
    first[::2] = second[::2] = 1  # where parents agree nothing is decided
    child = breeding.mix(first, second)
    assert (child[::2] == 1).all()
    assert set(child[1::2].tolist()) == {0, 2}
    switched = int(np.count_nonzero(np.diff(child[1::2])))
    tries = count // 2 - 1
    assert switched <= most_events(tries, 0.1)
    assert tries - switched <= most_events(tries, 0.9)


def test_children_are_begun_by_either_parent():
    first, second = np.zeros(3, int), np.ones(3, int)
    always = breeding_of([2] * 3, [True] * 3, switch=1.0)
    assert {tuple(always.mix(first, second)) for _ in range(60)} == {(0, 1, 0), (1, 0, 1)}
    never = breeding_of([2] * 3, [True] * 3, switch=0.0)
    begun = [tuple(never.mix(first, second)) for _ in range(400)]
    assert set(begun) == {(0, 0, 0), (1, 1, 1)}
    assert max(begun.count((0, 0, 0)), begun.count((1, 1, 1))) <= most_events(400, 0.5)
    assert never.mix(first, first).tolist() == [0, 0, 0]


def test_one_value_in_ten_is_mutated():
    count = 5000
    breeding = breeding_of([1000] * count, [False] * count)
    changed = int(np.count_nonzero(breeding.mutate(np.zeros(count, int))))
    assert changed <= most_events(count, 0.1)
    assert count - changed <= most_events(count, 1 - 0.1 * 0.999)


def test_numbers_move_by_a_step_whose_variance_is_a_tenth_of_the_range_squared():
    count = 4000
    breeding = breeding_of([2001] * count, [True] * count, mutation=1.0)
    steps = np.abs(breeding.mutate(np.full(count, 1000)) - 1000) / 2000
    # Within a third and two thirds of the deviation sqrt(0.1).
    for share in (1 / 3, 2 / 3):
        within = int(np.count_nonzero(steps <= share * math.sqrt(0.1)))
        expected = math.erf(share / math.sqrt(2))
        assert within <= most_events(count, expected + 0.002)  # half a place, rounded
        assert count - within <= most_events(count, 1 - expected + 0.002)
    assert steps.max() == 0.5  # clipped at the ends


def test_texts_are_drawn_anew():
    count = 3000
    breeding = breeding_of([3] * count, [False] * count, mutation=1.0)
    for value in np.bincount(breeding.mutate(np.zeros(count, int))).tolist():
        assert value <= most_events(count, 1 / 3)


def test_a_child_that_is_no_row_becomes_the_nearest():
    names = ["a=0 b=0 c=0", "a=1 b=1 c=1", "a=1 b=1 c=0"]
    space = read_parameters(make_table(np.ones((3, 1)), names))
    breeding = Breeding(
        space, PUBLISHED._replace(switch=1.0, mutation=0.0), np.random.default_rng(4)
    )
    # Either 0 1 0, which is nearest to the first and the third, or 1 0 1, nearest to the second.
    assert {breeding.child(0, 1) for _ in range(100)} == {0, 1, 2}


def test_it_finds_the_best_rows_more_often_than_children_by_chance_would():
    # 16 rows compete at a time. If all were drawn at random, one of the best 8 of 288 would be
    # among them with probability 0.36.
    searches, found = 50, 0
    for seed in range(searches):
        problem = grid_problem(seed, sizes=(4, 4, 3, 3, 2))
        outcome = GGA.solve(problem, population=32, generations=25, last_instances=20)
        means = problem.table.mean_runtimes
        found += int(np.count_nonzero(means < means[outcome.incumbent]) < 8)
    assert found > most_events(searches, 1 - (1 - 8 / 288) ** 16)


def test_it_ends_after_the_last_generation():
    outcome = GGA.solve(grid_problem(2), **SMALL | SHORT)
    assert outcome.stop == "all 12 generations are over"
    assert (outcome.facts["generations"], outcome.facts["instances"]) == (12, 20)


def test_it_costs_less_than_running_everybody_to_the_end():
    problem = grid_problem(5)
    outcome = GGA.solve(problem, **SMALL | SHORT)
    rules = GeneticRules(**{**GGA.defaults, **SMALL, **SHORT})
    runs = 8 * sum(instances_in(rules, generation) for generation in range(12))
    assert outcome.steps < runs / 2
    assert outcome.charged < problem.table.runtimes.sum()


def test_the_same_seed_gives_the_same_search_and_the_seconds_add_up():
    problem = grid_problem(3, noise=1.0)
    first, again = (GGA.solve(problem, **SMALL | SHORT) for _ in range(2))
    assert first.trajectory == again.trajectory
    assert (first.charged, first.steps, first.facts) == (again.charged, again.steps, again.facts)
    assert first.spent.tolist() == again.spent.tolist()
    assert first.spent.sum() == pytest.approx(first.charged)
    times, answers = zip(*first.trajectory, strict=True)
    assert list(times) == sorted(times)
    assert times[0] > 0
    assert all(one != other for one, other in itertools.pairwise(answers))
    other = GGA.solve(Problem(problem.table, 0.1, 50.0, seed=4), **SMALL | SHORT)
    assert other.charged != first.charged


@pytest.mark.parametrize("budget", [1e-9, 1.0, 50.0, 200.0, 400.0])
def test_a_budget_ends_the_same_search_earlier(budget):
    problem = grid_problem(3, noise=1.0)
    whole = GGA.solve(problem, **SMALL | SHORT)
    assert whole.charged > budget
    short = GGA.solve(Problem(problem.table, 0.1, 50.0, budget, seed=3), **SMALL | SHORT)
    assert short.stop == "the budget is spent"
    assert short.charged == budget
    assert short.spent.sum() == pytest.approx(budget)
    assert short.trajectory == tuple(entry for entry in whole.trajectory if entry[0] < budget)
    assert bool(short.facts) == bool(short.trajectory)


def test_the_published_settings_run_through():
    outcome = GGA.solve(grid_problem(1, columns=100))
    assert outcome.stop == "all 100 generations are over"
    assert outcome.facts["instances"] == 100


def test_more_instances_than_there_are_are_refused_with_settings_that_fit():
    with pytest.raises(TooFewInstances, match=r"GGA needs 100 .*; give last_instances = 60, or"):
        GGA.solve(grid_problem(0))
    assert GGA.solve(grid_problem(0), last_instances=60, **SMALL).facts["instances"] > 5
    fits = "first_instances = 3 and last_instances = 3"
    with pytest.raises(TooFewInstances, match=f"GGA needs 100 .*; give {fits}, or"):
        GGA.solve(grid_problem(0, columns=3))
    few = {"first_instances": 3, "last_instances": 3, **SMALL}
    assert GGA.solve(grid_problem(0, columns=3), **few).facts["instances"] == 3
    assert GGA.solve(grid_problem(0, columns=3, resample=True), **SMALL).facts["instances"] > 5


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("population", 1),
        ("generations", 0),
        ("tournament", 0.5),
        ("winners", 1.5),
        ("age", 0),
        ("first_instances", 0),
        ("last_instances", 4),
        ("full_generation", -1),
        ("switch", -0.1),
        ("mutation", math.nan),
        ("variance", "wide"),
    ],
)
def test_settings_out_of_range_are_refused(name, value):
    with pytest.raises(InvalidSetting, match=f"^{name} is "):
        GGA.solve(grid_problem(0, columns=100), **{name: value})


def test_a_table_has_to_tell_its_parameters():
    with pytest.raises(InvalidTable, match="'c0' is not a parameter and its value"):
        GGA.solve(Problem(make_table(np.ones((2, 100))), 1.0, 100.0))


def test_it_is_what_was_published():
    assert (PUBLISHED.population, PUBLISHED.generations, PUBLISHED.tournament) == (128, 100, 8)
    assert (PUBLISHED.winners, PUBLISHED.age, PUBLISHED.full_generation) == (0.125, 3, 75)
    assert (PUBLISHED.switch, PUBLISHED.mutation, PUBLISHED.variance) == (0.1, 0.1, 0.1)
    assert (GGA.charges, GGA.anytime, GGA.needs_parameters) == ("restart", True, True)
