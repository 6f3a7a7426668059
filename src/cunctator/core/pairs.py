"""What came of each pair, by configuration: so that two are compared over the same pairs.

A mean over 19 pairs and one over 4 do not compare: the 4 may be the hard ones. The bounds need
sorted runtimes and forget which pair they belong to, so this is kept beside them. A configuration
starts pairs in order, so it is one list of numbers for each, one number a pair.
"""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MISSING, CRASH = math.nan, -1.0
"""Instead of a runtime: nothing came of the pair yet; it crashed. Infinity: it was put off."""


class Compared(NamedTuple):
    """Means of two configurations over the pairs that both have run, up to a cap known of both."""

    pairs: int
    cap: float
    """Infinite if every runtime is known, and there is no cutoff."""
    one: float
    """Not a number if there are no such pairs."""
    other: float


class PairValues:
    """One number for each configuration and pair that has been run."""

    def __init__(self) -> None:
        self._values: defaultdict[int, array[float]] = defaultdict(lambda: array("d"))

    def put(self, configuration: int, pair: int, value: float) -> None:
        """What is known now: a runtime, CRASH, or infinity."""
        values = self._values[configuration]
        while len(values) <= pair:
            values.append(MISSING)
        values[pair] = value

    def of(self, configuration: int) -> NDArray[np.float64]:
        """All of a configuration, by pair."""
        return np.array(self._values.get(configuration, ()), dtype=np.float64)


def compared(
    one: NDArray[np.float64], other: NDArray[np.float64], cap: float, cutoff: float
) -> Compared:
    """Both over the pairs that both have; crashes count as the cutoff."""
    size = min(one.size, other.size)
    common = ~(np.isnan(one[:size]) | np.isnan(other[:size]))
    count = int(common.sum())
    if count == 0:
        return Compared(0, cap, math.nan, math.nan)
    sides = [side[:size][common] for side in (one, other)]
    means = [np.where(side == CRASH, cutoff, np.minimum(side, cap)).mean() for side in sides]
    return Compared(count, cap, float(means[0]), float(means[1]))
