"""Nominations: the incumbents at certain moments, on which capital is put before results are in.

What is certified of an answer must hold though the answer is chosen by the data. If capital is
spread over all configurations, each has little. But a configuration that is named once the first J
pairs have been seen, and judged by the pairs from J + 1 on alone, is no choice by the data that it
is judged by. So at J = 8, 16, 32, ..., when for the first time any configuration is about to start
pair J + 1, the incumbent is written down: it is a function of runs on the first J pairs.
"""

from __future__ import annotations

from cunctator.core.compiled import compiled
from cunctator.core.recommend import recommended
from cunctator.core.sentinels import NONE
from cunctator.core.state import MOST_NOMINATIONS, State

FIRST_NOMINATION = 8


@compiled
def nomination_pairs(number: int) -> int:
    """J: how many pairs may have been seen at a nomination."""
    return FIRST_NOMINATION << number


@compiled
def nomination_weight(number: int) -> float:
    """The part of the capital for nominations that is put on one of them: all add up to 1."""
    return 1.0 / ((number + 1.0) * (number + 2.0))


@compiled
def nominate(state: State, pair: int) -> None:
    """Write the incumbent down, if this pair, which is about to be started, is the first after J.

    It changes nothing that the search goes by.
    """
    if pair >= FIRST_NOMINATION and pair & (pair - 1) == 0:
        number = 0
        while nomination_pairs(number) < pair:
            number += 1
        if number < MOST_NOMINATIONS and state.now.nominated[number] == NONE:
            state.now.nominated[number] = recommended(state)
