"""UP and OUP: cases worked out by hand, a plain version to compare with, and the guarantee."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from cunctator.base.errors import InvalidSetting
from cunctator.recorded.table import make_table
from cunctator.siblings.problem import Problem
from cunctator.siblings.utilitarian import BASEL, OUP, UP, radius
from tests.margins import most_events

METHODS = [UP, OUP]
IDLE, BUSY = [0.0] * 1000, [8.0] * 1000
"""Runtimes of a configuration that needs no time, and of one that never gets done in 8 s."""


def problem_of(runtimes, first_cap, cutoff, **others):
    return Problem(make_table(runtimes, cutoff=cutoff), first_cap, cutoff, **others)


def random_problem(seed, n=4, columns=12, **others):
    """Each configuration solves a share of the instances fast, and the others late or never."""
    random = np.random.default_rng([seed, 77])
    fast = np.exp(random.uniform(-4.0, 0.0, (n, 1)) + random.normal(size=(n, columns)))
    is_slow = random.random((n, columns)) < random.uniform(0.1, 0.9, (n, 1))
    runtimes = np.where(is_slow, random.uniform(3.0, 20.0, (n, columns)), fast)
    return problem_of(runtimes, 0.05, 16.0, seed=seed, **others)


def random_draws(seed, **others):
    """The same, instances drawn with replacement, but not four million of them."""
    problem = random_problem(seed, resample=True, **others)
    columns = len(problem.table.instances)
    problem.__dict__["stream"] = np.random.default_rng([seed, 78]).integers(columns, size=1 << 14)
    return problem


def truth(problem, scale):
    return np.maximum(0.0, 1.0 - problem.runtimes / scale).mean(axis=1)


class Plain:
    """UP and OUP with a uniform utility, in plain words, all runs looked at anew every time.

    `chance` scales the radius, and `hides` says whether unfinished runs lower the LCB: with less
    than 1, or without, the bounds are wrong.
    """

    def __init__(self, problem, epsilon, delta, scale, chance=1.0, hides=True):
        self.problem, self.epsilon, self.delta, self.scale = problem, epsilon, delta, scale
        self.chance, self.hides = chance, hides
        n = problem.configurations
        self.m, self.level = [0] * n, [0] * n
        self.upper, self.lower = [1.0] * n, [-math.inf] * n
        self.spent, self.steps, self.trajectory = [0.0] * n, 0, []

    def cap(self, i):
        return min(self.problem.first_cap * 2 ** self.level[i], self.problem.cutoff)

    def u(self, seconds):
        return max(0.0, 1.0 - seconds / self.scale)

    def runs(self, i):
        return self.problem.runtimes[i, self.problem.stream[: self.m[i]]]

    def a(self, i, m):
        errors = 4 * BASEL**2 * len(self.m) * m**2 * (self.level[i] + 1) ** 2 / self.delta
        return self.chance * math.sqrt(math.log(errors) / (2 * m))

    def charge(self, i, seconds):
        self.spent[i] += min(seconds, self.cap(i))
        self.steps += 1

    def step(self, i, is_new_rule):
        u, a = self.u(self.cap(i)), self.a(i, self.m[i] + 1)
        finished = np.mean(self.runs(i) <= self.cap(i)) if self.m[i] else 0.0
        long_enough = (
            2 * (1 - u) * a > u * (1 - finished + a) if is_new_rule else 2 * a > u * (1 - finished)
        )
        if self.cap(i) < self.problem.cutoff and not long_enough:
            again = self.runs(i)[self.runs(i) > self.cap(i)]
            self.level[i] += 1
            for seconds in again:
                self.charge(i, seconds)
        self.m[i] += 1
        self.charge(i, self.runs(i)[-1])
        capped = np.minimum(self.runs(i), self.cap(i))
        mean, u, a = (
            np.maximum(0.0, 1 - capped / self.scale).mean(),
            self.u(self.cap(i)),
            self.a(i, self.m[i]),
        )
        hidden = u * np.mean(self.runs(i) > self.cap(i)) if self.hides else 0.0
        self.upper[i] = min(self.upper[i], mean + (1 - u) * a)
        self.lower[i] = max(self.lower[i], mean - a - hidden)
        best = int(np.argmax(self.lower))
        if not self.trajectory or self.lower[best] > self.lower[self.trajectory[-1][1]]:
            self.trajectory.append((sum(self.spent), best))

    def gap(self):
        return max(self.upper) - max(0.0, *self.lower)

    def up(self):
        left = range(len(self.m))
        while self.gap() > self.epsilon:
            for i in left:
                self.step(i, is_new_rule=False)
            left = [i for i in left if self.upper[i] >= max(self.lower)]
        return self

    def oup(self):
        while self.gap() > self.epsilon:
            everyone = range(len(self.m))
            chosen = min(everyone, key=lambda i: (-self.upper[i], self.m[i], i))
            self.step(chosen, is_new_rule=True)
        return self


def test_the_radius_by_hand():
    # n = 1, delta = 0.05, m = 2, k = 2 k0: ln(4 * 2.705808 * 4 * 4 / 0.05) / 4 = 2.037, root 1.427
    assert pytest.approx(2.705808, abs=1e-6) == BASEL**2
    log_term = math.log(4 * BASEL**2 / 0.05)
    assert log_term == pytest.approx(5.3774, abs=1e-4)
    assert radius(2, 1, log_term) == pytest.approx(1.4274, abs=1e-4)


@pytest.mark.parametrize(
    ("budget", "charged", "steps"),
    [
        (32.0, 32.0, 32),
        # 2 a <= u(1) = 7/8 needs (5.377 + 2 ln m) / 2m <= 0.19141: m = 32 has 0.19230, m = 33
        # 0.18743. So the 33rd step doubles the cap, and its first run takes 2 s, not 1.
        (33.0, 34.0, 33),
        (98.0, 98.0, 65),  # 32 + 33 * 2
        # Later ones at cap 2: 2 a <= u(2) = 3/4 at level 1: (6.763 + 2 ln m) / 2m <= 0.14063
        # has 0.14086 at m = 52 and 0.13892 at m = 53.
        (98.0 + 19 * 2, 98.0 + 19 * 2, 65 + 19),  # 34 to 52
        (98.0 + 19 * 2 + 1, 98.0 + 19 * 2 + 4, 65 + 20),
    ],
)
def test_up_doubles_a_cap_when_what_it_hides_outweighs_chance(budget, charged, steps):
    outcome = UP.solve(problem_of([BUSY], 1.0, 8.0, budget=budget))
    assert (outcome.charged, outcome.steps) == (charged, steps)
    assert outcome.stop == "the budget is spent"


def test_oup_doubles_by_the_newer_rule():
    # m = 1: u(1) = 7/8, a = 1.64: 2/8 a <= 7/8 (1 + a), so the first run has 2 s.
    # m = 2: u(2) = 3/4: again, and both are run for 4 s.
    # From then on u(4) = 1/2: a <= 1 is asked for. (5.377 + 2 ln m + 2 ln 3) / 2m is 1.079 at
    # m = 5 and 0.930 at m = 6: three more runs at 4 s, then all six at 8 s.
    # There all have finished, with utility 0: UCB = a = sqrt((5.377 + 2 ln 6 + 2 ln 4) / 12).
    outcome = OUP.solve(problem_of([BUSY], 1.0, 8.0, budget=70.0))
    assert outcome.charged == 2 + 2 * 4 + 3 * 4 + 6 * 8
    assert outcome.steps == 1 + 2 + 3 + 6
    assert outcome.facts["epsilon"] == pytest.approx(0.98884, abs=1e-5)
    assert outcome.facts["lower_bound"] == 0.0
    before = OUP.solve(problem_of([BUSY], 1.0, 8.0, budget=69.0))
    assert before.charged == 70.0  # the last run begins with 62 s charged
    halfway = OUP.solve(problem_of([BUSY], 1.0, 8.0, budget=62.0))
    assert (halfway.charged, halfway.claim, halfway.facts) == (62.0, "", {})


def test_up_drops_what_is_surely_worse_and_stops_at_epsilon():
    # Cap = cutoff: UCB and LCB are 1 and 1 - a for the idle, a and -a for the busy one, with
    # a^2 = (ln(4 * 2.705808 * 2 / 0.05) + 2 ln m) / 2m = (6.0706 + 2 ln m) / 2m.
    # a < 1/2: 0.25017 at m = 25, 0.24205 at m = 26. a <= 0.1: 0.010006 at 993, 0.009997 at 994.
    outcome = UP.solve(problem_of([BUSY, IDLE], 8.0, 8.0), epsilon=0.1)
    assert outcome.stop == "the gap is at most epsilon"
    assert outcome.spent.tolist() == [26 * 8.0, 0.0]
    assert outcome.steps == 994 + 26
    assert outcome.incumbent == 1
    assert outcome.trajectory == ((8.0, 0), (8.0, 1))
    assert outcome.facts["epsilon"] == pytest.approx(0.09998, abs=1e-5)
    assert outcome.facts["lower_bound"] == pytest.approx(0.90002, abs=1e-5)
    assert outcome.facts["delta"] == 0.05
    assert outcome.claim == (
        "With probability at least 0.95, no configuration has a mean utility more than 0.1000"
        " above the answer's."
    )


def test_oup_leaves_a_configuration_once_another_may_be_better():
    # As above, UCB = a of the busy one is below 1 from m = 5 on: 1.105 at 4, 0.929 at 5. Until then
    # both have 1 and take turns, whoever comes first.
    outcome = OUP.solve(problem_of([BUSY, IDLE], 8.0, 8.0), epsilon=0.1)
    assert outcome.spent.tolist() == [5 * 8.0, 0.0]
    assert outcome.steps == 994 + 5
    outcome = OUP.solve(problem_of([IDLE, BUSY], 8.0, 8.0), epsilon=0.1)
    assert outcome.spent.tolist() == [0.0, 5 * 8.0]
    assert (outcome.steps, outcome.incumbent) == (994 + 5, 0)


def test_oup_looks_at_all_whose_bounds_are_equal():
    # All utilities are 0.99 or more: every UCB is 1 for thousands of runs.
    runtimes = np.full((5, 2000), 0.08)
    runtimes[3] = 0.01
    outcome = OUP.solve(problem_of(runtimes, 8.0, 8.0, budget=100.0), epsilon=0.001)
    assert outcome.incumbent == 3
    assert (outcome.spent[:3] > 10.0).all() and outcome.spent[4] > 10.0


@pytest.mark.parametrize("method", METHODS)
def test_seconds_have_no_unit(method):
    # Published code takes log2 of the cap itself, as if the first one were 1 s.
    problem = random_problem(3)
    ours = method.solve(problem, epsilon=0.3, scale=8.0, delta=0.2)
    faster = problem_of(problem.runtimes / 64, 0.05 / 64, 0.25, seed=3)
    scaled = method.solve(faster, epsilon=0.3, scale=0.125, delta=0.2)
    assert scaled.steps == ours.steps
    assert scaled.charged * 64 == pytest.approx(ours.charged)


@pytest.mark.parametrize("method", METHODS)
def test_every_instance_is_used_and_none_twice(method):
    problem = problem_of([[4.0] * 7], 8.0, 8.0)
    outcome = method.solve(problem)
    assert outcome.stop == "the instances are used up"
    assert (outcome.steps, outcome.charged) == (7, 28.0)
    assert outcome.incumbent == 0
    # Uh = 1/2, a = 0.8153: [0, 1] is all that is known, which is not worth a claim.
    assert outcome.claim == ""
    more = method.solve(problem_of([[4.0] * 70], 8.0, 8.0))
    assert more.stop == "the instances are used up"
    assert 0.1 < more.facts["epsilon"] < 1.0  # what is known is claimed, and no more


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("seed", "scale"), [(0, 8.0), (1, 8.0), (2, 8.0), (3, 40.0), (4, 40.0)])
def test_the_same_as_the_plain_version(method, seed, scale):
    # The last doubling of 0.05 s is cut short by the cutoff of 16 s, where 40 s leave some utility.
    problem = random_draws(seed)
    ours = method.solve(problem, epsilon=0.35, delta=0.2, scale=scale)
    plain = getattr(Plain(problem, 0.35, 0.2, scale), method.name)()
    assert ours.steps == plain.steps
    assert ours.spent == pytest.approx(plain.spent)
    assert [i for _, i in ours.trajectory] == [i for _, i in plain.trajectory]
    assert [t for t, _ in ours.trajectory] == pytest.approx([t for t, _ in plain.trajectory])
    assert ours.facts["epsilon"] == pytest.approx(plain.gap())


TABLES, DELTA = 300, 0.05


def is_wrong(problem, answer, gap, lower):
    means = truth(problem, 8.0)
    return means[answer] < max(means.max() - gap, lower) - 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_the_guarantee_holds_whenever_one_stops(method):
    wrong, claims = 0, 0
    for seed in range(TABLES):
        problem = random_draws(seed)
        outcomes = [method.solve(problem, epsilon=0.2, delta=DELTA, scale=8.0)]
        assert outcomes[0].stop == "the gap is at most epsilon"
        for share in (0.02, 0.1, 0.3, 0.6):
            stopped = random_draws(seed, budget=share * outcomes[0].charged)
            outcomes.append(method.solve(stopped, epsilon=0.2, delta=DELTA, scale=8.0))
        outcomes = [outcome for outcome in outcomes if outcome.claim]
        claims += len(outcomes)
        wrong += any(
            is_wrong(problem, found.incumbent, found.facts["epsilon"], found.facts["lower_bound"])
            for found in outcomes
        )
    assert claims > 3 * TABLES  # it is not right for want of claims
    assert wrong <= most_events(TABLES, DELTA)


@pytest.mark.parametrize("broken", [{"chance": 0.2}, {"hides": False}])
def test_wrong_bounds_would_be_noticed(broken):
    wrong = 0
    for seed in range(TABLES):
        problem = random_draws(seed)
        plain = Plain(problem, 0.5, DELTA, 8.0, **broken).up()
        wrong += is_wrong(problem, plain.trajectory[-1][1], plain.gap(), max(plain.lower))
    assert wrong > most_events(TABLES, DELTA)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("utility", ["uniform", "exponential", "pareto", "log-laplace", "step"])
def test_any_utility_and_the_ledger_adds_up(method, utility):
    problem = random_problem(5, n=6, columns=3000)
    settings = {"epsilon": 0.3, "utility": utility, "scale": 2.0, "alpha": 1.5}
    outcome = method.solve(problem, **settings)
    assert outcome.stop == "the gap is at most epsilon"
    assert outcome.spent.sum() == pytest.approx(outcome.charged)
    assert 0.0 <= outcome.facts["epsilon"] <= 0.3
    times = [when for when, _ in outcome.trajectory]
    assert times == sorted(times)
    assert times[-1] <= outcome.charged
    again = method.solve(random_problem(5, n=6, columns=3000), **settings)
    assert again.trajectory == outcome.trajectory
    assert again.spent.tolist() == outcome.spent.tolist()
    assert again.facts == outcome.facts


@pytest.mark.parametrize("method", METHODS)
def test_a_budget_ends_it_and_the_answer_so_far_is_kept(method):
    problem = random_problem(5, n=6, columns=3000)
    whole = method.solve(problem)
    for share in (0.001, 0.3, 0.9):
        budget = share * whole.charged
        outcome = method.solve(dataclasses.replace(problem, budget=budget))
        assert outcome.stop == "the budget is spent"
        assert budget <= outcome.charged < budget + 16.0
        assert outcome.spent.sum() == pytest.approx(outcome.charged)
        kept = tuple(change for change in whole.trajectory if change[0] <= outcome.charged)
        assert outcome.trajectory == kept[: len(outcome.trajectory)]
        assert len(outcome.trajectory) >= 1
    nothing = method.solve(dataclasses.replace(problem, budget=0.0))
    assert (nothing.charged, nothing.steps, nothing.incumbent, nothing.claim) == (0.0, 0, None, "")


@pytest.mark.parametrize("method", METHODS)
def test_epsilon_zero_goes_on_until_the_instances_are_used_up(method):
    outcome = method.solve(random_problem(1, columns=400), epsilon=0.0)
    assert outcome.stop == "the instances are used up"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "settings",
    [{"epsilon": 1.0}, {"delta": 0.0}, {"utility": "none"}, {"scale": 0.0}, {"alpha": -1.0}],
)
def test_bad_settings_are_named(method, settings):
    with pytest.raises(InvalidSetting, match=next(iter(settings))):
        method.solve(random_problem(0), **settings)


def test_what_the_methods_say_of_themselves():
    assert [(m.name, m.title, m.charges, m.anytime) for m in METHODS] == [
        ("up", "Utilitarian Procrastination", "restart", True),
        ("oup", "OUP", "restart", True),
    ]
