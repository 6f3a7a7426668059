"""FocusedILS: comparisons by hand, a version without caps beside it, and whole searches."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from cunctator.base.errors import InvalidSetting, InvalidTable
from cunctator.recorded.table import make_table
from cunctator.siblings import focused_ils
from cunctator.siblings.focused_ils import FOCUSED_ILS, compare, new_runs
from cunctator.siblings.problem import Problem

NO_SLACK = 1e9
"""So large a multiple of the incumbent's total that nothing is capped by it."""


def problem_of(in_order, names=None, first_cap=1.0, cutoff=100.0, **more):
    """Rows are given in the order of the stream."""
    in_order = np.asarray(in_order, dtype=float)
    blank = Problem(make_table(in_order), first_cap, cutoff, **more)
    runtimes = np.empty_like(in_order)
    runtimes[:, blank.stream] = in_order
    return Problem(make_table(runtimes, names), first_cap, cutoff, **more)


def grid_problem(seed, sizes=(3, 2, 2), columns=30, noise=0.3, **more):
    """Each parameter has an effect of its own, so the best row is the only local optimum."""
    random = np.random.default_rng([seed, 77])
    rows = list(itertools.product(*map(range, sizes)))
    effects = [random.permutation(size) * random.uniform(0.3, 0.6) for size in sizes]
    means = np.exp([sum(e[v] for e, v in zip(effects, row, strict=True)) for row in rows])
    runtimes = means[:, None] * np.exp(noise * random.standard_normal((len(rows), columns)))
    names = [" ".join(f"p{k}={v}" for k, v in enumerate(row)) for row in rows]
    return Problem(make_table(np.clip(runtimes, 0.05, 50.0), names), 0.1, 50.0, seed=seed, **more)


def test_capped_runs_are_begun_again_under_longer_caps():
    runs = new_runs(problem_of([[4, 6, 20] + [9] * 7, [10, 3, 2] + [1] * 7]), 10, 2.0)
    # Equally many runs: the rival takes 4 s on the first instance, the challenger is stopped there.
    assert not compare(runs, 1, 0)
    assert (runs.charged[0], runs.steps[0], runs.bonus[0]) == (4 + 4, 2, 2)
    assert (runs.wanted[1], runs.finished[1], runs.tried[1]) == (1, 0, 4)
    # Now the rival has 4 + 6 s. The challenger finishes its first instance in just these 10 s, and
    # is stopped on the second one after the shortest cap of all, 1 s.
    assert not compare(runs, 1, 0)
    assert runs.charged[0] == 8 + 6 + 10 + 1
    assert (runs.steps[0], runs.bonus[0]) == (5, 4)
    assert (runs.wanted[1], runs.finished[1], runs.tried[1]) == (2, 1, 1)
    # 4 + 6 + 20 s against 10 + 3 + 2 s: it wins, and gets 6 bonus runs of 1 s.
    assert compare(runs, 1, 0)
    assert runs.charged[0] == 25 + 20 + 3 + 2 + 6
    assert (runs.steps[0], runs.bonus[0]) == (5 + 3 + 6, 0)
    assert runs.wanted.tolist() == runs.finished.tolist() == [3, 9]
    assert runs.incumbent[0] == 1
    assert runs.spent.tolist() == [4 + 6 + 20, 4 + 10 + 1 + 3 + 2 + 6]


def test_whoever_has_fewer_runs_gets_them_until_it_is_dominated():
    runs = new_runs(problem_of([[2] * 9, [3] * 9, [1, 1, 5] + [9] * 6]), 9, 2.0)
    assert compare(runs, 0, 1)  # 2 s against 3 s, then 2 bonus runs of 2 s
    assert (runs.charged[0], runs.wanted[0]) == (2 + 3 + 2 * 2, 3)
    # 1 < 2 and 1 + 1 < 2 + 2, but the third run is stopped when 6 - 2 s are over.
    assert not compare(runs, 2, 0)
    assert (runs.charged[0], runs.bonus[0]) == (9 + 1 + 1 + 4, 1)
    assert runs.wanted.tolist() == [3, 1, 3]
    assert runs.finished.tolist() == [3, 1, 2]


