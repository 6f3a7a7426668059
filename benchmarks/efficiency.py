"""How soon each profile has a good answer, on recorded runtimes: `make bench`.

Every ASlib scenario in the folder `aslib` of the data folder (`CUNCTATOR_DATA`), and always a
table of 972 log-normal configurations. Instances and configurations are shuffled anew each time.
All profiles draw the instances of a table without replacement, and every run is charged from its
start. Nothing here is timed: seconds are those of the recorded runs, so the figures come out the
same on every machine.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

from cunctator import load_table, make_table, simulate
from cunctator.recorded.table import Table
from efficiency_figure import draw
from lognormal import lognormal_table

RESULTS = Path(__file__).parent / "results"
PROFILES = ("tight", "proved", "paper")
SYNTHETIC = "log-normal"
CONFIGURATIONS, INSTANCES = 972, 5000
SHUFFLES = {SYNTHETIC: 10}
MANY_SHUFFLES = 100
"""Of ASlib's tables: the answers of ten are mostly chance."""

FIRST_CAPS = {"SAT12-INDU": 1.0, "MAXSAT15-PMS-INDU": 1.0}
"""Seconds; 0.1 for all others."""

FRACTIONS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
GRID = np.geomspace(3e-5, 2.5, 120)
"""Fractions of the whole cost that the figure shows."""

CLOSE = 0.05


class Study(NamedTuple):
    """What one search of one shuffled table gave."""

    scenario: str
    profile: str
    shuffle: int
    excess: NDArray[np.float64]
    """At FRACTIONS, then at GRID."""
    close_at: float
    """Seconds charged when the answer came to stay within 5% of the best."""
    ended_at: float
    whole_cost: float


def data_folder() -> Path:
    """Where scenarios are looked for."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("CUNCTATOR_DATA") or default)


def scenarios() -> list[str]:
    """Names of all tables, ASlib's first."""
    found = (data_folder() / "aslib").glob("*/algorithm_runs.arff")
    return [*sorted(path.parent.name for path in found), SYNTHETIC]


@lru_cache(maxsize=1)
def table_of(scenario: str) -> Table:
    """A table, read or made once in each process."""
    if scenario == SYNTHETIC:
        return lognormal_table(CONFIGURATIONS, INSTANCES)
    return load_table(data_folder() / "aslib" / scenario)


def study(scenario: str, profile: str, shuffle: int) -> Study:
    """Search a shuffled table to the end, and compare its answers with the truth."""
    table = table_of(scenario)
    rows = np.random.default_rng(shuffle).permutation(len(table.configurations))
    runtimes = table.runtimes[rows]
    result = simulate(
        make_table(runtimes, cutoff=table.cutoff),
        profile=profile,
        first_cap=FIRST_CAPS.get(scenario, 0.1),
        seed=shuffle,
    )
    means, cost = runtimes.mean(axis=1), float(runtimes.sum())
    charged = np.array([change[0] for change in result.trajectory])
    excess = np.array([means[change[2]] for change in result.trajectory]) / means.min() - 1
    moments = np.concatenate([FRACTIONS, GRID]) * cost
    at = np.maximum(np.searchsorted(charged, moments, side="right") - 1, 0)
    far = np.flatnonzero(excess > CLOSE)
    stays = 0 if far.size == 0 else int(far[-1]) + 1
    close_at = float(charged[stays]) if stays < charged.size else math.inf
    return Study(scenario, profile, shuffle, excess[at], close_at, result.charged, cost)


def all_studies(console: Console) -> list[Study]:
    """Every scenario, profile and shuffle, on all cores."""
    simulate([[1.0]])  # compile once, not in every process
    jobs = [
        (scenario, profile, shuffle)
        for scenario in scenarios()
        for profile in PROFILES
        for shuffle in range(SHUFFLES.get(scenario, MANY_SHUFFLES))
    ]
    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn())
    done: list[Study] = []
    with ProcessPoolExecutor() as pool, Progress(*columns, console=console) as progress:
        bar = progress.add_task("searches", total=len(jobs))
        for future in as_completed([pool.submit(study, *job) for job in jobs]):
            done.append(future.result())
            progress.advance(bar)
    return sorted(done, key=lambda s: jobs.index((s.scenario, s.profile, s.shuffle)))


def of(studies: list[Study], scenario: str, profile: str) -> list[Study]:
    """The studies of one scenario and profile."""
    return [s for s in studies if (s.scenario, s.profile) == (scenario, profile)]


def geometric_mean(values: list[float]) -> float:
    """Of positive numbers."""
    return float(np.exp(np.log(values).mean()))


def close_share(studies: list[Study], scenario: str, profile: str) -> float:
    """Fraction of the whole cost until the answer stays close, geometric mean over shuffles."""
    return geometric_mean([s.close_at / s.whole_cost for s in of(studies, scenario, profile)])


