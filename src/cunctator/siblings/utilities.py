"""Utility functions: what a solution is worth that took so many seconds.

Every u is nonincreasing, has u(0) = 1 and stays in [0, 1]. Kernels cannot take a function as an
argument without being compiled anew for each, so a function is a small number here.

Sources. Uniform, exponential, Pareto and log-Laplace: Graham, Leyton-Brown and Roughgarden,
"Formalizing Preferences Over Runtime Distributions" (ICML 2023), where 1 - u is the distribution
of the time at which a solution stops being useful. Their experiments with UP use uniform and
log-Laplace ("Utilitarian Algorithm Configuration", NeurIPS 2023). Step, a fixed deadline, is an
example in Graham and Leyton-Brown, "Practical, Utilitarian Algorithm Configuration" (2025).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from cunctator.base.errors import InvalidSetting
from cunctator.siblings.compiled import compiled
from cunctator.siblings.method import Settings
from cunctator.siblings.problem import Problem

UNIFORM, EXPONENTIAL, PARETO, LOG_LAPLACE, STEP = range(5)

CODES = {
    "uniform": UNIFORM,
    "exponential": EXPONENTIAL,
    "pareto": PARETO,
    "log-laplace": LOG_LAPLACE,
    "step": STEP,
}

CUTOFF = "cutoff"
"""As a scale: the problem's cutoff."""

DEFAULTS: Settings = {
    "epsilon": 0.0,
    "delta": 0.05,
    "utility": "uniform",
    "scale": CUTOFF,
    "alpha": 1.0,
}
"""Of all methods that go by utility."""


class Utility(NamedTuple):
    """Which function, and its numbers."""

    code: int
    scale: float
    """kappa, in seconds."""
    alpha: float
    """The exponent of Pareto and log-Laplace; the others have none."""


@compiled
def utility_of(utility: Utility, seconds: float) -> float:
    """Compute u(t), t >= 0."""
    code, scale, alpha = utility
    if code == UNIFORM:
        return max(0.0, 1.0 - seconds / scale)
    if code == EXPONENTIAL:
        return math.exp(-seconds / scale)
    if code == STEP:
        # Strict: with the cutoff as scale, what was not solved by then is worth nothing.
        return 1.0 if seconds < scale else 0.0
    if code == PARETO:
        return 1.0 if seconds < scale else math.pow(scale / seconds, alpha)
    if seconds < scale:
        return 1.0 - 0.5 * math.pow(seconds / scale, alpha)
    return 0.5 * math.pow(scale / seconds, alpha)


def check_settings(epsilon: float, delta: float, least_epsilon: float = 0.0) -> None:
    """Complain about an epsilon or a delta out of range."""
    if not least_epsilon <= epsilon < 1.0:
        raise InvalidSetting("epsilon", epsilon, f"expected {least_epsilon:g} or more, below 1")
    if not 0.0 < delta < 1.0:
        raise InvalidSetting("delta", delta, "expected more than 0 and less than 1")


def choose_utility(problem: Problem, name: str, scale: float | str, alpha: float) -> Utility:
    """The function of that name, after checking its settings."""
    if name not in CODES:
        raise InvalidSetting("utility", name, f"expected one of {', '.join(CODES)}")
    seconds = problem.cutoff if scale == CUTOFF else _number(scale)
    if not 0.0 < seconds < math.inf:
        expected = f"expected a positive number of seconds, or {CUTOFF!r}"
        raise InvalidSetting("scale", scale, expected)
    if not 0.0 < alpha < math.inf:
        raise InvalidSetting("alpha", alpha, "expected a positive number")
    chosen = Utility(CODES[name], seconds, float(alpha))
    if utility_of(chosen, problem.cutoff) == 1.0:
        # The same number for all: a method would "prove" any configuration to be the best.
        expected = (
            f"expected less, since {name} then gives every run up to the cutoff of"
            f" {problem.cutoff:g} s the same utility"
        )
        raise InvalidSetting("scale", scale, expected)
    return chosen


def _number(text: float | str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan  # which is out of any range
