"""The figure: how far from the best known the incumbents are, against what was charged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter
from numpy.typing import NDArray

from peers.jobs import Result
from peers.report import grouped, reference

STYLES = {
    "cunctator": ("#0b6e4f", "-"),
    "unguided": ("#7fb39d", "-"),
    "smac": ("#c47f17", "--"),
    "irace": ("#8a3ffc", "-."),
    "optuna": ("#b3245b", ":"),
    "halving": ("#3b6ea8", (0, (5, 1))),
}
COLUMNS = 3
PALE = 0.15


def curves(results: Sequence[Result]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shares of the budget, and a row of ratios for each seed."""
    shares = [share for share, _ in results[0].tests]
    rows = [[result.at(share) / reference(result) for share in shares] for result in results]
    return np.array(shares), np.array(rows)


def _draw_problem(panel: Axes, by_tool: dict[str, list[Result]]) -> None:
    for tool, results in by_tool.items():
        shares, rows = curves(results)
        colour, style = STYLES[tool]
        logarithms = np.log(rows)
        middle = logarithms.mean(axis=0)
        panel.plot(shares, np.exp(middle), color=colour, linestyle=style, label=tool)
        if len(rows) > 1:
            error = logarithms.std(axis=0, ddof=1) / math.sqrt(len(rows))
            low, high = np.exp(middle - error), np.exp(middle + error)
            panel.fill_between(shares, low, high, color=colour, alpha=PALE, linewidth=0.0)
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g}%"))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda ratio, _: f"{ratio:g}"))
    panel.yaxis.set_minor_formatter(FuncFormatter(lambda ratio, _: f"{ratio:g}"))
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(alpha=0.25)


def draw(results: Sequence[Result], to: Path) -> None:
    """One panel a problem; PNG and SVG beside each other."""
    mpl.rcParams["svg.hashsalt"] = "cunctator"  # the same picture is the same file
    problems = grouped(results)
    columns = min(COLUMNS, len(problems))
    rows = -(-len(problems) // columns)
    figure = Figure(figsize=(4.4 * columns, 3.6 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False)
    for panel in panels.flat[len(problems) :]:
        panel.set_axis_off()
    for place, (panel, name) in enumerate(zip(panels.flat, problems, strict=False)):
        _draw_problem(panel, problems[name])
        seeds = max(len(some) for some in problems[name].values())
        panel.set_title(f"{name} ({seeds} {'seed' if seeds == 1 else 'seeds'})", fontsize=10)
        panel.set_xlabel("charged time / budget")
        if place % columns == 0:
            best = all(one.best is not None for one in results)
            panel.set_ylabel(f"test mean / {'best known' if best else 'default'}")
    handles: dict[str, Artist] = {}
    for panel in panels.flat[: len(problems)]:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    title = "geometric means over seeds, bands of one standard error"
    figure.legend(
        list(handles.values()),
        list(handles),
        loc="outside lower center",
        ncols=len(handles),
        title=title,
        frameon=False,
    )
    figure.savefig(to.with_suffix(".png"), dpi=150)
    figure.savefig(to.with_suffix(".svg"), metadata={"Date": None})
