"""How a picture is divided: one panel or many small ones, what lines mean, and a caption."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from cunctator.base.units import counted
from cunctator.recorded.table import Table
from cunctator.show.figures.style import WORDS, shortened, tidy
from cunctator.show.figures.ticks import FEW_TICKS, MOST_TICKS

MOST_TOGETHER, MOST_COLUMNS = 5, 4
"""Curves in one panel, and small panels beside each other."""

WIDTH, HEIGHT = 7.5, 4.0
SMALL_WIDTH, SMALL_HEIGHT = 2.25, 1.75
"""Of the only panel and of one among many, in inches, with its labels."""

LETTER = 0.56
"""About how wide a letter is, as a share of the size of its font."""

CAPTION_SIZE, LEGEND_SIZE, TITLE_SIZE, SMALL_SIZE = 7.0, 8.0, 8.0, 7.0
"""Of fonts, in points; the last is that of numbers at small panels."""

LABEL_SIZE = 10.0

GAP, BESIDE = 5.0, 34.0
"""Around captions, and beside the letters of a legend, in points."""

LONGEST_SOURCE = 40


@dataclass(frozen=True)
class Sheet:
    """A picture, and the panel of each curve: the same for all if there are few."""

    figure: Figure
    panels: list[Axes]
    named_rows: int = 1
    """Rows in which some panel has none below it, and says what is on its axis."""

    @property
    def is_divided(self) -> bool:
        """Whether each curve has a panel of its own."""
        return len(set(self.panels)) > 1

    @property
    def most_ticks(self) -> int:
        """On an axis."""
        return FEW_TICKS if self.is_divided else MOST_TICKS

    def grow(self, inches: float) -> None:
        """Make room for names below the panels."""
        self.figure.set_figheight(self.figure.get_figheight() + inches * self.named_rows)


def one_panel(curves: int = 1) -> Sheet:
    """A picture with a panel for all curves."""
    figure = Figure(figsize=(WIDTH, HEIGHT))
    panel = figure.subplots()
    tidy(panel)
    return Sheet(figure, [panel] * max(1, curves))


def panels_for(titles: Sequence[str]) -> Sheet:
    """A picture with room for some curves; many have a panel each, with its title."""
    if len(titles) <= MOST_TOGETHER:
        return one_panel(len(titles))
    rows = -(-len(titles) // MOST_COLUMNS)
    columns = -(-len(titles) // rows)
    figure = Figure(figsize=(columns * SMALL_WIDTH, rows * SMALL_HEIGHT))
    cells = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for spare in cells[len(titles) :]:
        spare.remove()
    panels: list[Axes] = list(cells[: len(titles)])
    for place, (panel, title) in enumerate(zip(panels, titles, strict=True)):
        tidy(panel)
        has_none_below = place + columns >= len(titles)
        panel.tick_params(labelsize=SMALL_SIZE, labelbottom=has_none_below)
        panel.set_title(title, fontsize=TITLE_SIZE, parse_math=False)
    return Sheet(figure, panels, named_rows=2 if len(titles) % columns else 1)


def finish(
    sheet: Sheet, labels: tuple[str, str], legends: Sequence[Sequence[Line2D]], caption: str
) -> Figure:
    """Name the axes, and write legends and a caption below the panels, which keep their size."""
    figure = sheet.figure
    width, height = figure.get_size_inches()
    lines = textwrap.wrap(caption, int(72 * width / (LETTER * CAPTION_SIZE)))
    columns = [_columns(handles, 72 * width) for handles in legends]
    rows = [-(-len(handles) // most) for handles, most in zip(legends, columns, strict=True)]
    inches = [(1.6 * LEGEND_SIZE * count + GAP) / 72 for count in rows]
    words = (1.3 * CAPTION_SIZE * len(lines) + 2 * GAP) / 72
    shared = (1.3 * LABEL_SIZE + GAP) / 72 if sheet.is_divided else 0.0
    whole = height + words + sum(inches) + shared
    figure.set_figheight(whole)
    _write(figure, "\n".join(lines), GAP / 72 / width, GAP / 72 / whole)
    bottom = (words + sum(inches)) / whole
    place = bottom
    for handles, most, own in zip(legends, columns, inches, strict=True):
        place -= own / whole
        _explain(figure, handles, most, place)
    if sheet.is_divided:
        figure.supxlabel(labels[0], y=bottom + GAP / 72 / whole, fontsize=LABEL_SIZE)
        figure.supylabel(labels[1], y=(1.0 + bottom) / 2, fontsize=LABEL_SIZE)
    else:
        sheet.panels[0].set(xlabel=labels[0], ylabel=labels[1])
    bottom += shared / whole
    figure.set_layout_engine("constrained", rect=(0.0, bottom, 1.0, 1.0 - bottom))
    return figure


def _write(figure: Figure, words: str, left: float, bottom: float) -> None:
    text = figure.text(left, bottom, words, fontsize=CAPTION_SIZE, color=WORDS, va="bottom")
    text.set(parse_math=False, in_layout=False, linespacing=1.2)


def _explain(figure: Figure, handles: Sequence[Line2D], columns: int, bottom: float) -> None:
    legend = figure.legend(
        handles=list(handles),
        loc="lower center",
        bbox_to_anchor=(0.5, bottom),
        ncols=columns,
        frameon=False,
        fontsize=LEGEND_SIZE,
        borderaxespad=0.0,
        handletextpad=0.5,
        columnspacing=1.5,
    )
    legend.set_in_layout(False)


def _columns(handles: Sequence[Line2D], points: float) -> int:
    """As many columns of a legend as fit."""
    widths = [LETTER * LEGEND_SIZE * len(str(one.get_label())) + BESIDE for one in handles]
    for rows in range(1, len(handles)):
        columns = -(-len(handles) // rows)
        if sum(max(some) for some in np.array_split(widths, columns)) <= points:
            return columns
    return 1


def about_table(table: Table) -> str:
    """Which table a picture is of, for its caption."""
    configurations, instances = table.runtimes.shape
    name = shortened(PurePath(table.source).name or "table", LONGEST_SOURCE)
    return f"{name}: {counted(configurations, 'configuration')} x {counted(instances, 'instance')}"
