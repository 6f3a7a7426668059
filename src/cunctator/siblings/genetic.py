"""GGA, the gender-based genetic algorithm, on a table whose names tell parameters' values.

Ansótegui, Sellmann and Tierney (2009), with the settings of OPTANO Algorithm Tuner. Half of the
population competes: in tournaments, on more and more instances from one generation to the next.
The winners mate with members of the other half, which are never run. Everybody dies at a certain
age, and children take the places.

A tournament is a race: its members run their instances side by side, and when enough of them have
finished, the others are stopped. A result that is kept from before is not run again, but its
runtime counts: that member waits for as long. Otherwise those of whom more is known would win.

A child whose values are no row of the table becomes the nearest row, the one that differs in the
fewest parameters. Two members that are the same row are one in a tournament.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cunctator.base.errors import InvalidSetting
from cunctator.siblings.method import Method, Settings
from cunctator.siblings.problem import SPENT, Found, Problem
from cunctator.siblings.settings import number_within, whole
from cunctator.siblings.table_space import TableSpace, read_parameters

STREAM_NUMBER = 302
"""Keeps the random numbers of this search apart from others of the same seed."""

DEFAULT_ROW = 0

TRAINING = 1000
"""Instances of a generation are drawn from so many of the stream's first positions, or from all if
there are fewer: what is kept of a configuration is then often used again."""

Rows = NDArray[np.int64]


class GeneticRules(NamedTuple):
    """The settings, after checking them."""

    population: int
    generations: int
    tournament: int
    winners: float
    age: int
    first_instances: int
    last_instances: int
    full_generation: int
    switch: float
    mutation: float
    variance: float


def instances_in(rules: GeneticRules, generation: int) -> int:
    """How many instances a generation, counted from 0, is run on: a line, then level."""
    if generation + 1 >= rules.full_generation:
        return rules.last_instances
    more = rules.last_instances - rules.first_instances
    return rules.first_instances + more * generation // (rules.full_generation - 1)


@dataclass
class GeneticLedger:
    """What was run so far, and what it cost."""

    problem: Problem
    finished: NDArray[np.bool_]
    """By configuration and position."""
    spent: NDArray[np.float64]
    charged: float = 0.0
    steps: int = 0

    @property
    def is_spent(self) -> bool:
        """Whether there is nothing left of the budget."""
        return self.charged >= self.problem.budget

    def race(self, rows: Rows, positions: Rows, count: int) -> tuple[Rows, NDArray[np.float64]]:
        """The first `count` of distinct rows to finish all positions, and their means.

        The clock stops sooner if the budget is spent; the result is meaningless then.
        """
        times = self.problem.runtimes[np.ix_(rows, self.problem.stream[positions])]
        is_kept = self.finished[np.ix_(rows, positions)]
        kept = np.where(is_kept, times, 0.0).sum(axis=1)
        ends = kept[:, None] + np.cumsum(np.where(is_kept, 0.0, times), axis=1)
        ranked = np.argsort(ends[:, -1], kind="stable")[:count]
        clock = self._charge(rows, kept, ends[:, -1], float(ends[ranked[-1], -1]))
        self.steps += int(np.count_nonzero(~is_kept & (ends - times < clock)))
        self.finished[np.ix_(rows, positions)] |= ends <= clock
        return rows[ranked], ends[ranked, -1] / positions.size

    def _charge(
        self, rows: Rows, kept: NDArray[np.float64], totals: NDArray[np.float64], clock: float
    ) -> float:
        """Charge a race up to a time, or to when the budget is spent; returns the one it was.

        A member begins at the time that its kept results stand for.
        """

        def used(until: float) -> NDArray[np.float64]:
            return np.clip(np.minimum(totals, until) - kept, 0.0, None)

        charged = self.charged + float(used(clock).sum())
        if charged >= self.problem.budget:
            # Between the times at which members begin and end, the charge is a straight line.
            corners = np.unique(np.concatenate([kept, totals, [clock]]))
            charges = [float(used(corner).sum()) for corner in corners]
            clock = float(np.interp(self.problem.budget - self.charged, charges, corners))
            charged = self.problem.budget
        self.spent[rows] += used(clock)
        self.charged = charged
        return clock


@dataclass
class Breeding:
    """How children come about."""

    space: TableSpace
    rules: GeneticRules
    random: np.random.Generator

    def child(self, competitive: int, other: int) -> int:
        """The row that is most like a mix of two rows, with mutations."""
        mixed = self.mix(self.space.values[competitive], self.space.values[other])
        return self.space.nearest(self.mutate(mixed), self.random)

    def mix(self, first: Rows, second: Rows) -> Rows:
        """Take each value from one of the parents.

        GGA goes down a tree of parameters, and mostly stays with the parent that it took the last
        value from. Names tell no tree, so the parameters are taken one after the other.
        """
        different = np.flatnonzero(first != second)
        switches = self.random.random(different.size) < self.rules.switch
        switches[:1] = self.random.random() < 0.5
        child = first.copy()
        from_second = different[np.cumsum(switches) % 2 == 1]
        child[from_second] = second[from_second]
        return child

    def mutate(self, values: Rows) -> Rows:
        """Change some values: numbers by a normal step in their order, others to any value.

        The variance is that of the step if the values are spread evenly from 0 to 1: in seconds or
        megabytes it would depend on the unit.
        """
        sizes, size = self.space.sizes, values.size
        is_changed = self.random.random(size) < self.rules.mutation
        deviation = math.sqrt(self.rules.variance) * (sizes - 1)
        moved = np.rint(values + deviation * self.random.standard_normal(size)).astype(np.int64)
        moved = np.clip(moved, 0, sizes - 1)
        drawn = self.random.integers(sizes)
        return np.where(is_changed, np.where(self.space.ordered, moved, drawn), values)


@dataclass
class Half:
    """One gender: the rows of its members, and how many generations each has lived through."""

    rows: Rows
    ages: NDArray[np.int64]

    def grow_older(self, age: int) -> NDArray[np.int64]:
        """The places of those that die now."""
        self.ages += 1
        return np.flatnonzero(self.ages >= age)


def first_halves(rules: GeneticRules, rows: int, random: np.random.Generator) -> tuple[Half, Half]:
    """The default and random rows, half of them to compete, of all ages."""
    drawn = random.integers(rows, size=rules.population)
    drawn[0] = DEFAULT_ROW
    ages = np.arange(rules.population) % rules.age
    split = rules.population // 2
    return Half(drawn[:split], ages[:split]), Half(drawn[split:], ages[split:])


def compete(
    ledger: GeneticLedger, rules: GeneticRules, members: Rows, positions: Rows
) -> list[tuple[float, int]]:
    """The winners of a generation's tournaments and their means, the best first.

    None if the budget was spent before all of them were over.
    """
    found: list[tuple[float, int]] = []
    for begin in range(0, members.size, rules.tournament):
        group = members[begin : begin + rules.tournament]
        rows = group[np.sort(np.unique(group, return_index=True)[1])]
        # Rounded up, but not because 0.28 of 25 is 7.000000000000001.
        count = max(1, math.ceil(rules.winners * group.size - 1e-9))
        winners, means = ledger.race(rows, positions, count)
        if ledger.is_spent:
            return []
        found += zip(means.tolist(), winners.tolist(), strict=True)
    return sorted(found)


def replace_old(breeding: Breeding, halves: tuple[Half, Half], winners: list[int]) -> None:
    """Put children in the places of those that die; all winners have equally many, give or take."""
    places = [half.grow_older(breeding.rules.age) for half in halves]
    count = places[0].size + places[1].size
    mates = breeding.random.choice(halves[1].rows, size=count)
    children = [breeding.child(winners[k % len(winners)], int(mates[k])) for k in range(count)]
    born = breeding.random.permutation(children)
    for half, place, rows in zip(halves, places, np.split(born, [places[0].size]), strict=True):
        half.rows[place], half.ages[place] = rows, 0


def evolve(problem: Problem, **settings: float | str) -> Found:
    """Run GGA; the answer is, after each generation, the winner of least mean in it."""
    rules, space = check_rules(problem, settings), read_parameters(problem.table)
    random = np.random.default_rng([problem.seed, STREAM_NUMBER])
    training = min(problem.stream.size, max(TRAINING, rules.last_instances))
    finished = np.zeros((problem.configurations, training), dtype=np.bool_)
    ledger = GeneticLedger(problem, finished, np.zeros(problem.configurations))
    breeding, halves = Breeding(space, rules, random), first_halves(rules, len(finished), random)
    trajectory: list[tuple[float, int]] = []
    facts: dict[str, float] = {}
    for generation in range(rules.generations):
        count = instances_in(rules, generation)
        positions = random.choice(training, size=count, replace=False)
        found = compete(ledger, rules, random.permutation(halves[0].rows), positions)
        if not found:
            break
        mean, incumbent = found[0]
        facts = {"generations": generation + 1, "instances": count, "mean": mean}
        if not trajectory or trajectory[-1][1] != incumbent:
            trajectory.append((ledger.charged, incumbent))
        replace_old(breeding, halves, [row for _, row in found])
    over = f"all {rules.generations} generations are over"
    stop = SPENT if ledger.is_spent else over
    return Found(tuple(trajectory), ledger.charged, ledger.steps, ledger.spent, stop, facts=facts)


def check_rules(problem: Problem, settings: Settings) -> GeneticRules:
    """The settings, and whether there are enough instances for them."""
    given = {**GGA.defaults, **settings}
    first = whole("first_instances", given["first_instances"], 1)
    last = whole("last_instances", given["last_instances"], 1)
    if last < first:
        raise InvalidSetting("last_instances", last, f"expected {first} or more, as at first")
    size = problem.stream.size
    less = f"first_instances = {size} and " if first > size else ""
    problem.need(GGA.title, last, lambda: f"{less}last_instances = {size}")
    return GeneticRules(
        population=whole("population", given["population"], 2, 10**6),
        generations=whole("generations", given["generations"], 1),
        tournament=whole("tournament", given["tournament"], 1),
        winners=number_within("winners", given["winners"], 0.0, 1.0),
        age=whole("age", given["age"], 1),
        first_instances=first,
        last_instances=last,
        full_generation=whole("full_generation", given["full_generation"], 1),
        switch=number_within("switch", given["switch"], 0.0, 1.0),
        mutation=number_within("mutation", given["mutation"], 0.0, 1.0),
        variance=number_within("variance", given["variance"], 0.0, 1.0),
    )


GGA = Method(
    name="gga",
    title="GGA",
    run=evolve,
    charges="restart",
    guarantee="none",
    stops="after 100 generations",
    defaults={
        "population": 128,
        "generations": 100,
        "tournament": 8,
        "winners": 0.125,
        "age": 3,
        "first_instances": 5,
        "last_instances": 100,
        "full_generation": 75,
        "switch": 0.1,
        "mutation": 0.1,
        "variance": 0.1,
    },
    anytime=True,
    needs_parameters=True,
)
