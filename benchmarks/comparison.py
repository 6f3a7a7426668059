"""How soon each method has a good answer: SPC beside its siblings; part of `make bench`.

On the data set that ships and every ASlib scenario in the data folder (`CUNCTATOR_DATA`): charged
time until the answer stays within 5% and 1% of the best, medians over seeds, and how far the
quartiles are apart. Instances are drawn with replacement, since most methods need more of them than
a table has. Methods that must be told epsilon and delta are run on the paper's whole grid and shown
at the pair that was quickest in hindsight, and at the median pair. Nothing is timed: it comes out
the same everywhere.

Writes `results/comparison.md`, and the figure of the data set that ships to `docs/figures`.

    python benchmarks/comparison.py
"""

from __future__ import annotations

import math
import os
import shutil
from pathlib import Path

import numpy as np

from cunctator import load_table
from cunctator.base.errors import StudyProblem
from cunctator.base.units import format_duration
from cunctator.comparison.running import Comparison, make_conditions, run_comparison
from cunctator.comparison.summary import (
    Line,
    incumbents_of,
    settled,
    summary_lines,
    title_of,
    true_means,
)
from cunctator.show.figures.comparison_figures import incumbents_figure
from cunctator.show.figures.style import save_figure
from cunctator.siblings.registry import METHODS
from efficiency import FIRST_CAPS, SYNTHETIC, data_folder, scenarios

SHIPPED, CLOSE = "minisat", 0.05
FIRST_CAP = {SHIPPED: 0.01, **FIRST_CAPS}
SHOWN = ("spc", "sp", "lb", "cr")
"""In the figure; with all of them nothing would be seen."""

SEEDS, GRID_SEEDS = 30, 5
"""Of methods without a grid, and with one: those have dozens of pairs, which differ more than
seeds do. Medians of five seeds differ by a factor of several where answers change their mind."""

SETTINGS = ("best setting", "median setting")
"""Of methods with a grid: the quickest in hindsight, and the median one."""

RESULTS = Path(__file__).parent / "results"
FIGURES = Path(__file__).parent.parent / "docs" / "figures"


def compare(name: str) -> Comparison:
    """All methods on one table; what the same version computed before is kept."""
    table = load_table(name if name == SHIPPED else data_folder() / "aslib" / name)
    conditions = make_conditions(table, FIRST_CAP.get(name, 0.1), resample=True)
    methods = [m for m in METHODS if name == SHIPPED or not METHODS[m].needs_parameters]
    folder, workers, records = RESULTS / "comparison" / name, os.cpu_count() or 1, []
    try:
        run_comparison(table, conditions, [], folder, seeds=1, grid={}, workers=1)
    except StudyProblem:  # of another version, or of other conditions
        shutil.rmtree(folder)
    for some, seeds in (
        ([m for m in methods if not METHODS[m].grid], SEEDS),
        ([m for m in methods if METHODS[m].grid], GRID_SEEDS),
    ):
        found = run_comparison(
            table, conditions, some, folder, seeds=seeds, grid={}, workers=workers
        )
        records += found.records
    records.sort(key=lambda record: list(METHODS).index(record["method"]))
    return Comparison(table, conditions, records)


def cell(line: Line | None) -> str:
    """Charged time to 5% and to 1%; and how many jobs were good to 5%, if not all."""
    if line is None:
        return "-"
    words = " / ".join(in_words(time) for time in line.settled)
    return words if line.good[0] == line.jobs else f"{words} ({line.good[0]} of {line.jobs})"


def in_words(time: float) -> str:
    """A time, which may be infinite."""
    return format_duration(time) if math.isfinite(time) else "never"


def table_of_times(comparisons: dict[str, Comparison]) -> list[str]:
    """One row a method, two if it has a grid; one column a table."""
    lines = {name: summary_lines(comparison) for name, comparison in comparisons.items()}
    rows = [f"| method | {' | '.join(lines)} |", f"|---|{'---:|' * len(lines)}"]
    for method in METHODS.values():
        for place, title in enumerate(SETTINGS[: 2 if method.grid else 1]):
            cells = []
            for own in lines.values():
                found = [line for line in own if line.method == method.name]
                cells.append(cell(found[place] if place < len(found) else None))
            own_title = title_of(method.name)
            label = f"{own_title}, {title}" if method.grid else own_title
            rows.append(f"| {label} | {' | '.join(cells)} |")
    return rows


def table_of_quartiles(comparisons: dict[str, Comparison]) -> list[str]:
    """How much chance has to do with it: the middle half of the times to 5%."""
    rows = [f"| method | {' | '.join(comparisons)} |", f"|---|{'---:|' * len(comparisons)}"]
    for method in METHODS.values():
        if method.grid:
            continue
        cells = []
        for comparison in comparisons.values():
            means = true_means(comparison)
            own = [r for r in comparison.records if r["method"] == method.name]
            times = sorted(settled(incumbents_of(record), means, CLOSE) for record in own)
            ends = [times[len(times) // 4], times[-1 - len(times) // 4]] if times else []
            cells.append(" to ".join(map(in_words, ends)) or "-")
        rows.append(f"| {title_of(method.name)} | {' | '.join(cells)} |")
    return rows


def findings(name: str, comparison: Comparison) -> list[str]:
    """The paper's two: a good answer long before LB returns; its pairs are hard to choose."""
    lines = {line.method: line for line in reversed(summary_lines(comparison))}
    records = [r for r in comparison.records if r["method"] == "lb" and r.get("trajectory")]
    charged = np.array([record["charged"] for record in records])
    means = true_means(comparison)
    excess = np.array([means[r["trajectory"][-1][1]] for r in records]) / means.min() - 1
    pairs = [(r["settings"]["epsilon"], r["settings"]["delta"], r["seed"]) for r in records]
    looser = slower = 0
    for one, time in zip(pairs, charged, strict=True):
        for other, longer in zip(pairs, charged, strict=True):
            if one[2] == other[2] and one[0] <= other[0] and one[1] <= other[1] and one != other:
                looser += 1
                slower += longer > time
    ours, first, last = lines["spc"].settled[0], charged.min(), charged.max()
    share = f"{slower / max(1, looser):.0%}"
    span = f"{format_duration(first)} to {format_duration(last)}"
    good = [f"{np.mean(excess <= share):.0%}" for share in (0.05, 0.01)]
    return [
        f"- {name}: SPC's answer is within 5% from {format_duration(ours)} on; LeapsAndBounds"
        f" returns after {span}, {first / ours:.3g} times as late at the earliest. Of its"
        f" answers, {good[0]} are within 5%, {good[1]} within 1%. Of two pairs, the one that asks"
        f" for no more in epsilon and in delta took longer in {share} of cases.",
    ]


def main() -> None:
    """Compare, print and save."""
    comparisons: dict[str, Comparison] = {}
    for name in [SHIPPED, *(one for one in scenarios() if one != SYNTHETIC)]:
        comparisons[name] = compare(name)
        print(f"{name} is done", flush=True)
    said = [*table_of_times(comparisons), "", *table_of_quartiles(comparisons), ""]
    for name, comparison in comparisons.items():
        said += findings(name, comparison)
    print("\n".join(said))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "comparison.md").write_text("\n".join(said) + "\n", encoding="utf-8")
    whole = comparisons[SHIPPED]
    first = [record for record in whole.records if record["seed"] < GRID_SEEDS]  # as many of each
    some = [record for record in first if record["method"] in SHOWN]
    figure = incumbents_figure(Comparison(whole.table, whole.conditions, some))
    save_figure(figure, FIGURES / "comparison", ["png"])


if __name__ == "__main__":
    main()
