"""A formula in conjunctive normal form, and the encodings that several families share."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

Clause = list[int]
"""Literals as in DIMACS: variables count from 1, a negative number denies one."""


@dataclass(frozen=True, slots=True)
class Formula:
    """Clauses over variables 1 to `variables`."""

    variables: int
    clauses: list[Clause]
    satisfiable: bool | None
    """The answer, where the way it was made tells it."""


def parity_clauses(literals: Sequence[int], odd: bool) -> list[Clause]:
    """Clauses that say: an odd (or even) number of these literals is true.

    Each clause forbids one assignment of the wrong parity, so there are 2^(n-1) of them.
    """
    forbidden = (
        signs
        for signs in itertools.product((False, True), repeat=len(literals))
        if (sum(signs) % 2 == 1) != odd
    )
    return [
        [-literal if true else literal for literal, true in zip(literals, signs, strict=True)]
        for signs in forbidden
    ]


def at_most_one(literals: Sequence[int]) -> list[Clause]:
    """Clauses that say: no two of these literals are true."""
    return [[-first, -second] for first, second in itertools.combinations(literals, 2)]
