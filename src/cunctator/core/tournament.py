"""A tournament tree: the smallest of many keys, where one key changes at a time.

The scheduler keeps four of them: over the lower bounds (whom to run), over the steps until which
those keys hold (whom to look at again), and two over those who climb a ladder, if there is one. A
key is two numbers compared in their order, and ties go to the lower index.
Changing one key costs O(log n); the winner is read off the root.
"""

from __future__ import annotations

import math

import numpy as np

from cunctator.core.compiled import compiled
from cunctator.core.rows import Rows, new_rows

ROOT = 1


class Node:
    """A node of the tree: the smallest key below it, and whose it is."""

    first: float
    second: float
    winner: int


Tournament = Rows[Node]
"""A complete binary tree: node 1 is the root, node v has the children 2v and 2v + 1."""


def new_tournament(size: int) -> Tournament:
    """A tree for `size` keys, all infinite."""
    leaves = 1
    while leaves < size:
        leaves *= 2
    tree = new_rows(Node, 2 * leaves)
    tree["first"] = tree["second"] = math.inf
    winner = tree["winner"]
    winner[leaves:] = np.arange(leaves)
    for node in range(leaves - 1, 0, -1):
        winner[node] = winner[2 * node]
    return tree


@compiled
def _comes_before(tree: Tournament, place: int, other: int) -> bool:
    """Whether the winner below one node beats that below another."""
    node, rival = tree[place], tree[other]
    if node.first != rival.first:
        return bool(node.first < rival.first)
    if node.second != rival.second:
        return bool(node.second < rival.second)
    return bool(node.winner < rival.winner)


@compiled
def set_key(tree: Tournament, index: int, first: float, second: float) -> None:
    """Give `index` a new key and replay its matches up to the root."""
    place = (tree.size >> 1) + index
    leaf = tree[place]
    leaf.first, leaf.second = first, second
    place >>= 1
    while place >= ROOT:
        node, best = tree[place], 2 * place
        if _comes_before(tree, best + 1, best):
            best += 1
        child = tree[best]
        if (
            child.winner != index
            and node.winner == child.winner
            and node.first == child.first
            and node.second == child.second
        ):
            return  # somebody else won here before and still does: nothing changes further up
        node.first, node.second, node.winner = child.first, child.second, child.winner
        place >>= 1


@compiled
def copy_keys(source: Tournament, tree: Tournament) -> None:
    """Give all indices of one tree the same keys in another one, which has room for them."""
    leaves = source.size >> 1
    for index in range(leaves):
        leaf = source[leaves + index]
        set_key(tree, index, leaf.first, leaf.second)


@compiled
def winner_between(tree: Tournament, low: int, high: int) -> int:
    """The winner among the indices from `low` to `high` - 1; there must be one."""
    leaves = tree.size >> 1
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
    return int(tree[best].winner)
