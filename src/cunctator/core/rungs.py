"""Rungs: how often the time that a configuration has had has doubled; `promotion.py` goes by them.

Rung 0 is less than first_cap, rung k at least first_cap 2^(k - 1). Runs in flight count at their
caps, so that several at a time are not given to one that is about to reach the next rung.
"""

from __future__ import annotations

import math

from cunctator.core.compiled import compiled
from cunctator.core.known import is_exact
from cunctator.core.state import RUNGS, State


@compiled
def regrade(state: State, index: int) -> None:
    """Put a configuration on the rung that its time is enough for.

    One of which nothing is left to learn has reached all: it waits for no promotion.
    """
    tester = state.testers[index]
    _, rung = math.frexp(tester.granted / state.rules.first_cap)
    rung = RUNGS - 1 if is_exact(state, index) else max(0, min(rung, RUNGS - 1))
    before = int(state.rungs[index])
    state.rungs[index] = rung
    for gained in range(before + 1, rung + 1):
        state.ranks.reached[gained] += 1
    for lost in range(rung + 1, before + 1):
        state.ranks.reached[lost] -= 1
