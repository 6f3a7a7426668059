"""The empirical Bernstein race of LeapsAndBounds and CapsAndRuns: EBGStop with geometric levels.

Mnih, Szepesvári and Audibert (2008): after j samples from [0, tau] with variance V, the mean is
within C = sqrt(2 V x / j) + 3 tau x / j of the truth, x = a ln(3 / d_l), for all j of level l at
once with probability at least 1 - d_l. Level l holds the counts from floor(1.1^(l-1)) + 1 to
floor(1.1^l); a = floor(1.1^l) / floor(1.1^(l-1)) pays for not looking at each of them anew.
"""

from __future__ import annotations

import math

from cunctator.siblings.compiled import compiled

GROWTH = 1.1

ZETA_1_1 = 10.584448464950803
"""Riemann's zeta(1.1): the sum of l^-1.1 over all levels l, so that their errors add up to one."""


@compiled
def level_of(count: int, level: int) -> int:
    """The level l >= 1 of a count, given that of a smaller count (or 1)."""
    while count > math.floor(GROWTH**level):
        level += 1
    return level


@compiled
def log_term(level: int, inverse_error: float) -> float:
    """Compute x = a ln(3 / d), d the error that the level may spend."""
    stretch = math.floor(GROWTH**level) / math.floor(GROWTH ** (level - 1))
    return stretch * math.log(3.0 * inverse_error)


@compiled
def radius(variance: float, longest: float, count: int, term: float) -> float:
    """Compute C, with tau = `longest` and x = `term`."""
    return math.sqrt(2.0 * variance * term / count) + 3.0 * longest * term / count


@compiled
def is_accurate(mean: float, half_width: float, epsilon: float) -> bool:
    """Whether (mean + C) / (mean - C) is at most 1 + epsilon: C <= epsilon mean / (2 + epsilon).

    Published code asks for C <= epsilon / 3 (2 mean - C), which lets through ratios of about
    1 + 4 epsilon / 3.
    """
    return half_width * (2.0 + epsilon) <= epsilon * mean
