"""Successive halving and Hyperband, with instances as the resource that is handed out.

Successive halving (Karnin, Koren and Somekh, 2013; Jamieson and Talwalkar, 2016) gives all rounds
an equal part of its runs, and leaves the worse half behind after each. Hyperband (Li et al., 2018)
does the same in several brackets, from many configurations on few instances to few on many, as
nobody knows which of these is right.

Every run goes to the cutoff and every configuration goes through the stream from its beginning, so
whatever is compared is compared on the same instances, and nothing needs to be run twice.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from cunctator.base.errors import InvalidSetting
from cunctator.siblings.compiled import compiled
from cunctator.siblings.method import Method
from cunctator.siblings.problem import SPENT, Found, Problem
from cunctator.siblings.settings import whole

BRACKET_STREAM = 31
"""Keeps the random numbers of Hyperband's brackets apart from others of the same seed."""


@compiled
def _run_on(
    runtimes: NDArray[np.float64],
    stream: NDArray[np.int64],
    members: NDArray[np.int64],
    until: int,
    seen: NDArray[np.int64],
    spent: NDArray[np.float64],
    left: float,
) -> tuple[bool, int, float]:
    """Run all members on the positions below `until` that they have not seen yet.

    Returns whether that was finished within the seconds left, how many runs it took, and the
    seconds left. The run that the budget ends in the middle of is charged and not seen.
    """
    steps = 0
    for member in members:
        for position in range(seen[member], until):
            if left <= 0.0:
                return False, steps, left
            runtime = runtimes[member, stream[position]]
            seconds = min(runtime, left)
            spent[member] += seconds
            left -= seconds
            steps += 1
            if seconds < runtime:
                return False, steps, left
            seen[member] = position + 1
    return True, steps, left


@compiled
def _totals(
    runtimes: NDArray[np.float64],
    stream: NDArray[np.int64],
    members: NDArray[np.int64],
    until: int,
) -> NDArray[np.float64]:
    """The members' sums over the first positions, also if some have seen more."""
    totals = np.zeros(members.size)
    for place in range(members.size):
        for position in range(until):
            totals[place] += runtimes[members[place], stream[position]]
    return totals


