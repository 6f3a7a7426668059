"""A certificate in words, and as data."""

from __future__ import annotations

import math
from collections.abc import Callable

from cunctator.base.units import counted, finite_or_none, format_duration
from cunctator.core.certificate import Certificate, Point, PoolPoints

EXACT = 1 + 1e-9
"""Bounds on a ratio that differ by less are of means that are known."""

CLOSE = 1.001
"""Bounds on a ratio that differ by less are one number."""

SLOW, FAST = 0.1, 10.0
"""Bounds on the speed-up that are not worth a sentence, if the lower one is below 1."""

USELESS, MOST_CUT_OFF, HALF = 3.0, 0.4, 0.5
"""An epsilon, a delta or a gamma from here on is not worth a sentence."""

DOUBLE = 1.0
"""From this epsilon on, people say how many times as fast."""


def headline(certificate: Certificate, delta: float | None = None) -> str:
    """One sentence: how close to the best the answer is; `delta` is the most that was asked for."""
    if certificate.optimal:
        return "Every configuration was run to the end: the answer is optimal on this instance set."
    useful = [p for p in certificate.points if p.epsilon < USELESS and p.delta < MOST_CUT_OFF]
    if certificate.gamma > HALF and certificate.looked_at is None:
        useful = []  # hardly anything was looked at
    if certificate.looked_at == 1:
        return "Only one configuration was looked at, so there is nothing to compare it with."
    point = min(useful, key=lambda p: max(p.epsilon, p.delta), default=None)
    if delta is not None:
        within = [p for p in useful if p.delta <= delta]
        point = min(within, key=lambda p: p.epsilon, default=point)
    if point is None:
        return f"{_sure(certificate)}, nothing can be certified yet of how close to the best it is."
    return f"{_sure(certificate)}, {_about(certificate)}, {_claim(point, certificate)}."


def _sure(certificate: Certificate) -> str:
    return f"With {percent(certificate.confidence)} confidence"


def _about(certificate: Certificate) -> str:
    """What is said of a finite set says nothing about other instances."""
    pairs, seeds = certificate.instances, certificate.seeds
    if pairs is None:
        return "over the distribution of instances"
    which = "this" if pairs == (seeds or 1) else "these"
    return f"on {which} {set_in_words(pairs, seeds)}"


