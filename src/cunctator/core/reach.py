"""What can be certified at all: how many pairs it takes if all goes as well as it can."""

from __future__ import annotations

import math

import numpy as np

from cunctator.core.claims import (
    BEYOND,
    DEFAULT_ALONE,
    FASTER,
    SPREAD,
    answer_share,
    claim_target,
    claim_weight,
)
from cunctator.core.nominations import nomination_pairs, nomination_weight
from cunctator.core.rules import timeout_value
from cunctator.core.sentinels import WHOLE
from cunctator.core.state import BETS, ENDLESS, MOST_NOMINATIONS, State

MOST_PAIRS = 2**20
"""Nobody waits for more; whatever takes longer is said to take so many at least."""


MOST_WON = 700.0
"""In logarithms: numbers end soon after."""


def least_runs(state: State, delta: float) -> int:
    """How many runs of a configuration it takes at least to certify this delta at a cap.

    That is, if none of them exceeds the shortest cap; on a finite set, running all of it suffices.
    """
    if state.rules.first_cap >= state.rules.cutoff:
        return 1
    pairs, _ = _fewest_pairs(state, BEYOND, 0, 1.0, 1.0 - delta)
    return pairs


def is_out_of_reach(state: State) -> bool:
    """Whether the confidence is so high that a finite set of this size cannot give it.

    Then only what is known for certain is certified: not even an answer that takes no time at all
    is shown to be faster than a default that always reaches the cutoff, before so many pairs have
    been run that the others could not make up for them.
    """
    rules = state.rules
    if rules.instances == ENDLESS or math.isinf(rules.cutoff):
        return False
    most = timeout_value(rules)
    _, is_certain = _fewest_pairs(state, FASTER, WHOLE, 2.0 * most, most)
    return is_certain


def _fewest_pairs(
    state: State, claim: int, octave: int, value: float, price: float
) -> tuple[int, bool]:
    """How many pairs it takes if each comes to `value`, and whether that makes it certain.

    The answer is the configuration with the largest share, and has always been nominated.
    """
    rules = state.rules
    size = min(rules.instances, MOST_PAIRS)
    seen = np.arange(size)
    gains = np.full(size, value / price)
    if rules.instances != ENDLESS:
        left = rules.instances * price - seen * value
        # A pair that leaves less than nothing makes it certain.
        uncertain = int((left >= value).sum())
        gains = value * (rules.instances - seen[:uncertain]) / left[:uncertain]
    weight = claim_weight(rules, claim, octave)
    if claim == FASTER:
        weight = 1.0 - DEFAULT_ALONE
    games = [(0, weight * SPREAD * answer_share(state, 0))]
    for number in range(MOST_NOMINATIONS):
        amount = weight * (1.0 - SPREAD) * nomination_weight(number)
        games.append((nomination_pairs(number), amount))
    if claim == FASTER:
        # If half of a set is known of both, the default's runs alone show as much as both do.
        games.append((0, DEFAULT_ALONE))
    capital = np.zeros(gains.size)
    for place in range(BETS):
        spread = (1.0 + 1.0 / BETS) / ((place + 1) * (place + 2))
        won = np.cumsum(np.log1p(2.0**-place * (gains - 1.0)))
        for begins, amount in games:
            if begins < gains.size:
                before = won[begins - 1] if begins > 0 else 0.0
                factor = np.exp(np.minimum(won[begins:] - before, MOST_WON))
                capital[begins:] += spread * amount * factor
    enough = np.flatnonzero(capital >= claim_target(rules, claim))
    if enough.size:
        return int(enough[0]) + 1, False
    return min(gains.size + 1, size), True
