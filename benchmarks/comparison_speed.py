"""How long the paper's comparison takes: SPC, SP and LeapsAndBounds on a table of its size.

972 log-normal configurations by 20,118 instances with a cutoff of 900 s, as large as the data of
the paper's Figure 2; SPC, the 45 pairs of SP and the 153 of LeapsAndBounds, one seed, instances
drawn with replacement, on all cores. Prints the whole time and the steps a second of each method
and writes them to `results/comparison_speed.md`.

    python benchmarks/comparison_speed.py
"""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from cunctator.comparison.jobs import Conditions
from cunctator.comparison.running import Comparison, make_conditions, run_comparison
from cunctator.recorded.table import Table, make_table

CONFIGURATIONS, INSTANCES = 972, 20_118
FIRST_CAP, CUTOFF = 0.1, 900.0
WHOLE_TABLES = 0.01
"""Budget of SPC, in costs of the whole table: enough for it to settle many times over."""

METHODS = ("spc", "sp", "lb")
RESULTS = Path(__file__).parent / "results" / "comparison_speed.md"


def synthetic_table() -> np.ndarray:
    """Log-normal means, log-normal runtimes, instances that are hard for all."""
    random = np.random.default_rng(972)
    means = 10.0 * np.exp(0.8 * random.standard_normal(CONFIGURATIONS))
    hardness = 0.9 * random.standard_normal(INSTANCES)
    noise = 0.9 * random.standard_normal((CONFIGURATIONS, INSTANCES))
    return np.clip(means[:, None] * np.exp(hardness + noise - 0.81), 0.01, CUTOFF)


def run(
    table: Table, conditions: Conditions, grid: dict[str, tuple[float, ...]], workers: int
) -> Comparison:
    """All methods, one seed; nothing is kept."""
    with tempfile.TemporaryDirectory() as folder:
        return run_comparison(
            table, conditions, METHODS, Path(folder), seeds=1, grid=grid, workers=workers
        )


def main() -> None:
    """Measure, print and save."""
    table = make_table(synthetic_table(), cutoff=CUTOFF)
    budget = WHOLE_TABLES * float(table.runtimes.sum())
    conditions = make_conditions(table, FIRST_CAP, resample=True)
    conditions = replace(conditions, endless_budget=budget)
    workers = os.cpu_count() or 1
    small = make_table(table.runtimes[:3, :50], cutoff=CUTOFF)  # compiles what is not compiled yet
    pair: dict[str, tuple[float, ...]] = {"epsilon": (0.9,), "delta": (0.5,)}
    run(small, make_conditions(small, FIRST_CAP, resample=True), pair, workers)
    begun = time.monotonic()
    comparison = run(table, conditions, {}, workers)
    wall = time.monotonic() - begun
    lines = [
        "| method | jobs | steps | process time | steps a second |",
        "|---|---:|---:|---:|---:|",
    ]
    for name in METHODS:
        records = [record for record in comparison.records if record["method"] == name]
        assert not any("error" in record for record in records)
        steps = sum(record["steps"] for record in records)
        seconds = sum(record["seconds"] for record in records)
        lines.append(
            f"| {name} | {len(records)} | {steps:,} | {seconds:,.1f} s | {steps / seconds:,.0f} |"
        )
    lines.append(f"\n{wall:,.0f} s on {workers} cores, starting the processes included.")
    print("\n".join(lines))
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
