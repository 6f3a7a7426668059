"""FocusedILS, the search of ParamILS, on a table whose names tell parameters' values.

Hutter, Hoos, Leyton-Brown and Stützle (2009). An iterated local search: from the best of the
default and some random rows, go to any neighbour that is better, until none is; then take some
random steps, search again from there, and stay if the result is better than where the search was.

Runs are given to those that win. A configuration has N runs, on the stream's first N positions. To
compare two, the one with fewer gets runs (both, if they have equally many) until one dominates: it
has at least as many, and its mean on the other's positions is not larger. A challenger that wins
gets as many more as there were comparisons since the last win (two for those of equal N).

N counts what the search without capping would have run. Of these, a configuration has `finished`
the first ones, and tried the next one up to some cap: with that, it was already known to be worse.
So capping by the rival's total changes no comparison, and no configuration is left behind forever
because its first run was longer than the rival's. Aggressive capping, at twice the incumbent's
total, does change comparisons. The incumbent is never capped and always has the most runs; it is
replaced by whatever has finished as many in less time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cunctator.siblings.compiled import compiled
from cunctator.siblings.method import Method
from cunctator.siblings.problem import SPENT, Found, Problem
from cunctator.siblings.settings import number_within, whole
from cunctator.siblings.table_space import read_neighbours

STREAM_NUMBER = 301
"""Keeps the random numbers of this search apart from others of the same seed."""

DEFAULT_ROW = 0

MOST_STARTS, MOST_STEPS = 1_000_000, 1_000
"""Before the search begins, and in one perturbation: more would only be a long way to anywhere."""

MOST_RUNS = 100_000
"""Of one configuration: all totals are kept."""


class Runs(NamedTuple):
    """All that is known of the configurations, and what it cost."""

    runtimes: NDArray[np.float64]
    columns: NDArray[np.int64]  # of the positions that may be run
    first_cap: float
    cutoff: float
    budget: float
    slack: float
    """The aggressive cap, in totals of the incumbent."""
    wanted: NDArray[np.int64]
    """N of each configuration, runs that were capped or spared included."""
    finished: NDArray[np.int64]
    """How many of the first positions have a known runtime; never more than are wanted."""
    tried: NDArray[np.float64]
    """The longest cap that was not enough for the next position; 0 before it is tried."""
    totals: NDArray[np.float64]
    """totals[i, k]: the runtimes of configuration i on its first k positions, added up."""
    spent: NDArray[np.float64]
    charged: NDArray[np.float64]
    steps: NDArray[np.int64]
    incumbent: NDArray[np.int64]
    bonus: NDArray[np.int64]
    """B: runs that the next challenger to win will get."""


@compiled
def is_spent(runs: Runs) -> bool:
    """Whether there is nothing left of the budget."""
    return bool(runs.charged[0] >= runs.budget)


@compiled
def _run_next(runs: Runs, index: int, room: float) -> bool:
    """Run the next position for `room` seconds; returns whether it was finished.

    Nothing is run if a cap at least as long has failed before, or the budget is spent. A run that
    the budget ends in the middle of tells nothing.
    """
    position = runs.finished[index]
    cap = min(max(room, runs.first_cap), runs.cutoff)
    if room < 0.0 or cap <= runs.tried[index] or is_spent(runs):
        return False
    seconds = runs.runtimes[index, runs.columns[position]]
    left = runs.budget - runs.charged[0]
    runs.steps[0] += 1
    if min(seconds, cap) > left:
        runs.spent[index] += left
        runs.charged[0] = runs.budget
        return False
    runs.spent[index] += min(seconds, cap)
    runs.charged[0] += min(seconds, cap)
    if seconds > cap:
        runs.tried[index] = cap
        return False
    runs.totals[index, position + 1] = runs.totals[index, position] + seconds
    runs.finished[index], runs.tried[index] = position + 1, 0.0
    return True


@compiled
def evaluate(runs: Runs, index: int, count: int, most: float) -> float:
    """The mean over the first `count` positions, unless they take more than `most` in all.

    If they do, or more than the aggressive cap, the result is larger than any mean, and the
    larger the fewer were finished: of two that were both stopped, the one that got further is
    better. Meaningless if the budget is spent meanwhile.
    """
    best, bound = runs.incumbent[0], math.inf
    runs.wanted[index] = max(runs.wanted[index], count)
    if index != best:
        runs.wanted[best] = max(runs.wanted[best], count)
        while runs.finished[best] < count:
            if not _run_next(runs, best, math.inf):
                return 0.0
        bound = min(most, runs.slack * runs.totals[best, count])
    while runs.finished[index] < count:
        room = bound - runs.totals[index, runs.finished[index]]
        if not _run_next(runs, index, room):
            return float(runs.cutoff + count - runs.finished[index])
    known = runs.finished[index]
    is_level = known == runs.finished[best]
    if is_level and runs.totals[index, known] < runs.totals[best, known]:
        runs.incumbent[0] = index
    return float(runs.totals[index, count] / count)


@compiled
def compare(runs: Runs, challenger: int, rival: int) -> bool:
    """Whether the challenger is better than another configuration; see the top of this file.

    If both have equally many runs and equal means, each dominates the other. The challenger is
    then no improvement: otherwise a search among rows that are all the same would never end.
    Meaningless if the budget is spent meanwhile.
    """
    runs.bonus[0] += 1
    few, many = challenger, rival
    if runs.wanted[challenger] > runs.wanted[rival]:
        few, many = rival, challenger
    elif runs.wanted[challenger] == runs.wanted[rival]:
        runs.bonus[0] += 1
    while True:
        count = min(runs.wanted[few] + 1, runs.columns.size)
        cost_of_many = evaluate(runs, many, count, math.inf)
        most = runs.totals[many, count] if runs.finished[many] >= count else math.inf
        cost_of_few = evaluate(runs, few, count, most)
        if is_spent(runs):
            return False
        if runs.wanted[few] == runs.wanted[many]:
            less = cost_of_many - cost_of_few
            has_won = less > 0.0 if few == challenger else less < 0.0
            break
        if cost_of_many <= cost_of_few:
            has_won = many == challenger
            break
    if has_won:
        runs_in_all = min(runs.wanted[challenger] + runs.bonus[0], runs.columns.size)
        evaluate(runs, challenger, runs_in_all, math.inf)
        runs.bonus[0] = 0
    return has_won


def new_runs(problem: Problem, most_runs: int, slack: float) -> Runs:
    """Nothing is known yet; the default is the incumbent."""
    rows, columns = problem.configurations, problem.stream[:most_runs]
    return Runs(
        runtimes=problem.runtimes,
        columns=columns,
        first_cap=float(problem.first_cap),
        cutoff=float(problem.cutoff),
        budget=float(problem.budget),
        slack=float(slack),
        wanted=np.zeros(rows, dtype=np.int64),
        finished=np.zeros(rows, dtype=np.int64),
        tried=np.zeros(rows),
        totals=np.zeros((rows, columns.size + 1)),
        spent=np.zeros(rows),
        charged=np.zeros(1),
        steps=np.zeros(1, dtype=np.int64),
        incumbent=np.array([DEFAULT_ROW]),
        bonus=np.zeros(1, dtype=np.int64),
    )


@dataclass
class _Search:
    """The local search over rows: it draws, and asks for comparisons."""

    runs: Runs
    neighbours: list[NDArray[np.int64]]
    random: np.random.Generator
    trajectory: list[tuple[float, int]]

    def is_better(self, challenger: int, rival: int) -> bool:
        """Compare, and note the incumbent if it is another one now."""
        if challenger == rival or is_spent(self.runs):
            return False
        result = compare(self.runs, challenger, rival)
        incumbent = int(self.runs.incumbent[0])
        if incumbent != self.trajectory[-1][1]:
            self.trajectory.append((float(self.runs.charged[0]), incumbent))
        return result

    def better_of(self, challenger: int, rival: int) -> int:
        return challenger if self.is_better(challenger, rival) else rival

    def any_row(self) -> int:
        return int(self.random.integers(len(self.neighbours)))

    def walk(self, row: int, length: int) -> int:
        """Take random steps to neighbours, if there are any."""
        for _ in range(length):
            if self.neighbours[row].size:
                row = int(self.random.choice(self.neighbours[row]))
        return row

    def improve(self, row: int) -> int:
        """Go on to the first neighbour that is better, until none is."""
        while True:
            around = self.random.permutation(self.neighbours[row]).tolist()
            better = next((other for other in around if self.is_better(other, row)), None)
            if better is None:
                return row
            row = better

    def progress(self) -> tuple[int, int]:
        """What changes whenever something is learnt of the incumbent."""
        incumbent = int(self.runs.incumbent[0])
        return incumbent, int(self.runs.finished[incumbent])


def search(
    problem: Problem,
    starts: float,
    steps: float,
    restart: float,
    slack: float,
    most_runs: float,
    patience: float,
) -> Found:
    """Run FocusedILS until the budget is spent, or nothing has changed for a long time.

    A table has no more to tell at some point, which the published method need not notice: it ends
    when `patience` iterations in a row have left the incumbent and its number of runs as they were.
    """
    length, starting = whole("steps", steps, 1, MOST_STEPS), whole("starts", starts, 0, MOST_STARTS)
    chance = number_within("restart", restart, 0.0, 1.0)
    waiting = whole("patience", patience, 1)
    most = whole("most_runs", most_runs, 1, MOST_RUNS)
    runs = new_runs(problem, most, number_within("slack", slack, 1.0, 1e9))
    random = np.random.default_rng([problem.seed, STREAM_NUMBER])
    local = _Search(runs, read_neighbours(problem.table), random, [(0.0, DEFAULT_ROW)])
    row = DEFAULT_ROW
    for _ in range(starting):
        row = local.better_of(local.any_row(), row)
    row, idle = local.improve(row), 0
    while idle < waiting and not is_spent(runs):
        before = local.progress()
        row = local.better_of(local.improve(local.walk(row, length)), row)
        row = local.any_row() if random.random() < chance else row
        idle = idle + 1 if local.progress() == before else 0
    unchanged = f"nothing has changed for {waiting} iterations"
    return _outcome(local, SPENT if is_spent(runs) else unchanged)


def _outcome(local: _Search, stop: str) -> Found:
    """FocusedILS claims nothing; the facts are what is known of its answer."""
    runs, (incumbent, count) = local.runs, local.progress()
    total = float(runs.totals[incumbent, count])
    return Found(
        trajectory=tuple(local.trajectory),
        charged=float(runs.charged[0]),
        steps=int(runs.steps[0]),
        spent=runs.spent,
        stop=stop,
        facts={"instances": count, "mean": total / count} if count else {},
    )


FOCUSED_ILS = Method(
    name="paramils",
    title="FocusedILS",
    run=search,
    charges="restart",
    guarantee="none",
    stops="when 1000 iterations have not changed the incumbent, nor how often it was run",
    defaults={
        "starts": 10,
        "steps": 3,
        "restart": 0.01,
        "slack": 2.0,
        "most_runs": 2000,
        "patience": 1000,
    },
    anytime=True,
    needs_parameters=True,
)
