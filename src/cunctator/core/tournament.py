"""A tournament tree: the smallest of many keys, where one key changes at a time.

The scheduler keeps three of them: over the lower bounds (whom to run), over the steps until which
those keys hold (whom to look at again), and over how well tested a configuration is (whom to
recommend). A key is three numbers compared in their order, and ties go to the lower index.
Changing one key costs O(log n); the winner is read off the root.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cunctator.core.compiled import compiled

ROOT = 1


class Tournament(NamedTuple):
    """A complete binary tree in arrays: node 1 is the root, node v has children 2v and 2v + 1."""

    keys: NDArray[np.float64]
    """The smallest key below each node: one row of three numbers a node."""
    winner: NDArray[np.int64]
    """The index whose key that is."""


def new_tournament(size: int) -> Tournament:
    """A tree for `size` keys, all infinite."""
    leaves = 1
    while leaves < size:
        leaves *= 2
    winner = np.zeros(2 * leaves, dtype=np.int64)
    winner[leaves:] = np.arange(leaves)
    for node in range(leaves - 1, 0, -1):
        winner[node] = winner[2 * node]
    return Tournament(np.full((2 * leaves, 3), np.inf), winner)


@compiled
def set_key(tree: Tournament, index: int, first: float, second: float, third: float) -> None:
    """Give `index` a new key and replay its matches up to the root."""
    keys, winners = tree.keys, tree.winner
    node = (winners.size >> 1) + index
    keys[node, 0], keys[node, 1], keys[node, 2] = first, second, third
    node >>= 1
    while node >= ROOT:
        best = 2 * node
        right = best + 1
        if keys[right, 0] < keys[best, 0] or (
            keys[right, 0] == keys[best, 0]
            and (
                keys[right, 1] < keys[best, 1]
                or (keys[right, 1] == keys[best, 1] and keys[right, 2] < keys[best, 2])
            )
        ):
            best = right
        winner = winners[best]
        if (
            winner != index
            and winners[node] == winner
            and keys[node, 0] == keys[best, 0]
            and keys[node, 1] == keys[best, 1]
            and keys[node, 2] == keys[best, 2]
        ):
            return  # somebody else won here before and still does: nothing changes further up
        keys[node, 0], keys[node, 1], keys[node, 2] = keys[best, 0], keys[best, 1], keys[best, 2]
        winners[node] = winner
        node >>= 1
