"""Games that refute a claim about a mean, played pair by pair in the order of the stream.

Let V >= 0 be what a pair comes to. Whoever stakes a fraction b of his wealth on each pair at the
price m multiplies it by 1 - b + b V / m. If the mean of V is m, or less, his wealth is a
supermartingale, so by Ville's inequality it ever reaches 1 / a with probability a at most, whenever
and for whatever reason one looks. On a finite set of N pairs that are drawn without replacement the
price of pair j is what the rest comes to on average, were m the mean of all,

    m_j = (N m - V_1 - ... - V_{j-1}) / (N - j + 1),

which is fair again; if it falls below 0, m is refuted for certain. Wealth grows with every V, also
with those of earlier pairs, and falls with m: whatever is not known may be imputed by something
smaller, and what is refuted is an interval. And since the bound holds for all numbers of pairs at
once, the most that was won after any of them counts, though later ones may be little known.

The best b is not known, so capital is spread over b = 1, 1/2, ..., 1/128 in proportion to
1 / ((k + 1)(k + 2)). Capital that is put on several games is added up: the sum is a supermartingale
as well, if all of them are looked at after the same pair, and costs less than a union of errors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cunctator.core.compiled import compiled
from cunctator.core.state import BETS, ENDLESS

NEARLY_NOTHING = 1e-290
"""Wealth below this counts as nothing. Arithmetic with numbers near the least there are is slow."""

ROUNDING = 1e-9
"""What is left of a finite set's sum is not trusted below this part of the whole."""


@compiled
def stake(books: NDArray[np.float64], game: int, amount: float) -> None:
    """Put an amount on a game, spread over its bets."""
    for place in range(BETS):
        books[game, place] = amount * (1.0 + 1.0 / BETS) / ((place + 1.0) * (place + 2.0))


@compiled
def play(books: NDArray[np.float64], game: int, gain: float) -> float:
    """Play for a pair that pays `gain`, V over its price; returns the capital that the game has."""
    total, fraction = 0.0, 1.0
    for place in range(BETS):
        wealth = books[game, place] * (1.0 - fraction + fraction * gain) - NEARLY_NOTHING
        books[game, place] = max(wealth, 0.0)
        total += books[game, place]
        fraction *= 0.5
    return total


@compiled
def capital_of(books: NDArray[np.float64], game: int) -> float:
    """What a game has."""
    total = 0.0
    for place in range(BETS):
        total += books[game, place]
    return total


@compiled
def sum_of_all(instances: int, price: float) -> float:
    """What all pairs come to, were the price their mean; of an endless stream, the price itself."""
    return price if instances == ENDLESS else instances * price


@compiled
def gain_of(instances: int, pair: int, value: float, left: float) -> float:
    """V over its price, given what is left of the sum of all; see `after`."""
    return value / left if instances == ENDLESS else value * (instances - pair) / left


@compiled
def after(instances: int, value: float, left: float) -> float:
    """What is left of the sum of all when a pair has come to `value`."""
    return left if instances == ENDLESS else left - value
