"""A certificate in words, and as data."""

from __future__ import annotations

import math
from collections.abc import Callable

from cunctator.core.certificate import Certificate, Point
from cunctator.units import finite_or_none, format_duration

CLOSE = 1.001
"""Bounds on a ratio that differ by less are one number."""

SLOW, FAST = 0.1, 10.0
"""Bounds on the speed-up that are not worth a sentence, if the lower one is below 1."""

USELESS = 10.0
HALF = 0.5
"""An epsilon or a delta from here on is not worth a sentence."""


def headline(certificate: Certificate, delta: float | None = None) -> str:
    """One sentence: how close to the best the answer is; `delta` is the most that was asked for."""
    if certificate.optimal:
        return "Every configuration was run to the end: the answer is optimal on this instance set."
    useful = [p for p in certificate.points if p.epsilon < USELESS and p.delta < HALF]
    point = min(useful, key=lambda p: max(p.epsilon, p.delta), default=None)
    if delta is not None:
        within = [p for p in useful if p.delta <= delta]
        point = min(within, key=lambda p: p.epsilon, default=point)
    if point is None:
        return f"With {_percent(certificate.confidence)} confidence, nothing can be certified yet."
    return f"With {_percent(certificate.confidence)} confidence, {_claim(point)}."


def _claim(point: Point) -> str:
    if point.epsilon > 0:
        claim = (
            f"no other configuration is more than {_rounded_up(point.epsilon)} faster on average"
        )
    else:
        claim = "no other configuration is faster on average"
    if point.delta > 0:
        share, cap = _rounded_up(point.delta), format_duration(point.cap)
        claim += f", when at most {share} of this one's runs are cut off at {cap}"
    return claim


def versus_default(certificate: Certificate) -> str:
    """One sentence: how the answer compares with the default, configuration 0."""
    low, high = certificate.versus_default
    if certificate.incumbent == 0:
        return "The answer is the default configuration."
    if high <= low * CLOSE:
        return f"It is {low:.3g} times as fast as the default."
    if math.isinf(low):
        return "The default crashes, and never finishes."
    upper = "" if math.isinf(high) else f" and at most {_rounded(high, math.ceil)}"
    if low >= 1:
        return f"It is at least {_rounded(low, math.floor)}{upper} times as fast as the default."
    if low < SLOW or high > FAST:
        return "Whether it is faster than the default is not certified yet."
    return (
        f"It is at least {_rounded(low, math.floor)}{upper} times as fast as the default,"
        " which does not yet show which is faster."
    )


def floor_note(certificate: Certificate) -> str:
    """One sentence, if some runs were shorter than the shortest cap; else nothing."""
    if certificate.floor is None:
        return ""
    floor = format_duration(certificate.floor)
    return f"Runs shorter than {floor} count as {floor} in all of this."


def as_data(certificate: Certificate, delta: float | None = None) -> dict[str, object]:
    """The certificate as plain data, for JSON; what is not bounded is null."""
    low, high = certificate.versus_default
    return {
        "confidence": certificate.confidence,
        "points": [
            {"delta": p.delta, "epsilon": p.epsilon, "cap": finite_or_none(p.cap)}
            for p in certificate.points
        ],
        "headline": headline(certificate, delta),
        "optimal": certificate.optimal,
        "versus_default": {"lower": finite_or_none(low), "upper": finite_or_none(high)},
        "floor": certificate.floor,
    }


def _percent(share: float) -> str:
    """A percentage, never more than it is: 99.9999%, not 100%."""
    return f"{math.floor(share * 1e8 + 1e-6) / 1e6:.10g}%"


def _rounded_up(share: float) -> str:
    """A percentage to two figures, never less than it is."""
    figures = 10 ** max(0, 1 - math.floor(math.log10(100 * share)))
    return f"{math.ceil(100 * share * figures) / figures:.10g}%"


def _rounded(ratio: float, direction: Callable[[float], int]) -> str:
    """A ratio to three figures, never beyond what it is in the other direction."""
    if ratio <= 0:
        return "0"
    figures = 10.0 ** (2 - math.floor(math.log10(ratio)))
    return f"{direction(ratio * figures) / figures:.10g}"
