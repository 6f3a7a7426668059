"""CapsAndRuns (Weisz, György and Szepesvári, 2019): a cap for each configuration, then a race.

Phase I of a configuration runs b instances in parallel until a share 1 - 3 delta / 4 of them has
finished; the longest of those is its cap tau. Phase II runs fresh instances at that cap, one after
another, until its mean is accurate. T is the least upper bound of any mean so far: a configuration
is rejected in phase I when its work reaches 2 b T, in phase II when its lower bound exceeds T
after one of its runs. The least accepted mean wins.

"In parallel" is taken literally here, as the limit of ever shorter slices: at every moment each
configuration that is still running has had the same work. So one clock, the work of each, orders
all events, and what is charged is the clock times the configurations running. A run that reaches
the cutoff has finished there; otherwise phase I of a poor configuration might never end.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cunctator.base.errors import InvalidSetting
from cunctator.siblings.bernstein import GROWTH, is_accurate, level_of, log_term, radius
from cunctator.siblings.compiled import compiled
from cunctator.siblings.method import Method
from cunctator.siblings.prechecks import (
    ACCEPTED,
    MOST,
    NEW,
    PAUSED,
    PHASE_ONE,
    PHASE_TWO,
    REJECTED,
    Racers,
    RaceRules,
    Variant,
    begin_phase_one,
    make_rules,
    new_racers,
)
from cunctator.siblings.problem import Found, Problem
from cunctator.siblings.settings import GRID_DELTAS, GRID_EPSILONS, check_shares, require

VARIANTS = {"car": Variant(48.0, 3.0, 2.0), "car++": Variant(26.0, 2.0, 1.5)}
"""By Chernoff, Pr(R > tau) exceeds delta with probability at most exp(-0.034 b delta); tau exceeds
the (1 - delta / 2)-quantile, or the best configuration is rejected in phase I, with at most
exp(-0.054 b delta) each. The means of phase II fail with zeta. In all that is less than 6 zeta with
either variant, as long as n / zeta is less than 10^8."""

FINISHED, SPENT, USED_UP = range(3)

STOPS = {SPENT: "the budget is spent", USED_UP: "there are no instances left to run"}


def needed_instances(rules: RaceRules) -> float:
    """Count those without which no mean can be accurate: phase I, and runs that take equally long.

    Such runs are accurate as soon as 3 x / j <= epsilon / (2 + epsilon).
    """
    level = 1
    while True:
        term = log_term(level, rules.inverse_error * level**1.1)
        least = 3.0 * term * (2.0 + rules.epsilon) / rules.epsilon
        if not least < MOST:
            return MOST
        runs = max(math.ceil(least), math.floor(GROWTH ** (level - 1)) + 1)
        if runs <= math.floor(GROWTH**level):
            return float(rules.sample + runs)
        level += 1


@compiled
def _next_run(
    runtimes: NDArray[np.float64],
    stream: NDArray[np.int64],
    racers: Racers,
    rules: RaceRules,
    row: int,
) -> float:
    """Begin the next run of phase II; returns how long it takes, infinity if there is none."""
    place = rules.sample + racers.runs[row]
    if place >= stream.size:
        return math.inf
    racers.phase[row] = PHASE_TWO
    racers.begun[row] = place + 1
    return float(min(runtimes[row, stream[place]], racers.cap[row]))


@compiled
def _observe(racers: Racers, rules: RaceRules, row: int, value: float) -> int:
    """Take in a run of phase II; returns the phase after it."""
    runs = racers.runs[row] + 1
    change = value - racers.mean[row]
    mean = racers.mean[row] + change / runs
    racers.squares[row] += change * (value - mean)
    racers.runs[row], racers.mean[row] = runs, mean
    level = level_of(runs, racers.level[row])
    if level != racers.level[row]:
        racers.level[row] = level
        racers.term[row] = log_term(level, rules.inverse_error * level**1.1)
    half_width = radius(racers.squares[row] / runs, racers.cap[row], runs, racers.term[row])
    if mean + half_width < racers.least_upper[0]:
        racers.least_upper[0], racers.holder[0] = mean + half_width, row
    if mean - half_width > racers.least_upper[0]:
        return REJECTED
    return ACCEPTED if is_accurate(mean, half_width, rules.epsilon) else PHASE_TWO


@compiled
def _proceed(
    runtimes: NDArray[np.float64],
    stream: NDArray[np.int64],
    racers: Racers,
    rules: RaceRules,
    row: int,
    pause: int,
) -> int:
    """What a configuration has been running is finished; returns the phase after it."""
    if racers.phase[row] == PHASE_ONE:
        racers.known[row] = max(racers.known[row], racers.cap[row])
        return PHASE_TWO
    runtime = runtimes[row, stream[rules.sample + racers.runs[row]]]
    phase = _observe(racers, rules, row, min(runtime, racers.cap[row]))
    return PAUSED if phase == PHASE_TWO and racers.runs[row] == pause else phase


@compiled
def _sink(keys: NDArray[np.float64], items: NDArray[np.int64]) -> None:
    """Restore the heap after its first key has grown."""
    key, item, place = keys[0], items[0], 0
    while 2 * place + 1 < keys.size:
        child = 2 * place + 1
        if child + 1 < keys.size and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[place], items[place] = keys[child], items[child]
        place = child
    keys[place], items[place] = key, item


@compiled
def _interrupt(racers: Racers, members: NDArray[np.int64], clock: float) -> None:
    """Charge those that are still running."""
    for row in members:
        if racers.phase[row] == PHASE_ONE or racers.phase[row] == PHASE_TWO:
            racers.spent[row] += clock


@compiled
def _enter(
    runtimes: NDArray[np.float64],
    stream: NDArray[np.int64],
    racers: Racers,
    rules: RaceRules,
    members: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Begin; returns each one's work in phase I so far, and the moment of its first event."""
    done, keys = np.zeros(members.size), np.zeros(members.size)
    for place, row in enumerate(members):
        if racers.phase[row] == NEW:
            done[place], keys[place] = begin_phase_one(runtimes, stream, racers, rules, row)
        else:
            keys[place] = _next_run(runtimes, stream, racers, rules, row)
    return done, keys


