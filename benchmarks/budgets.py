"""What known budgets are best spent on: `python benchmarks/budgets.py [STUDIES]`.

Random subsets of the table that ships are searched, 120 or 200 of its 500 formulas, its
configurations being draws that are looked at one after the other; budgets are as many seconds as so
many runs of the default take. Shown are: in how many studies it is certified in the end that the
answer is faster than the default, and how many times as fast it is on the other formulas
(geometric mean, and its standard error in per cent). Once with the usual shares for proof all the
time, and once as studies do it, where most of the proof waits for the last part of the budget
(`core/closing.py`). Nothing here is timed.
"""

from __future__ import annotations

import csv
import math
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table as Grid

from cunctator import Simulation, load_table, make_table

RESULTS = Path(__file__).parent / "results"
TABLE, FIRST_CAP = "minisat", 0.01
SETS = ((120, 500), (120, 850), (200, 800), (200, 2000))
"""Formulas, and budgets in runs of the default."""

STUDIES = 60


class Study(NamedTuple):
    """What came of one."""

    is_certified: bool
    speed_up: float
    """On the other formulas."""


def study(formulas: int, runs: int, will_close: bool, seed: int) -> Study:
    """Search one subset, in a random order of configurations but for the default."""
    table, random = load_table(TABLE), np.random.default_rng([seed, formulas, runs])
    rows, columns = table.runtimes.shape
    order = np.concatenate([[0], 1 + random.permutation(rows - 1)])
    chosen = random.permutation(columns)
    runtimes = table.runtimes[order][:, chosen]
    simulation = Simulation(
        make_table(runtimes[:, :formulas], cutoff=table.cutoff),
        first_cap=FIRST_CAP,
        budget=runs * float(runtimes[0, :formulas].mean()),
        seed=seed,
        ladder=True,
        will_close=will_close,
    )
    result = simulation.run()
    fresh = runtimes[:, formulas:].mean(axis=1)
    return Study(
        result.certificate.versus_default[0] > 1, float(fresh[0] / fresh[result.incumbent])
    )


def row(formulas: int, runs: int, will_close: bool, studies: list[Study]) -> list[str]:
    """A line of the table."""
    logarithms = np.log([one.speed_up for one in studies])
    error = logarithms.std(ddof=1) / math.sqrt(len(studies))
    certified = sum(one.is_certified for one in studies) / len(studies)
    return [
        str(formulas),
        f"{runs:,}",
        "waits" if will_close else "all the time",
        f"{certified:.0%}",
        f"{math.exp(logarithms.mean()):.3f}",
        f"{100 * error:.1f}%",
    ]


def main() -> None:
    """All sets, shown and written down."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES
    headings = ["formulas", "budget", "proof", "certified", "speed-up", "error"]
    grid = Grid(title="Faster than the default, on other formulas")
    for heading in headings:
        grid.add_column(heading, justify="right")
    rows = []
    with ProcessPoolExecutor() as processes:
        for formulas, runs in SETS:
            for will_close in (False, True):
                jobs = [[value] * count for value in (formulas, runs, will_close)]
                studies = list(processes.map(study, *jobs, range(count)))
                rows.append(row(formulas, runs, will_close, studies))
                grid.add_row(*rows[-1])
    Console().print(grid)
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "budgets.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(headings)
        writer.writerows(rows)


if __name__ == "__main__":
    main()
