"""The pictures of a comparison: the paper's Figure 2, excess with bands, where the time went."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from rich.cells import cell_len

from cunctator.base.units import counted, format_duration
from cunctator.comparison.jobs import Record
from cunctator.comparison.running import Comparison
from cunctator.comparison.summary import incumbents_of, true_means
from cunctator.show.comparison import OURS
from cunctator.show.figures.layout import LETTER, SMALL_SIZE, Sheet, about_table, finish, panels_for
from cunctator.show.figures.series import (
    Series,
    all_series,
    curves_of,
    earliest,
    end_of,
    latest,
    median,
    ours,
    percent_over,
    with_incumbents,
)
from cunctator.show.figures.style import DASHES, MARKERS, REFERENCE, shortened, without_common
from cunctator.show.figures.ticks import linear_time_ticks, share_ticks, time_axis, time_ticks
from cunctator.siblings.registry import METHODS

SMALLEST_MARK, LARGEST_MARK = 12.0, 130.0
"""Areas of the marks of epsilon 0 and 1."""

PALEST = 0.25
"""How much of its colour a mark of delta 0 has."""

NO_EPSILON, NO_DELTA = 0.3, 0.5
"""How marks of methods look whose grid is over other settings."""

SMALL_MARKS = 0.4
"""Their areas in small panels, compared with others."""

NOTHING = (-0.05, 1.0)
"""Seconds on an axis if nothing takes any time."""

LEAST_SPAN = 0.15
"""Of an axis of times, compared with what is on it: ticks have three figures to differ in."""

CLOSE = 0.05

MOST_NAMED, LONGEST_NAMED = 15, 26
"""Configurations whose names fit on an axis, and letters of a name there."""

MOST_LETTERS = 90
"""Of names side by side; more are written aslant."""

MOST_JOINED = 30
"""Configurations whose points are joined by lines."""


def incumbents_figure(comparison: Comparison) -> Figure:
    """Figure 2: mean runtime of the answer against charged time.

    Methods that are told nothing are lines, medians over the seeds; the others are one mark for
    each pair and seed, larger for larger epsilon and darker for larger delta.
    """
    means, least = true_means(comparison), earliest(comparison)
    series = all_series(comparison, choose=False)
    sheet = panels_for([one.title for one in series])
    handles = []
    for one, panel in zip(series, sheet.panels, strict=False):
        if one.has_grid:
            handles.append(_marks(sheet, panel, one, means, least))
        else:
            times, curves = curves_of(one.records, means, least)
            handles.append(_line(sheet, panel, one, times, median(curves)))
    _refer(sheet, series, handles)
    _dotted(sheet, float(means.min()))
    time_axis(sheet.panels[0], least, latest(series), sheet.most_ticks)
    answers = {int(k) for one in series for r in one.records for _, k in incumbents_of(r)}
    drawn = [float(means[index]) for index in answers] + [float(means.min())]
    _runtime_axis(sheet.panels[0], drawn, sheet.most_ticks)
    legends = [] if sheet.is_divided else [handles]
    if any("delta" in METHODS[one.method].grid for one in series):
        legends.append(_key(_scale(sheet), series))
    caption = _caption(comparison, sheet, series, *_incumbents_words(series), "dotted: the best")
    return finish(sheet, ("charged time", "mean runtime of the answer"), legends, caption)


def _incumbents_words(series: list[Series]) -> list[str]:
    """What lines and marks are, as far as there are some."""
    words = []
    if not all(one.has_grid for one in series):
        words.append("lines: medians over seeds")
    if any(one.has_grid for one in series):
        words.append("marks: one for each setting and seed")
    for name, look in (("epsilon", "larger"), ("delta", "darker")):
        if any(name in METHODS[one.method].grid for one in series):
            words[-1] += f", {look} for larger {name}"
    return words


def _marks(
    sheet: Sheet, panel: Axes, one: Series, means: NDArray[np.float64], least: float
) -> Line2D:
    """One for each job that has an answer; what took no time at all is at the axis."""
    base, found = np.array(to_rgb(one.colour)), with_incumbents(one.records)
    # Elsewhere these words mean other things, such as a probability to be wrong.
    known = METHODS[one.method].grid.keys()
    told = [{key: r["settings"][key] for key in known & r["settings"].keys()} for r in found]
    panel.scatter(
        [max(end_of(record), least) for record in found],
        [means[int(incumbents_of(record)[-1][1])] for record in found],
        s=[_scale(sheet) * _area(settings.get("epsilon", NO_EPSILON)) for settings in told],
        c=[1 - _depth(settings.get("delta", NO_DELTA)) * (1 - base) for settings in told],
        marker=_marker(sheet, one),
        edgecolor="white",
        linewidth=0.4,
        clip_on=False,
        in_layout=False,  # as if it were clipped
        zorder=2,
    )
    return _mark(one.label, one.colour, _marker(sheet, one))


def _area(epsilon: float) -> float:
    return SMALLEST_MARK + (LARGEST_MARK - SMALLEST_MARK) * epsilon


def _depth(delta: float) -> float:
    """How much of its colour a mark has."""
    return PALEST + (1 - PALEST) * min(1.0, 2 * delta)


def _scale(sheet: Sheet) -> float:
    """Of areas: small panels have smaller marks."""
    return SMALL_MARKS if sheet.is_divided else 1.0


def _key(scale: float, series: list[Series]) -> list[Line2D]:
    """What size and shade mean, by values that were run."""
    marks = []
    for epsilon in _run_values("epsilon", series):
        size = math.sqrt(scale * _area(epsilon))
        marks.append(_mark(f"epsilon {epsilon:g}", "#777777", "o", size))
    for delta in _run_values("delta", series):
        shade = 1 - _depth(delta) * 0.75
        marks.append(_mark(f"delta {delta:g}", (shade, shade, shade), "o"))
    return marks


def _run_values(name: str, series: list[Series]) -> list[float]:
    """The least, the middle and the largest value that a method was given in its grid."""
    given = {
        record["settings"][name]
        for one in series
        if one.has_grid and name in METHODS[one.method].grid
        for record in with_incumbents(one.records)
        if name in record["settings"]
    }
    values = sorted(given)
    return sorted({values[0], values[len(values) // 2], values[-1]}) if values else []


def _mark(
    label: str, colour: str | tuple[float, float, float], marker: str, size: float = 6.0
) -> Line2D:
    return Line2D([], [], label=label, marker=marker, linestyle="", color=colour, markersize=size)


def _runtime_axis(panel: Axes, drawn: list[float], most: int) -> None:
    """Logarithmic if what is drawn differs by much."""
    if min(drawn) > 0 and max(drawn) / min(drawn) > 3:
        panel.set_yscale("log")
        time_ticks(panel.yaxis, most)
        return
    low, high = panel.get_ylim() if max(drawn) > 0 else NOTHING
    lacking = max(0.0, LEAST_SPAN * high - (high - low))
    panel.set_ylim(low - lacking / 2, high + lacking / 2)
    linear_time_ticks(panel.yaxis, most)


def excess_figure(comparison: Comparison) -> Figure:
    """How much slower than the best the answer is, against charged time.

    Lines are medians over the seeds, bands the middle half. A method with a grid is shown at the
    pair that was quickest to settle, in hindsight; one that answers once is a mark for each seed.
    """
    means, least = true_means(comparison), earliest(comparison)
    best = float(means.min())
    series = all_series(comparison, choose=True)
    sheet = panels_for([one.title for one in series])
    handles = []
    for one, panel in zip(series, sheet.panels, strict=False):
        if not METHODS[one.method].anytime:
            handles.append(_returns(sheet, panel, one, means, least))
            continue
        times, curves = curves_of(one.records, means, least)
        shares = percent_over(curves, best)
        handles.append(_line(sheet, panel, one, times, median(shares)))
        known = np.isfinite(shares).all(axis=0)
        _band(panel, one, times[known], shares[:, known])
    _refer(sheet, series, handles)
    _dotted(sheet, 100 * CLOSE)
    time_axis(sheet.panels[0], least, latest(series), sheet.most_ticks)
    sheet.panels[0].set_yscale("symlog", linthresh=1.0)
    # A line at 0 is to be seen whole.
    sheet.panels[0].set_ylim(-0.05, 1.3 * max(panel.dataLim.ymax for panel in sheet.panels))
    share_ticks(sheet.panels[0].yaxis, sheet.most_ticks + 1)
    words = [*_excess_words(series), f"dotted: {CLOSE:.0%}"]
    caption = _caption(comparison, sheet, series, *words)
    legends = [] if sheet.is_divided else [handles]
    return finish(sheet, ("charged time", "excess over the best"), legends, caption)


def _band(
    panel: Axes, one: Series, times: NDArray[np.float64], shares: NDArray[np.float64]
) -> None:
    """The middle half; the upper median, which may be above it if seeds are few, is in it, too."""
    low, high = np.quantile(shares, [0.25, 0.75], axis=0)
    high = np.maximum(high, median(shares))
    panel.fill_between(times, low, high, step="post", color=one.colour, alpha=0.2, linewidth=0)


def _returns(
    sheet: Sheet, panel: Axes, one: Series, means: NDArray[np.float64], least: float
) -> Line2D:
    """A mark where a method returned, and how good its answer is from then on."""
    found = with_incumbents(one.records)
    at = np.array([max(end_of(record), least) for record in found])
    own = np.array([means[int(incumbents_of(record)[-1][1])] for record in found])
    shares = percent_over(own, float(means.min()))
    marker, known = _marker(sheet, one), np.isfinite(shares)
    (line,) = panel.plot(at[known], shares[known], marker, label=one.label, color=one.colour)
    line.set(markersize=5, clip_on=False, in_layout=False, zorder=4)
    return line


def _excess_words(series: list[Series]) -> list[str]:
    """What lines and marks are, as far as there are some."""
    words = []
    if any(METHODS[one.method].anytime for one in series):
        words.append("lines: medians over seeds; bands: the middle half")
    if not all(METHODS[one.method].anytime for one in series):
        words.append("marks: where a method returned, one for each seed")
    if any(one.has_grid for one in series):
        words.append("of a method's grid: the setting that was quickest to settle")
    return words


def spent_figure(comparison: Comparison) -> Figure:
    """What was charged for each configuration, the best on the left; one job of each method."""
    means = true_means(comparison)
    order = np.argsort(means, kind="stable")
    found = [(one, _spender(one.records)) for one in all_series(comparison, choose=True)]
    shown = [(one, job) for one, job in found if job is not None]
    series = [one for one, _ in shown]
    totals = [f"{format_duration(sum(job['spent']))} in all" for _, job in shown]
    sheet = panels_for([f"{one.title}\n{total}" for one, total in zip(series, totals, strict=True)])
    handles = []
    for (one, job), total, panel in zip(shown, totals, sheet.panels, strict=False):
        handles.append(_points(sheet, panel, one, np.array(job["spent"])[order]))
        handles[-1].set_label(f"{one.label}, {total}")
    _refer(sheet, series, handles)
    _rank_axis(sheet, [comparison.table.configurations[index] for index in order])
    if any(max(job["spent"]) > 0 for _, job in shown):
        sheet.panels[0].set_yscale("log")
        time_ticks(sheet.panels[0].yaxis, sheet.most_ticks)
    else:
        sheet.panels[0].set_ylim(NOTHING)
        linear_time_ticks(sheet.panels[0].yaxis, sheet.most_ticks)
    legends = [] if sheet.is_divided else [handles]
    caption = _caption(comparison, sheet, series, *_spent_words(shown))
    labels = ("configurations, from the best to the worst", "charged time")
    return finish(sheet, labels, legends, caption)


def _spender(records: list[Record]) -> Record | None:
    """The first job that did not fail."""
    return next((record for record in records if "spent" in record), None)


def _points(sheet: Sheet, panel: Axes, one: Series, spent: NDArray[np.float64]) -> Line2D:
    """By rank; what was not charged is not there."""
    ranks = np.arange(1, spent.size + 1)
    (line,) = panel.plot(ranks, np.where(spent > 0, spent, np.nan), color=one.colour)
    line.set(marker=_marker(sheet, one), markersize=3.5 if spent.size <= MOST_JOINED else 2.0)
    line.set(linestyle=_dashes(sheet, one) if spent.size <= MOST_JOINED else "", linewidth=1.0)
    return line


def _rank_axis(sheet: Sheet, names: list[str]) -> None:
    """Numbers, or names where these fit."""
    beside = max(0.5, 0.02 * len(names))
    sheet.panels[0].set_xlim(1 - beside, len(names) + beside)
    words = [shortened(name, LONGEST_NAMED) for name in without_common(names)]
    if len(set(words)) > MOST_NAMED or len(set(words)) < len(names):
        sheet.panels[0].xaxis.set_major_locator(
            MaxNLocator(sheet.most_ticks, integer=True, min_n_ticks=1)
        )
        return
    looks: dict[str, Any] = {"fontsize": SMALL_SIZE, "parse_math": False}
    if sheet.is_divided:
        looks |= {"rotation": 90}
        sheet.grow(LETTER * SMALL_SIZE / 72 * max(map(cell_len, words)))
    elif max(map(cell_len, words)) * len(names) > MOST_LETTERS:
        looks |= {"rotation": 35, "ha": "right", "rotation_mode": "anchor"}
    for panel in dict.fromkeys(sheet.panels):
        panel.set_xticks(range(1, len(names) + 1), words, **looks)


def _spent_words(shown: list[tuple[Series, Record]]) -> list[str]:
    """Which job of each series is drawn."""
    seeds = {job["seed"] for _, job in shown}
    each = ", ".join(f"{one.label} {job['seed']}" for one, job in shown)
    words = [f"one job of each: seed {min(seeds)}" if len(seeds) == 1 else f"seeds: {each}"]
    if any(one.has_grid for one, _ in shown):
        words.append("of a method's grid: the setting that was quickest to settle")
    return words


def _line(
    sheet: Sheet, panel: Axes, one: Series, x: NDArray[np.float64], y: NDArray[np.float64]
) -> Line2D:
    width = 2.2 if one.method == OURS and not (sheet.is_divided or one.shade) else 1.3
    (line,) = panel.plot(x, y, color=one.colour, label=one.label, linewidth=width, zorder=1 + width)
    line.set(linestyle=_dashes(sheet, one), drawstyle="steps-post")
    return line


def _dashes(sheet: Sheet, one: Series) -> tuple[float, tuple[float, ...]]:
    return DASHES[0 if sheet.is_divided else one.place % len(DASHES)]


def _marker(sheet: Sheet, one: Series) -> str:
    return MARKERS[0 if sheet.is_divided else one.place % len(MARKERS)]


def _refer(sheet: Sheet, series: list[Series], handles: list[Line2D]) -> None:
    """SPC's line, in grey, in the panels of the others."""
    spc = ours(series)
    if spc is None or not sheet.is_divided:
        return
    line = handles[series.index(spc)]
    for one, panel in zip(series, sheet.panels, strict=True):
        if one is not spc:
            (copy,) = panel.plot(*line.get_data(), color=REFERENCE, linewidth=0.8, zorder=1)
            copy.set(marker=line.get_marker(), markersize=1.5, drawstyle=line.get_drawstyle())
            if line.get_linestyle() == "None":
                copy.set_linestyle("None")


def _dotted(sheet: Sheet, height: float) -> None:
    for panel in dict.fromkeys(sheet.panels):
        panel.axhline(height, color="black", linewidth=0.8, linestyle=":")


def _caption(comparison: Comparison, sheet: Sheet, series: list[Series], *words: str) -> str:
    """Of what the picture is, and what is to be seen in it."""
    seeds = len({record["seed"] for record in comparison.records})
    drawn = "with" if comparison.conditions.resample else "without"
    about = f"{about_table(comparison.table)}, {counted(seeds, 'seed')}"
    spc = ours(series)
    grey = [f"grey: {spc.label}"] if spc is not None and sheet.is_divided else []
    return f"{about}, instances drawn {drawn} replacement; {'; '.join([*words, *grey])}"
