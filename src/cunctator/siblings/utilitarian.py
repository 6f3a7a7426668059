"""Utilitarian Procrastination (UP) and its optimistic successor (OUP): utility instead of runtime.

UP: Graham, Leyton-Brown and Roughgarden, "Utilitarian Algorithm Configuration" (2023). OUP: Graham
and Leyton-Brown, "Utilitarian Algorithm Configuration for Infinite Parameter Spaces" (2024), which
also has COUP (`coup.py`). Utility is bounded, so Hoeffding's inequality gives bounds that hold at
all times at once. After m runs of configuration i at cap k, with Uh the mean utility of the capped
runs, Fh the share that finished and a the radius:

    UCB = min(old, Uh + (1 - u(k)) a)            capped utilities lie in [u(k), 1];
    LCB = max(old, Uh - a - u(k) (1 - Fh))       what did not finish may be worth nothing.

The cap doubles when what the capped runs hide outweighs what is due to chance; those runs are then
made again from scratch, while finished ones are kept. At the cutoff every run has finished.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cunctator.siblings.compiled import compiled
from cunctator.siblings.method import Method
from cunctator.siblings.problem import Found, Problem
from cunctator.siblings.utilities import (
    DEFAULTS,
    Utility,
    check_settings,
    choose_utility,
    utility_of,
)

CLOSED, SPENT, USED_UP = range(3)
STOPS = {
    CLOSED: "the gap is at most epsilon",
    SPENT: "the budget is spent",
    USED_UP: "the instances are used up",
}

NOBODY = -1
"""The answer before the first run."""

BASEL = math.pi**2 / 6
"""The sum of 1 / m^2 over m = 1, 2, ..., so that the errors of all m, or all caps, add up."""

Facts = dict[str, float]
Changes = list[tuple[float, int]]
"""(charged seconds, configuration) whenever the answer changed."""


class World(NamedTuple):
    """What does not change while a method runs."""

    runtimes: NDArray[np.float64]
    stream: NDArray[np.int64]
    first_cap: float
    cutoff: float
    budget: float
    utility: Utility


class Race(NamedTuple):
    """What is known of each configuration, one entry each; and of the whole, in single entries."""

    started: NDArray[np.int64]
    """m: the first m instances of the stream have been run."""
    level: NDArray[np.int64]
    """How often the cap has been doubled."""
    finished: NDArray[np.int64]
    earned: NDArray[np.float64]
    """The sum of the utilities of the finished runs."""
    upper: NDArray[np.float64]
    """UCB, at most 1."""
    lower: NDArray[np.float64]
    """LCB. Below zero it says nothing, but still ranks: so it is not cut off there."""
    spent: NDArray[np.float64]
    charged: NDArray[np.float64]
    steps: NDArray[np.int64]
    incumbent: NDArray[np.int64]
    """argmax LCB; of equal ones, that which got there first."""


def new_world(problem: Problem, utility: Utility) -> World:
    """The problem as kernels see it."""
    limits = float(problem.first_cap), float(problem.cutoff), float(problem.budget)
    return World(problem.runtimes, problem.stream, *limits, utility)


def new_race(configurations: int) -> Race:
    """Nothing is known of any configuration."""
    return Race(
        started=np.zeros(configurations, np.int64),
        level=np.zeros(configurations, np.int64),
        finished=np.zeros(configurations, np.int64),
        earned=np.zeros(configurations),
        upper=np.ones(configurations),
        lower=np.full(configurations, -np.inf),
        spent=np.zeros(configurations),
        charged=np.zeros(1),
        steps=np.zeros(1, np.int64),
        incumbent=np.full(1, NOBODY, np.int64),
    )


@compiled
def cap_at(world: World, level: int) -> float:
    """The cap: kappa_0 2^level, and the cutoff at most."""
    return min(world.first_cap * 2.0**level, world.cutoff)


@compiled
def radius(count: int, level: int, log_term: float) -> float:
    """Compute a = sqrt((log_term + ln m^2 + ln (level + 1)^2) / 2m).

    The level is log2(k / kappa_0), rounded up if the cutoff lies between two doublings: errors are
    shared out over whole numbers, and would not add up otherwise.
    """
    logs = log_term + 2.0 * math.log(count) + 2.0 * math.log(level + 1.0)
    return math.sqrt(logs / (2.0 * count))


@compiled
def is_cap_too_short(world: World, race: Race, index: int, a: float, is_eager: bool) -> bool:
    """Whether to double the cap before the next run; `a` is the radius with that run.

    UP's theorem is for 2 a <= u (1 - Fh). OUP's rule, the eager one, splits UCB - LCB into what the
    cap adds to it, u (1 - Fh + a), and what there is without, 2 (1 - u) a. So it doubles while
    u(k) >= 2/3, whatever has finished.
    """
    cap, count = cap_at(world, race.level[index]), race.started[index]
    if cap >= world.cutoff:
        return False
    u = utility_of(world.utility, cap)
    hidden = 1.0 - race.finished[index] / count if count > 0 else 1.0
    if is_eager:
        return 2.0 * (1.0 - u) * a <= u * (hidden + a)
    return 2.0 * a <= u * hidden


@compiled
def run(world: World, race: Race, index: int, position: int, cap: float) -> bool:
    """Make one run and charge it; False, and nothing done, if the budget is spent."""
    if race.charged[0] >= world.budget:
        return False
    seconds = world.runtimes[index, world.stream[position]]
    race.steps[0] += 1
    race.charged[0] += min(seconds, cap)
    race.spent[index] += min(seconds, cap)
    if seconds <= cap:
        race.finished[index] += 1
        race.earned[index] += utility_of(world.utility, seconds)
    return True


@compiled
def try_next(world: World, race: Race, index: int, log_term: float, is_eager: bool) -> bool:
    """Run the configuration's next instance, after doubling its cap if it is time to.

    False if the budget ran out on the way; its bounds are then those from before.
    """
    count, level = race.started[index], race.level[index]
    cap = cap_at(world, level)
    if is_cap_too_short(world, race, index, radius(count + 1, level, log_term), is_eager):
        level += 1
        shorter, cap = cap, cap_at(world, level)
        for position in range(count):
            was_capped = world.runtimes[index, world.stream[position]] > shorter
            if was_capped and not run(world, race, index, position, cap):
                return False
    if not run(world, race, index, count, cap):
        return False
    race.started[index], race.level[index] = count + 1, level
    _bound(world, race, index, radius(count + 1, level, log_term))
    return True


@compiled
def _bound(world: World, race: Race, index: int, a: float) -> None:
    """Bring UCB, LCB and the answer up to date with the runs of one configuration."""
    count = race.started[index]
    u = utility_of(world.utility, cap_at(world, race.level[index]))
    hidden = u * (count - race.finished[index]) / count  # counts in Uh, but may be worth nothing
    mean = race.earned[index] / count + hidden
    race.upper[index] = min(race.upper[index], mean + (1.0 - u) * a)
    race.lower[index] = max(race.lower[index], mean - a - hidden)
    if race.incumbent[0] == NOBODY or race.lower[index] > race.lower[race.incumbent[0]]:
        race.incumbent[0] = index


@compiled
def lower_bound(race: Race) -> float:
    """The answer's LCB, and at least 0."""
    incumbent = race.incumbent[0]
    return 0.0 if incumbent == NOBODY else max(0.0, race.lower[incumbent])


