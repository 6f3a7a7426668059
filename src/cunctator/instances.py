"""The stream of (instance, seed) pairs that all configurations share.

Pair j is a function of (seed, j) alone, so a study can be replayed, and two configurations that
have both started j pairs have seen the same ones. A finite set is a seeded shuffle, drawn without
replacement and never repeated: once all of it has been run, the mean is exact. A randomised
target may ask for an endless stream instead, where instances come up again with new seeds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LARGEST_SEED = 2**31 - 1
"""Solvers read seeds as positive 32-bit numbers."""


def shuffled(instances: int, seed: int) -> NDArray[np.int64]:
    """Order of a finite set: position j of the stream is instance `result[j]`."""
    return np.random.default_rng([seed, 0]).permutation(instances)


def endless_pair(instances: int, seed: int, position: int) -> tuple[int, int]:
    """(instance, seed of the run) at a position of the endless stream."""
    random = np.random.default_rng([seed, 1, position])
    return int(random.integers(instances)), int(random.integers(1, LARGEST_SEED, endpoint=True))
