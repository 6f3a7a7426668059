"""Steps a second and memory, beside a plain Python version, in one run: `make bench`.

Log-normal runtimes (`lognormal.py`). Each size runs in a process of its own, so that its peak
memory is its own. The plain version makes as many steps as it can in ten seconds; the ratio
compares the time of both for exactly those steps. Times are of this machine, shared as it is; look
at the ratios.
"""

from __future__ import annotations

import csv
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as Grid

from cunctator.recorded.simulation import SLICE, Simulation
from cunctator.recorded.table import Table
from lognormal import CUTOFF, FIRST_CAP, lognormal_table
from plain_spc import PlainSPC

RESULTS = Path(__file__).parent / "results"
SIZES = {10: 20_118, 100: 20_118, 972: 20_118, 10_000: 2_000, 100_000: 500}
"""Configurations: instances. 20,118 as in the LeapsAndBounds experiments; fewer where a table of
that width would not fit into memory."""
MOST_STEPS = 20_000_000
PLAIN_SECONDS = 10.0
PROFILES = ("proved", "paper", "tight")


def measure(configurations: int, profile: str) -> dict[str, object]:
    """One row of the table, measured in this process."""
    table = lognormal_table(configurations, SIZES[configurations])
    simulation, step_time = measure_ours(table, profile, MOST_STEPS)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    testers = simulation.state.testers
    started = testers["started"]
    positive = float(((testers["bins"] > 0) | (testers["full"] > FIRST_CAP)).mean())
    steps = simulation.steps
    del simulation
    # There is no plain version of `tight`: it is compared with that of `proved`.
    plain_steps, plain_seconds = measure_plain(table, "paper" if profile == "paper" else "proved")
    _, same_steps_time = measure_ours(table, profile, plain_steps)
    return {
        "profile": profile,
        "configurations": configurations,
        "instances": SIZES[configurations],
        "steps": steps,
        "mean_started": float(started.mean()),
        "positive_bounds": positive,
        "steps_per_second": 1 / step_time,
        "nanoseconds_per_step": step_time * 1e9,
        "peak_bytes": peak,
        "table_bytes": table.runtimes.nbytes,
        "plain_steps": plain_steps,
        "plain_steps_per_second": plain_steps / plain_seconds,
        "ratio": plain_seconds / plain_steps / same_steps_time,
    }


def measure_ours(table: Table, profile: str, most_steps: int) -> tuple[Simulation, float]:
    """A search of up to so many steps, and seconds a step; short ones are repeated to time them."""
    steps, seconds, repeats = 0, 0.0, 0
    while seconds < 0.5:
        simulation = Simulation(table, profile=profile, first_cap=FIRST_CAP, seed=repeats)
        while simulation.stop is None and simulation.steps < most_steps:
            simulation.advance(min(SLICE, most_steps - simulation.steps))
        if repeats == 0:
            first = simulation
        steps += simulation.steps
        seconds += simulation.scheduler_seconds
        repeats += 1
    return first, seconds / steps


def measure_plain(table: Table, profile: str) -> tuple[int, float]:
    """Steps and seconds of the plain version, from its first step on, for a few seconds."""
    rows, columns = table.runtimes.shape
    runtimes = table.runtimes
    plain = PlainSPC(
        lambda index, pair: float(runtimes[index, pair]), rows, columns, FIRST_CAP, CUTOFF, profile
    )
    begun = time.perf_counter()
    while time.perf_counter() - begun < PLAIN_SECONDS and plain.run_one():
        pass
    return plain.step, time.perf_counter() - begun


HEADINGS = (
    "profile", "n", "instances", "steps", "started each", "bounds > first cap", "steps/s",
    "ns/step", "to n = 972", "peak memory", "table", "plain steps/s", "ratio",
)  # fmt: skip


def cells(row: dict[str, Any], rows: list[dict[str, Any]]) -> list[str]:
    """A row for people."""
    base = next(
        (r for r in rows if r["configurations"] == 972 and r["profile"] == row["profile"]), row
    )
    cost = float(row["nanoseconds_per_step"]) / float(base["nanoseconds_per_step"])
    return [
        str(row["profile"]),
        f"{row['configurations']:,}",
        f"{row['instances']:,}",
        f"{row['steps']:,}",
        f"{row['mean_started']:,.0f}",
        f"{row['positive_bounds']:.0%}",
        f"{row['steps_per_second']:,.0f}",
        f"{row['nanoseconds_per_step']:,.0f}",
        f"{cost:.2f} x",
        f"{float(row['peak_bytes']) / 1e6:,.0f} MB",
        f"{float(row['table_bytes']) / 1e6:,.0f} MB",
        f"{row['plain_steps_per_second']:,.0f}",
        f"{row['ratio']:,.0f} x",
    ]


def main() -> None:
    """Measure every size in turn, then write and show the table."""
    if len(sys.argv) > 1:
        print(json.dumps(measure(int(sys.argv[1]), sys.argv[2])))
        return
    console = Console()
    Simulation(lognormal_table(2, 10))  # compile before anything is timed
    rows: list[dict[str, object]] = []
    for profile in PROFILES:
        for configurations in SIZES:
            with console.status(f"{profile}: {configurations:,} configurations ..."):
                words = [sys.executable, __file__, str(configurations), profile]
                done = subprocess.run(words, check=True, capture_output=True, text=True)
            rows.append(json.loads(done.stdout))
            row = rows[-1]
            console.print(
                f"{profile}, n = {configurations:,}: {row['steps_per_second']:,.0f} steps a second,"
                f" {row['ratio']:,.0f} times plain Python"
            )
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "speed.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    lines = [HEADINGS, ("---",) * len(HEADINGS), *(cells(row, rows) for row in rows)]
    markdown = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    (RESULTS / "speed.md").write_text(markdown + "\n")
    grid = Grid(*HEADINGS, title="Steps a second on log-normal runtimes")
    for row in rows:
        grid.add_row(*cells(row, rows))
    Console(width=160).print(grid)
    console.print(f"Written to {RESULTS / 'speed.md'} and speed.csv beside it.")


if __name__ == "__main__":
    main()
