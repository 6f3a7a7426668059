"""CapsAndRuns: small cases by hand, a plain version beside it, its guarantee."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cunctator.base.errors import InvalidSetting
from cunctator.recorded.table import make_table
from cunctator.siblings.caps_and_runs import CAPS_AND_RUNS, VARIANTS, needed_instances
from cunctator.siblings.prechecks import make_rules
from cunctator.siblings.problem import Problem, TooFewInstances
from tests.margins import most_events
from tests.siblings.optimality import random_runtimes


def problem_of(runtimes, cutoff=100.0, seed=0, resample=False, budget=math.inf):
    problem = Problem(make_table(runtimes, cutoff=cutoff), 0.01, cutoff, budget, seed, resample)
    if resample:
        # Millions of draws, as usual, would take most of the time.
        columns = problem.table.runtimes.shape[1]
        draws = np.random.default_rng([seed, 1]).integers(columns, size=1 << 16)
        vars(problem)["stream"] = draws
    return problem


def solve(problem, **settings):
    return CAPS_AND_RUNS.solve(problem, **settings)


def plain_term(j, n, zeta):
    """x = a ln(3 / d_l) with 1 / d_l = n l^1.1 zeta(1.1) / zeta."""
    level = next(k for k in range(1, 1000) if math.floor(1.1**k) >= j)
    a = math.floor(1.1**level) / math.floor(1.1 ** (level - 1))
    return a * math.log(3 * n * level**1.1 * 10.584448464950803 / zeta)


class PlainRun:
    """One configuration; `elapsed` is how long each of its runs has been run in all."""

    def __init__(self, times):
        self.times, self.elapsed = times, np.zeros(times.size)
        self.phase, self.spent, self.seen = "new", 0.0, []
        self.cap = self.done = self.end = self.mean = 0.0

    def begin(self, b, finishing):
        self.phase = "one"
        self.cap = sorted(self.times[:b])[finishing - 1]
        self.done = self.elapsed[:b].sum()
        self.end = self.run_to(slice(0, b), self.cap)

    def observe(self, best, row, b, epsilon, pause, x_of):
        """Take in a run of phase II; returns T and who holds it."""
        self.seen.append(min(self.times[b + len(self.seen)], self.cap))
        j, mean = len(self.seen), np.mean(self.seen)
        c = math.sqrt(2 * np.var(self.seen) * x_of(j) / j) + 3 * self.cap * x_of(j) / j
        best = min(best, (mean + c, row))
        if mean - c > best[0]:
            self.phase = "rejected"
        elif c <= epsilon * mean / (2 + epsilon):
            self.phase, self.mean = "accepted", mean
        elif j == pause:
            self.phase = "paused"
        return best

    def run_to(self, where, cap):
        """Go on with some runs; returns the seconds."""
        longer = np.maximum(self.elapsed[where], np.minimum(self.times[where], cap))
        seconds = (longer - self.elapsed[where]).sum()
        self.elapsed[where] = longer
        return seconds


def plain_race(runs, best, n, zeta, epsilon, b, finishing, patience, pause=0):
    """Each event is looked for among all; all sums are made anew. Returns T and who holds it."""
    clock, running = 0.0, dict(runs)
    for run in running.values():
        if run.phase == "new":
            run.begin(b, finishing)
        else:
            run.phase, run.end = "two", min(run.times[b + len(run.seen)], run.cap)
    while running:
        events = [(run.end, 1, row) for row, run in running.items()]
        for row, run in running.items():
            if run.phase == "one":
                events.append((max(clock, patience * b * best[0] - run.done), 0, row))
        clock, is_end, row = min(events)
        run = running[row]
        if not is_end:
            run.phase = "rejected"
        elif run.phase == "one":
            run.phase = "two"
        else:
            best = run.observe(best, row, b, epsilon, pause, lambda j: plain_term(j, n, zeta))
        if run.phase == "two":
            run.end = clock + min(run.times[b + len(run.seen)], run.cap)
        else:
            run.spent += clock
            del running[row]
    return best


def plain(problem, epsilon, delta, zeta, scale=48, inside=3, patience=2):
    n = problem.configurations
    b = math.ceil(scale * math.log(inside * n / zeta) / delta)
    positions = problem.stream[:20_000]
    runs = {row: PlainRun(problem.runtimes[row, positions]) for row in range(n)}
    finishing = math.ceil((1 - 3 * delta / 4) * b)
    plain_race(runs, (math.inf, -1), n, zeta, epsilon, b, finishing, patience)
    return runs


def capped_mean(row, share):
    """The mean up to the (1 - share)-quantile."""
    beyond = 1 - np.arange(1, row.size + 1) / row.size
    cap = np.sort(row)[np.argmax(beyond <= share + 1e-12)]
    return np.minimum(row, cap).mean()


def is_wrong(problem, outcome, epsilon, delta, best):
    row, cap = problem.runtimes[outcome.incumbent], outcome.facts["cap"]
    if (row > cap).mean() > delta + 1e-12:
        return True
    return np.minimum(row, cap).mean() > (1 + epsilon) * best + 1e-12


def close_runtimes(seed, delta, configurations=6, best=1):
    """Some are 1.45 times as fast as all others if the longest delta / 2 is cut off.

    Their caps will be shorter than that, so that their means are some 1.35 times the best.
    """
    random = np.random.default_rng([seed, 98])
    spread = random.uniform(0.5, 1.0)
    runtimes = np.exp(spread * random.standard_normal((configurations, 60)))
    runtimes *= 1.45 / np.array([[capped_mean(row, delta / 2)] for row in runtimes])
    runtimes[random.permutation(configurations)[:best]] /= 1.45
    return runtimes


def is_answer_wrong(seed, asked, held_to, zeta=0.01):
    """Whether the answer for a pair (epsilon, delta) fails what is promised for another."""
    make = close_runtimes if seed % 2 else lambda seed, _: random_runtimes(seed // 2, spread=0.3)
    problem = problem_of(make(seed, held_to[1]), seed=seed, resample=True)
    outcome = solve(problem, epsilon=asked[0], delta=asked[1], zeta=zeta)
    best = min(capped_mean(row, held_to[1] / 2) for row in problem.runtimes)
    return is_wrong(problem, outcome, held_to[0], held_to[1], best)


def test_capped_means_by_hand():
    # A quarter of 1, 2, 3, 4 is beyond 3, and none beyond 4.
    row = np.array([4.0, 1.0, 3.0, 2.0])
    assert (capped_mean(row, 0.25), capped_mean(row, 0.2)) == (2.25, 2.5)


def test_sample_sizes_by_hand():
    # 48 ln(3 * 2 / 0.1) / 0.5 = 96 * 4.09434 = 393.06; 62.5 % of 394 are 246.25
    rules = make_rules(VARIANTS["car"], 0.5, 0.5, 2, 0.1)
    assert (rules.sample, rules.finishing, rules.patience) == (394, 247, 2.0)
    # 26 ln(2 * 2 / 0.1) / 0.5 = 52 * 3.68888 = 191.82; 62.5 % of 192 are 120
    rules = make_rules(VARIANTS["car++"], 0.5, 0.5, 2, 0.1)
    assert (rules.sample, rules.finishing, rules.patience) == (192, 120, 1.5)
    # n d_l summed over all levels is zeta: 1 / d_1 = 2 * 10.5844 / 0.1
    assert rules.inverse_error == pytest.approx(211.689, abs=1e-3)


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 0.9])
def test_needed_instances_are_those_of_equal_runs(epsilon):
    rules = make_rules(VARIANTS["car"], epsilon, 0.5, 2, 0.1)
    first = next(
        j for j in range(2, 9999) if 3 * plain_term(j, 2, 0.1) / j <= epsilon / (2 + epsilon)
    )
    assert needed_instances(rules) == 394 + first


def test_a_slow_configuration_is_rejected_in_phase_one():
    # Runs of 1 s and of 3 s. Phase I of the first takes b = 394 s, then j runs of 1 s until it is
    # accurate, C = 3 x / j. Phase I of the second would take 1182 s, and ends at 2 b (1 + C).
    outcome = solve(problem_of([[1.0], [3.0]], resample=True), epsilon=0.5, delta=0.5, zeta=0.1)
    j = next(j for j in range(2, 999) if 3 * plain_term(j, 2, 0.1) / j <= 0.2)
    c = 3 * plain_term(j, 2, 0.1) / j
    assert 2 * 394 * (1 + c) < 3 * 394
    assert outcome.spent == pytest.approx([394 + j, 2 * 394 * (1 + c)])
    assert outcome.charged == pytest.approx(outcome.spent.sum())
    assert outcome.steps == 394 + j + 394
    assert outcome.trajectory == ((outcome.charged, 0),)
    assert outcome.facts == pytest.approx(
        {"epsilon": 0.5, "delta": 0.5, "probability": 0.4, "cap": 1.0, "mean": 1.0}
    )
    assert outcome.claim == (
        "With probability at least 0.4, the mean runtime of c0 up to its cap of 1 s is at most 1.5"
        " times the least of all configurations if the longest 0.25 of the runs is cut off, and at"
        " most 0.5 of its runs exceed the cap."
    )


def test_a_configuration_nearly_as_fast_is_rejected_in_phase_two():
    # Runs of 1.5 s: phase I ends after 591 s, less than 2 b T. The first one's last T is 1 + C.
    outcome = solve(problem_of([[1.0], [1.5]], resample=True), epsilon=0.5, delta=0.5, zeta=0.1)
    j = next(j for j in range(2, 999) if 3 * plain_term(j, 2, 0.1) / j <= 0.2)
    upper = 1 + 3 * plain_term(j, 2, 0.1) / j
    later = next(i for i in range(2, 999) if 1.5 - 4.5 * plain_term(i, 2, 0.1) / i > upper)
    assert later <= j
    assert outcome.spent == pytest.approx([394 + j, 1.5 * (394 + later)])
    assert outcome.incumbent == 0


def test_the_clock_is_common_to_all():
    # All of 1.1 s and 1 s: after 394 s the second has its cap and the first has not; with a budget
    # of 2 * 400 s the second has made 6 runs of phase II, and both have been charged 400 s.
    problem = problem_of([[1.1], [1.0]], resample=True, budget=800.0)
    outcome = solve(problem, epsilon=0.5, delta=0.5, zeta=0.1)
    assert outcome.spent == pytest.approx([400.0, 400.0])
    assert outcome.steps in (394 + 394 + 6, 394 + 394 + 7)
    assert outcome.stop == "the budget is spent"
    assert outcome.trajectory == () and outcome.claim == "" and not outcome.facts


@pytest.mark.parametrize("seed", range(8))
def test_it_does_what_a_plain_version_does(seed):
    problem = problem_of(random_runtimes(seed, configurations=5), seed=seed, resample=True)
    outcome = solve(problem, epsilon=0.6, delta=0.5, zeta=0.15)
    runs = plain(problem, 0.6, 0.5, 0.15)
    means = {row: run.mean for row, run in runs.items() if run.phase == "accepted"}
    assert outcome.incumbent == min(means, key=means.get)
    assert outcome.facts["mean"] == pytest.approx(min(means.values()))
    assert outcome.spent == pytest.approx([run.spent for run in runs.values()])


def test_the_other_variant_is_what_its_plain_version_is():
    problem = problem_of(random_runtimes(3), seed=3, resample=True)
    outcome = solve(problem, epsilon=0.6, delta=0.5, zeta=0.15, variant="car++")
    runs = plain(problem, 0.6, 0.5, 0.15, scale=26, inside=2, patience=1.5)
    assert outcome.spent == pytest.approx([run.spent for run in runs.values()])
    assert outcome.charged < solve(problem, epsilon=0.6, delta=0.5, zeta=0.15).charged


def test_runs_at_the_cutoff_have_finished_there():
    outcome = solve(problem_of([[500.0]], resample=True), epsilon=0.9, delta=0.5)
    assert outcome.facts["cap"] == outcome.facts["mean"] == 100.0
    assert outcome.charged == pytest.approx(100.0 * outcome.steps)


def test_runs_that_take_no_time_are_accepted_at_once():
    outcome = solve(problem_of([[0.0], [1.0], [0.0]], resample=True), epsilon=0.9, delta=0.5)
    assert outcome.incumbent in (0, 2)
    assert outcome.charged == 0.0 and outcome.facts["mean"] == 0.0


def test_it_ends_without_an_answer_when_instances_are_used_up():
    # Enough for runs that take equally long, not for these.
    random = np.random.default_rng(1)
    problem = problem_of(np.exp(random.normal(0, 2, (2, 600))))
    outcome = solve(problem, epsilon=0.9, delta=0.5, zeta=0.1)
    assert outcome.stop == "there are no instances left to run"
    assert outcome.trajectory == () and outcome.claim == ""
    assert outcome.steps <= 1200
    assert outcome.charged == pytest.approx(outcome.spent.sum())


def test_too_few_instances_are_told_with_settings_that_fit():
    problem = problem_of(np.ones((2, 1000)))
    with pytest.raises(TooFewInstances, match="CapsAndRuns needs") as caught:
        solve(problem, epsilon=0.05, delta=0.5)
    words = caught.value.fits.split()  # epsilon = e and delta = d
    epsilon, delta = float(words[2]), float(words[6])
    assert delta == 0.5
    assert solve(problem, epsilon=epsilon, delta=delta).incumbent == 0
    with pytest.raises(TooFewInstances):
        solve(problem, epsilon=epsilon - 0.01, delta=delta)


@pytest.mark.parametrize("tiny", [{"epsilon": 1e-320}, {"delta": 1e-320}, {"zeta": 1e-320}])
def test_settings_that_no_table_serves_are_no_crash(tiny):
    with pytest.raises(TooFewInstances):
        solve(problem_of(np.ones((2, 100))), **tiny)


def test_a_budget_is_kept_to_the_second():
    problem = problem_of(random_runtimes(2), seed=2, resample=True)
    whole = solve(problem)
    for share in (0.0, 0.1, 0.5, 0.99):
        budget = share * whole.charged
        outcome = solve(problem_of(random_runtimes(2), seed=2, resample=True, budget=budget))
        assert outcome.charged == pytest.approx(budget)
        assert outcome.spent.sum() == pytest.approx(budget)
        assert outcome.stop == "the budget is spent" and outcome.trajectory == ()
    enough = problem_of(random_runtimes(2), seed=2, resample=True, budget=whole.charged + 1)
    assert solve(enough).trajectory == whole.trajectory


def test_the_seed_decides():
    outcomes = [
        solve(problem_of(random_runtimes(2), seed=seed, resample=True)) for seed in (7, 7, 8)
    ]
    assert outcomes[0].charged == outcomes[1].charged != outcomes[2].charged
    assert np.array_equal(outcomes[0].spent, outcomes[1].spent)


@pytest.mark.parametrize(
    "bad",
    [
        {"epsilon": 0.0},
        {"epsilon": math.nan},
        {"delta": 1.0},
        {"delta": -0.1},
        {"zeta": 0.17},
        {"variant": "car+"},
    ],
)
def test_settings_out_of_range_are_refused(bad):
    with pytest.raises(InvalidSetting, match=next(iter(bad))):
        solve(problem_of([[1.0], [2.0]], resample=True), **bad)


def test_answers_are_as_good_as_promised():
    wrong = sum(is_answer_wrong(seed, (0.2, 0.2), (0.2, 0.2)) for seed in range(200))
    assert wrong <= most_events(200, 0.06)


def test_answers_to_weaker_settings_are_not():
    """So the test above can fail."""
    wrong = sum(is_answer_wrong(seed, (0.9, 0.5), (0.2, 0.2)) for seed in range(60))
    assert wrong > most_events(60, 0.06)