def set_in_words(pairs: int, seeds: int | None) -> str:
    """A finite set of pairs; `seeds`: of each instance, or None if the target takes none."""
    words = counted(pairs // (seeds or 1), "instance")
    if seeds is None:
        return words
    each = "" if pairs == seeds else " each"
    return f"{words} with {'one seed' if seeds == 1 else f'{seeds:,} seeds'}{each}"


def _claim(point: Point, certificate: Certificate) -> str:
    gamma, looked_at = certificate.gamma, certificate.looked_at
    whom, rest = "no other configuration is", ""
    if looked_at is not None:
        whom = f"no other of the {looked_at:,} configurations looked at is"
        if gamma <= HALF:
            rest = f"; nor are more than {rounded_up(gamma)} of all, by the sampling distribution"
    elif gamma > 0:
        share = rounded_up(gamma)
        whom = f"less than {share} of all configurations, by the sampling distribution, are"
    if point.epsilon >= DOUBLE:
        times = rounded(1 + point.epsilon, math.ceil)
        claim = f"{whom} more than {times} times as fast on average"
    elif point.epsilon > 0:
        claim = f"{whom} more than {rounded_up(point.epsilon)} faster on average"
    else:
        claim = f"{whom} faster on average"
    if point.delta > 0:
        share, cap = rounded_up(point.delta), format_duration(point.cap)
        claim += f", when at most {share} of this one's runs are cut off at {cap}"
        if certificate.penalty > 1:
            claim += " and count as that"
    return claim + rest


def versus_default(certificate: Certificate) -> str:
    """One sentence: how the answer compares with the default, configuration 0."""
    low, high = certificate.versus_default
    if certificate.incumbent == 0:
        return "The answer is the default configuration."
    if math.isinf(low):
        return "The default has crashed: its mean is infinite, as there is no cutoff."
    where, sure = _about(certificate), f"{_sure(certificate)}, the"
    if high <= low * EXACT:
        sure = "By the times that were measured, the" if certificate.measured else "The"
    if high <= low * CLOSE:
        least, most = rounded(low, math.floor), rounded(high, math.ceil)
        times = least if least == most else f"between {least} and {most}"
        return f"{sure} answer is {times} times as fast as the default {where}."
    upper = "" if math.isinf(high) else f" and at most {rounded(high, math.ceil)}"
    least = rounded(low, math.floor)
    if low >= 1:
        # Rounded down, it may be no more than this.
        times = "as fast" if least == "1" and not upper else f"{least}{upper} times as fast"
        return f"{sure} answer is at least {times} as the default {where}."
    if low < SLOW or high > FAST:
        return "Whether it is faster than the default is not certified yet."
    return (
        f"{sure} answer is at least {least}{upper} times as fast as the default {where}, which does"
        " not yet show which is faster."
    )


def counting_note(certificate: Certificate) -> str:
    """One sentence: what runs count as that are shorter or longer than what is told apart."""
    notes = []
    if certificate.floor is not None:
        floor = format_duration(certificate.floor)
        notes.append(f"runs shorter than {floor} count as {floor}")
    if certificate.cutoff is not None:
        cutoff, times = certificate.cutoff, certificate.penalty
        what = f"runs that reach the cutoff of {format_duration(cutoff)} or crash"
        notes.append(f"{what} count as {timeout_in_words(cutoff, times)}")
    return f"In all of this, {', and '.join(notes)}." if notes else ""


def timeout_in_words(cutoff: float, penalty: float) -> str:
    """What a timeout counts."""
    counted_as = format_duration(penalty * cutoff)
    return counted_as if penalty == 1 else f"{counted_as} ({penalty:g} times the cutoff)"


def as_data(certificate: Certificate, delta: float | None = None) -> dict[str, object]:
    """The certificate as plain data, for JSON; what is not bounded is null."""
    low, high = certificate.versus_default
    return {
        "confidence": certificate.confidence,
        "points": [_point_as_data(point) for point in certificate.points],
        "headline": headline(certificate, delta),
        "gamma": certificate.gamma,
        "pools": [_pool_as_data(pool) for pool in certificate.pools],
        "optimal": certificate.optimal,
        "versus_default": {
            "lower": finite_or_none(low),
            "upper": finite_or_none(high),
            "headline": versus_default(certificate),
        },
        "floor": certificate.floor,
        "cutoff": certificate.cutoff,
        "penalty": certificate.penalty,
        "looked_at": certificate.looked_at,
        "instances": certificate.instances,
        "seeds": certificate.seeds,
    }


def _point_as_data(point: Point) -> dict[str, object]:
    return {"delta": point.delta, "epsilon": point.epsilon, "cap": finite_or_none(point.cap)}


def _pool_as_data(pool: PoolPoints) -> dict[str, object]:
    """What is certified against a pool, in short."""
    best = min(pool.points, key=lambda p: max(p.epsilon, p.delta), default=None)
    return {
        "size": pool.size,
        "gamma": pool.gamma,
        "time_share": pool.time_share,
        "best_point": _point_as_data(best) if best else None,
    }


def percent(share: float) -> str:
    """A percentage, never more than it is: 99.9999%, not 100%."""
    return f"{math.floor(share * 1e8 + 1e-6) / 1e6:.10g}%"


def rounded_up(share: float) -> str:
    """A percentage to two figures, never less than it is."""
    if share <= 0:
        return "0%"
    figures = 10 ** max(0, 1 - math.floor(math.log10(100 * share)))
    return f"{math.ceil(100 * share * figures) / figures:.10g}%"


def rounded(ratio: float, direction: Callable[[float], int]) -> str:
    """A ratio to three figures, never beyond what it is in the other direction."""
    if ratio <= 0:
        return "0"
    figures = 10.0 ** (2 - math.floor(math.log10(ratio)))
    return f"{direction(ratio * figures) / figures:.10g}"
