"""The pictures of a comparison: the paper's Figure 2, excess with bands, where the time went."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator
from numpy.typing import NDArray

from cunctator.comparison.jobs import Record
from cunctator.comparison.running import Comparison
from cunctator.comparison.summary import answers_of, quickest, title_of, true_means, words_of
from cunctator.comparison.words import OURS
from cunctator.report.style import COLOURS, new_figure, time_axis, time_ticks
from cunctator.siblings.registry import METHODS
from cunctator.units import format_duration

POINTS = 400
"""Of a curve, evenly spaced in the logarithm of the time."""

SMALLEST_MARK, LARGEST_MARK = 12.0, 130.0
"""Areas of the marks of epsilon 0 and 1."""

PALEST = 0.25
"""How much of its colour a mark of delta 0 has."""

NO_EPSILON, NO_DELTA = 0.3, 0.5
"""How marks of methods look whose grid is over other settings."""

CLOSE = 0.05

LEGEND: dict[str, Any] = {"loc": "outside right upper", "frameon": False, "fontsize": 8}
"""Beside the panel: there may be a dozen methods."""


def answers_figure(comparison: Comparison) -> Figure:
    """Figure 2: mean runtime of the answer against charged time.

    Methods that are told nothing are lines, medians over the seeds; the others are one mark for
    each pair and seed, larger for larger epsilon and darker for larger delta.
    """
    means = true_means(comparison)
    figure, panel = new_figure(9.0, 4.8)
    handles = []
    for name, records in _by_method(comparison):
        colour = COLOURS[name]
        if METHODS[name].grid:
            _marks(panel, records, means, colour)
            handles.append(_mark(title_of(name), colour))
        else:
            times, curves = _curves(records, means, earliest(comparison))
            width = 2.4 if name == OURS else 1.2
            label, middle = title_of(name), _median(curves)
            handles += panel.plot(
                times, middle, color=colour, linewidth=width, label=label, zorder=width
            )
    answers = {int(k) for r in comparison.records for _, k in answers_of(r)}
    drawn = [float(means[index]) for index in answers] + [float(means.min())]
    panel.axhline(means.min(), color="black", linewidth=0.8, linestyle=":")
    handles.append(Line2D([], [], label="the best", color="black", linewidth=0.8, linestyle=":"))
    time_axis(panel, earliest(comparison))
    _runtime_axis(panel, drawn)
    panel.set_ylabel("mean runtime of the answer")
    if any("delta" in METHODS[name].grid for name, _ in _by_method(comparison)):
        handles += _key()
    figure.legend(handles=handles, **LEGEND)
    return figure


def excess_figure(comparison: Comparison) -> Figure:
    """How much slower than the best the answer is, against charged time.

    Lines are medians over the seeds, bands the middle half. A method with a grid is shown at the
    pair that was quickest to settle, in hindsight; one that answers once is a mark for each seed.
    """
    means = true_means(comparison)
    best = max(float(means.min()), 1e-12)
    figure, panel = new_figure(9.0, 4.8)
    for name, records in _by_method(comparison):
        some, title, colour = records, title_of(name), COLOURS[name]
        if METHODS[name].grid:
            some = quickest_pair(records, means)
            words = [f"{key} {value}" for key, value in some[0]["settings"].items()]
            title += f" ({', '.join(words)})"
        times, curves = _curves(some, means, earliest(comparison))
        shares = 100.0 * (curves / best - 1.0)
        if not METHODS[name].anytime:
            _returns(panel, some, means, colour, title)
            continue
        width = 2.4 if name == OURS else 1.2
        panel.plot(times, _median(shares), color=colour, linewidth=width, label=title, zorder=width)
        known = np.isfinite(shares).all(axis=0)
        low, high = np.quantile(shares[:, known], [0.25, 0.75], axis=0)
        panel.fill_between(times[known], low, high, color=colour, alpha=0.15, linewidth=0)
    panel.axhline(100 * CLOSE, color="black", linewidth=0.8, linestyle=":")
    time_axis(panel, earliest(comparison))
    panel.set_yscale("symlog", linthresh=1.0)
    panel.set_ylim(bottom=-0.05)  # a line at 0 is to be seen whole
    panel.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{share:g}%"))
    panel.set_ylabel("excess over the best")
    figure.legend(**LEGEND)
    return figure


def earliest(comparison: Comparison) -> float:
    """Where axes of time begin: at the first cap, or before the shortest job is over."""
    ends = [float(record["charged"]) for record in comparison.records if answers_of(record)]
    return min([comparison.conditions.first_cap, *(end / 2 for end in ends if end > 0)])


def _returns(
    panel: Axes, records: list[Record], means: NDArray[np.float64], colour: str, title: str
) -> None:
    """A mark where a method returned, and how good its answer is from then on."""
    ends = [answers_of(record)[-1] for record in records if answers_of(record)]
    at = [charged for charged, _ in ends]
    best = max(float(means.min()), 1e-12)
    shares = [100.0 * (means[int(index)] / best - 1.0) for _, index in ends]
    panel.plot(at, shares, "o", label=title, color=colour, clip_on=False, zorder=4)


def spent_figure(comparison: Comparison) -> Figure:
    """What was charged for each configuration, the best on the left; one job of each method."""
    means = true_means(comparison)
    order = np.argsort(means, kind="stable")
    figure, panel = new_figure(9.0, 4.8)
    ranks = np.arange(1, means.size + 1)
    style = "o-" if means.size <= 30 else "."
    for name, records in _by_method(comparison):
        some = quickest_pair(records, means) if METHODS[name].grid else records
        shown_job = next((record for record in some if "spent" in record), None)
        if shown_job is None:
            continue
        spent = np.array(shown_job["spent"])[order]
        shown = np.where(spent > 0, spent, np.nan)
        title = f"{title_of(name)}, {format_duration(spent.sum())} in all"
        panel.plot(ranks, shown, style, color=COLOURS[name], label=title, markersize=4)
    panel.set_yscale("log")
    time_ticks(panel.yaxis)
    panel.set_ylabel("charged time")
    panel.set_xlabel("configurations, from the best to the worst")
    beside = max(0.5, 0.02 * means.size)
    panel.set_xlim(1 - beside, means.size + beside)
    panel.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    figure.legend(**LEGEND)
    return figure


def quickest_pair(records: list[Record], means: NDArray[np.float64]) -> list[Record]:
    """The records of the pair whose median time to settle is least; of those that end, if none."""
    best, _ = quickest(records[0]["method"], records, means)
    return [record for record in records if words_of(record["settings"]) == best.settings]


def _by_method(comparison: Comparison) -> list[tuple[str, list[Record]]]:
    """All records of the methods that have some answer."""
    found: dict[str, list[Record]] = {}
    for record in comparison.records:
        found.setdefault(record["method"], []).append(record)
    return [(name, some) for name, some in found.items() if any(map(answers_of, some))]


def _curves(
    records: list[Record], means: NDArray[np.float64], least: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times, and for each record the mean of its answer then; infinite before it has one."""
    found = [record for record in records if answers_of(record)]
    firsts = [answers_of(record)[0][0] for record in found]
    lasts = [max(record["charged"], answers_of(record)[-1][0]) for record in found]
    begin, end = max(min(firsts, default=least), least), max(lasts, default=least)
    times = np.geomspace(begin, max(end, begin * 1.0001), POINTS)
    curves = np.full((len(records), POINTS), np.inf)
    for place, record in enumerate(records):
        if answers_of(record):
            at, answers = np.array(answers_of(record)).T
            which = np.searchsorted(at, times * (1 + 1e-12), side="right") - 1
            known = means[answers.astype(int)][np.maximum(which, 0)]
            curves[place] = np.where(which >= 0, known, np.inf)
    return times, curves


