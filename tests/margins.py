"""Margins for tests of rates, derived from the number of trials, not tuned until green."""

from __future__ import annotations

import math


def divergence(a: float, b: float) -> float:
    """Kullback-Leibler divergence of coins with heads a and b."""
    left = a * math.log(a / b) if a > 0 else 0.0
    right = (1 - a) * math.log((1 - a) / (1 - b)) if a < 1 else 0.0
    return left + right


def most_events(trials: int, rate: float, error: float = 1e-6) -> int:
    """The most events to be seen in `trials` if each has at most probability `rate`.

    By Chernoff, Pr(more than this) <= error: exp(-trials * kl(x / trials, rate)) <= error.
    """
    low, high = math.floor(trials * rate), trials
    while low < high:
        middle = (low + high) // 2
        if trials * divergence(middle / trials, rate) >= -math.log(error):
            high = middle
        else:
            low = middle + 1
    return low
