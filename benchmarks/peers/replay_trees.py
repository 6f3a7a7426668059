"""Boosted trees as plain arrays: the same answers everywhere, from NumPy and Numba alone.

A fitted model ships as these arrays, so that a replay is the same whatever version of scikit-learn
there is, or none, and begins at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cunctator.siblings.compiled import compiled

Floats = NDArray[np.float64]

LEAF = -1


class Trees:
    """A sum of regression trees."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """`arrays` are those of `arrays_of`."""
        self._nodes = arrays["feature"], arrays["number"], arrays["right"]
        self._root = arrays["root"]
        self._start = float(arrays["start"])

    def predict(self, rows: NDArray[np.float32]) -> Floats:
        """The sum of all trees, for each row."""
        sums = np.full(len(rows), self._start)
        add_trees(*self._nodes, self._root, rows, sums)
        return sums


def arrays_of(boosted: Any) -> dict[str, NDArray[Any]]:
    """The arrays of scikit-learn's GradientBoostingRegressor.

    Nodes are in the order in which they were made, depth first: the left child is the next one.
    """
    features, numbers, rights, roots = [], [], [], []
    count = 0
    for estimator in boosted.estimators_[:, 0]:
        tree = estimator.tree_
        is_leaf = tree.children_left < 0
        assert (tree.children_left[~is_leaf] == np.flatnonzero(~is_leaf) + 1).all()
        features.append(np.where(is_leaf, LEAF, tree.feature))
        values = boosted.learning_rate * tree.value[:, 0, 0]
        numbers.append(np.where(is_leaf, values, rounded_down(tree.threshold)))
        rights.append(tree.children_right + count)
        roots.append(count)
        count += tree.node_count
    return {
        "feature": np.concatenate(features).astype(np.int16),
        "number": np.concatenate(numbers).astype(np.float32),
        "right": np.concatenate(rights).astype(np.int32),
        "root": np.array(roots, np.int32),
        "start": np.array(float(boosted.init_.constant_.ravel()[0])),
    }


def rounded_down(thresholds: Floats) -> NDArray[np.float32]:
    """Single precision: just as many numbers of single precision are at most this."""
    nearest = thresholds.astype(np.float32)
    return np.where(nearest > thresholds, np.nextafter(nearest, np.float32(-np.inf)), nearest)


@compiled
def add_trees(
    feature: NDArray[np.int16],
    number: NDArray[np.float32],
    right: NDArray[np.int32],
    root: NDArray[np.int32],
    rows: NDArray[np.float32],
    sums: Floats,
) -> None:
    """Add what each tree says of each row; a leaf's number is its value, another's its question."""
    for begin in root:
        for place in range(len(rows)):
            node = begin
            while feature[node] != LEAF:
                node = node + 1 if rows[place, feature[node]] <= number[node] else right[node]
            sums[place] += number[node]
