"""How soon a search can prove something, on recorded runtimes: `make bench`.

The table that ships and the ASlib scenarios in the data folder (`CUNCTATOR_DATA`), each instance
once in five orders, and three times with instances drawn with replacement, without end. The
certificate is looked at whenever the charged time has grown by a fiftieth. Shown are medians of the
time, in per cent of what running the whole table takes, until it says that the answer is faster
than row 0, and that it is within 1 + epsilon of the best with at most a tenth of its runs cut off.
Nothing here is timed: seconds are those of the recorded runs.
"""

from __future__ import annotations

import csv
import math
import os
import statistics
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table as Grid

# Public names only, so that earlier versions can be measured, too.
from cunctator import Simulation, Table, load_table

RESULTS = Path(__file__).parent / "results"
SHIPPED = "minisat"
FIRST_CAPS = {SHIPPED: 0.01, "SAT12-INDU": 1.0, "MAXSAT15-PMS-INDU": 1.0}
"""Seconds; 0.1 for all others."""

ORDERS, RESAMPLED = 5, 3
EPSILONS = (1.0, 0.5, 0.2, 0.1)
DELTA = 0.1
GROWTH = 1.02
FIRST_LOOK = 1e-3
"""Of the table's cost."""

LONGEST = 1.5
"""Of the table's cost: a search with replacement has no end of its own."""


class Study(NamedTuple):
    """One search: in per cent of the table's cost, infinite if it never came to that."""

    name: str
    resample: bool
    faster: float
    close: tuple[float, ...]
    """For each of EPSILONS."""


def data_folder() -> Path:
    """Where scenarios are looked for."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("CUNCTATOR_DATA") or default)


def names() -> list[str]:
    """The tables that are there, the shipped one first."""
    found = (data_folder() / "aslib").glob("*/algorithm_runs.arff")
    return [SHIPPED, *sorted(path.parent.name for path in found)]


@lru_cache(maxsize=1)
def table_of(name: str) -> Table:
    """A table, read once in each process."""
    return load_table(SHIPPED if name == SHIPPED else data_folder() / "aslib" / name)


def study(name: str, seed: int, resample: bool) -> Study:
    """Search one table, looking at the certificate as it goes."""
    table = table_of(name)
    cost = float(table.runtimes.sum())
    simulation = Simulation(
        table,
        first_cap=FIRST_CAPS.get(name, 0.1),
        budget=LONGEST * cost,
        seed=seed,
        resample=resample,
    )
    faster, close = math.inf, [math.inf] * len(EPSILONS)
    look_at = FIRST_LOOK * cost
    while simulation.stop is None and max(faster, *close) == math.inf:
        simulation.advance(1 + simulation.steps // 400)
        if simulation.charged < look_at and simulation.stop is None:
            continue
        look_at = GROWTH * simulation.charged
        certificate, spent = simulation.certificate(), 100 * simulation.charged / cost
        if certificate.versus_default[0] > 1:
            faster = min(faster, spent)
        epsilon = certificate.epsilon_at(DELTA)
        close = [
            min(before, spent) if epsilon <= target else before
            for before, target in zip(close, EPSILONS, strict=True)
        ]
    return Study(name, resample, faster, tuple(close))


def medians(studies: list[Study]) -> list[float]:
    """Over some searches: until faster, and until each epsilon."""
    columns = zip(*([one.faster, *one.close] for one in studies), strict=True)
    return [statistics.median(column) for column in columns]


def shown(percent: float) -> str:
    """A percentage, or that it takes longer."""
    return f"{percent:.3g}" if math.isfinite(percent) else "-"


def main() -> None:
    """Search all tables, show the medians and write them down."""
    jobs = [
        (name, seed, resample)
        for name in names()
        for resample in (False, True)
        for seed in range(RESAMPLED if resample else ORDERS)
    ]
    with ProcessPoolExecutor() as processes:
        studies = list(processes.map(study, *zip(*jobs, strict=True)))
    headings = ["faster than row 0", *(f"epsilon <= {epsilon:g}" for epsilon in EPSILONS)]
    grid = Grid(title="Until it is certified, % of the table's cost (once / with replacement)")
    for heading in ("table", *headings):
        grid.add_column(heading, justify="left" if heading == "table" else "right")
    rows = []
    for name in names():
        both = [
            medians([one for one in studies if one.name == name and one.resample is resample])
            for resample in (False, True)
        ]
        grid.add_row(name, *(f"{shown(a)} / {shown(b)}" for a, b in zip(*both, strict=True)))
        rows += [
            [name, resample, *figures]
            for resample, figures in zip((False, True), both, strict=True)
        ]
    Console().print(grid)
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "usefulness.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["table", "with replacement", *headings])
        writer.writerows(rows)


if __name__ == "__main__":
    main()
