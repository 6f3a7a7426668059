"""What results say of a configuration, apart from the instances that it happened to meet.

The logarithm of a runtime is taken to be a number of the configuration, plus one of the pair, plus
noise: a hard instance is hard for most. So a configuration that has been run on three hard pairs is
not taken for a slow one, and few runs are enough for a guess. A run that was put off is known to
have taken longer than its cap: it counts as what it may be expected to have taken, given the rest
(Schmee and Hahn, 1979), again and again until that is settled. A crash counts as put off at twice
the longest cap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]

ROUNDS = 6
CONFIGURATIONS_VARY = 1.0
"""The standard deviation of configurations at first, in logarithms: a wide guess."""

LEAST_NOISE, MOST_NOISE, FIRST_NOISE = 0.25, 1.2, 0.6
"""Of runs, in logarithms. Where nothing seems to be left to chance there may be few runs only."""


@dataclass(frozen=True, slots=True)
class Results:
    """Results: one entry for each pair that a configuration has been run on."""

    configuration: Indices
    pair: Indices
    seconds: Numbers
    """The runtime, or the longest cap that was tried."""
    is_capped: NDArray[np.bool_]
    """Whether it was put off, or crashed."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What that says, in logarithms."""

    runs: Numbers
    """Of each configuration: how many pairs it has been run on."""
    means: Numbers
    """What it takes, without the pairs' parts; 0 if it has not been run ..."""
    precisions: Numbers
    """... and how well that is known: one over the variance."""
    pairs: Numbers
    """The pair's part; of those that nobody has run, the mean of the others."""
    noise: float


def evidence(seen: Results, configurations: int, pairs: int) -> Evidence:
    """Configurations and pairs told apart."""
    logs: Numbers = np.log(seen.seconds)
    taken, noise = logs.copy(), FIRST_NOISE
    runs = np.bincount(seen.configuration, minlength=configurations).astype(float)
    tries = np.bincount(seen.pair, minlength=pairs).astype(float)
    of_pair = _means(seen.pair, taken, tries, float(taken.mean()))
    for _ in range(ROUNDS):
        sums = _sums(seen.configuration, taken - of_pair[seen.pair], configurations)
        usual = float(np.median(sums[runs > 0] / runs[runs > 0]))
        weight = runs / noise**2 + 1.0 / CONFIGURATIONS_VARY**2
        own = (sums / noise**2 + usual / CONFIGURATIONS_VARY**2) / weight
        left = taken - own[seen.configuration]
        middle = float((_means(seen.pair, left, tries, 0.0) * tries).sum() / tries.sum())
        of_pair = _means(seen.pair, left, tries + 1.0, middle, 1.0)
        expected = own[seen.configuration] + of_pair[seen.pair]
        taken = np.where(seen.is_capped, _longer_than(logs, expected, noise), logs)
        noise = _noise(taken - expected, seen.is_capped, configurations / 2 + (tries > 0).sum())
    return _weighted(seen, taken - of_pair[seen.pair], of_pair, runs, noise)


def _weighted(
    seen: Results, left: Numbers, of_pair: Numbers, runs: Numbers, noise: float
) -> Evidence:
    """What is left of a configuration's runtimes, each weighted by what its pair usually takes.

    It is means of seconds that count, and these are made of the hard pairs: who is slower on them
    alone is slower, however many easy ones there are. Few pairs then count for fewer yet.
    """
    weights = np.exp(of_pair)[seen.pair]
    configuration, size, is_run = seen.configuration, runs.size, runs > 0
    total, squares, sums = (
        np.where(is_run, _sums(configuration, one, size), 1.0)
        for one in (weights, weights**2, weights * left)
    )
    precisions = np.where(is_run, total**2 / squares, 0.0) / noise**2
    return Evidence(runs, np.where(is_run, sums / total, 0.0), precisions, of_pair, noise)


def _sums(places: Indices, numbers: Numbers, size: int) -> Numbers:
    """Sums by place."""
    return np.bincount(places, numbers, size).astype(np.float64)


def _means(
    places: Indices, numbers: Numbers, counts: Numbers, other: float, believed: float = 0.0
) -> Numbers:
    """Means by place; `other` where there is nothing, and as so much more of the same."""
    sums = _sums(places, numbers, counts.size) + believed * other
    return np.where(counts > 0, sums / np.maximum(counts, 1.0), other)


def _longer_than(logs: Numbers, expected: Numbers, noise: float) -> Numbers:
    """The mean of a normal distribution, given that it is more than that."""
    found: Numbers = expected + noise * hazard((logs - expected) / noise)
    return found


def hazard(at: Numbers) -> Numbers:
    """Density over what is beyond, of the standard normal distribution."""
    # Far out, the quotient of two numbers next to nothing; its series is exact enough from 5 on.
    large = np.maximum(at, 1.0)
    far = at + 1.0 / large - 2.0 / large**3 + 10.0 / large**5
    beyond = np.array([0.5 * math.erfc(min(x, 5.0) / math.sqrt(2.0)) for x in at.tolist()])
    near = np.exp(-0.5 * np.minimum(at, 5.0) ** 2) / math.sqrt(2.0 * math.pi) / beyond
    return np.where(at < 5.0, near, far)


def _noise(left: Numbers, is_capped: NDArray[np.bool_], known: float) -> float:
    """The standard deviation of what is left, by the runs that ended."""
    ended = left[~is_capped]
    if ended.size == 0:
        return MOST_NOISE
    share = left.size / max(1.0, left.size - float(known))
    return min(max(math.sqrt(float(ended @ ended) / ended.size * share), LEAST_NOISE), MOST_NOISE)
