"""Where axes have ticks: at numbers that read well, few enough not to run into each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from cunctator.base.units import SECONDS, format_duration

ROUND_TIMES = (
    *(10.0**power for power in range(-6, 2)),
    *(60.0, 600.0, 3600.0, 36_000.0),
    *(86_400.0 * 4 * 10**power for power in range(10)),
)
"""Seconds that read well: 1 ms, 10 s, 1 min, 10 h, 40 d."""

FINE_TIMES = (
    *(step * 10.0**power for power in range(-6, 1) for step in (1, 2, 5)),
    *(10.0, 20.0),
    *(60.0 * step for step in (1, 2, 5, 10, 20)),
    *(3600.0 * step for step in (1, 2, 5, 10, 20)),
    *(86_400.0 * step * 10**power for power in range(10) for step in (2, 4, 10)),
)
"""Where there is room for more."""

ROUND_SHARES = (0.0, *(10.0**power for power in range(40)))
FINE_SHARES = (0.0, *(step * 10.0**power for power in range(40) for step in (1, 2, 5)))
"""Percentages that read well."""

LINEAR_TICKS = 6
"""On a logarithmic axis that is so short that round numbers are far apart."""

FEWEST_TICKS, FEW_TICKS, MOST_TICKS = 2, 4, 10
"""With fewer nobody knows the scale; with more they would run into each other, in small panels and
in others."""


def time_ticks(axis: Axis, most: int = MOST_TICKS) -> None:
    """Ticks of a logarithmic axis of times, at round numbers of some unit; limits must be set."""
    low, high = axis.get_view_interval()
    if high < 10 * low:
        linear_time_ticks(axis, min(most, LINEAR_TICKS))
        return
    _set_ticks(axis, _visible(axis, FINE_TIMES, ROUND_TIMES, most))
    axis.set_major_formatter(FuncFormatter(lambda seconds, _: time_words(seconds)))


def share_ticks(axis: Axis, most: int = MOST_TICKS) -> None:
    """Ticks of an axis of percentages, logarithmic from 1% on; limits must be set."""
    _set_ticks(axis, _visible(axis, FINE_SHARES, ROUND_SHARES, most))
    axis.set_major_formatter(FuncFormatter(lambda share, _: f"{share:,.0f}%"))


def linear_time_ticks(axis: Axis, most: int = MOST_TICKS) -> None:
    """Ticks of an axis of times that is not logarithmic, round in the unit that they are in."""
    low, high = axis.get_view_interval()
    unit = max([1.0, *(size for size in SECONDS.values() if high >= 2 * size)])
    places = (
        np.array(MaxNLocator(most - 1, steps=[1, 2, 5, 10]).tick_values(low / unit, high / unit))
        * unit
    )
    _set_ticks(axis, [float(place) for place in places if max(low, 0.0) <= place <= high])
    axis.set_major_formatter(FuncFormatter(lambda seconds, _: time_words(seconds)))


def time_axis(panel: Axes, least: float, latest: float, most: int = MOST_TICKS) -> None:
    """A logarithmic axis of charged time, with some room behind the latest."""
    panel.set_xscale("log")
    latest = max(latest, 10.0 * least)
    panel.set_xlim(least, latest * (latest / least) ** 0.04)
    time_ticks(panel.xaxis, most)


def time_words(seconds: float) -> str:
    """A duration; 1 min and 1 h, where there are others beside them, are not 60 s and 60 min."""
    return "1 min" if seconds == 60.0 else "1 h" if seconds == 3600.0 else format_duration(seconds)


def _visible(axis: Axis, fine: Sequence[float], coarse: Sequence[float], most: int) -> list[float]:
    """As many as there is room for."""
    low, high = axis.get_view_interval()
    found = [place for place in fine if low <= place <= high]
    if len(found) <= most:
        return found
    found = [place for place in coarse if low <= place <= high]
    return found[:: -(-len(found) // most)]


def _set_ticks(axis: Axis, places: Sequence[float]) -> None:
    few = len(places) < FEWEST_TICKS
    axis.set_major_locator(MaxNLocator(4) if few else FixedLocator(places))
    axis.set_minor_locator(NullLocator())