class _Race:
    """What both methods keep: who has seen how much, what it cost, and the answers so far."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.seen = np.zeros(problem.configurations, dtype=np.int64)
        self.spent = np.zeros(problem.configurations)
        self.left, self.steps = problem.budget, 0
        self.trajectory: list[tuple[float, int]] = []

    @property
    def charged(self) -> float:
        return float(self.spent.sum())

    def round(self, members: NDArray[np.int64], until: int) -> NDArray[np.int64] | None:
        """Have all members run up to a position; returns them best first, or None: no budget."""
        runtimes, stream = self.problem.runtimes, self.problem.stream
        finished, steps, self.left = _run_on(
            runtimes, stream, members, until, self.seen, self.spent, self.left
        )
        self.steps += steps
        return self.ranked(members, until) if finished else None

    def ranked(self, members: NDArray[np.int64], until: int) -> NDArray[np.int64]:
        """Order members by their means over the first positions, then by index."""
        totals = _totals(self.problem.runtimes, self.problem.stream, members, until)
        return members[np.lexsort((members, totals))]

    def recommend(self, index: int) -> None:
        if not self.trajectory or self.trajectory[-1][1] != index:
            self.trajectory.append((self.charged, index))

    def outcome(self, stop: str) -> Found:
        """Neither method claims anything."""
        facts = {"instances": float(self.seen.max())}
        return Found(
            tuple(self.trajectory), self.charged, self.steps, self.spent, stop, facts=facts
        )


def round_sizes(count: int) -> list[int]:
    """How many configurations are in each of the ceil(log2 n) rounds: of odd ones, more stay."""
    sizes = []
    while count > 1:
        sizes.append(count)
        count = (count + 1) // 2
    return sizes


def more_instances(runs: int, sizes: list[int]) -> list[int]:
    """How many more instances each round gives to those in it: floor(B / (|S| rounds))."""
    return [runs // (size * len(sizes)) for size in sizes]


def most_runs(positions: int, sizes: list[int]) -> int:
    """The largest B with which nobody sees more than so many instances."""
    # The last round is between two, and adds at least B / (2 rounds) - 1 instances.
    beyond = 2 * len(sizes) * (positions + 1)
    fewer = bisect_right(
        range(beyond), positions, key=lambda runs: sum(more_instances(runs, sizes))
    )
    return fewer - 1


def _runs(problem: Problem, instances: float, sizes: list[int]) -> int:
    """B, after seeing that every round has an instance and that the stream has as many."""
    runs = whole("instances", instances, 0)
    if not sizes:
        return runs
    least = sizes[0] * len(sizes)
    if runs == 0:
        runs = max(least, most_runs(len(problem.table.instances), sizes))
    if runs < least:
        expected = f"expected 0, or at least {least}: {len(sizes)} rounds of {sizes[0]} runs"
        raise InvalidSetting("instances", instances, expected)
    largest = most_runs(problem.stream.size, sizes)
    problem.need(
        SUCCESSIVE_HALVING.title,
        sum(more_instances(runs, sizes)),
        lambda: f"instances = {largest}" if largest >= least else "",
    )
    return runs


def halve(problem: Problem, instances: float) -> Found:
    """Run successive halving until one configuration is left."""
    race, sizes = _Race(problem), round_sizes(problem.configurations)
    members, until = np.arange(problem.configurations), 0
    more = more_instances(_runs(problem, instances, sizes), sizes)
    for added, size in zip(more, sizes, strict=True):
        until += added
        ranked = race.round(members, until)
        if ranked is None:
            return race.outcome(SPENT)
        race.recommend(int(ranked[0]))
        members = ranked[: (size + 1) // 2]
    race.recommend(int(members[0]))
    return race.outcome("one configuration is left")


def brackets(count: int, instances: int, eta: int) -> list[list[tuple[int, int]]]:
    """For each bracket s = smax, ..., 0 its rounds: how many configurations, on how many instances.

    n = ceil((smax + 1) eta^s / (s + 1)) begin, or all if there are fewer; round i has floor(n /
    eta^i) of them, at least one, and floor(R / eta^(s - i)) instances, the last one all of R. In
    whole numbers, as the logarithm of a power of eta may come out below it.
    """
    last = 0
    while eta ** (last + 1) <= instances:
        last += 1
    plan = []
    for s in range(last, -1, -1):
        begin = min(count, -(-(last + 1) * eta**s // (s + 1)))
        rounds = range(s + 1)
        plan.append([(max(1, begin // eta**i), instances // eta ** (s - i)) for i in rounds])
    return plan


def hyperband(problem: Problem, instances: float, eta: float) -> Found:
    """Run all brackets of Hyperband once.

    A bracket's configurations are drawn without replacement. What is known of them from other
    brackets is kept and not charged again.
    """
    most = whole("instances", instances, 0) or len(problem.table.instances)
    plan = brackets(problem.configurations, most, whole("eta", eta, 2))
    problem.need(HYPERBAND.title, most, lambda: f"instances = {problem.stream.size}")
    random = np.random.default_rng([problem.seed, BRACKET_STREAM])
    race, longest = _Race(problem), 0
    best = np.zeros(0, dtype=np.int64)
    for rounds in plan:
        members = random.permutation(problem.configurations)
        for size, until in rounds:
            ranked = race.round(members[:size], until)
            if ranked is None:
                return race.outcome(SPENT)
            # A mean over few instances may be low by luck, so the answer is the best of those that
            # have seen the most; only the first bracket has to work its way up to there.
            if until >= longest:
                rivals = best if until == longest else best[:0]
                longest, best = until, race.ranked(np.append(rivals, ranked[0]), until)[:1]
                race.recommend(int(best[0]))
            members = ranked
    return race.outcome("all brackets are done")


SUCCESSIVE_HALVING = Method(
    name="sh",
    title="Successive halving",
    run=halve,
    charges="once",
    guarantee="none",
    stops="when one configuration is left",
    defaults={"instances": 0},
    anytime=True,
)

HYPERBAND = Method(
    name="hyperband",
    title="Hyperband",
    run=hyperband,
    charges="once",
    guarantee="none",
    stops="when all brackets are done",
    defaults={"instances": 0, "eta": 3},
    anytime=True,
)
