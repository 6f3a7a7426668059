"""LeapsAndBounds: small cases by hand, a plain version beside it, its guarantee."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cunctator.base.errors import InvalidSetting
from cunctator.recorded.table import make_table
from cunctator.siblings.bernstein import is_accurate, level_of, log_term, radius
from cunctator.siblings.leaps_and_bounds import LEAPS_AND_BOUNDS, sample_size
from cunctator.siblings.problem import Problem, TooFewInstances
from tests.margins import most_events
from tests.siblings.optimality import is_optimal, random_runtimes

ZETAS = 2.612375 * 10.584448  # zeta(1.5) zeta(1.1)


def problem_of(runtimes, first_cap=7 / 16, cutoff=100.0, **more):
    return Problem(make_table(runtimes, cutoff=cutoff), first_cap, cutoff, **more)


def solve(problem, **settings):
    return LEAPS_AND_BOUNDS.solve(problem, **settings)


def plain_estimate(row, guess, phase, n, epsilon, delta, zeta, first_cap=0.0):
    """RuntimeEst as it is written down, all sums made anew for each run."""
    b = math.ceil(44 * math.log(6 * n * phase * (phase + 1) / zeta) / (delta * epsilon**2))
    tau, spent = 4 * guess / (3 * delta), 0.0
    counted = np.maximum(row, first_cap)
    for j in range(1, b + 1):
        left = b * guess - np.minimum(counted[: j - 1], tau).sum()
        if min(counted[j - 1], tau) >= left:
            return guess, spent + min(row[j - 1], tau, left), j
        spent += min(row[j - 1], tau)
        seen = np.minimum(counted[:j], tau)
        level = next(k for k in range(1, 1000) if math.floor(1.1**k) >= j)
        a = math.floor(1.1**level) / math.floor(1.1 ** (level - 1))
        x = a * math.log(3 * 2.1 * ZETAS * phase**1.5 * level**1.1 * n / zeta)
        c = math.sqrt(2 * seen.var() * x / j) + 3 * tau * x / j
        if (1 + 3 * epsilon / 7) * (seen.mean() - c) > guess and seen.mean() > guess:
            return guess, spent, j
        enough = 32 * math.log(120 * n * phase * (phase + 1) * j * (j + 1) / zeta) / delta
        if j >= enough and c <= epsilon * seen.mean() / (2 + epsilon):
            return seen.mean(), spent, j
    return seen.mean(), spent, b


def plain(problem, epsilon, delta, zeta, multiplier):
    guess, phase, charged, steps = 16 * problem.first_cap / 7, 1, 0.0, 0
    n = problem.configurations
    while True:
        means = []
        for row in problem.runtimes:
            order = row[problem.stream]
            given = (guess, phase, n, epsilon, delta, zeta, problem.first_cap)
            mean, spent, runs = plain_estimate(order, *given)
            means.append(mean)
            charged, steps = charged + spent, steps + runs
        if min(means) < guess:
            return int(np.argmin(means)), min(means), charged, steps
        guess, phase = guess * multiplier, phase + 1


def test_levels_and_radii_by_hand():
    assert [level_of(count, 1) for count in (1, 2, 3, 100)] == [1, 8, 12, 49]
    # floor(1.1^8) = 2 and floor(1.1^7) = 1
    assert log_term(8, 10.0) == pytest.approx(2 * math.log(30))
    assert radius(4.0, 5.0, 100, 2.0) == pytest.approx(math.sqrt(0.16) + 0.3)
    # (mean + C) / (mean - C) is exactly 1.5 for mean 1 and C 0.2
    assert is_accurate(1.0, 0.2, 0.5) and not is_accurate(1.0, 0.201, 0.5)


def test_numbers_of_the_theory():
    # b at eps = delta = 0.2 with n = 972, zeta = 0.1, in the first phase:
    # 44 ln(6 * 972 * 2 / 0.1) / 0.008 = 44 * 11.66685 / 0.008 = 64,167.7
    assert sample_size(0.2, 0.2, 0.1, 972, 1) == 64_168
    # with 120 for 6, as published code has it, 80,645
    term = math.log(120 * 972 * 2 / 0.1)
    assert math.ceil(44 * term / 0.008) == 80_645
    assert len(LEAPS_AND_BOUNDS.grid["epsilon"]) * len(LEAPS_AND_BOUNDS.grid["delta"]) == 153


def test_constant_runtimes_by_hand():
    """The first guess is 1 s, the runtime of the first, which uses up its budget of b."""
    runtimes = np.array([[1.0] * 5000, [10.0] * 5000])
    outcome = solve(problem_of(runtimes), epsilon=0.9, delta=0.5, zeta=0.5, multiplier=1.25)
    b = math.ceil(44 * math.log(6 * 2 * 2 / 0.5) / (0.5 * 0.81))
    # Runs of the second are cut at 4 / 1.5 s; variance 0: it is out as soon as
    # (1 + 2.7 / 7) (8/3 - 8 x / j) > 1. At level 50, 106 to 117 runs:
    for j in range(1, b):
        level = next(k for k in range(1, 1000) if math.floor(1.1**k) >= j)
        a = math.floor(1.1**level) / math.floor(1.1 ** (level - 1))
        x = a * math.log(3 * 2.1 * ZETAS * level**1.1 * 2 / 0.5)
        if (1 + 2.7 / 7) * (8 / 3 - 8 * x / j) > 1:
            break
    first_phase = [b, j * 8 / 3]
    second = [plain_estimate(row, 1.25, 2, 2, 0.9, 0.5, 0.5) for row in runtimes]
    assert second[0][0] == 1.0 and second[1][0] == 1.25
    assert outcome.spent == pytest.approx([first_phase[0] + second[0][1], j * 8 / 3 + second[1][1]])
    assert outcome.steps == b + j + second[0][2] + second[1][2]
    assert outcome.trajectory == ((outcome.charged, 0),)
    assert outcome.facts["mean"] == 1.0 and outcome.facts["cap"] == pytest.approx(4 * 1.25 / 1.5)
    assert "at least 0.5," in outcome.claim and "phase 2" in outcome.stop


@pytest.mark.parametrize("seed", range(4))
def test_it_does_what_is_written_down(seed):
    problem = problem_of(random_runtimes(seed, 3, 1500), 0.1, 50.0, seed=seed)
    settings = {"epsilon": 0.9, "delta": 0.5, "zeta": 0.3, "multiplier": 2.0}
    outcome = solve(problem, **settings)
    answer, mean, charged, steps = plain(problem, **settings)
    assert (outcome.incumbent, outcome.steps) == (answer, steps)
    assert outcome.facts["mean"] == pytest.approx(mean)
    assert outcome.charged == pytest.approx(charged) == pytest.approx(outcome.spent.sum())


def test_its_guarantee_holds():
    epsilon, delta, zeta, tables = 0.3, 0.2, 0.1, 200
    wrong = 0
    for seed in range(tables):
        runtimes = random_runtimes(seed)
        problem = problem_of(runtimes, 0.05, 50.0, seed=seed, resample=True)
        outcome = solve(problem, epsilon=epsilon, delta=delta, zeta=zeta)
        wrong += not is_optimal(problem.runtimes, outcome.incumbent, epsilon, delta)
    assert wrong <= most_events(tables, zeta)


def test_the_budget_leaves_no_answer():
    problem = problem_of(random_runtimes(1, 3, 1500), 0.1, 50.0, budget=20.0)
    outcome = solve(problem, epsilon=0.9, delta=0.5)
    assert (outcome.incumbent, outcome.claim) == (None, "")
    assert outcome.stop == "the budget is spent"
    assert outcome.charged == pytest.approx(20.0) == pytest.approx(outcome.spent.sum())


def test_too_few_instances():
    problem = problem_of(np.ones((3, 2000)))
    with pytest.raises(TooFewInstances, match="the table has 2,000; give epsilon = ") as caught:
        solve(problem, epsilon=0.2, delta=0.1)
    assert caught.value.needed == sample_size(0.2, 0.1, 0.1, 3, 1)
    with pytest.raises(TooFewInstances, match="has 30; draw them with replacement"):
        solve(problem_of(np.ones((3, 30))), epsilon=0.2, delta=0.1)


@pytest.mark.parametrize("settings", [{"epsilon": 1.0}, {"delta": 0.0}, {"multiplier": 1.0}])
def test_settings_out_of_range(settings):
    with pytest.raises(InvalidSetting, match=r"expected (more than|a number from 1.001)"):
        solve(problem_of(np.ones((2, 2))), **settings)
