"""Whom to look at next: a plan of configurations, new ones among them, and how far to take each.

Half of a plan's time is for new ones. Each is made from one of the best by the changes that look
most worthwhile under weights drawn from the model's posterior (Thompson sampling): what is likely
to be good is tried, and so is what may be, and what a change does is known from all that had it.

The other half is for knowing better those that are there already: by how much may what the next
rung of the ladder shows improve the answer, for what it costs? (The knowledge gradient of a normal
belief; Frazier, Powell and Dayanik, 2008.) That is much for those that look nearly as good as the
best and are known from few runs, and for the best itself if another one is near.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cunctator.propose.additive import Model, fit
from cunctator.propose.columns import Columns, Configuration, Numbers
from cunctator.propose.evidence import Evidence, Indices, Results, evidence
from cunctator.space.parameters import Value

STREAM = 5
"""Keeps these random numbers apart from those of configurations and instances."""

NEW = 0.5
"""Of the time of a plan, the part for new configurations."""

PARENTS, NEARER = 8, 1.5
"""They are made from the best, so many; a place is chosen with an exponential law of this mean."""

MOST_CHANGES = 6
POINTS, NEARBY = 6, 3
"""Values of a number that are looked at: anywhere, and near the present one ..."""

NEAR = 0.1
"""... within about so much of its range."""

STRAY = 0.15
"""How often one more parameter is changed, whatever the model says: it is sure of what all the good
ones have in common, and would never see anything else."""

TRIES, MOST_VAIN = 10, 32
"""How often it is tried to make a configuration that is allowed, and one that is new, in a plan."""

CLEARLY_BAD, SPREAD = 0.7, 0.3
"""What is so much worse than the best, in logarithms, need not be known well: the rest of it is
taken to be uncertain, by this factor on its square. So the model fits best where it matters."""

MOST_TASKS, FEWEST_TASKS = 64, 4


@dataclass(frozen=True, slots=True)
class Rungs:
    """The ladder: how many pairs each rung has, and up to which cap."""

    pairs: Indices
    caps: Numbers
    entry: int
    """That of newcomers."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What there is to go by."""

    number: int
    """Of the plan that is asked for."""
    seen: Results
    configurations: Sequence[Configuration]
    """Those that `seen` is about, the default first."""
    indices: Indices
    """What the search calls them."""
    reached: Indices
    """The rung that each has reached; below 0 if none."""
    rungs: Rungs
    pairs: int
    """How many there are, of those that have been run or will be soon."""
    seconds: float
    """How much time the plan is for."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to look at next."""

    proposed: tuple[dict[str, Value], ...]
    tasks: tuple[tuple[int, int], ...]
    """(configuration, rung to reach); -1 is the first that is proposed, -2 the second ..."""


@dataclass(frozen=True, slots=True)
class Belief:
    """What each configuration is believed to take, in logarithms."""

    means: Numbers
    deviations: Numbers
    model: Model
    known: Evidence


def plan(columns: Columns, situation: Situation) -> Plan:
    """The next plan; a function of its arguments."""
    random = np.random.default_rng([columns.space.seed, STREAM, situation.number])
    positions = columns.positions(situation.configurations)
    belief = believed(columns, positions, situation)
    climbs = _climbs(belief, situation)
    proposed: list[dict[str, Value]] = []
    tasks: list[tuple[int, int]] = []
    of_new = of_old = 0.0
    vain = 0
    taken = {_key(one) for one in situation.configurations}
    while len(tasks) < MOST_TASKS:
        if of_new + of_old >= situation.seconds and len(tasks) >= FEWEST_TASKS:
            break
        if vain < MOST_VAIN and (of_new * (1.0 - NEW) <= of_old * NEW or not climbs):
            one = _proposal(columns, belief, positions, situation, random)
            if one is None or _key(one) in taken:
                vain += 1  # the space may be used up
                continue
            taken.add(_key(one))
            proposed.append(one)
            tasks.append((-len(proposed), situation.rungs.entry))
            mean = float(belief.model.predict(columns.positions([one]))[0][0])
            of_new += _seconds(belief, situation, mean, situation.rungs.entry, 0)
        elif climbs:
            place = climbs.pop(0)
            rung, runs = int(situation.reached[place]) + 1, int(belief.known.runs[place])
            tasks.append((int(situation.indices[place]), rung))
            of_old += _seconds(belief, situation, float(belief.means[place]), rung, runs)
        else:
            break
    return Plan(tuple(proposed), tuple(tasks))


def believed(columns: Columns, positions: Numbers, situation: Situation) -> Belief:
    """The model's word and each configuration's own runs together."""
    known = evidence(situation.seen, len(situation.configurations), situation.pairs)
    has = known.runs > 0
    means, variances = known.means[has], 1.0 / known.precisions[has]
    excess = np.maximum(0.0, means - np.quantile(means, 0.05) - CLEARLY_BAD)
    model = fit(columns, positions[has], means, variances + SPREAD * excess**2)
    predicted, uncertain = model.predict(positions)
    weight = 1.0 / model.own + known.precisions
    share = 1.0 / model.own / weight
    own = (predicted / model.own + known.means * known.precisions) / weight
    return Belief(own, np.sqrt(1.0 / weight + uncertain * share**2), model, known)


