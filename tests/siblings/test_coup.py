"""COUP: its phases and pools by hand, its ends, and the guarantee for every phase."""

from __future__ import annotations

import dataclasses
import math
from itertools import pairwise

import numpy as np
import pytest

from cunctator.base.errors import InvalidSetting
from cunctator.recorded.table import make_table
from cunctator.siblings.coup import (
    COUP,
    draws_of,
    first_draws,
    last_phase,
    log_term_of,
    target_gap,
    top_share,
)
from cunctator.siblings.problem import Problem
from cunctator.siblings.utilitarian import BASEL
from tests.margins import most_events


def problem_of(runtimes, first_cap, cutoff, **others):
    return Problem(make_table(runtimes, cutoff=cutoff), first_cap, cutoff, **others)


def random_problem(seed, n=30, columns=12, **others):
    """Good configurations are rare; instances are drawn with replacement, from 16,384 draws."""
    random = np.random.default_rng([seed, 87])
    is_slow = random.random((n, columns)) < random.beta(1.0, 0.15, (n, 1))
    runtimes = np.where(is_slow, random.uniform(3.0, 20.0, (n, columns)), 0.1)
    problem = problem_of(runtimes, 0.05, 16.0, seed=seed, resample=True, **others)
    problem.__dict__["stream"] = random.integers(columns, size=1 << 14)
    return problem


def test_phases_by_hand():
    assert top_share(3) == pytest.approx(0.367879, abs=1e-6)  # e^-1
    assert target_gap(6, 0.1) == pytest.approx(0.367879, abs=1e-6)
    # p = 1: ln(pi^2 / 0.15) = 4.1866, e^(-1/3) = 0.71653: 5.84. p = 3: ln(9 pi^2 / 0.15) = 6.3838,
    # times e: 17.35.
    assert draws_of(1, 0.05) == 6
    assert draws_of(3, 0.05) == 18
    # ln(36 * 9 * 18 / 0.05) = ln 116640
    assert log_term_of(3, 0.05) == pytest.approx(11.66685, abs=1e-5)


def test_the_last_phase_asks_for_epsilon_itself():
    # e^(-13/6) = 0.1146 and e^(-14/6) = 0.0970
    assert last_phase(0.1) == 14
    assert target_gap(13, 0.1) == pytest.approx(0.1146, abs=1e-4)
    assert target_gap(14, 0.1) == 0.1
    assert last_phase(0.9) == 1
    assert last_phase(math.exp(-1 / 6)) == 1


def test_errors_of_all_phases_add_up_to_delta():
    # The bounds have 36 for 8 (pi^2 / 6)^3; so four events of each kind have half of delta.
    assert 35 < 8 * BASEL**3 < 36
    missed = [math.exp(-top_share(p) * draws_of(p, 0.05)) for p in range(1, 300)]
    assert sum(missed) <= 0.025
    assert 4 * BASEL**3 / 36 <= 1 / 2


def test_configurations_come_in_the_order_in_which_they_are_first_drawn():
    order, drawn_by = first_draws(50, seed=4)
    assert sorted(order) == list(range(50))
    assert drawn_by[0] == 1
    assert np.all(np.diff(drawn_by) > 0)
    assert np.array_equal(order, first_draws(50, seed=4)[0])
    assert not np.array_equal(order, first_draws(50, seed=5)[0])
    assert [part.tolist() for part in first_draws(1, seed=0)] == [[0], [1]]


def test_draws_are_with_replacement():
    # The second new configuration comes by draw 2 with probability 3/4, by draw 3 with 3/16.
    by = np.array([first_draws(4, seed)[1][1] for seed in range(400)])
    assert most_events(400, 1 / 4) > (by > 2).sum() > 400 - most_events(400, 3 / 4)
    assert most_events(400, 3 / 16) > (by == 3).sum() > 0


def test_one_configuration_by_hand():
    # It needs no time, so UCB = 1 and LCB = 1 - a: every phase goes on until a <= eps_p, with
    # a^2 = (ln(36 p^2 n_p / 0.05) + 2 ln m) / 2m at the cutoff as first cap. Phase 14 comes last:
    # n_14 = ln(196 pi^2 / 0.15) / e^(-14/3) = 9.4648 / 0.0094036 = 1006.5, so 1007, and
    # ln(36 * 196 * 1007 / 0.05) = 18.7721: 0.010002 at m = 1681, 0.009996 at m = 1682.
    outcome = COUP.solve(problem_of([[0.0] * 2000], 8.0, 8.0), epsilon=0.1)
    assert draws_of(14, 0.05) == 1007
    assert (outcome.steps, outcome.charged, outcome.incumbent) == (1682, 0.0, 0)
    assert outcome.stop == "the gap is at most epsilon"
    assert outcome.facts["phases"] == 14
    assert outcome.facts["epsilon"] == pytest.approx(0.09998, abs=1e-5)
    assert outcome.facts["gamma"] == 0.0  # nobody has been left out
    assert outcome.claim == (
        "With probability at least 0.95, no configuration has a mean utility more than 0.1000"
        " above the answer's."
    )