@compiled
def gap_below(race: Race, highest: float) -> float:
    """epsilon*: what the answer may lack if no utility is above `highest`; at least 0."""
    return max(0.0, highest - lower_bound(race))


@compiled
def _go_round(world: World, race: Race, log_term: float, epsilon: float) -> tuple[int, Changes]:
    """UP: a run of each in every round, without those whose UCB is below some LCB."""
    left, changes = np.arange(race.started.size), [(0.0, NOBODY)]
    while True:
        if race.started[left[0]] == world.stream.size:
            return USED_UP, changes
        for index in left:
            if not try_next(world, race, int(index), log_term, False):
                return SPENT, changes
            if race.incumbent[0] != changes[-1][1]:
                changes.append((race.charged[0], race.incumbent[0]))
        if gap_below(race, race.upper[left].max()) <= epsilon:
            return CLOSED, changes
        left = left[race.upper[left] >= race.lower[race.incumbent[0]]]


@compiled
def go_for_the_highest(
    world: World, race: Race, pool: NDArray[np.int64], log_term: float, epsilon: float
) -> tuple[int, Changes]:
    """OUP: always a run of the one with the highest UCB; of equal ones, that with the fewest runs.

    No UCB is above 1, and where utilities are close to it many stay there for thousands of runs.
    Were the first of them always chosen, the others would never be looked at.
    """
    changes = [(0.0, race.incumbent[0])]
    while True:
        chosen = pool[0]
        for index in pool:
            least, most = race.upper[chosen], race.upper[index]
            if most > least or (most == least and race.started[index] < race.started[chosen]):
                chosen = index
        if gap_below(race, race.upper[chosen]) <= epsilon:
            return CLOSED, changes
        if race.started[chosen] == world.stream.size:
            return USED_UP, changes
        if not try_next(world, race, chosen, log_term, True):
            return SPENT, changes
        if race.incumbent[0] != changes[-1][1]:
            changes.append((race.charged[0], race.incumbent[0]))


def outcome(race: Race, changes: Changes, stop: int, claim: str, facts: Facts) -> Found:
    """What a race has come to."""
    charged, steps = float(race.charged[0]), int(race.steps[0])
    return Found(tuple(changes), charged, steps, race.spent, STOPS[stop], claim, facts)


def _solve(
    problem: Problem,
    epsilon: float,
    delta: float,
    utility: str,
    scale: float | str,
    alpha: float,
    is_optimistic: bool,
) -> Found:
    check_settings(epsilon, delta)
    world = new_world(problem, choose_utility(problem, utility, scale, alpha))
    size = problem.configurations
    race = new_race(size)
    # Three events for each configuration, m and cap: the mean utility is too far off on either
    # side, or the share of finished runs on one. The papers provide for four.
    log_term = math.log(4.0 * BASEL**2 * size / delta)
    if is_optimistic:
        stop, changes = go_for_the_highest(world, race, np.arange(size), log_term, epsilon)
    else:
        stop, changes = _go_round(world, race, log_term, epsilon)
    gap = gap_below(race, race.upper.max())
    claim, facts = "", Facts()
    if gap < 1.0:  # no utility is above 1: a gap of 1 says nothing
        facts = {"epsilon": gap, "delta": delta, "lower_bound": lower_bound(race)}
        claim = (
            f"With probability at least {1.0 - delta:g}, no configuration has a mean utility more"
            f" than {gap:.4f} above the answer's."
        )
    return outcome(race, changes[1:], stop, claim, facts)


def _method(name: str, title: str, is_optimistic: bool) -> Method:
    return Method(
        name=name,
        title=title,
        run=partial(_solve, is_optimistic=is_optimistic),
        charges="restart",
        guarantee=(
            "with probability 1 - delta, at any time: no configuration has a mean utility more than"
            " the gap above the answer's"
        ),
        stops="when the gap is at most epsilon, or the instances are used up",
        defaults=DEFAULTS,
        anytime=True,
        ends=False,
    )


UP = _method("up", "Utilitarian Procrastination", is_optimistic=False)
OUP = _method("oup", "OUP", is_optimistic=True)
