"""Small mixed-integer programs for the replay of HiGHS: a seeded mix of families, as LP files.

Model k is a function of (seed, k) alone and its family is drawn at random, as with the formulas of
the demonstration. The sizes are such that HiGHS takes hundredths to tenths of a second on most of
them; nothing was chosen by how configurations do on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

Generator = np.random.Generator
Terms = Mapping[str, int]

TERMS_OF_A_LINE = 20
"""Readers of LP files put up with lines of some hundred characters only."""


@dataclass
class Model:
    """A program in whole numbers: minimise, or the rows' left sides are at most or least."""

    objective: dict[str, int] = field(default_factory=dict)
    maximise: bool = False
    rows: list[tuple[Terms, str, int]] = field(default_factory=list)
    binaries: list[str] = field(default_factory=list)

    def add(self, terms: Terms, sign: str, bound: int) -> None:
        """A row."""
        self.rows.append((terms, sign, bound))

    def text(self) -> str:
        """As an LP file; variables that are not binary are continuous and at least 0."""
        lines = ["Maximize" if self.maximise else "Minimize", " objective:"]
        lines.extend(_sum(self.objective))
        lines.append("Subject To")
        for number, (terms, sign, bound) in enumerate(self.rows):
            lines.extend([f" r{number}:", *_sum(terms), f" {sign} {bound}"])
        lines.append("Binary")
        lines.extend(f" {name}" for name in self.binaries)
        return "\n".join([*lines, "End", ""])


def _sum(terms: Terms) -> Iterable[str]:
    words = [f"{factor:+d} {name}" for name, factor in terms.items() if factor]
    for start in range(0, len(words), TERMS_OF_A_LINE):
        yield " " + " ".join(words[start : start + TERMS_OF_A_LINE])


def covering(random: Generator) -> Model:
    """Cover all elements with sets of least weight."""
    elements, sets = int(random.integers(35, 70)), int(random.integers(80, 170))
    members = random.random((elements, sets)) < random.uniform(0.05, 0.12)
    members[np.arange(elements), random.integers(sets, size=elements)] = True
    model = Model(dict(zip(_names("s", sets), random.integers(5, 30, sets).tolist(), strict=True)))
    for row in members:
        model.add({f"s{place}": 1 for place in np.flatnonzero(row)}, ">=", 1)
    model.binaries = list(model.objective)
    return model


def location(random: Generator) -> Model:
    """Open facilities of limited capacity, and send each customer's demand from one or more."""
    sites, customers = int(random.integers(6, 14)), int(random.integers(12, 28))
    demand = random.integers(5, 36, customers)
    capacity = random.integers(10, 160, sites) + round(2.5 * demand.sum() / sites)
    opening = random.integers(100, 400, sites) + 5 * capacity
    places, homes = random.random((sites, 2)), random.random((customers, 2))
    far = np.hypot(*(places[:, None] - homes[None]).transpose(2, 0, 1))
    cost = np.round(10 * far * demand[None] * random.uniform(1, 6)).astype(int)
    model = Model({f"y{i}": int(opening[i]) for i in range(sites)})
    model.binaries = list(model.objective)
    model.objective |= {
        f"x{i}_{j}": int(cost[i, j]) for i in range(sites) for j in range(customers)
    }
    for j in range(customers):
        model.add({f"x{i}_{j}": 1 for i in range(sites)}, "=", 1)
        for i in range(sites):
            model.add({f"x{i}_{j}": 1, f"y{i}": -1}, "<=", 0)
    for i in range(sites):
        sent = {f"x{i}_{j}": int(demand[j]) for j in range(customers)}
        model.add({**sent, f"y{i}": -int(capacity[i])}, "<=", 0)
    return model


def knapsack(random: Generator) -> Model:
    """Knapsacks of several dimensions, with profits that go with the weights."""
    items, dimensions = int(random.integers(20, 38)), int(random.integers(3, 7))
    weights = random.integers(10, 1000, (dimensions, items))
    profits = np.round(weights.mean(0) + 500 * random.random(items)).astype(int)
    model = Model(dict(zip(_names("x", items), profits.tolist(), strict=True)), maximise=True)
    for row in weights:
        terms = dict(zip(model.objective, row.tolist(), strict=True))
        model.add(terms, "<=", int(random.uniform(0.3, 0.6) * row.sum()))
    model.binaries = list(model.objective)
    return model


def lots(random: Generator) -> Model:
    """Several products on a machine over some periods: set-ups, stocks, and little capacity."""
    products, periods = int(random.integers(2, 5)), int(random.integers(5, 11))
    demand = random.integers(0, 60, (products, periods))
    demand[:, 0] = 0
    setup = random.integers(100, 600, products)
    holding = random.integers(1, 6, products)
    lost = random.integers(5, 20, products)
    capacity = round(random.uniform(1.1, 1.5) * demand.sum() / (periods - 1))
    capacity += round(lost.sum() * 0.5)
    model = Model()
    for p in range(products):
        for t in range(periods):
            model.objective |= {f"y{p}_{t}": int(setup[p]), f"s{p}_{t}": int(holding[p])}
            model.objective[f"b{p}_{t}"] = 20 * int(holding[p])
            model.binaries.append(f"y{p}_{t}")
            flow = {f"x{p}_{t}": 1, f"s{p}_{t}": -1, f"b{p}_{t}": 1}
            if t > 0:
                flow |= {f"s{p}_{t - 1}": 1, f"b{p}_{t - 1}": -1}
            model.add(flow, "=", int(demand[p, t]))
            left = min(capacity - int(lost[p]), int(demand[p].sum()))
            model.add({f"x{p}_{t}": 1, f"y{p}_{t}": -left}, "<=", 0)
    for t in range(periods):
        made = {f"x{p}_{t}": 1 for p in range(products)}
        model.add(made | {f"y{p}_{t}": int(lost[p]) for p in range(products)}, "<=", capacity)
    return model


def packing(random: Generator) -> Model:
    """Independent sets of most weight in random graphs, by edges and some cliques."""
    vertices = int(random.integers(35, 60))
    joined = np.triu(random.random((vertices, vertices)) < random.uniform(0.12, 0.3), 1)
    weights = random.integers(10, 20, vertices).tolist()
    model = Model(dict(zip(_names("v", vertices), weights, strict=True)), maximise=True)
    for one, other in np.argwhere(joined):
        model.add({f"v{one}": 1, f"v{other}": 1}, "<=", 1)
    model.binaries = list(model.objective)
    return model


def _names(letter: str, count: int) -> list[str]:
    return [f"{letter}{number}" for number in range(count)]


FAMILIES: Sequence[tuple[str, Callable[[Generator], Model]]] = (
    ("covering", covering),
    ("location", location),
    ("knapsack", knapsack),
    ("lots", lots),
    ("packing", packing),
)


def write_models(folder: Path, count: int, seed: int) -> list[Path]:
    """Write models 0 to `count` - 1 of a seed into a folder, which is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number in range(count):
        random = np.random.default_rng([seed, number])
        name, make = FAMILIES[int(random.integers(len(FAMILIES)))]
        path = folder / f"{number:04d}-{name}.lp"
        path.write_text(make(random).text(), "ascii")
        paths.append(path)
    return paths
