"""The profiles: which lower bound the search goes by, and how many runs it may put off.

    paper   Equation 1 of the paper as printed: bin of a share p rounded down, C = 25. The bound is
            not covered by the proof: rounding down puts p on the wrong side of 2^-k.
    proved  Equation 1 with the bin rounded up and C = 50: the bound and the 2/3 lemma are valid.
    tight   betting bounds at the user's confidence, and a sharper index for most of the time.

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
    sharpness: float = 1.0
    """The evidence that the sharper index asks for, as a share of the full confidence's."""
    has_sharp: bool = False
    """Whether there is a sharper index beside the one at full confidence."""
    full_share: float = 1.0
    """The share of the charged time for the index at full confidence, if there is another one."""
    rival_share: float = 0.0
    """The share for the least index at full confidence of all but the sharper one's choice, once
    that is well known."""
    finishes_round: bool = False
    """Whether all runs put off are retried at a longer cap before anything new begins."""
    octaves: int = 1
    """Each cap is 2^octaves times the one before. Every retry starts again from nothing: longer
    steps waste less on restarts and put off less."""
    longest_share: float = 1.0
    """Of the cutoff: caps above this share of it are left out, and the cutoff comes next."""
    counts_finished: bool = False
    """Whether the incumbent is who has most finished runs, rather than most started ones."""


PROFILES = {
    "tight": Profile(
        BETTING,
        queue_factor=0.1,
        sharpness=0.15,
        has_sharp=True,
        full_share=0.125,
        rival_share=0.125,
        counts_finished=True,
        finishes_round=True,
        octaves=2,
        longest_share=0.25,
    ),
    "proved": Profile(EQUATION_1, CEIL, queue_factor=50.0),
    "paper": Profile(EQUATION_1, FLOOR, queue_factor=25.0),
}
DEFAULT = "tight"
