"""Fits the runtime models of `replay.py` to what `measure.py` has measured. Needs scikit-learn.

    cd benchmarks; python -m peers.replay_fit NAME ...

The model is boosted trees for the logarithm of the runtime of a configuration on an instance. What
is known of an instance is its family, its mean over the reference configurations (the first ones,
which were run on all instances), and the main directions in which their runtimes on it differ from
that. Runs that were cut off count as what they would have taken on average, given the model and
that it was more, as Schmee and Hahn (1979) do it; model and guesses take turns.

How wrong the model is, is seen in cross-validation that leaves out whole configurations:

- What all instances of a left-out configuration have in common, and what those of a family have,
  is found from products of errors on two instances. These become smooth random functions.
- The size of the rest depends on configuration and instance: smaller trees say how. Its shape is
  that of the errors themselves, divided by their size.
- The share of a run's luck that is the seed's is found from the cells with several seeds.

Quality is stated for left-out configurations, and written to `data/NAME.json` with all the rest.
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass
from importlib import import_module
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cunctator import load_table
from cunctator.space.parameters import Value
from cunctator.space.space import Space
from peers.replay import takes_seed
from peers.replay_encoding import Encoding, shipped_space
from peers.replay_files import DATA, FAILED, FIRST_CHECK, SOLVED, arrays_in, facts_of, note
from peers.replay_trees import Trees, arrays_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SHORTEST = 1e-3
"""Seconds; below that, a runtime is that of looking at the clock."""

DIRECTIONS = 5
"""In which the runtimes of an instance differ from what they are on average."""

TURNS = 3
"""Fits with guesses of what was cut off."""

FOLDS = 6
QUANTILES = 801
TABLE_CONFIGURATIONS = 216
LEAST_ERROR = 0.01
"""Errors below this count as this when their size is modelled: their logarithms mean nothing."""

MEAN_TREES = {
    "n_estimators": 300,
    "max_depth": 6,
    "learning_rate": 0.06,
    "subsample": 0.5,
    "max_features": 0.25,
    "min_samples_leaf": 6,
    "random_state": 0,
}
SIZE_TREES = {
    "n_estimators": 80,
    "max_depth": 4,
    "learning_rate": 0.06,
    "subsample": 0.5,
    "max_features": 0.25,
    "min_samples_leaf": 40,
    "random_state": 0,
}


@dataclass
class Cells:
    """Measured runs; those of the table that ships come last, under numbers of their own."""

    name: str
    configurations: list[dict[str, Value]]
    instances: list[str]
    configuration: Integers
    instance: Integers
    seed: Integers
    times: Floats
    """Logarithms of seconds."""
    is_cut: NDArray[np.bool_]
    own: int
    """Cells that are not from the table."""
    rows: Floats
    """Encoded configurations."""

    @property
    def families(self) -> list[str]:
        """Of each instance."""
        return [name.partition("-")[2] for name in self.instances]

    @property
    def is_first(self) -> NDArray[np.bool_]:
        """Whether nothing before is of the same configuration and instance."""
        pairs = self.configuration * len(self.instances) + self.instance
        found = np.zeros(len(pairs), bool)
        found[np.unique(pairs, return_index=True)[1]] = True
        return found

    @property
    def counts(self) -> Integers:
        """On how many instances each configuration was run."""
        first = self.configuration[self.is_first]
        return np.bincount(first, minlength=len(self.configurations))

    @property
    def references(self) -> int:
        """How many configurations, the first ones, were run on all instances before others."""
        return int(np.argmin(self.counts >= len(self.instances)))


def load_cells(name: str) -> Cells:
    """Everything that is known about a solver."""
    space = shipped_space(name)
    found = arrays_in(name)
    cutoff = float(found["cutoff"])
    is_cut = found["verdict"] != SOLVED
    # Runs were killed a little before the cutoff at times, or long before if they broke down.
    until = np.where(found["verdict"] == FAILED, cutoff, found["seconds"])
    seconds = np.clip(until, SHORTEST, cutoff)
    cells = Cells(
        name,
        [json.loads(text) for text in found["configurations"]],
        found["instances"].tolist(),
        found["configuration"].astype(np.int64),
        found["instance"].astype(np.int64),
        found["seed"].astype(np.int64),
        np.log(seconds.astype(np.float64)),
        is_cut,
        len(seconds),
        np.empty((0, 0)),
    )
    level(cells)
    if name == "minisat":
        add_table(cells, space)
    encoding = Encoding(space)
    cells.rows = np.array([encoding.row(values) for values in cells.configurations])
    return cells


def level(cells: Cells) -> None:
    """Bring checks to the speed of the rest, by the default: the machine was busier, or less so."""
    is_default = cells.configuration == 0
    before = np.zeros(len(cells.instances))
    first = is_default & (cells.seed == 0)
    before[cells.instance[first]] = cells.times[first]
    for seed in range(FIRST_CHECK, int(cells.seed.max()) + 1):
        then = is_default & (cells.seed == seed)
        slower = np.median(cells.times[then] - before[cells.instance[then]])
        cells.times[cells.seed == seed] -= slower


def add_table(cells: Cells, space: Space) -> None:
    """Add the columns of the shipped table that are formulas of ours, at this machine's speed."""
    table = load_table("minisat")
    assert table.cutoff is not None
    columns = [table.instances.index(name) for name in cells.instances]
    times = np.log(np.clip(table.runtimes[:, columns], SHORTEST, None))
    of_default = (cells.configuration == 0) & (cells.seed == 0)
    slower = np.median(cells.times[of_default] - times[0, cells.instance[of_default]])
    first, count = len(cells.configurations), len(columns)
    cells.configurations.extend(from_text(text, space) for text in table.configurations)
    numbers = np.arange(first, first + len(table.configurations))
    cells.configuration = np.append(cells.configuration, np.repeat(numbers, count))
    cells.instance = np.append(cells.instance, np.tile(np.arange(count), len(numbers)))
    cells.seed = np.append(cells.seed, np.zeros(times.size, np.int64))
    cells.times = np.append(cells.times, times.ravel() + slower)
    is_cut = table.runtimes[:, columns] >= table.cutoff
    cells.is_cut = np.append(cells.is_cut, is_cut.ravel())