def _climbs(belief: Belief, situation: Situation) -> list[int]:
    """Those that may go on to the next rung, the most worthwhile first."""
    rungs, reached, means = situation.rungs, situation.reached, belief.means
    entered = np.flatnonzero((reached >= 0) & (reached + 1 < rungs.pairs.size))
    if entered.size == 0:
        return []
    order = np.argsort(means, kind="stable")
    best, second = int(order[0]), int(order[min(1, order.size - 1)])
    # For the best itself, what counts is whether the second may turn out to be better.
    against = np.where(np.arange(means.size) == best, means[second], means[best])
    more = np.maximum(1.0, rungs.pairs[reached[entered] + 1] - belief.known.runs[entered])
    before = belief.deviations[entered] ** 2
    after = 1.0 / (1.0 / before + more / belief.known.noise**2)
    learned = np.sqrt(np.maximum(before - after, 1e-12))
    away = np.abs(means[entered] - against[entered]) / learned
    gained = learned * np.array([_expected_gain(one) for one in away.tolist()])
    cost = more * np.exp(np.minimum(means[entered], means[best] + 1.0))
    return [int(place) for place in entered[np.argsort(-gained / cost, kind="stable")]]


def _expected_gain(away: float) -> float:
    """E max(Z - away, 0) of a standard normal Z."""
    density = math.exp(-0.5 * away * away) / math.sqrt(2.0 * math.pi)
    return density - away * 0.5 * math.erfc(away / math.sqrt(2.0))


def _seconds(belief: Belief, situation: Situation, mean: float, rung: int, runs: int) -> float:
    """What taking a configuration to a rung may take."""
    typical = math.exp(mean + 0.5 * belief.known.noise**2) * float(
        np.exp(belief.known.pairs).mean()
    )
    more = max(1, int(situation.rungs.pairs[rung]) - runs)
    return more * min(typical, float(situation.rungs.caps[rung]))


def _proposal(
    columns: Columns,
    belief: Belief,
    positions: Numbers,
    situation: Situation,
    random: np.random.Generator,
) -> dict[str, Value] | None:
    """A new configuration; None if none was found."""
    best = np.argsort(belief.means, kind="stable")[:PARENTS]
    for _ in range(TRIES):
        parent = int(best[min(best.size - 1, int(random.exponential(NEARER)))])
        weights = belief.model.drawn(random)
        changes = _changes(belief.model, positions[parent], weights, random)
        wanted = 1 + int(random.integers(MOST_CHANGES))
        values = dict(situation.configurations[parent])
        for column, position in changes[:wanted]:
            name = columns.parameters[column].name
            values[name] = columns.value(column, position, situation.configurations[parent])
        if random.random() < STRAY:
            values |= _stray(columns, positions[parent], situation.configurations[parent], random)
        found = columns.space.fitted(values)
        if found is not None and _key(found) != _key(situation.configurations[parent]):
            return found
    return None


def _stray(
    columns: Columns, position: Numbers, parent: Configuration, random: np.random.Generator
) -> dict[str, Value]:
    """A change of one parameter, whatever the model thinks of it."""
    active = np.flatnonzero(~np.isnan(position))
    if active.size == 0:
        return {}
    column = int(random.choice(active))
    others = _values_to_look_at(columns, column, float(position[column]), random)
    if not others:
        return {}
    name = columns.parameters[column].name
    return {name: columns.value(column, others[int(random.integers(len(others)))], parent)}


def _changes(
    model: Model, position: Numbers, weights: Numbers, random: np.random.Generator
) -> list[tuple[int, float]]:
    """For each parameter that may change the best value by these weights, the best change first."""
    columns, blocks = model.columns, model.columns.blocks(model.products)
    present = [columns.columns_of(column, position[[column]]) for column in range(position.size)]
    found = []
    for column in np.flatnonzero(~np.isnan(position)).tolist():
        others = _values_to_look_at(columns, column, float(position[column]), random)
        if not others:
            continue
        changed = columns.columns_of(column, np.array([position[column], *others]))
        costs = changed @ weights[blocks[column].columns]
        for block, (one, other) in zip(blocks[position.size :], model.products, strict=True):
            if column in (one, other):
                left = changed if column == one else present[one]
                right = changed if column == other else present[other]
                costs = costs + columns.product(one, other, left, right) @ weights[block.columns]
        place = int(costs[1:].argmin())
        found.append((float(costs[place + 1] - costs[0]), column, others[place]))
    found.sort()
    good = [change for change in found if change[0] < 0.0] or found[:1]
    return [(column, other) for _, column, other in good]


def _values_to_look_at(
    columns: Columns, column: int, position: float, random: np.random.Generator
) -> list[float]:
    parameter = columns.parameters[column]
    if parameter.values:
        size = len(parameter.values)
        present = min(int(position * size), size - 1)
        return [(place + 0.5) / size for place in range(size) if place != present]
    near = position + NEAR * random.standard_normal(NEARBY)
    return [*random.random(POINTS).tolist(), *np.clip(near, 0.0, 1.0 - 1e-9).tolist()]


def _key(configuration: Configuration) -> tuple[tuple[str, type, Value], ...]:
    # To Python, 1, 1.0 and True are the same.
    return tuple((name, type(value), value) for name, value in configuration.items())