@compiled
def race(
    runtimes: NDArray[np.float64],
    stream: NDArray[np.int64],
    racers: Racers,
    rules: RaceRules,
    members: NDArray[np.int64],
    pause: int,
    budget: float,
) -> int:
    """Run these configurations, new or paused, until all are accepted, rejected or paused.

    They pause after `pause` runs of phase II. Returns FINISHED, or why it ended before that.
    """
    done, keys = _enter(runtimes, stream, racers, rules, members)
    if np.isinf(keys).any():
        return USED_UP
    # A heap of the moments when each has finished what it runs: sorted, to begin with. Infinity
    # stands for those that have left. All in phase I have had the same work since the race began,
    # so those that a precheck made work more before reach the limit first.
    order, by_work = np.argsort(keys, kind="mergesort"), np.argsort(-done, kind="mergesort")
    keys, items, most = keys[order], members[order], 0
    clock, paid, running = 0.0, 0.0, members.size
    while running > 0:
        while racers.phase[items[0]] == REJECTED:
            keys[0] = math.inf
            _sink(keys, items)
        while most < members.size and racers.phase[members[by_work[most]]] != PHASE_ONE:
            most += 1
        row, moment, limit = items[0], keys[0], math.inf
        if most < members.size:
            limit = rules.patience * rules.sample * racers.least_upper[0] - done[by_work[most]]
        is_too_long = limit <= moment
        if is_too_long:
            row, moment = members[by_work[most]], max(clock, limit)
        if paid + running * moment > budget:
            _interrupt(racers, members, (budget - paid) / running)
            return SPENT
        clock, phase = moment, REJECTED
        if not is_too_long:
            phase = _proceed(runtimes, stream, racers, rules, row, pause)
            keys[0] = math.inf
        if phase == PHASE_TWO:
            keys[0] = clock + _next_run(runtimes, stream, racers, rules, row)
            if math.isinf(keys[0]):
                _interrupt(racers, members, clock)
                return USED_UP
        else:
            racers.phase[row] = phase
            racers.spent[row] += clock
            paid += clock
            running -= 1
        _sink(keys, items)
    return FINISHED


