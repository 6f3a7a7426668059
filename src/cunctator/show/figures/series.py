"""What is drawn of a comparison: the records of each method and setting, and their curves."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cunctator.comparison.jobs import Record
from cunctator.comparison.running import Comparison
from cunctator.comparison.summary import (
    by_method,
    by_settings,
    incumbents_of,
    quickest,
    title_of,
    true_means,
    words_of,
)
from cunctator.show.comparison import OURS
from cunctator.show.figures.style import COLOURS, paler
from cunctator.siblings.registry import METHODS

POINTS = 400
"""Of a curve, evenly spaced in the logarithm of the time."""

PALEST_SERIES = 0.6
"""White in the colour of a method's last setting."""

LONGEST_TITLE = 30
"""Of a small panel, in letters; longer ones have several lines."""


@dataclass(frozen=True, eq=False)
class Series:
    """Records that are drawn as one curve, or as marks that look the same."""

    method: str
    settings: str
    """In words; empty if there are none, or if the records have different ones."""
    records: list[Record]
    colour: str
    shade: int
    """Among all series of the method: its place."""
    place: int
    """Among all series of the picture."""

    @property
    def label(self) -> str:
        """As in a legend."""
        title = title_of(self.method)
        return f"{title} ({self.settings})" if self.settings else title

    @property
    def title(self) -> str:
        """As above a small panel."""
        if len(self.label) <= LONGEST_TITLE or not self.settings:
            return self.label
        return f"{title_of(self.method)}\n{textwrap.fill(f'({self.settings})', LONGEST_TITLE)}"

    @property
    def has_grid(self) -> bool:
        """Whether its method was tried with many settings, of which a user has to choose."""
        return bool(METHODS[self.method].grid)


def all_series(comparison: Comparison, *, choose: bool) -> list[Series]:
    """Methods at each of the settings that they were given, if they have some answer.

    One with a grid is one series: all of its records, or, if it is to choose, those of the pair
    that was quickest to settle, in hindsight.
    """
    means = true_means(comparison)
    found: list[Series] = []
    for name, records in by_method(comparison.records).items():
        if not METHODS[name].grid:
            groups = by_settings(records)
        elif choose:
            groups = by_settings(quickest_pair(records, means))
        else:
            groups = {"": records}
        shown = [(words, some) for words, some in groups.items() if any(map(incumbents_of, some))]
        for shade, (words, some) in enumerate(shown):
            colour = paler(COLOURS[name], PALEST_SERIES * shade / max(1, len(shown) - 1))
            found.append(Series(name, words, some, colour, shade, len(found)))
    return found


def ours(series: list[Series]) -> Series | None:
    """What others are held against."""
    return next((one for one in series if one.method == OURS), None)


def quickest_pair(records: list[Record], means: NDArray[np.float64]) -> list[Record]:
    """The records of the pair whose median time to settle is least; of those that end, if none."""
    best, _ = quickest(records[0]["method"], records, means)
    return [record for record in records if words_of(record["settings"]) == best.settings]


def earliest(comparison: Comparison) -> float:
    """Where axes of time begin: at the first cap, or before the shortest job is over."""
    ends = [float(record["charged"]) for record in comparison.records if incumbents_of(record)]
    return min([comparison.conditions.first_cap, *(end / 2 for end in ends if end > 0)])


def latest(series: list[Series]) -> float:
    """When the last job was over."""
    return max(
        (end_of(record) for one in series for record in with_incumbents(one.records)), default=0.0
    )


def with_incumbents(records: list[Record]) -> list[Record]:
    """Those that have an answer."""
    return [record for record in records if incumbents_of(record)]


def end_of(record: Record) -> float:
    """When a job that has an answer was over."""
    return float(max(record["charged"], incumbents_of(record)[-1][0]))


def curves_of(
    records: list[Record], means: NDArray[np.float64], least: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times, and for each record the mean of its answer then; infinite before it has one."""
    found = with_incumbents(records)
    begin = max(min(incumbents_of(record)[0][0] for record in found), least)
    end = max(end_of(record) for record in found)
    times = np.geomspace(begin, max(end, begin * 1.0001), POINTS)
    curves = np.full((len(records), POINTS), np.inf)
    for place, record in enumerate(records):
        if incumbents_of(record):
            at, incumbents = np.array(incumbents_of(record)).T
            which = np.searchsorted(at, times * (1 + 1e-12), side="right") - 1
            known = means[incumbents.astype(int)][np.maximum(which, 0)]
            curves[place] = np.where(which >= 0, known, np.inf)
    return times, curves


def median(curves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Over the seeds, the upper one as in the summary; NaN while it is infinite."""
    middle = np.sort(curves, axis=0)[len(curves) // 2]
    return np.where(np.isfinite(middle), middle, np.nan)


def percent_over(numbers: NDArray[np.float64], best: float) -> NDArray[np.float64]:
    """How much slower than the best; infinitely if that takes no time."""
    if best > 0:
        return 100.0 * (numbers / best - 1.0)
    return np.where(numbers == best, 0.0, np.inf)
