"""The table: how far from the best known, or from the default, each tool's incumbents are.

Means on test instances, each divided by the best that is known of its problem (by the default's if
nobody knows), and their geometric means over seeds, with standard errors. Every tool was given the
same instances, budget and seeds.
"""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table as Grid

from peers.jobs import SHARES, TOOLS, Result

OVERALL = "all problems"
SHARE_NAMES = ("1/10", "1/3", "all")


class Mean(NamedTuple):
    """A geometric mean and its standard error, as a share of it."""

    ratio: float
    error: float

    def __str__(self) -> str:
        shown = f"{self.ratio:.3f}"
        return shown if math.isnan(self.error) else f"{shown} ±{100 * self.error:.1f}%"


class Row(NamedTuple):
    """A line of a table."""

    tool: str
    seeds: int
    ratios: tuple[Mean, ...]
    """At each of the shares."""
    speed_up: Mean
    """Over the default, with all of the budget."""
    worst: float
    """The ratio of the worst seed, with all of the budget."""
    own: float
    """Milliseconds of a run that are the tool's own."""


def geometric_mean(ratios: Sequence[float]) -> Mean:
    """Of some ratios; the error is unknown if there is only one."""
    logarithms = np.log(ratios)
    error = math.nan
    if len(ratios) > 1:
        error = float(logarithms.std(ddof=1)) / math.sqrt(len(ratios))
    return Mean(math.exp(float(logarithms.mean())), error)


def reference(result: Result) -> float:
    """What means on test instances are divided by."""
    return result.default if result.best is None else result.best


def ratios_at(results: Iterable[Result], share: float) -> list[float]:
    """One for each seed."""
    return [result.at(share) / reference(result) for result in results]


def grouped(results: Iterable[Result]) -> dict[str, dict[str, list[Result]]]:
    """By problem, then by tool in the order of the list."""
    found: dict[str, dict[str, list[Result]]] = defaultdict(lambda: defaultdict(list))
    for result in sorted(results, key=lambda one: (one.problem, [*TOOLS].index(one.tool))):
        found[result.problem][result.tool].append(result)
    return found


def mixed(results: Iterable[Result]) -> list[str]:
    """Replayed problems that have changed between results: those cannot be compared.

    Real ones are measured anew each time.
    """
    seen: dict[tuple[str, int], tuple[float, float]] = {}
    found: list[str] = []
    for result in results:
        if result.best is None:
            continue
        truth = (result.default, result.best)
        if seen.setdefault((result.problem, result.seed), truth) != truth:
            found.append(result.problem)
    return list(dict.fromkeys(found))


def row_of(tool: str, results: Sequence[Result]) -> Row:
    """A tool on one problem."""
    return Row(
        tool=tool,
        seeds=len(results),
        ratios=tuple(geometric_mean(ratios_at(results, share)) for share in SHARES),
        speed_up=geometric_mean([result.default / result.at(1.0) for result in results]),
        worst=max(ratios_at(results, 1.0)),
        own=1000 * float(np.mean([result.own for result in results])),
    )


def overall(tables: Mapping[str, Sequence[Row]]) -> list[Row]:
    """Every tool over all problems that all tools were tried on; each counts the same."""
    by_tool: dict[str, list[Row]] = defaultdict(list)
    for rows in tables.values():
        for row in rows:
            by_tool[row.tool].append(row)
    return [
        Row(
            tool=tool,
            seeds=min(row.seeds for row in rows),
            ratios=tuple(
                _together([row.ratios[place] for row in rows]) for place in range(len(SHARES))
            ),
            speed_up=_together([row.speed_up for row in rows]),
            worst=max(row.worst for row in rows),
            own=float(np.mean([row.own for row in rows])),
        )
        for tool, rows in by_tool.items()
        if len(rows) == len(tables)
    ]


def _together(means: Sequence[Mean]) -> Mean:
    """Independent problems."""
    count = len(means)
    ratio = math.exp(sum(math.log(mean.ratio) for mean in means) / count)
    return Mean(ratio, math.sqrt(sum(mean.error**2 for mean in means)) / count)


def tables_of(results: Iterable[Result]) -> dict[str, list[Row]]:
    """One for each problem, and one for all if there are several."""
    tables = {
        problem: [row_of(tool, own) for tool, own in by_tool.items()]
        for problem, by_tool in grouped(results).items()
    }
    return {**tables, OVERALL: overall(tables)} if len(tables) > 1 else tables


def words_of(row: Row) -> list[str]:
    """A line in words."""
    return [
        row.tool,
        str(row.seeds),
        *map(str, row.ratios),
        str(row.speed_up),
        f"{row.worst:.3f}",
        f"{row.own:.2g}",
    ]


HEADINGS = ["tool", "seeds", *SHARE_NAMES, "speed-up", "worst seed", "own ms a run"]


def show(tables: Mapping[str, Sequence[Row]], console: Console) -> None:
    """Print them."""
    for name, rows in tables.items():
        grid = Grid(title=f"{name}: test mean over the best known, by share of the budget")
        for heading in HEADINGS:
            is_tool = heading == "tool"
            grid.add_column(heading, justify="left" if is_tool else "right", no_wrap=is_tool)
        for row in rows:
            grid.add_row(*words_of(row))
        console.print(grid)


def write(tables: Mapping[str, Sequence[Row]], place: Path) -> None:
    """The same as a file of commas."""
    with place.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["problem", *HEADINGS])
        for name, rows in tables.items():
            writer.writerows([name, *words_of(row)] for row in rows)