def report(
    problem: Problem, racers: Racers, status: int, rival: str, facts: dict[str, float]
) -> Found:
    """The outcome; `rival` says what the answer is at most 1 + epsilon times as slow as."""
    charged, steps = float(racers.spent.sum()), int(racers.begun.sum())
    accepted = np.flatnonzero(racers.phase == ACCEPTED)
    if status != FINISHED or not accepted.size:
        stop = STOPS.get(status, "every configuration was rejected, which has almost no chance")
        return Found((), charged, steps, racers.spent, stop)
    best = int(accepted[np.argmin(racers.mean[accepted])])
    facts = facts | {"cap": float(racers.cap[best]), "mean": float(racers.mean[best])}
    claim = (
        f"With probability at least {facts['probability']:g}, the mean runtime of "
        f"{problem.table.configurations[best]} up to its cap of {facts['cap']:.6g} s is at most "
        f"{1 + facts['epsilon']:g} times {rival} if the longest {facts['delta'] / 2:.4g} of the "
        f"runs is cut off, and "
    )
    if facts["cap"] < problem.cutoff:
        claim += f"at most {facts['delta']:g} of its runs exceed the cap."
    else:
        claim += "the cap is the cutoff, where all runs count as finished."
    stop = "every configuration is accepted or rejected"
    return Found(((charged, best),), charged, steps, racers.spent, stop, claim, facts)


def solve(problem: Problem, epsilon: float, delta: float, zeta: float, variant: str) -> Found:
    """Run it until every configuration is accepted or rejected."""
    check_shares(epsilon=epsilon, delta=delta, zeta=zeta)
    if zeta >= 1 / 6:
        raise InvalidSetting("zeta", zeta, "expected less than 1/6: six of it may go wrong")
    if variant not in VARIANTS:
        raise InvalidSetting("variant", variant, f"expected {' or '.join(VARIANTS)}")
    count = problem.configurations

    def needed(epsilon: float, delta: float) -> float:
        return needed_instances(make_rules(VARIANTS[variant], epsilon, delta, count, zeta))

    require(problem, CAPS_AND_RUNS.title, needed, (epsilon, delta))
    rules = make_rules(VARIANTS[variant], epsilon, delta, count, zeta)
    racers = new_racers(count, rules)
    members, budget = np.arange(count), float(problem.budget)
    status = race(problem.runtimes, problem.stream, racers, rules, members, 0, budget)
    facts = {"epsilon": epsilon, "delta": delta, "probability": 1 - 6 * zeta}
    return report(problem, racers, status, "the least of all configurations", facts)


CAPS_AND_RUNS = Method(
    name="cr",
    title="CapsAndRuns",
    run=solve,
    charges="resume",
    guarantee=(
        "mean up to its cap at most 1 + epsilon times the least of all configurations with the "
        "longest delta/2 of their runs cut off, and at most delta of its runs beyond the cap, with "
        "probability 1 - 6 zeta"
    ),
    stops="when every configuration is accepted or rejected",
    # Six of zeta may go wrong: it claims as much as others do with 0.1.
    defaults={"epsilon": 0.2, "delta": 0.2, "zeta": 0.1 / 6, "variant": "car"},
    grid={"epsilon": GRID_EPSILONS, "delta": GRID_DELTAS},
)
