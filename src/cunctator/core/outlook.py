"""A forecast in words, and as data; and what to say if hardly anything can be certified at all.

Numbers are rounded outwards, to one figure or two: more would promise what a forecast cannot hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from cunctator.base.units import SECONDS, finite_or_none
from cunctator.core.forecast import Forecast, ToBeClose, ToBeFaster
from cunctator.core.reach import is_out_of_reach
from cunctator.core.state import State
from cunctator.core.statement import DOUBLE, percent, set_in_words

UNITS = (("day", SECONDS["d"]), ("hour", SECONDS["h"]), ("minute", SECONDS["min"]))
"""Longer ones first; the rest is in seconds."""

COARSE = 20.0
"""From here on numbers are rounded to fives, or to two figures."""


def outlook(
    forecast: Forecast, left: float = math.inf, clock: float | None = None
) -> dict[str, object]:
    """A forecast as plain data, for JSON; with its words.

    `left` is what a budget has left, in seconds of runs that are charged; `clock`, how many seconds
    on the clock each of them takes. None: runs are recorded, and nobody waits for them.
    """
    faster, close = forecast.faster, forecast.close
    return {
        "faster": None
        if faster is None
        else {
            "headline": faster_in_words(faster, left, clock),
            **_times(faster.charged, clock),
            "exact": faster.exact,
        },
        "close": None
        if close is None
        else {
            "headline": close_in_words(close, left, clock),
            **_times(close.charged, clock),
            "epsilon": close.epsilon,
            "delta": close.delta,
        },
    }


def faster_in_words(needed: ToBeFaster, left: float = math.inf, clock: float | None = None) -> str:
    """When it will be certified that the answer is faster than the default."""
    if math.isinf(needed.charged):
        return "faster than the default: not in sight so far"
    time = _time(needed.charged, clock, math.ceil)
    if needed.exact:
        words = f"faster than the default? Known exactly after about {time}"
    else:
        rate = "" if clock is None else " at this rate"
        words = f"faster than the default: about {time}{rate}"
    return words + _beyond(needed.charged, left)


def close_in_words(needed: ToBeClose, left: float = math.inf, clock: float | None = None) -> str:
    """Not before when it will be certified how close to the best the answer is."""
    whom = "the best"
    if needed.looked_at is not None:
        whom = f"the best of {needed.looked_at:,} looked at"
    words = f"within {100 * needed.epsilon:.4g}% of {whom}"
    if needed.epsilon >= DOUBLE:
        words = f"within {1 + needed.epsilon:.4g} times {whom}"
    if math.isinf(needed.charged):
        return f"{words}: not in sight, others seem too close so far"
    if needed.charged * (1.0 if clock is None else clock) < 1.0:
        return f"{words}: perhaps within a second"
    time = _time(needed.charged, clock, math.floor)
    return f"{words}: not before {time}{_beyond(needed.charged, left)}"


def out_of_reach(state: State, seeds: int | None = None) -> str:
    """What to say before a search that can certify nothing but what is certain; else nothing.

    `seeds`: with how many each instance is run, if the target takes any.
    """
    if state.testers.size == 1 or not is_out_of_reach(state):
        return ""
    confidence = 1.0 - state.rules.error - state.rules.gamma_error
    return (
        f"with {percent(confidence)} confidence,"
        f" {set_in_words(state.rules.instances, seeds)} can never show that the answer is faster;"
        " only running everything to the end can: ask for less confidence or give more instances"
    )


def _times(charged: float, clock: float | None) -> dict[str, float | None]:
    wall = math.inf if clock is None else charged * clock
    return {"charged": finite_or_none(charged), "wall": finite_or_none(wall)}


def _beyond(charged: float, left: float) -> str:
    return ", more than is left" if charged > left else ""


def _time(charged: float, clock: float | None, direction: Callable[[float], int]) -> str:
    """`4 more minutes`; of runs, if nobody waits for them."""
    seconds = charged if clock is None else charged * clock
    name, unit = next((one for one in UNITS if seconds >= 2 * one[1]), ("second", 1.0))
    number = max(1, _rounded(seconds / unit, direction))
    words = f"{number:,} more {name if number == 1 else f'{name}s'}"
    return words if clock is not None else f"{words} of runs"


def _rounded(number: float, direction: Callable[[float], int]) -> int:
    """A whole number below `COARSE`, and not more exact from there on."""
    step = 1
    if number >= COARSE:
        step = max(5, 10 ** (math.floor(math.log10(number)) - 1))
    return direction(number / step) * step
