"""A tournament tree: the smallest of many keys, where one key changes at a time.

The scheduler keeps three of them: over the lower bounds (whom to run), over the steps until which
those keys hold (whom to look at again), and over (most started, lowest mean) (whom to recommend).
Keys are pairs (major, minor) compared in that order, and ties go to the lower index. Changing one
key costs O(log n); the winner is read off the root.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cunctator.core.compiled import compiled

ROOT = 1


class Tournament(NamedTuple):
    """A complete binary tree in arrays: node 1 is the root, node v has children 2v and 2v + 1."""

    major: NDArray[np.float64]
    minor: NDArray[np.float64]
    winner: NDArray[np.int64]
    """Index of the smallest key below each node."""


def new_tournament(size: int) -> Tournament:
    """A tree for `size` keys, all (infinity, infinity)."""
    leaves = 1
    while leaves < size:
        leaves *= 2
    winner = np.zeros(2 * leaves, dtype=np.int64)
    winner[leaves:] = np.arange(leaves)
    for node in range(leaves - 1, 0, -1):
        winner[node] = winner[2 * node]
    return Tournament(np.full(2 * leaves, np.inf), np.full(2 * leaves, np.inf), winner)


@compiled
def set_key(tree: Tournament, index: int, major: float, minor: float) -> None:
    """Give `index` a new key and replay its matches up to the root."""
    node = (tree.major.size >> 1) + index
    tree.major[node] = major
    tree.minor[node] = minor
    node >>= 1
    while node >= ROOT:
        best = 2 * node
        other = best + 1
        if tree.major[other] < tree.major[best] or (
            tree.major[other] == tree.major[best] and tree.minor[other] < tree.minor[best]
        ):
            best = other
        winner = tree.winner[best]
        if (
            winner != index
            and tree.winner[node] == winner
            and tree.major[node] == tree.major[best]
            and tree.minor[node] == tree.minor[best]
        ):
            return  # somebody else won here before and still does: nothing changes further up
        tree.major[node] = tree.major[best]
        tree.minor[node] = tree.minor[best]
        tree.winner[node] = winner
        node >>= 1


@compiled
def before(
    major: float, minor: float, index: int, other_major: float, other_minor: float, other: int
) -> bool:
    """Whether the first key comes strictly before the second."""
    if major != other_major:
        return major < other_major
    if minor != other_minor:
        return minor < other_minor
    return index < other
