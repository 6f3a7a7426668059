"""Formulas for the real demonstration: a seeded mix of families, written as DIMACS files.

Formula k is a function of (seed, k) alone and its family is drawn at random, so formulas are
independent draws from one distribution: what is learnt on some holds for fresh ones. The sizes
are such that clasp takes from a hundredth of a second to a few seconds on each.

The weights favour multipliers and pigeonholes, on which clasp's default is not its best: there is
something to find. A speed-up on this mix says nothing about clasp on other formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cunctator.base.errors import InvalidSetting
from cunctator.demo import circuits, combinatorial
from cunctator.demo.clauses import Formula

STREAM = 3
"""Keeps the random numbers apart from those of the pair stream and of the made-up solver."""


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of formula, and how often it comes up."""

    name: str
    weight: float
    make: Callable[[np.random.Generator], Formula]


FAMILIES = (
    Family("random", 0.10, combinatorial.random_3_sat),
    Family("pigeons", 0.25, combinatorial.pigeons),
    Family("parity", 0.05, combinatorial.parity),
    Family("colouring", 0.08, combinatorial.colouring),
    Family("factoring", 0.05, circuits.factoring),
    Family("miter", 0.35, circuits.miter),
    Family("accumulator", 0.07, circuits.accumulator),
    Family("fuzz", 0.05, circuits.fuzz),
)


def make_formula(
    seed: int, number: int, families: Sequence[Family] = FAMILIES
) -> tuple[str, Formula]:
    """The name of the family, and the formula, at one position of the stream of a seed."""
    for name, value in (("seed", seed), ("number", number)):
        if value < 0:
            raise InvalidSetting(name, value, "expected 0 or more")
    random = np.random.default_rng([seed, STREAM, number])
    weights = np.array([family.weight for family in families])
    family = families[random.choice(len(families), p=weights / weights.sum())]
    return family.name, family.make(random)


def dimacs(formula: Formula, comment: str) -> str:
    """A formula as the text of a DIMACS file."""
    lines = [f"c {comment}", f"p cnf {formula.variables} {len(formula.clauses)}"]
    lines.extend(" ".join(map(str, clause)) + " 0" for clause in formula.clauses)
    return "\n".join(lines) + "\n"


def write_formulas(
    folder: Path, count: int, seed: int, families: Sequence[Family] = FAMILIES
) -> list[Path]:
    """Write formulas 0 to `count` - 1 of a seed into a folder, which is made if need be."""
    if count < 1:
        raise InvalidSetting("count", count, "expected 1 or more")
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number in range(count):
        family, formula = make_formula(seed, number, families)
        path = folder / f"{number:04d}-{family}.cnf"
        path.write_text(dimacs(formula, f"{family}, formula {number} of seed {seed}"), "ascii")
        paths.append(path)
    return paths
