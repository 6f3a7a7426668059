"""A tournament tree: the smallest of many keys, where one key changes at a time.

The scheduler keeps three of them: over the lower bounds (whom to run), over the steps until which
those keys hold (whom to look at again), and over the sharper index, if there is one. A key is two
numbers compared in their order, and ties go to the lower index.
Changing one key costs O(log n); the winner is read off the root.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cunctator.core.compiled import compiled
from cunctator.core.slabs import NONE

ROOT = 1


class Tournament(NamedTuple):
    """A complete binary tree in arrays: node 1 is the root, node v has children 2v and 2v + 1."""

    keys: NDArray[np.float64]
    """The smallest key below each node: one row of two numbers a node."""
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
    return Tournament(np.full((2 * leaves, 2), np.inf), winner)


@compiled
def _comes_before(tree: Tournament, node: int, other: int) -> bool:
    """Whether the winner below one node beats that below another."""
    keys = tree.keys
    if keys[node, 0] != keys[other, 0]:
        return bool(keys[node, 0] < keys[other, 0])
    if keys[node, 1] != keys[other, 1]:
        return bool(keys[node, 1] < keys[other, 1])
    return bool(tree.winner[node] < tree.winner[other])


@compiled
def set_key(tree: Tournament, index: int, first: float, second: float) -> None:
    """Give `index` a new key and replay its matches up to the root."""
    keys, winners = tree.keys, tree.winner
    node = (winners.size >> 1) + index
    keys[node, 0], keys[node, 1] = first, second
    node >>= 1
    while node >= ROOT:
        best = 2 * node
        if _comes_before(tree, best + 1, best):
            best += 1
        winner = winners[best]
        if (
            winner != index
            and winners[node] == winner
            and keys[node, 0] == keys[best, 0]
            and keys[node, 1] == keys[best, 1]
        ):
            return  # somebody else won here before and still does: nothing changes further up
        keys[node, 0], keys[node, 1] = keys[best, 0], keys[best, 1]
        winners[node] = winner
        node >>= 1


@compiled
def winner_between(tree: Tournament, low: int, high: int) -> int:
    """The winner among the indices from `low` to `high` - 1; there must be one."""
    leaves = tree.winner.size >> 1
    first, last = leaves + low, leaves + high
    best = first
    while first < last:
        if first & 1:
            if _comes_before(tree, first, best):
                best = first
            first += 1
        if last & 1:
            last -= 1
            if _comes_before(tree, last, best):
                best = last
        first >>= 1
        last >>= 1
    return int(tree.winner[best])


@compiled
def winner_without(tree: Tournament, index: int, size: int) -> int:
    """The winner among the first `size` if `index` did not take part; NONE if nobody else does."""
    if size == 1:
        return NONE
    if index == 0:
        return winner_between(tree, 1, size)
    before = winner_between(tree, 0, index)
    if index == size - 1:
        return before
    after, leaves = winner_between(tree, index + 1, size), tree.winner.size >> 1
    return after if _comes_before(tree, leaves + after, leaves + before) else before
