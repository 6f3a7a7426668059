"""Settings that several methods share: the grids of the paper's experiments, checks, what fits."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from cunctator.base.errors import InvalidSetting
from cunctator.siblings.problem import Problem

GRID_EPSILONS = tuple(round(0.1 * k, 2) for k in range(1, 10))
GRID_DELTAS = tuple(round(0.1 * k, 2) for k in range(1, 6))
"""Of Structured Procrastination, 45 pairs (appendix, "Details of Experiments")."""

FINE_EPSILONS = tuple(round(0.05 * k, 2) for k in range(2, 19))
FINE_DELTAS = tuple(round(0.05 * k, 2) for k in range(2, 11))
"""Of LeapsAndBounds, 153 pairs."""

LARGEST = 0.99


def check_shares(**settings: float) -> None:
    """Complain about settings that are not between 0 and 1."""
    for name, value in settings.items():
        if not 0.0 < value < 1.0:
            raise InvalidSetting(name, value, "expected more than 0 and less than 1")


def whole(name: str, value: object, least: int, most: int = 10**12) -> int:
    """A setting that is a whole number from `least` to `most`; InvalidSetting if it is not."""
    if isinstance(value, int | float) and least <= value <= most and value == int(value):
        return int(value)
    raise InvalidSetting(name, value, f"expected a whole number from {least} to {most:,}")


def number_within(name: str, value: object, low: float, high: float) -> float:
    """A setting from `low` to `high`, both included; InvalidSetting if it is not."""
    if isinstance(value, int | float) and low <= value <= high:
        return float(value)
    raise InvalidSetting(name, value, f"expected a number from {low:g} to {high:g}")


def require(
    problem: Problem, title: str, needed: Callable[[float, float], float], pair: tuple[float, float]
) -> None:
    """See that there are as many instances as `needed` says for a pair (epsilon, delta)."""
    found = problem.stream.size
    problem.need(title, needed(*pair), lambda: fitting(needed, *pair, found))


def fitting(
    needed: Callable[[float, float], float], epsilon: float, delta: float, found: int
) -> str:
    """The least epsilon that so many instances are enough for, delta as it is; else both larger.

    `needed` falls in both. Empty if not even the largest would do.
    """
    for share in (0.0, 1.0):
        for step in np.arange(0.01, 1.0, 0.01):
            larger = [_rounded_up(epsilon + step), _rounded_up(delta + share * step)]
            if needed(*larger) <= found:
                return f"epsilon = {larger[0]:g} and delta = {larger[1]:g}"
    return ""


def _rounded_up(number: float) -> float:
    return min(max(math.ceil(100.0 * number - 1e-9) / 100, 0.01), LARGEST)
