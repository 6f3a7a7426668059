"""Structured Procrastination: small cases by hand, a plain version beside it, its guarantee."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
import pytest

from cunctator.base.errors import InvalidSetting
from cunctator.recorded.table import make_table
from cunctator.siblings.problem import Problem, TooFewInstances
from cunctator.siblings.structured_procrastination import (
    STRUCTURED_PROCRASTINATION,
    doublings,
    queue_size,
    runs_needed,
)
from tests.margins import most_events
from tests.siblings.optimality import is_optimal, random_runtimes


def problem_of(runtimes, first_cap=1.0, cutoff=4.0, **more):
    return Problem(make_table(runtimes, cutoff=cutoff), first_cap, cutoff, **more)


def solve(problem, **settings):
    return STRUCTURED_PROCRASTINATION.solve(problem, **settings)


def plain(problem, epsilon, delta, zeta):
    """The procedure as it is written down, with queues of (position, cap) pairs."""
    n, runtimes, stream = problem.configurations, problem.runtimes, problem.stream
    scale = 3 * max(1, math.log2(problem.cutoff / problem.first_cap)) * n / zeta
    first = math.ceil(12 / epsilon**2 * math.log(scale))
    queues = [deque([(None, problem.first_cap)] * first) for _ in range(n)]
    sums = [{} for _ in range(n)]
    charged, steps, trajectory = 0.0, 0, []
    while True:
        i = min(range(n), key=lambda k: sum(sums[k].values()) / len(sums[k]) if sums[k] else 0.0)
        position, cap = queues[i].popleft()
        if position is None:  # which of those not begun comes first does not matter
            position = len(sums[i])
        runtime = runtimes[i, stream[position]]
        charged += min(runtime, cap)
        steps += 1
        sums[i][position] = max(min(runtime, cap), problem.first_cap)
        if runtime > cap:
            queues[i].append((position, min(2 * cap, problem.cutoff)))
        wanted = math.ceil(12 / epsilon**2 * math.log(scale * len(sums[i]) ** 2))
        while len(queues[i]) < wanted:
            queues[i].appendleft((None, cap))
        totals = [sum(one.values()) for one in sums]
        best = max(range(n), key=totals.__getitem__)
        if trajectory and totals[trajectory[-1][1]] == totals[best]:
            best = trajectory[-1][1]
        if not trajectory or trajectory[-1][1] != best:
            trajectory.append((charged, best))
        wanted = math.ceil(12 / epsilon**2 * math.log(scale * len(sums[best]) ** 2))
        if math.sqrt(1 + epsilon) * wanted <= delta * len(sums[best]):
            return trajectory, charged, steps


def test_numbers_of_the_theory():
    # 12 / 0.25 * ln(3 * 2 * 10 / 0.1) = 48 * 6.3969 = 307.05
    assert queue_size(0.5, 3 * 2 * 10 / 0.1, 1) == 308
    # ... and with K = 100: 48 * (6.3969 + 2 * 4.6052) = 749.1
    assert queue_size(0.5, 3 * 2 * 10 / 0.1, 100) == 750
    assert doublings(1.0, 4.0) == 2 and doublings(1.0, 1.0) == 1
    needed = runs_needed(0.5, 0.5, 600.0)
    assert math.sqrt(1.5) * queue_size(0.5, 600.0, needed) <= 0.5 * needed
    assert math.sqrt(1.5) * queue_size(0.5, 600.0, 0.99 * needed) > 0.5 * 0.99 * needed


def test_constant_runtimes_by_hand():
    """Both look the same at the first cap; ties go to the first, who has all other runs."""
    runtimes = np.array([[1.0] * 1000, [3.0] * 1000])
    outcome = solve(problem_of(runtimes), epsilon=0.99, delta=0.99, zeta=0.9)
    started = next(
        k
        for k in range(1, 1000)
        if math.sqrt(1.99) * math.ceil(12 / 0.99**2 * math.log(3 * 2 * 2 / 0.9 * k * k)) <= 0.99 * k
    )
    assert outcome.trajectory == ((1.0, 0),) and outcome.stop == "delta has been reached"
    assert outcome.steps == started + 1 and outcome.charged == started + 1
    assert outcome.spent.tolist() == [started, 1.0]
    assert outcome.facts["runs_of_answer"] == started
    assert "epsilon = 0.99" in outcome.claim and "at least 0.1," in outcome.claim


@pytest.mark.parametrize("seed", range(8))
def test_it_does_what_is_written_down(seed):
    problem = problem_of(random_runtimes(seed, 4, 3000), 0.1, 8.0, seed=seed)
    outcome = solve(problem, epsilon=0.8, delta=0.7, zeta=0.3)
    trajectory, charged, steps = plain(problem, 0.8, 0.7, 0.3)
    assert (outcome.steps, outcome.charged) == (steps, pytest.approx(charged))
    assert [index for _, index in outcome.trajectory] == [index for _, index in trajectory]
    times = [at for at, _ in outcome.trajectory]
    assert times == pytest.approx([at for at, _ in trajectory])
    assert outcome.spent.sum() == pytest.approx(outcome.charged)


def test_its_guarantee_holds():
    epsilon, delta, zeta, tables = 0.4, 0.3, 0.1, 200
    wrong = 0
    for seed in range(tables):
        runtimes = random_runtimes(seed)
        problem = problem_of(runtimes, 0.05, 50.0, seed=seed, resample=True)
        outcome = solve(problem, epsilon=epsilon, delta=delta, zeta=zeta)
        wrong += not is_optimal(
            problem.runtimes, outcome.incumbent, epsilon, outcome.facts["delta"]
        )
    assert wrong <= most_events(tables, zeta)


def test_the_budget_ends_it_and_the_answer_stays():
    problem = problem_of(random_runtimes(1, 4, 3000), 0.1, 8.0, budget=20.0)
    outcome = solve(problem, epsilon=0.8, delta=0.7, zeta=0.3)
    assert outcome.stop == "the budget is spent" and outcome.incumbent is not None
    assert 20.0 <= outcome.charged < 28.0 and outcome.claim == ""


def test_too_few_instances():
    problem = problem_of(np.ones((3, 2000)))
    with pytest.raises(TooFewInstances, match="the table has 2,000; give epsilon = ") as caught:
        solve(problem, epsilon=0.2, delta=0.1)
    assert caught.value.needed > 50_000
    words = caught.value.fits.split()
    epsilon, delta = float(words[2]), float(words[6])
    assert solve(problem, epsilon=epsilon, delta=delta).claim
    with pytest.raises(TooFewInstances):
        solve(problem, epsilon=epsilon - 0.01, delta=delta - 0.01)
    with pytest.raises(TooFewInstances, match="30; draw them with replacement"):
        solve(problem_of(np.ones((3, 30))), epsilon=0.2, delta=0.1)


@pytest.mark.parametrize(
    "settings", [{"epsilon": 0.0}, {"epsilon": 1.5}, {"delta": math.nan}, {"zeta": -1.0}]
)
def test_settings_out_of_range(settings):
    with pytest.raises(InvalidSetting, match="expected more than 0"):
        solve(problem_of(np.ones((2, 2))), **settings)


def test_a_configuration_that_takes_no_time_can_win():
    runtimes = np.array([[10.0] * 4000, [0.0] * 4000])
    outcome = solve(problem_of(runtimes, 0.1, 20.0), epsilon=0.9, delta=0.5)
    assert outcome.incumbent == 1 and outcome.claim.endswith("0.1 s count as that long.")
    assert outcome.spent[1] == 0.0


def test_of_too_many_changes_the_last_is_recorded(monkeypatch):
    problem = problem_of(random_runtimes(2, 4, 3000), 0.1, 8.0, seed=2)
    settings = {"epsilon": 0.8, "delta": 0.7, "zeta": 0.3}
    whole = solve(problem, **settings)
    assert len(whole.trajectory) > 3  # else nothing is too many
    module = "cunctator.siblings.structured_procrastination"
    monkeypatch.setattr(f"{module}.MOST_CHANGES", 3)
    assert solve(problem, **settings).trajectory == (*whole.trajectory[:2], whole.trajectory[-1])