def test_a_challenger_with_more_runs_wins_if_the_other_is_not_better_on_its_own():
    runs = new_runs(problem_of([[2] * 9, [3] * 9, [2, 9] + [1] * 7]), 9, 2.0)
    assert compare(runs, 0, 1)
    # After one run each the means are equal: whoever has more runs dominates.
    assert compare(runs, 0, 2)
    assert (runs.wanted[2], runs.finished[2]) == (1, 1)
    assert runs.wanted[0] == 3 + 1


def test_of_two_that_take_more_than_twice_the_incumbent_the_one_that_gets_further_wins():
    runs = new_runs(problem_of([[1] * 9, [10] * 9, [1.5] + [10] * 8]), 9, 2.0)
    # The incumbent takes 1 s, the rival is stopped after 2 s, the challenger takes 1.5 s and wins.
    # Its 2 bonus runs: the incumbent takes 2 s more, the challenger is stopped after 6 - 1.5 s.
    assert compare(runs, 2, 1)
    assert runs.charged[0] == 1 + 2 + 1.5 + 2 + 4.5
    assert runs.finished.tolist() == [3, 0, 1]
    # On two instances 4 s are allowed: one is known to take longer than that on its second, so
    # it is not run; the other one is, and does not finish its first.
    assert not compare(runs, 1, 2)
    assert runs.charged[0] == 11 + 4
    assert runs.tried.tolist() == [0, 4, 4.5]
    assert runs.incumbent[0] == 0


def test_a_challenger_that_gets_further_wins_although_both_are_stopped():
    runs = new_runs(problem_of([[1] * 9, [10] * 9, [1.5] + [10] * 8]), 9, 2.0)
    assert not compare(runs, 1, 0)
    assert not compare(runs, 2, 0)
    assert runs.charged[0] == 1 + 1 + 1
    assert runs.wanted.tolist() == [1, 1, 1]
    # The incumbent takes 1 s more, so that 4 s are allowed: the rival does not finish its first
    # instance in that time, the challenger does in 1.5 s and is stopped after 2.5 s of the second.
    # Then 5 bonus runs: of 14 s, 10 and 2.5 s are needed to see that these are not enough.
    assert compare(runs, 2, 1)
    assert runs.charged[0] == 3 + 1 + 4 + 1.5 + 2.5 + 5 + 10 + 2.5
    assert runs.wanted.tolist() == [7, 2, 7]
    assert runs.finished.tolist() == [7, 0, 2]
    assert runs.incumbent[0] == 0


def test_a_challenger_that_is_just_as_good_is_no_improvement():
    runs = new_runs(problem_of(np.full((2, 6), 3.0)), 6, 2.0)
    for _ in range(10):
        assert not compare(runs, 1, 0)
    assert runs.wanted.tolist() == runs.finished.tolist() == [6, 6]
    assert runs.charged[0] == 2 * 6 * 3


def test_unsolved_runs_count_and_cost_the_cutoff():
    runs = new_runs(problem_of([[900] * 3, [901] * 3], cutoff=50.0), 3, 2.0)
    assert not compare(runs, 1, 0)
    assert runs.finished.tolist() == [1, 1]
    assert runs.totals[:, 1].tolist() == [50, 50]
    assert runs.charged[0] == 100


class Uncapped:
    """FocusedILS's comparisons as they are without capping: every run is run to its end."""

    def __init__(self, in_order):
        self.table = in_order
        self.counts = [0] * len(in_order)
        self.incumbent, self.bonus = 0, 0

    def total(self, index, count):
        self.counts[index] = max(self.counts[index], count)
        best = self.incumbent
        self.counts[best] = max(self.counts[best], count)
        most = self.counts[best]
        if self.counts[index] == most and self.sum(index, most) < self.sum(best, most):
            self.incumbent = index
        return self.sum(index, count)

    def sum(self, index, count):
        return sum(self.table[index][:count].tolist())  # from left to right

    def dominates(self, one, other):
        count = self.counts[other]
        return self.counts[one] >= count and self.sum(one, count) <= self.sum(other, count)

    def compare(self, challenger, rival):
        length = self.table.shape[1]
        self.bonus += 2 if self.counts[challenger] == self.counts[rival] else 1
        few, many = challenger, rival
        if self.counts[challenger] > self.counts[rival]:
            few, many = rival, challenger
        while True:
            count = min(self.counts[few] + 1, length)
            self.total(many, count)
            self.total(few, count)
            if self.dominates(challenger, rival) or self.dominates(rival, challenger):
                break
        is_tie = self.dominates(challenger, rival) and self.dominates(rival, challenger)
        if not self.dominates(challenger, rival) or is_tie:
            return False
        self.total(challenger, min(self.counts[challenger] + self.bonus, length))
        self.bonus = 0
        return True


