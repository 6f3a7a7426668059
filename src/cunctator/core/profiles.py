"""The profiles: which lower bound the search goes by, and how many runs it may put off.

    paper   Equation 1 of the paper as printed: bin of a share p rounded down, C = 25. The bound is
            not covered by the proof: rounding down puts p on the wrong side of 2^-k.
    proved  Equation 1 with the bin rounded up and C = 50: the bound and the 2/3 lemma are valid.
    tight   betting bounds at the user's confidence, and most of the time for a search by pair and
            for what makes its certificate.

A profile is a small record of constants. The tester and the scheduler do not know which one they
run; `bounds.py` is where the ways part.
"""

from __future__ import annotations

from typing import NamedTuple

EQUATION_1, BETTING = 0, 1
FLOOR, CEIL = 0, 1


class Profile(NamedTuple):
    """A choice of bound and of its constants."""

    bound: int
    """EQUATION_1 or BETTING."""
    rounding: int = CEIL
    """FLOOR or CEIL: the bin of a share p in Equation 1."""
    queue_factor: float = 0.0
    """C in q = ceil(C log2(t log2 r)) with Equation 1; with BETTING, q in units of the evidence."""
    has_ladder: bool = False
    """Whether most of the time is for a search that compares configurations by pair."""
    full_share: float = 1.0
    """The share of the charged time for the least lower bound, if there is such a search. It is all
    that the worst case rests on; more of it makes certificates come later."""
    finishes_round: bool = False
    """Whether all runs put off are retried at a longer cap before anything new begins."""
    longest_share: float = 1.0
    """Of the cutoff: caps above this share of it are left out, and the cutoff comes next."""


PROFILES = {
    "tight": Profile(
        BETTING,
        queue_factor=0.1,
        has_ladder=True,
        full_share=0.0625,
        finishes_round=True,
        longest_share=0.5,
    ),
    "proved": Profile(EQUATION_1, CEIL, queue_factor=50.0),
    "paper": Profile(EQUATION_1, FLOOR, queue_factor=25.0),
}
DEFAULT = "tight"
