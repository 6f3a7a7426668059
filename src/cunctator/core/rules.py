"""What holds for the whole study, and what a timeout counts.

The cutoff and all caps are seconds that a run may take. What is minimised is the mean of what runs
count: as many seconds as they take, and for a timeout perhaps several times the cutoff, as in
PAR10. So there are two numbers where there was one, and every place needs to know which it means.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from cunctator.core.compiled import compiled


class Rules(NamedTuple):
    """What holds for the whole study."""

    first_cap: float
    """kappa_0: the shortest cap; no run counts as faster than this."""
    cutoff: float
    """kappa-bar, in seconds: a run that reaches it is complete; infinity if none."""
    instances: int
    """How many (instance, seed) pairs there are; ENDLESS for a stream without end."""
    error: float = 0.05
    """zeta: the probability with which anything that is certified may be wrong."""
    gamma_error: float = 0.0
    """The same for draws that miss the best of a space, apart from that."""
    longest: float = math.inf
    """Caps above this are left out: the cutoff comes next."""
    penalty: float = 1.0
    """How many cutoffs a run counts that reaches it: 10 for PAR10; see `timeout_value`."""
    early_proof: float = 1.0
    """Until closing begins, `beside.py` and the race have this part of the time that is theirs."""
    guided: float = 0.0
    """Of the time for the search, the part for what a guide asks for (`tasks.py`); 0 if there is
    no guide, and nobody is proposed because of results."""


@compiled
def timeout_value(rules: Rules) -> float:
    """What a run counts that reaches the cutoff, or crashes; infinity without a cutoff."""
    return rules.cutoff * rules.penalty
