"""Formulas of combinatorial problems: random clauses, pigeonholes, parity, colouring."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cunctator.demo.clauses import Clause, Formula, at_most_one, parity_clauses

Generator = np.random.Generator


def distinct_rows(random: Generator, rows: int, width: int, below: int) -> NDArray[np.int64]:
    """Rows of `width` different numbers below `below`, each row drawn uniformly."""
    drawn = random.integers(below, size=(rows, width))
    while True:
        ordered = np.sort(drawn, axis=1)
        again = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
        if not again.any():
            return drawn
        drawn[again] = random.integers(below, size=(int(again.sum()), width))


def random_clauses(random: Generator, count: int, width: int, variables: int) -> list[Clause]:
    """Clauses of `width` different variables, with random signs."""
    literals = distinct_rows(random, count, width, variables) + 1
    signs = random.choice([-1, 1], size=literals.shape)
    rows: list[Clause] = (literals * signs).tolist()
    return rows


def random_3_sat(random: Generator) -> Formula:
    """Random 3-SAT on either side of the threshold and at it (4.26 clauses a variable).

    Refutations grow fastest, so the formulas with more clauses have fewer variables.
    """
    ratio, fewest, most = [(4.0, 180, 260), (4.26, 130, 210), (4.7, 170, 250)][random.integers(3)]
    variables = int(random.integers(fewest, most, endpoint=True))
    clauses = random_clauses(random, round(ratio * variables), 3, variables)
    return Formula(variables, clauses, None)


def pigeons(random: Generator, fewest: int = 8, most: int = 9) -> Formula:
    """One more pigeon than there are holes; each pigeon refuses some of the holes."""
    holes = int(random.integers(fewest, most, endpoint=True))
    refused = random.random((holes + 1, holes)) < 0.1
    seat = np.arange(1, refused.size + 1).reshape(refused.shape)
    clauses: list[Clause] = [row[~no].tolist() for row, no in zip(seat, refused, strict=True)]
    for hole in range(holes):
        clauses.extend(at_most_one(seat[~refused[:, hole], hole].tolist()))
    return Formula(refused.size, clauses, False)


def parity(random: Generator, fewest: int = 20, most: int = 26) -> Formula:
    """Tseitin's parity constraints on a random graph of degree 4.

    Edges are variables, and an odd or even number of the edges at each vertex is to be true. As
    every edge has two ends, this is impossible exactly if the number of odd vertices is odd (the
    graph holds a cycle through all vertices, so it is connected).
    """
    vertices = int(random.integers(fewest, most, endpoint=True))
    edges = [
        edge
        for _ in range(2)
        for ring in [random.permutation(vertices).tolist()]
        for edge in pairwise([*ring, ring[0]])
    ]
    odd = random.random(vertices) < 0.5
    if random.random() < 0.8:
        odd[0] ^= odd.sum() % 2 == 0
    clauses: list[Clause] = []
    for vertex in range(vertices):
        touching = [number for number, edge in enumerate(edges, start=1) if vertex in edge]
        clauses.extend(parity_clauses(touching, bool(odd[vertex])))
    return Formula(len(edges), clauses, bool(odd.sum() % 2 == 0))


def colouring(random: Generator) -> Formula:
    """Colour a random graph that has about as many edges as can be coloured."""
    colours, degree, fewest, most = [(3, 4.65, 200, 340), (4, 8.7, 70, 110)][random.integers(2)]
    vertices = int(random.integers(fewest, most, endpoint=True))
    paint = np.arange(1, vertices * colours + 1).reshape(vertices, colours)
    clauses: list[Clause] = paint.tolist()
    for vertex in range(vertices):
        clauses.extend(at_most_one(paint[vertex].tolist()))
    for first, second in distinct_rows(random, round(degree * vertices / 2), 2, vertices):
        clauses.extend(
            [-int(one), -int(other)] for one, other in zip(paint[first], paint[second], strict=True)
        )
    return Formula(vertices * colours, clauses, None)
