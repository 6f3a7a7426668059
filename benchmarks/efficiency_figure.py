"""The figure of `efficiency.py`: how far from the best the answer is, against what was charged."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

COLOURS = {"tight": "#0b6e4f", "proved": "#c47f17", "paper": "#8a3ffc"}
STYLES = {"tight": "-", "proved": "--", "paper": "-."}
COLUMNS = 3

Curves = dict[tuple[str, str], NDArray[np.float64]]


def draw(
    grid: NDArray[np.float64], curves: Curves, closes: dict[tuple[str, str], float], to: Path
) -> None:
    """One panel a table; PNG and SVG beside each other. Curves: a row a shuffle."""
    mpl.rcParams["svg.hashsalt"] = "cunctator"  # the same picture is the same file
    names = list(dict.fromkeys(name for name, _ in curves))
    columns = min(COLUMNS, len(names))
    rows = -(-len(names) // columns)
    figure = Figure(figsize=(4.2 * columns, 3.3 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False)
    for panel in panels.flat[len(names) :]:
        panel.set_axis_off()
    for place, (panel, name) in enumerate(zip(panels.flat, names, strict=False)):
        for profile, colour in COLOURS.items():
            some, close = curves[name, profile], closes[name, profile]
            _draw_profile(panel, grid, some, close, profile, colour)
        panel.set_title(f"{name} ({len(curves[name, 'tight'])} shuffles)", fontsize=10)
        panel.set_xscale("log")
        panel.set_yscale("symlog", linthresh=1.0)
        panel.set_ylim(0.0, 3000.0)
        panel.yaxis.set_major_formatter(FuncFormatter(lambda excess, _: f"{excess:g}%"))
        panel.set_xlim(grid[0], grid[-1])
        panel.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g}%"))
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(alpha=0.25)
        panel.axhline(5.0, color="black", linewidth=0.8, linestyle=":")
        if place % columns == 0:
            panel.set_ylabel("excess over the best")
        if place + columns >= len(names):
            panel.set_xlabel("charged time / cost of the whole table")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    if len(names) < rows * columns:
        panels.flat[-1].legend(handles, labels, loc="center", title="profile", frameon=False)
        note = "line: mean over shuffles\nband: middle half of them\n"
        note += "triangle: stays within 5%\n(geometric mean)"
        panels.flat[-1].text(0.5, 0.12, note, ha="center", va="center", fontsize=8)
    else:
        panels[0, 0].legend(title="profile", frameon=False)
    figure.savefig(to.with_suffix(".png"), dpi=150)
    figure.savefig(to.with_suffix(".svg"), metadata={"Date": None})


def _draw_profile(
    panel: Axes,
    grid: NDArray[np.float64],
    curves: NDArray[np.float64],
    close: float,
    profile: str,
    colour: str,
) -> None:
    low, high = 100 * np.quantile(curves, [0.25, 0.75], axis=0)
    panel.fill_between(grid, low, high, color=colour, alpha=0.15, linewidth=0)
    panel.plot(grid, 100 * curves.mean(axis=0), STYLES[profile], color=colour, label=profile)
    if np.isfinite(close):
        panel.plot([close], [0.0], marker="^", color=colour, markersize=8, clip_on=False, zorder=5)