def from_text(text: str, space: Space) -> dict[str, Value]:
    """A row of the table as a configuration of the whole space: "var-decay=0.95 luby=true ..."."""
    given = {p.name: p.default for p in space.parameters}
    for word in text.split():
        name, _, value = word.partition("=")
        given[name] = json.loads(value)
    return space.checked(given)


@dataclass
class Views:
    """What is known of each instance."""

    base: Floats
    """Mean logarithm of the runtimes of the references."""
    features: Floats


def views_of(cells: Cells) -> Views:
    """From the first configurations, as many as have been run on all instances."""
    count = len(cells.instances)
    references = cells.references
    chosen = cells.is_first & (cells.configuration < references)
    times = np.empty((references, count))
    times[cells.configuration[chosen], cells.instance[chosen]] = cells.times[chosen]
    base = times.mean(0)
    differences = times - base - (times - base).mean(1, keepdims=True)
    _, sizes, directions = np.linalg.svd(differences, full_matrices=False)
    kept = min(DIRECTIONS, references - 1)
    families = np.array(cells.families)
    columns = [base, *(sizes[:kept, None] * directions[:kept])]
    columns += [families == family for family in sorted(set(families))]
    return Views(base, np.column_stack(columns).astype(np.float64))


def boosted(settings: dict[str, Any]) -> Any:
    """Trees that are not grown yet."""
    return import_module("sklearn.ensemble").GradientBoostingRegressor(**settings)


@dataclass
class Problem:
    """Features and targets, one row for each cell."""

    features: NDArray[np.float32]
    target: Floats
    is_cut: NDArray[np.bool_]

    def fitted(self, chosen: NDArray[np.bool_]) -> tuple[Any, Floats]:
        """A model of the chosen cells, and targets in which what was cut off is guessed."""
        features, is_cut = self.features[chosen], self.is_cut[chosen]
        target = self.target[chosen].copy()
        for _ in range(TURNS if is_cut.any() else 1):
            model = boosted(MEAN_TREES).fit(features, target)
            means = model.predict(features)
            error = float(np.std((target - means)[~is_cut])) * 1.3  # less on what it has seen
            bounds = self.target[chosen][is_cut]
            target[is_cut] = beyond(means[is_cut], error, bounds)
        return model, target