def test_caps_by_the_rivals_total_change_nothing_but_the_cost():
    for seed in range(200):
        random = np.random.default_rng([seed, 88])
        means = np.exp(random.standard_normal(5))
        in_order = np.clip(means[:, None] * random.lognormal(0, 1, (5, 25)), 0.01, 20.0)
        if seed % 2:
            in_order = np.ceil(in_order)  # with many ties
        problem = problem_of(in_order, first_cap=0.1, cutoff=20.0)
        runs, plain = new_runs(problem, 25, NO_SLACK), Uncapped(in_order)
        for _ in range(40):
            pair = random.permutation(5)[:2].tolist()
            assert compare(runs, *pair) == plain.compare(*pair)
            assert runs.wanted.tolist() == plain.counts
            assert (runs.incumbent[0], runs.bonus[0]) == (plain.incumbent, plain.bonus)


@pytest.mark.parametrize("slack", [1.0, 2.0, NO_SLACK])
def test_what_is_known_is_right_after_every_comparison(slack):
    random = np.random.default_rng(9)
    in_order = np.clip(random.lognormal(0, 1.5, (8, 30)), 0.01, 20.0)
    runs = new_runs(problem_of(in_order, first_cap=0.1, cutoff=20.0), 30, slack)
    sums = np.concatenate([np.zeros((8, 1)), np.cumsum(in_order, axis=1)], axis=1)
    for _ in range(400):
        compare(runs, *random.permutation(8)[:2].tolist())
        most = runs.finished[runs.incumbent[0]]
        assert (runs.finished <= runs.wanted).all()
        assert most == runs.wanted.max()
        level = np.flatnonzero(runs.finished == most)
        assert (
            runs.incumbent[0] in level[runs.totals[level, most] == runs.totals[level, most].min()]
        )
        for row, count in enumerate(runs.finished):
            assert runs.totals[row, : count + 1] == pytest.approx(sums[row, : count + 1])
            if count < 30:
                assert runs.tried[row] < in_order[row, count]
        assert runs.spent.sum() == pytest.approx(runs.charged[0])
        assert runs.charged[0] >= sums[np.arange(8), runs.finished].sum() - 1e-9
    assert runs.wanted.min() == 30


def test_it_finds_the_best_row_where_that_is_the_only_local_optimum():
    for seed in range(30):
        problem = grid_problem(seed)
        outcome = FOCUSED_ILS.solve(problem, patience=100)
        best = int(problem.table.runtimes.mean(axis=1).argmin())
        assert outcome.incumbent == best
        assert outcome.stop == "nothing has changed for 100 iterations"
        assert outcome.facts["instances"] == 30
        assert outcome.facts["mean"] == pytest.approx(problem.table.runtimes[best].mean())


def test_it_ends_when_nothing_has_changed_for_as_long_as_it_is_told_to_wait(monkeypatch):
    seen, progress = [], focused_ils._Search.progress

    def noted(local):
        seen.append(progress(local))
        return seen[-1]

    monkeypatch.setattr(focused_ils._Search, "progress", noted)
    FOCUSED_ILS.solve(grid_problem(3, sizes=(3, 3, 3), columns=300, noise=1.0), patience=20)
    # Before and after each iteration, and at the end.
    iterations = list(zip(seen[:-1:2], seen[1::2], strict=True))
    changed = [before != after for before, after in iterations]
    assert changed[-21:] == [True] + [False] * 20
    assert sum(changed) > 5


def test_a_bad_first_run_is_not_held_against_the_best_row_forever():
    runtimes = np.full((4, 40), 8.0)
    runtimes[3], runtimes[3, 0] = 1.0, 50.0
    names = ["a=0 b=0", "a=0 b=1", "a=1 b=0", "a=1 b=1"]
    assert FOCUSED_ILS.solve(problem_of(runtimes, names), patience=100).incumbent == 3


