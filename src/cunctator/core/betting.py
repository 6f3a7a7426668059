"""A lower bound on a mean that holds at all times, from how much a gambler would have won.

Let Y >= 0 have mean mu. A gambler who stakes a fraction b of his wealth on each observation at the
fair price m multiplies it by 1 - b + b Y / m. If m = mu this is a fair game, so by Ville's
inequality his wealth ever exceeds 1 / a with probability at most a, whenever and for whatever
reason one looks. So every m at which he would have won more is refuted, and

    lower = the least m at which none of the bets has won more than (number of bets) / a

is a lower bound on mu at all times at once with probability 1 - a. (Waudby-Smith and Ramdas,
"Estimating means of bounded random variables by betting", JRSS B 2024, with constant bets; the
number of bets is the price of not knowing the best one: spread the stake evenly over them.) Nothing
is assumed of the distribution, not even that Y is bounded.

The order of observations does not matter, and wealth grows with every Y: whatever is not known may
be imputed by something smaller, and the bound still holds. Upper bounds on means in [0, c] are
lower bounds on those of c - Y.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cunctator.core.compiled import compiled, compiled_apart

NUMBER_OF_BETS = 16
PRICE = math.log(NUMBER_OF_BETS)
"""What not knowing the best bet costs, in the units of log(1 / a)."""

MOST_STEPS = 60


@compiled
def stake(number: int) -> float:
    """The fraction of his wealth that gambler `number` stakes: 1, 1/2, 1/4, ..."""
    return math.ldexp(1.0, -int(number))


@compiled
def log_wealth(
    values: NDArray[np.float64], weights: NDArray[np.float64], size: int, mean: float, bet: float
) -> tuple[float, float]:
    """Logarithm of the wealth at the price `mean`, and how fast it falls as log(mean) grows."""
    wealth, slope = 0.0, 0.0
    for k in range(size):
        won = bet * values[k] / mean
        factor = 1.0 - bet + won
        if factor <= 0.0:
            return -math.inf, 1.0
        wealth += weights[k] * math.log(factor)
        slope += weights[k] * won / factor
    return wealth, slope


@compiled_apart
def refuted_up_to(
    values: NDArray[np.float64],
    weights: NDArray[np.float64],
    size: int,
    evidence: float,
    bet: float,
    start: float,
    precision: float,
) -> float:
    """The price up to which this bet has won `evidence` (in logarithms), from below.

    As a function of log(mean), log wealth falls and is convex, so Newton's method is below the
    root after one step from anywhere, and from then on approaches it from below: whenever it is
    stopped, the result is a valid bound.
    """
    mean = start
    for step in range(MOST_STEPS):
        wealth, slope = log_wealth(values, weights, size, mean, bet)
        if wealth == -math.inf or slope <= 0.0:
            return 0.0
        move = (wealth - evidence) / slope
        mean *= math.exp(max(-8.0, min(8.0, move)))
        if step > 0 and abs(move) < precision:
            break
    return mean


@compiled_apart
def lower_mean(
    values: NDArray[np.float64],
    weights: NDArray[np.float64],
    size: int,
    evidence: float,
    first_guess: int,
    precision: float,
) -> tuple[float, int]:
    """The lower bound, given log(1 / a) + PRICE as `evidence`; and the bet that gave it.

    Wealth is concave in the bet, so the bounds of neighbouring bets have one peak: climb it from
    the first guess.
    """
    total, weight = 0.0, 0.0
    for k in range(size):
        total += weights[k] * values[k]
        weight += weights[k]
    if total <= 0.0:
        return 0.0, first_guess
    start = total / weight
    best = max(0, min(NUMBER_OF_BETS - 1, first_guess))
    bound = refuted_up_to(values, weights, size, evidence, stake(best), start, precision)
    for direction in (-1, 1):
        climbed = False
        while 0 <= best + direction < NUMBER_OF_BETS:
            other = refuted_up_to(
                values, weights, size, evidence, stake(best + direction), start, precision
            )
            if other <= bound:
                break
            best, bound, climbed = best + direction, other, True
        if climbed:
            break
    return bound, best