def _median(curves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Over the seeds, the upper one as in the summary; NaN while it is infinite."""
    middle = np.sort(curves, axis=0)[len(curves) // 2]
    return np.where(np.isfinite(middle), middle, np.nan)


def _marks(panel: Axes, records: Iterable[Record], means: NDArray[np.float64], colour: str) -> None:
    base = np.array(to_rgb(colour))
    for record in filter(answers_of, records):
        charged, index = answers_of(record)[-1]
        epsilon = record["settings"].get("epsilon", NO_EPSILON)
        delta = record["settings"].get("delta", NO_DELTA)
        own = PALEST + (1 - PALEST) * min(1.0, 2 * delta)
        tint = 1 - own * (1 - base)
        at = max(charged, record["charged"])
        size = SMALLEST_MARK + (LARGEST_MARK - SMALLEST_MARK) * epsilon
        panel.scatter(
            [at], [means[int(index)]], s=size, color=[tint], edgecolor="white", linewidth=0.4
        )


def _key() -> list[Line2D]:
    """What size and shade mean."""
    marks = []
    for epsilon in (0.1, 0.5, 0.9):
        size = math.sqrt(SMALLEST_MARK + (LARGEST_MARK - SMALLEST_MARK) * epsilon)
        marks.append(_mark(f"epsilon {epsilon:g}", "#777777", size))
    for delta in (0.1, 0.3, 0.5):
        shade = 1 - (PALEST + (1 - PALEST) * min(1.0, 2 * delta)) * 0.75
        marks.append(_mark(f"delta {delta:g}", (shade, shade, shade)))
    return marks


def _mark(label: str, colour: str | tuple[float, float, float], size: float = 7.0) -> Line2D:
    return Line2D([], [], label=label, marker="o", linestyle="", color=colour, markersize=size)


def _runtime_axis(panel: Axes, drawn: list[float]) -> None:
    """Logarithmic if what is drawn differs by much."""
    if min(drawn) > 0 and max(drawn) / min(drawn) > 3:
        panel.set_yscale("log")
        panel.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        panel.yaxis.set_minor_locator(NullLocator())
    panel.yaxis.set_major_formatter(FuncFormatter(lambda seconds, _: format_duration(seconds)))