def beyond(means: Floats, deviation: float, bounds: Floats) -> Floats:
    """Means of normal numbers, given that they are above bounds."""
    hazards = [hazard(above) for above in ((bounds - means) / deviation).tolist()]
    return means + deviation * np.array(hazards)


def hazard(above: float) -> float:
    """The mean of a standard normal number that is above this."""
    above = min(above, 8.0)
    density = math.exp(-(above**2) / 2) / math.sqrt(2 * math.pi)
    return density / (0.5 * math.erfc(above / math.sqrt(2)))


@dataclass
class Errors:
    """What the model got wrong about configurations that it did not know."""

    predicted: Floats
    error: Floats


def left_out(cells: Cells, problem: Problem) -> Errors:
    """Cross-validation by configuration, of our own cells."""
    fold = np.random.default_rng(0).integers(FOLDS, size=len(cells.configurations))
    folds = fold[cells.configuration]
    own = np.arange(len(folds)) < cells.own
    predicted = np.zeros(cells.own)
    error = np.zeros(cells.own)
    for number in range(FOLDS):
        model, _ = problem.fitted(folds != number)
        there = (folds == number) & own
        means = model.predict(problem.features[there])
        target, is_cut = problem.target[there].copy(), problem.is_cut[there]
        usual = float(np.std((target - means)[~is_cut]))
        target[is_cut] = beyond(means[is_cut], usual, target[is_cut])
        here = there[: cells.own]
        predicted[here], error[here] = means, target - means
    return Errors(predicted, error)


@dataclass
class Common:
    """Variances of what errors of a configuration have in common."""

    all_instances: float
    family: float


def common_parts(cells: Cells, error: Floats, chosen: NDArray[np.bool_]) -> Common:
    """From products of errors on two instances, of one family or of two."""
    families = np.array(cells.families)[cells.instance[: cells.own]]
    same, other = [0.0, 0], [0.0, 0]
    for number in np.unique(cells.configuration[: cells.own][chosen]):
        here = np.flatnonzero(chosen & (cells.configuration[: cells.own] == number))
        for one, two in combinations(here, 2):
            pair = same if families[one] == families[two] else other
            pair[0] += error[one] * error[two]
            pair[1] += 1
    across, within = other[0] / max(1, other[1]), same[0] / max(1, same[1])
    return Common(max(0.0, across), max(0.0, within - max(0.0, across)))


def seed_share(cells: Cells, standard: Floats, is_random: bool) -> float:
    """Which share of the variance of standardised errors is between runs of one pair."""
    groups: dict[tuple[int, int], list[float]] = {}
    for place in range(cells.own):
        number = int(cells.configuration[place])
        if not cells.is_cut[place] and cells.seed[place] < FIRST_CHECK:
            key = (number, int(cells.instance[place]))
            groups.setdefault(key, []).append(standard[place])
    variances = [
        np.var(group, ddof=1)
        for (number, _), group in groups.items()
        if len(group) > 1 and takes_seed(cells.name, cells.configurations[number]) == is_random
    ]
    return float(np.clip(np.mean(variances), 0.001, 1.0)) if len(variances) > 5 else 0.01


def by_configuration(
    cells: Cells, times: Floats, chosen: NDArray[np.bool_], cutoff: float
) -> dict[int, float]:
    """The time of each configuration as a share of the default's on the same instances."""
    of_default = (cells.configuration == 0) & (cells.seed == 0)
    default = np.zeros(len(cells.instances))
    default[cells.instance[of_default]] = np.exp(cells.times[of_default])
    seconds = np.minimum(np.exp(times), cutoff)
    shares = {}
    for number in np.unique(cells.configuration[: cells.own][chosen]):
        here = chosen & (cells.configuration[: cells.own] == number)
        base = default[cells.instance[: cells.own][here]].sum()
        shares[int(number)] = float(seconds[here].sum() / base)
    return shares


def correlation(one: dict[int, float], two: dict[int, float]) -> float:
    """Of logarithms."""
    keys = sorted(one)
    pair = np.log([[shares[key] for key in keys] for shares in (one, two)])
    return round(float(np.corrcoef(pair)[0, 1]), 3)