def test_rows_that_are_all_the_same_end_the_search_with_the_default():
    problem = problem_of(np.full((4, 20), 3.0), ["a=0 b=0", "a=0 b=1", "a=1 b=0", "a=1 b=1"])
    outcome = FOCUSED_ILS.solve(problem, patience=50)
    assert outcome.trajectory == ((0.0, 0),)
    assert outcome.stop == "nothing has changed for 50 iterations"


def test_rows_without_neighbours_are_reached_by_chance_only():
    names = ["a=0 b=0", "a=1 b=1", "a=1 b=2"]
    problem = problem_of([[8] * 20, [4] * 20, [2] * 20], names)
    alone = FOCUSED_ILS.solve(problem, starts=0, restart=0.0, patience=50)
    assert (alone.incumbent, alone.charged, alone.facts) == (0, 0.0, {})
    assert FOCUSED_ILS.solve(problem, starts=0, restart=0.5, patience=50).incumbent == 2


def test_no_configuration_has_more_runs_than_it_may_or_the_stream_is_long():
    problem = grid_problem(1)
    assert FOCUSED_ILS.solve(problem, most_runs=7, patience=50).facts["instances"] == 7
    assert FOCUSED_ILS.solve(problem, most_runs=500, patience=50).facts["instances"] == 30


def test_the_same_seed_gives_the_same_search_and_the_seconds_add_up():
    problem = grid_problem(3, sizes=(3, 3, 3), columns=50, noise=1.0)
    first, again = (FOCUSED_ILS.solve(problem, patience=30) for _ in range(2))
    assert first.trajectory == again.trajectory
    assert (first.charged, first.steps) == (again.charged, again.steps)
    assert first.spent.tolist() == again.spent.tolist()
    assert first.spent.sum() == pytest.approx(first.charged)
    times, answers = zip(*first.trajectory, strict=True)
    assert list(times) == sorted(times)
    assert (times[0], answers[0]) == (0.0, 0)
    assert all(one != other for one, other in itertools.pairwise(answers))
    other = FOCUSED_ILS.solve(Problem(problem.table, 0.1, 50.0, seed=4), patience=30)
    assert other.charged != first.charged


@pytest.mark.parametrize("budget", [1e-9, 0.5, 7.0, 60.0, 300.0])
def test_a_budget_ends_the_same_search_earlier(budget):
    problem = grid_problem(3, sizes=(3, 3, 3), columns=50, noise=1.0)
    whole = FOCUSED_ILS.solve(problem, patience=30)
    assert whole.charged > budget
    short = FOCUSED_ILS.solve(Problem(problem.table, 0.1, 50.0, budget, seed=3), patience=30)
    assert short.stop == "the budget is spent"
    assert short.charged == budget
    assert short.spent.sum() == pytest.approx(budget)
    assert short.steps < whole.steps
    before = [entry for entry in whole.trajectory if entry[0] < budget]
    assert list(short.trajectory[: len(before)]) == before
    assert len(short.trajectory) <= len(before) + 1  # a comparison may be cut in two


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("starts", -1),
        ("steps", 0),
        ("steps", 1.5),
        ("restart", 1.01),
        ("restart", math.nan),
        ("slack", 0.9),
        ("most_runs", 0),
        ("most_runs", 100_001),
        ("patience", "long"),
    ],
)
def test_settings_out_of_range_are_refused(name, value):
    with pytest.raises(InvalidSetting, match=f"^{name} is "):
        FOCUSED_ILS.solve(grid_problem(0), **{name: value})


def test_a_table_has_to_tell_its_parameters():
    with pytest.raises(InvalidTable, match="'c0' is not a parameter and its value"):
        FOCUSED_ILS.solve(problem_of(np.ones((2, 3))))


def test_it_is_what_was_published():
    assert FOCUSED_ILS.defaults["starts"] == 10
    assert FOCUSED_ILS.defaults["steps"] == 3
    assert FOCUSED_ILS.defaults["restart"] == 0.01
    assert FOCUSED_ILS.defaults["slack"] == 2
    assert (FOCUSED_ILS.charges, FOCUSED_ILS.anytime) == ("restart", True)
    assert FOCUSED_ILS.needs_parameters
