"""Measures the data set that ships: minisat on generated formulas; `make dataset`.

216 configurations by 500 formulas, CPU seconds up to a cutoff of 2 s, with conflicts, decisions and
propagations; one to two hours on two cores. Interrupted, it goes on where it was. Then all
configurations are run again on 20 formulas, to see how noisy the times are. Writes
`src/cunctator/data/minisat.npz` and `minisat.json`.

    python benchmarks/dataset.py [FOLDER]
"""

from __future__ import annotations

import json
import math
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from cunctator.data.formulas import COUNT, FAMILIES, SEED
from cunctator.demo.formulas import write_formulas
from cunctator.recorded.table import Table
from cunctator.scenario import load_scenario
from cunctator.study.measure import measure

ROOT = Path(__file__).parent.parent
DATA = ROOT / "src" / "cunctator" / "data"
REPEATED = 20
SHORTEST = 0.005
"""Seconds: runs below are mostly the start of the process, and say nothing about noise."""

DIGITS = 5
"""Of seconds: ten microseconds, a thousandth of the median."""


def progress(done: int, total: int) -> None:
    """A line now and then."""
    if done % 1000 == 0 or done == total:
        print(f"{done:,} of {total:,} runs", flush=True)


def noise(table: Table, again: Table) -> dict[str, float]:
    """How much the CPU time of the same run differs from one time to the next."""
    first, second = table.runtimes[:, : again.runtimes.shape[1]], again.runtimes
    cutoff = table.cutoff or math.inf
    both = (first >= SHORTEST) & (first < cutoff) & (second < cutoff)
    ratios = np.abs(np.log(second[both] / first[both]))
    solved = (first < cutoff) & (second < cutoff)
    counts = [
        np.array_equal(table.measures[name][:, : second.shape[1]][solved], values[solved])
        for name, values in again.measures.items()
    ]
    means = np.corrcoef(first.mean(axis=1), second.mean(axis=1))[0, 1]
    return {
        "runs": int(both.sum()),
        "median_difference": float(np.expm1(np.median(ratios))),
        "difference_of_nine_in_ten": float(np.expm1(np.quantile(ratios, 0.9))),
        "correlation_of_means": float(means),
        "solved_only_once": int(((first < cutoff) != (second < cutoff)).sum()),
        "counts_are_the_same": bool(all(counts)),
    }


def facts(table: Table) -> dict[str, object]:
    """Where, when and with what it was measured."""
    cpu = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line]
    query = ["dpkg-query", "-W", "-f", "${Version}", "minisat"]
    package = subprocess.run(query, capture_output=True, text=True, check=False).stdout
    return {
        "date": time.strftime("%Y-%m-%d"),
        "processor": cpu[0].split(":")[1].strip() if cpu else platform.processor(),
        "cores": os.cpu_count(),
        "system": f"Linux {platform.release().split('-')[0]}, {platform.machine()}",
        "minisat": f"Debian package {package}" if package else "unknown",
        "formulas": {"seed": SEED, "count": COUNT},
        "cutoff": table.cutoff,
        "median": float(np.median(table.runtimes)),
        "total": float(table.runtimes.sum()),
        "unsolved": table.unsolved_share,
    }


def save(table: Table) -> None:
    """As small as it can be: single precision, which holds counts of up to 16 million exactly."""
    arrays: dict[str, Any] = {
        f"measure_{name}": values.astype("f4") for name, values in table.measures.items()
    }
    for name, values in table.measures.items():
        assert np.array_equal(arrays[f"measure_{name}"], values, equal_nan=True), name
    np.savez_compressed(
        DATA / "minisat.npz",
        runtimes=np.round(table.runtimes, DIGITS).astype("f4"),
        configurations=np.array(table.configurations),
        instances=np.array([Path(name.split()[0]).stem for name in table.instances]),
        cutoff=np.array(table.cutoff),
        **arrays,
    )


def main() -> None:
    """Measure what has not been measured yet, then write."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "dataset").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    write_formulas(folder / "formulas", COUNT, SEED, FAMILIES)
    shutil.copy(DATA / "minisat.toml", folder)
    scenario = load_scenario(folder / "minisat.toml")
    count = scenario.space.size
    assert count is not None
    table = measure(scenario, count, COUNT, folder / "minisat.npz.db", progress)
    again = measure(scenario, count, REPEATED, folder / "again.npz.db", progress)
    save(table)
    found = {**facts(table), "noise": noise(table, again)}
    (DATA / "minisat.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
