"""Two configurations side by side: over the pairs that both have run, up to the same cap.

A mean over 19 pairs and one over 4 do not compare: the 4 may be the hard ones.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cunctator.core.known import common_cap, known_up_to
from cunctator.core.rules import timeout_value
from cunctator.core.state import State
from cunctator.core.values import CRASHED_PAIR, NOT_YET, values_of


class Compared(NamedTuple):
    """Means of two configurations over the pairs that both have run, up to a cap known of both."""

    pairs: int
    cap: float
    """In seconds; infinite if every runtime is known, and there is no cutoff."""
    one: float
    """Not a number if there are no such pairs."""
    other: float


def compared(state: State, one: int, other: int) -> Compared:
    """The means of two over the pairs that both have run, up to a cap that both are known to.

    Every pair that was put off has been tried at that cap. Crashes count as timeouts.
    """
    cap = common_cap(state, one, other)
    most, timeout = known_up_to(state.rules, cap), timeout_value(state.rules)
    size = int(state.testers["started"][[one, other]].min())
    sides = [values_of(state.values, index, size) for index in (one, other)]
    common = (sides[0] != NOT_YET) & (sides[1] != NOT_YET)
    count = int(common.sum())
    if count == 0:
        return Compared(0, cap, math.nan, math.nan)
    means = [_mean_up_to(side[common], most, timeout) for side in sides]
    return Compared(count, cap, *means)


def _mean_up_to(values: NDArray[np.float64], most: float, timeout: float) -> float:
    capped = np.where(values < 0, most, np.minimum(values, most))
    return float(np.where(values == CRASHED_PAIR, timeout, capped).mean())