def test_a_configuration_that_is_drawn_again_is_run_only_once():
    # Six draws from one or two; for the eight runs see the next test.
    for n in (1, 2):
        outcome = COUP.solve(problem_of([[8.0] * 50] * n, 8.0, 8.0), epsilon=0.9)
        assert outcome.steps == 8 * n


def test_only_what_has_been_drawn_is_run():
    # All are useless, so that each of the pool is run; the last phase is the first one.
    problem = problem_of(np.full((100, 50), 8.0), 8.0, 8.0, seed=3)
    outcome = COUP.solve(problem, epsilon=0.9)
    order, drawn_by = first_draws(100, seed=3)
    drawn = order[drawn_by <= 6]
    assert set(np.flatnonzero(outcome.spent)) == set(drawn)
    # UCB = a <= 0.9 for all of them: (ln(36 * 6 / 0.05) + 2 ln m) / 2m is 0.874 at 7, 0.783 at 8.
    assert outcome.steps == 8 * len(drawn)
    assert outcome.facts["gamma"] == pytest.approx(math.exp(-1 / 3))
    assert "less than 71.6531% of the configurations have" in outcome.claim


def test_a_phase_that_was_finished_stays_claimed_when_a_later_one_is_not():
    problem = problem_of([[0.0] * 300], 8.0, 8.0)
    outcome = COUP.solve(problem)
    assert outcome.stop == "the instances are used up"
    assert outcome.steps == 300
    assert 1 <= outcome.facts["phases"] < 14
    assert outcome.facts["epsilon"] <= math.exp(-outcome.facts["phases"] / 6)
    none = COUP.solve(problem_of([[0.0] * 3], 8.0, 8.0))
    assert (none.steps, none.claim, none.facts, none.incumbent) == (3, "", {}, 0)


TABLES, DELTA = 300, 0.1


def shortfall(problem, outcome):
    """How far the answer is below the worst of the best share gamma."""
    means = np.maximum(0.0, 1.0 - problem.runtimes / 8.0).mean(axis=1)
    rank = max(1, math.ceil(outcome.facts["gamma"] * means.size))
    return np.sort(means)[-rank] - means[outcome.incumbent]


def test_the_guarantee_holds_after_every_phase():
    wrong, phases = 0, set()
    for seed in range(TABLES):
        problem = random_problem(seed)
        settings = {"epsilon": 0.2, "delta": DELTA, "scale": 8.0}
        outcomes = [COUP.solve(problem, **settings)]
        assert outcomes[0].facts["phases"] == last_phase(0.2)
        for share in (0.01, 0.05, 0.2, 0.5):
            stopped = random_problem(seed, budget=share * outcomes[0].charged)
            outcomes.append(COUP.solve(stopped, **settings))
        claimed = [outcome for outcome in outcomes if outcome.claim]
        phases |= {outcome.facts["phases"] for outcome in claimed}
        wrong += any(shortfall(problem, o) > o.facts["epsilon"] + 1e-9 for o in claimed)
    assert len(phases) > 5
    assert wrong <= most_events(TABLES, DELTA)


def test_a_pool_that_is_too_small_would_be_noticed():
    # The answer to the first phase, taken for that of the last, misses the best tenth.
    wrong = 0
    for seed in range(TABLES):
        problem = random_problem(seed)
        outcome = COUP.solve(problem, epsilon=0.84, delta=DELTA, scale=8.0)
        claimed = dataclasses.replace(outcome, facts={"gamma": top_share(last_phase(0.2))})
        wrong += shortfall(problem, claimed) > 0.2
    assert wrong > most_events(TABLES, DELTA)


def test_the_same_again_and_the_ledger_adds_up():
    problem = random_problem(8, n=60)
    outcome = COUP.solve(problem, scale=8.0)
    again = COUP.solve(random_problem(8, n=60), scale=8.0)
    assert outcome.spent.sum() == pytest.approx(outcome.charged)
    assert again.spent.tolist() == outcome.spent.tolist()
    assert (again.trajectory, again.facts) == (outcome.trajectory, outcome.facts)
    times = [when for when, _ in outcome.trajectory]
    assert times == sorted(times)
    answers = [index for _, index in outcome.trajectory]
    assert all(first != second for first, second in pairwise(answers))
    short = COUP.solve(random_problem(8, n=60, budget=outcome.charged / 3), scale=8.0)
    assert short.stop == "the budget is spent"
    assert outcome.charged / 3 <= short.charged < outcome.charged / 3 + 16.0
    assert short.trajectory == outcome.trajectory[: len(short.trajectory)]
    nothing = COUP.solve(random_problem(8, n=60, budget=0.0))
    assert (nothing.charged, nothing.steps, nothing.trajectory, nothing.claim) == (0.0, 0, (), "")


@pytest.mark.parametrize(
    "settings",
    [
        {"epsilon": 0.0},
        {"epsilon": 1.0},
        {"delta": 1.0},
        {"delta": 1e-320},
        {"utility": ""},
        {"scale": "x"},
        {"alpha": 0.0},
    ],
)
def test_bad_settings_are_named(settings):
    with pytest.raises(InvalidSetting, match=next(iter(settings))):
        COUP.solve(random_problem(0), **settings)


def test_what_the_method_says_of_itself():
    assert (COUP.name, COUP.title, COUP.charges, COUP.anytime) == ("coup", "COUP", "restart", True)
