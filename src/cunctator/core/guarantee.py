"""The appendix lemma: what the paper lets one conclude from the number of started runs alone.

Lemma ("Deriving epsilon and delta from an empirical execution"), as printed: if SPC returns i with
r started runs at step t, and

    epsilon^2 * delta >= 72 * lambda * log2(t * log2(1/delta)) / r,      lambda >= 1,

then i is (epsilon, delta)-optimal with probability at least 1 - exp(-2 lambda). Three corrections
make it a statement to rely on, for the `proved` profile; `docs/algorithm.md` derives them:

- 144 for 72: the empirical survival curve may dip into the next bin near the quantile.
- The probability must pay for all n configurations, all counts r up to t, and for the lower bound
  of the best configuration failing after step r. With y = t * log2(1/delta), failure is at most
  n t (y^-6.4 lambda + y^-(25 lambda / epsilon^2)) + 2.63 r^(-5/4).
- log2(1/delta) counts as at least 1, since bin numbers start at 1; epsilon is at most 1.

Both are far from tight: they say nothing before thousands of runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from cunctator.base.errors import InvalidSetting

PRINTED, CORRECTED = 72.0, 144.0


@dataclass(frozen=True, slots=True)
class Guarantee:
    """With this probability, the most started configuration is (epsilon, delta)-optimal."""

    epsilon: float
    delta: float
    probability: float


def appendix_delta(
    epsilon: float,
    started: int,
    step: int,
    configurations: int,
    *,
    strength: float = 1.0,
    as_printed: bool = False,
) -> Guarantee | None:
    """The least delta for a given epsilon, or None: no guarantee yet. `strength` is lambda."""
    if not 1e-6 <= epsilon <= 1:
        raise InvalidSetting("epsilon", epsilon, "expected 0.000001 to 1")
    _check_counts(started, step, configurations, strength)
    constant = PRINTED if as_printed else CORRECTED

    def holds(delta: float) -> bool:
        needed = constant * strength * math.log2(_doubtful_events(step, delta))
        return epsilon**2 * delta * started >= needed

    if started == 0:
        return None
    # The condition is monotone in delta: the left side grows, the right side falls.
    low, high = 0.0, math.nextafter(1.0, 0.0)
    if not holds(high):
        return None
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if middle > 0 and holds(middle) else (middle, high)
    return _stated(epsilon, high, started, step, configurations, strength, as_printed)


def appendix_epsilon(
    delta: float,
    started: int,
    step: int,
    configurations: int,
    *,
    strength: float = 1.0,
    as_printed: bool = False,
) -> Guarantee | None:
    """The least epsilon for a given delta, or None: no guarantee yet. `strength` is lambda."""
    if not 0 < delta < 1:
        raise InvalidSetting("delta", delta, "expected between 0 and 1")
    _check_counts(started, step, configurations, strength)
    if started == 0:
        return None
    constant = PRINTED if as_printed else CORRECTED
    square = constant * strength * math.log2(_doubtful_events(step, delta)) / (started * delta)
    if square > 1:
        return None
    epsilon = max(math.sqrt(square), 1e-9)
    return _stated(epsilon, delta, started, step, configurations, strength, as_printed)


def _doubtful_events(step: int, delta: float) -> float:
    """The paper's y = t * log2(1/delta), with log2(1/delta) at least 1."""
    return max(step, 1) * max(1.0, -math.log2(delta))


def _stated(
    epsilon: float,
    delta: float,
    started: int,
    step: int,
    configurations: int,
    strength: float,
    as_printed: bool,
) -> Guarantee | None:
    if as_printed:
        return Guarantee(epsilon, delta, 1 - math.exp(-2 * strength))
    events = _doubtful_events(step, delta)
    tails = events ** (-6.4 * strength) + events ** (-25 * strength / epsilon**2)
    failure = configurations * step * tails + 2.63 * started**-1.25
    return Guarantee(epsilon, delta, 1 - failure) if failure < 1 else None


def _check_counts(started: int, step: int, configurations: int, strength: float) -> None:
    if started < 0 or step < started:
        raise InvalidSetting("started", started, f"expected 0 to the step, {step}")
    if configurations < 1:
        raise InvalidSetting("configurations", configurations, "expected at least 1")
    if not strength >= 1:
        raise InvalidSetting("strength", strength, "expected at least 1")