def late_share(studies: list[Study], scenario: str, profile: str) -> float:
    """The fraction by which the answers of nine shuffles in ten stay close."""
    shares = [s.close_at / s.whole_cost for s in of(studies, scenario, profile)]
    return float(np.quantile(shares, 0.9))


def mean_excess(studies: list[Study], scenario: str, profile: str) -> NDArray[np.float64]:
    """At FRACTIONS, mean over shuffles."""
    rows = [s.excess[: len(FRACTIONS)] for s in of(studies, scenario, profile)]
    return np.asarray(np.mean(rows, axis=0))


def excess_table(studies: list[Study], names: list[str]) -> Iterator[str]:
    """Excess by scenario and profile, then the mean over ASlib's scenarios."""
    yield "Excess of the answer's true mean over the best, in %, when the charged time reaches a"
    yield "fraction of the cost of running the whole table once; mean over shuffles.\n"
    yield f"| table | shuffles | profile | {' | '.join(f'{f:.1%}' for f in FRACTIONS)} | ends at |"
    yield "|---" * (len(FRACTIONS) + 4) + "|"
    for name in names:
        for profile in PROFILES:
            some = of(studies, name, profile)
            numbers = " | ".join(f"{100 * x:.1f}" for x in mean_excess(studies, name, profile))
            end = np.mean([s.ended_at / s.whole_cost for s in some])
            yield f"| {name} | {len(some)} | `{profile}` | {numbers} | {end:.2%} |"
    real = [name for name in names if name != SYNTHETIC]
    if not real:
        return
    for profile in PROFILES:
        whole = np.mean([mean_excess(studies, name, profile) for name in real], axis=0)
        numbers = " | ".join(f"{100 * x:.1f}" for x in whole)
        yield f"| mean of ASlib's {len(real)} | | `{profile}` | {numbers} | |"


def ratio_table(studies: list[Study], names: list[str]) -> Iterator[str]:
    """When each profile's answer came to stay close, and how many times sooner `tight` had it."""
    yield f"\nCharged time until the answer stays within {CLOSE:.0%} of the best (geometric mean"
    yield "over shuffles), as a fraction of the cost of the whole table, and how many times that of"
    yield "`tight` the others take.\n"
    columns = "".join(f" `{p}` | nine in ten by |" for p in PROFILES)
    yield f"| table |{columns} `proved` / `tight` | `paper` / `tight` |"
    yield "|---|---|---|---|---|---|---|---|---|"
    ratios: dict[str, float] = {}
    for name in names:
        tight, proved, paper = (close_share(studies, name, profile) for profile in PROFILES)
        ratios[name] = paper / tight
        means = (tight, proved, paper)
        late = (late_share(studies, name, profile) for profile in PROFILES)
        shares = " | ".join(f"{m:.3%} | {x:.3%}" for m, x in zip(means, late, strict=True))
        yield f"| {name} | {shares} | {proved / tight:.2f} | {paper / tight:.2f} |"
    real = [ratio for name, ratio in ratios.items() if name != SYNTHETIC]
    if real:
        whole = geometric_mean(real)
        yield f"| geometric mean of ASlib's {len(real)} | | | | | | | | {whole:.2f} |"
    below = [name for name, ratio in ratios.items() if ratio < 1]
    yield f"\n`tight` later than `paper` on: {', '.join(below) or 'none'}."


def write_csv(studies: list[Study]) -> None:
    """One line a study."""
    with (RESULTS / "efficiency.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        heads = [f"excess_at_{fraction:g}" for fraction in FRACTIONS]
        writer.writerow(
            ["table", "profile", "shuffle", *heads, "close_at", "ended_at", "whole_cost"]
        )
        for s in studies:
            excess = [f"{x:.6g}" for x in s.excess[: len(FRACTIONS)]]
            times = [f"{t:.6g}" for t in (s.close_at, s.ended_at, s.whole_cost)]
            writer.writerow([s.scenario, s.profile, s.shuffle, *excess, *times])


def main() -> None:
    """Run all searches, then write the tables and draw the figure."""
    console = Console()
    RESULTS.mkdir(exist_ok=True)
    studies = all_studies(console)
    names = scenarios()
    if names == [SYNTHETIC]:
        console.print(f"No ASlib scenarios in {data_folder()}/aslib; see CUNCTATOR_DATA.")
    write_csv(studies)
    text = "\n".join([*excess_table(studies, names), *ratio_table(studies, names)])
    (RESULTS / "efficiency.md").write_text(text + "\n")
    curves = {
        (name, profile): np.array([s.excess[len(FRACTIONS) :] for s in of(studies, name, profile)])
        for name in names
        for profile in PROFILES
    }
    closes = {(n, p): close_share(studies, n, p) for n in names for p in PROFILES}
    draw(GRID, curves, closes, RESULTS / "efficiency")
    console.print(text, highlight=False, soft_wrap=True)
    console.print(f"\nWritten to {RESULTS / 'efficiency.md'}; .csv, .png and .svg beside it.")


if __name__ == "__main__":
    main()
