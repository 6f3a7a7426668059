"""AC-Band (Brandt, Schede, Haddenhorst, Bengs, Hüllermeier and Tierney, 2023).

Configurations are drawn at random, in epochs of half as many each, and race in groups: the first
that solves an instance scores and stops the rest. The better part of each group goes on, until one
is left that meets the draws of the next epoch. Early epochs leave many behind after each race,
later ones few.

What it finds is good in the sense of races won, not of mean runtimes. Those may differ: a race is
won by a second or by an hour alike.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cunctator.base.errors import InvalidSetting
from cunctator.siblings.compiled import compiled
from cunctator.siblings.method import Method
from cunctator.siblings.problem import SPENT, Found, Problem
from cunctator.siblings.settings import check_shares, whole

DRAW_STREAM = 32
"""Keeps the random numbers of the draws apart from others of the same seed."""

SMALLEST_ALPHA = 1e-4
"""With delta = 0.01 it takes 46,000 draws, more than tables have rows."""


class Epoch(NamedTuple):
    """One epoch of the plan."""

    number: int
    """e, from 1 on."""
    drawn: int
    """ceil(n0 / 2^e) new ones, who meet the answer of the epoch before: n_e = drawn + 1."""
    divisor: float
    """C_e: it has B / C_e instances."""


def plan_epochs(alpha: float, delta: float, group_size: int) -> list[Epoch]:
    """All epochs. At least N = ceil(ln delta / ln(1 - alpha)) are drawn in them together.

    So many independent draws all miss the best alpha with probability at most delta. With
    n0 = N + 1 and E = ceil(log2(n0 / (n0 - N))) = ceil(log2 n0) epochs, n0 (1 - 2^-E) >= N.

    An epoch's instances are in proportion to 2^-e (1 + log(5 n0 k / 2^e)), a bound on its rounds,
    with the logarithm to the base 1 + (k - 1) / E. The paper's C_e is this with the sum worked out.
    """
    first = math.ceil(math.log(delta) / math.log1p(-alpha)) + 1
    count = (first - 1).bit_length()
    base = 1.0 + (group_size - 1) / count
    numbers = range(1, count + 1)
    rounds = [1.0 + math.log(5 * first * group_size / 2**e, base) for e in numbers]
    shares = [bound / 2**e for e, bound in zip(numbers, rounds, strict=True)]
    return [
        Epoch(e, -(-first // 2**e), sum(shares) / share)
        for e, share in zip(numbers, shares, strict=True)
    ]


def kept_of(size: int, group_size: int, epoch: int) -> int:
    """How many of a group go on: floor(size / 2^rho), 2^rho = (e + k - 1) / e; at least one."""
    return max(1, size * epoch // (epoch + group_size - 1))


def groups_of(size: int, group_size: int) -> int:
    """How many groups so many make; what is left over does not race in this round."""
    return max(1, size // group_size)


def rounds_by_size(most: int, group_size: int, epoch: int) -> list[int]:
    """How many rounds it takes until one is left, for 0, 1, ... `most` of them."""
    rounds = [0, 0]
    for size in range(2, most + 1):
        raced = min(size, group_size)
        groups = groups_of(size, group_size)
        left = groups * kept_of(raced, group_size, epoch) + size - groups * raced
        rounds.append(rounds[left] + 1)
    return rounds


def least_instances(epochs: list[Epoch], group_size: int, count: int) -> int:
    """The least B with which every group of every round has an instance to race on.

    Whatever is drawn: a row of the table that is drawn twice races once, so that there may be
    fewer in an epoch than were drawn, and fewer may take more rounds.
    """
    least = 0
    for epoch in epochs:
        size = min(epoch.drawn + 1, count)
        rounds = max(rounds_by_size(size, group_size, epoch.number))
        needed = groups_of(size, group_size) * rounds
        least = max(least, math.ceil(needed * epoch.divisor))
        while math.floor(least / epoch.divisor) < needed:
            least += 1  # a product that was rounded down
    return least


@compiled
def _race(
    runtimes: NDArray[np.float64],
    columns: NDArray[np.int64],
    group: NDArray[np.int64],
    spent: NDArray[np.float64],
    left: float,
) -> tuple[bool, NDArray[np.int64], int, float]:
    """Race a group on some instances.

    Returns whether that was finished within the seconds left, the scores, the races begun and the
    seconds left. All that are first score: runtimes are recorded with few digits, and neither is
    the better. Where nobody is done before the cutoff all do, which is the same as nobody.
    """
    scores = np.zeros(group.size, dtype=np.int64)
    races = 0
    for column in columns:
        if left <= 0.0:
            return False, scores, races, left
        fastest = np.inf
        for member in group:
            fastest = min(fastest, runtimes[member, column])
        seconds = min(fastest, left / group.size)
        left -= group.size * seconds
        races += 1
        for place in range(group.size):
            spent[group[place]] += seconds
            if runtimes[group[place], column] == fastest:
                scores[place] += 1
        if seconds < fastest:
            return False, scores, races, left
    return True, scores, races, left


class Races:
    """What all races share: what was spent, and what is left."""

    def __init__(self, problem: Problem, group_size: int) -> None:
        self.problem = problem
        self.group_size = group_size
        self.spent = np.zeros(problem.configurations)
        self.left, self.steps = problem.budget, 0

    def last_of(
        self, members: NDArray[np.int64], columns: NDArray[np.int64], epoch: int
    ) -> int | None:
        """Combinatorial successive elimination: the one that is left, or None: no budget.

        Each round has an equal slice of the instances, and each of its groups, the last one too, an
        equal part of the slice. Who is left over comes first in the next round, so as to race then.
        """
        rounds = rounds_by_size(members.size, self.group_size, epoch)[members.size]
        for turn in range(rounds):
            groups = groups_of(members.size, self.group_size)
            share = columns.size // (groups * rounds)
            begin = turn * (columns.size // rounds)
            raced = groups * min(members.size, self.group_size)
            parts = [members[raced:]]
            for group in np.split(members[:raced], groups):
                best = self.best_of(group, columns[begin : begin + share], epoch)
                if best is None:
                    return None
                parts.append(best)
                begin += share
            members = np.concatenate(parts)
        return int(members[0])

    def best_of(
        self, group: NDArray[np.int64], columns: NDArray[np.int64], epoch: int
    ) -> NDArray[np.int64] | None:
        """Those of a group that go on, or None: no budget. Of equal scores, the first go on."""
        finished, scores, races, self.left = _race(
            self.problem.runtimes, columns, group, self.spent, self.left
        )
        self.steps += races * group.size
        if not finished:
            return None
        kept = kept_of(group.size, self.group_size, epoch)
        return group[np.argsort(-scores, kind="stable")[:kept]]


def _instances(
    problem: Problem, instances: float, alpha: float, delta: float, group_size: int
) -> int:
    """B, after seeing that it is enough for one race each and that the stream has as many."""

    def least_for(share: float) -> int:
        epochs = plan_epochs(share, delta, group_size)
        return least_instances(epochs, group_size, problem.configurations)

    def fits() -> str:
        if least <= found:
            return f"group_size = {group_size} and instances = {found}"
        larger = (percent / 100 for percent in range(1, 100) if percent / 100 > alpha)
        share = next((share for share in larger if least_for(share) <= found), None)
        if share is None:
            return ""
        return f"alpha = {share:g}, group_size = {group_size} and instances = {found}"

    found, least = problem.stream.size, least_for(alpha)
    budget = whole("instances", instances, 0) or max(least, len(problem.table.instances))
    if budget < least:
        expected = f"expected 0, or at least {least}: an instance for each race"
        raise InvalidSetting("instances", budget, expected)
    problem.need(AC_BAND.title, budget, fits)
    return budget


def solve(
    problem: Problem, alpha: float, delta: float, group_size: float, instances: float
) -> Found:
    """Run all epochs.

    Draws are with replacement, as the guarantee's are independent; who is drawn twice in an epoch
    races once. The answer so far comes first, so that it stays where nobody scores more.
    """
    check_shares(alpha=alpha, delta=delta)
    if alpha < SMALLEST_ALPHA:
        raise InvalidSetting("alpha", alpha, f"expected at least {SMALLEST_ALPHA:g}")
    size = whole("group_size", group_size, 2)
    budget = _instances(problem, instances, alpha, delta, size)
    epochs = plan_epochs(alpha, delta, size)
    random = np.random.default_rng([problem.seed, DRAW_STREAM])
    races, stop, begin = Races(problem, size), f"all {len(epochs)} epochs are done", 0
    incumbent = int(random.integers(problem.configurations))
    trajectory: list[tuple[float, int]] = []
    for epoch in epochs:
        drawn = random.integers(problem.configurations, size=epoch.drawn).tolist()
        members = np.array(list(dict.fromkeys([incumbent, *drawn])), dtype=np.int64)
        end = begin + math.floor(budget / epoch.divisor)
        winner = races.last_of(members, problem.stream[begin:end], epoch.number)
        if winner is None:
            stop = SPENT
            break
        if not trajectory or winner != incumbent:
            trajectory.append((float(races.spent.sum()), winner))
        incumbent, begin = winner, end
    claim = (
        f"With probability at least {1 - delta:g}, it is one of the best {alpha:.4g} of all"
        f" configurations by races won, if {budget:,} instances are enough to tell them apart,"
        " which it cannot know."
    )
    return Found(
        trajectory=tuple(trajectory),
        charged=float(races.spent.sum()),
        steps=races.steps,
        spent=races.spent,
        stop=stop,
        claim="" if stop == SPENT else claim,
        facts={"alpha": alpha, "delta": delta, "instances": float(budget)},
    )


AC_BAND = Method(
    name="ac-band",
    title="AC-Band",
    run=solve,
    charges="once",
    guarantee=(
        "one of the best alpha by races won with probability 1 - delta, if there are enough"
        " instances; how many are enough depends on the problem"
    ),
    stops="when all epochs are done",
    defaults={"alpha": 0.05, "delta": 0.01, "group_size": 16, "instances": 0},
    grid={"alpha": (0.05, 0.02, 0.01), "group_size": (2, 4, 8, 16)},
    anytime=True,
)