def fit(name: str) -> None:
    """Fit a model, and write it down with what it is worth."""
    cells = load_cells(name)
    views = views_of(cells)
    features = np.hstack([cells.rows[cells.configuration], views.features[cells.instance]])
    target = cells.times - views.base[cells.instance]
    problem = Problem(features.astype(np.float32), target, cells.is_cut)
    errors = left_out(cells, problem)
    model, _ = problem.fitted(np.ones(len(target), bool))
    own = slice(cells.own)
    size = np.log(np.maximum(np.abs(errors.error), LEAST_ERROR))
    sizes = boosted(SIZE_TREES).fit(problem.features[own], size)
    standard = errors.error / np.exp(sizes.predict(problem.features[own]))
    unit = float(np.std(standard))
    chosen = cells.is_first[own] & (cells.configuration[own] >= cells.references)
    common = common_parts(cells, errors.error, chosen)
    rest = 1 - (common.all_instances + common.family) / float(np.var(errors.error))
    shares = [seed_share(cells, standard / unit, is_random) for is_random in (False, True)]
    quantiles = np.quantile(standard / unit, np.linspace(0, 1, QUANTILES))
    arrays: dict[str, NDArray[Any]] = {
        "instances": np.array(cells.instances),
        "base": views.base,
        "features": views.features.astype(np.float32),
        "quantiles": quantiles.astype(np.float32),
        "unit": np.array(unit * np.sqrt(max(rest, 0.1))),
        "common": np.sqrt([common.all_instances, common.family]),
        "seed_shares": np.array(shares),
    }
    arrays |= {f"mean_{part}": array for part, array in arrays_of(model).items()}
    arrays |= {f"size_{part}": array for part, array in arrays_of(sizes).items()}
    np.savez_compressed(DATA / f"{name}.model.npz", allow_pickle=False, **arrays)
    check_trees(arrays, model, problem.features)
    note(
        name,
        {
            "model": quality(cells, views, errors, chosen)
            | {
                "common_deviation": round(float(np.sqrt(common.all_instances)), 4),
                "common_deviation_of_family": round(float(np.sqrt(common.family)), 4),
                "seed_share": [round(share, 3) for share in shares],
            }
        },
    )


def check_trees(arrays: dict[str, NDArray[Any]], model: Any, rows: NDArray[np.float32]) -> None:
    """The arrays say what the model says."""
    parts = {key.removeprefix("mean_"): array for key, array in arrays.items()}
    assert np.allclose(Trees(parts).predict(rows[:500]), model.predict(rows[:500]), atol=1e-3)


def quality(
    cells: Cells, views: Views, errors: Errors, chosen: NDArray[np.bool_]
) -> dict[str, float]:
    """How well left-out configurations are predicted: cells, and means."""
    own = slice(cells.own)
    cutoff = float(np.exp(cells.times[own].max()))
    instances = cells.instance[own]
    whole = chosen & (cells.counts[cells.configuration[own]] >= len(cells.instances))
    drawn = chosen & is_drawn(cells)[cells.configuration[own]]
    predicted = errors.predicted + views.base[instances]
    known = cells.times[own] - views.base[instances]
    return {
        "deviation_of_errors": round(float(np.std(errors.error[chosen])), 3),
        "deviation_of_target": round(float(np.std(known[chosen])), 3),
        "correlation_of_means": correlation(
            by_configuration(cells, predicted, chosen, cutoff),
            by_configuration(cells, cells.times[own], chosen, cutoff),
        ),
        "correlation_of_means_of_drawn": correlation(
            by_configuration(cells, predicted, drawn, cutoff),
            by_configuration(cells, cells.times[own], drawn, cutoff),
        ),
        "correlation_of_means_on_all": correlation(
            by_configuration(cells, predicted, whole, cutoff),
            by_configuration(cells, cells.times[own], whole, cutoff),
        ),
        "on_all": len(np.unique(cells.configuration[own][whole])),
    }


def is_drawn(cells: Cells) -> NDArray[np.bool_]:
    """Which configurations were drawn; the others are near good ones."""
    space = shipped_space(cells.name)
    drawn = [space.configuration(number + 1) for number in range(facts_of(cells.name)["drawn"])]
    return np.array([values in drawn for values in cells.configurations])


if __name__ == "__main__":
    for solver in sys.argv[1:]:
        fit(solver)
