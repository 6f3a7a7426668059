"""MiniSat for five CPU minutes: what is certified, and is it true? Needs Debian's minisat.

The space that ships for it, 200 generated formulas with a seed each, a cutoff of 5 s, 300 s of
charged time on one slot, and five seeds of everything. Certified is how many times as fast as the
default the answer is on these 200 pairs. Beside that: the ratio of the means of both on the same
formulas with other seeds, and on 200 fresh formulas. CPU time is real, so no two runs are alike.

    python benchmarks/real_solver.py [SEEDS] [FOLDER]

Studies are kept in FOLDER, and an interrupted one is gone on with.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import run
from typing import NamedTuple

from rich.console import Console
from rich.table import Table as Grid

from cunctator.core.statement import rounded
from cunctator.demo.formulas import write_formulas
from cunctator.scenario import Scenario, load_scenario
from cunctator.spaces import solver_text
from cunctator.study.folder import incumbent_of
from cunctator.study.journal.journal import open_journal
from cunctator.study.snapshot import Snapshot
from cunctator.study.validate import Validation, validate

RESULTS = Path(__file__).parent / "results"
FORMULAS = 200
FRESH = 10_000
"""Added to a seed: formulas that the search has not seen."""

AT_A_TIME = 2
"""Studies, one slot each."""

REST = """
[instances]
glob = "training/*.cnf"
seeds = 1

[test_instances]
glob = "{tests}/*.cnf"
seeds = 1

[search]
first_cap = "10ms"
cutoff = "5s"
seed = {seed}
workers = 1

[budget]
charged = "300s"
"""


class Study(NamedTuple):
    """What one of them gave."""

    seed: int
    snapshot: Snapshot
    again: Validation
    """On the same formulas, with other seeds."""
    fresh: Validation


def scenario_in(folder: Path, seed: int, tests: str) -> Scenario:
    """The scenario, with one of two sets of test instances."""
    place = folder / f"{tests}.toml"
    place.write_text(solver_text("minisat") + REST.format(seed=seed, tests=tests), "utf-8")
    return load_scenario(place)


def study(folder: Path, seed: int) -> Snapshot:
    """One study, in a process of its own, as a user would make it."""
    place = folder / "fresh.study"
    if not place.exists():
        write_formulas(folder / "training", FORMULAS, seed)
        write_formulas(folder / "fresh", FORMULAS, seed + FRESH)
        scenario_in(folder, seed, "fresh")
        words = ["run", str(folder / "fresh.toml"), str(place)]
    else:
        words = ["resume", str(place)]
    run([sys.executable, "-m", "cunctator", *words], check=True, capture_output=True)
    journal = open_journal(place, writing=False)
    try:
        last = journal.last_progress()
    finally:
        journal.close()
    assert last is not None
    return last[1]


def validated(folder: Path, seed: int, tests: str) -> Validation:
    """The answer against the default."""
    scenario = scenario_in(folder, seed, tests)
    return validate(scenario, incumbent_of(folder / "fresh.study"), folder / "none")


def one(folder: Path, seed: int) -> Study:
    """A study and both validations."""
    snapshot = study(folder, seed)
    again, fresh = (validated(folder, seed, tests) for tests in ("training", "fresh"))
    return Study(seed, snapshot, again, fresh)


def row(made: Study) -> list[str]:
    """A line of the table."""
    certificate = made.snapshot.certificate
    assert certificate is not None and made.snapshot.incumbent is not None
    bounds = certificate.versus_default
    low, high = bounds.lower or 0.0, bounds.upper
    return [
        str(made.seed),
        f"{made.snapshot.runs:,}",
        f"{rounded(low, int)} to {'-' if high is None else rounded(high, lambda x: -int(-x // 1))}",
        f"{made.again.speed_up:.3g}",
        f"{made.fresh.speed_up:.3g}",
        f"{made.fresh.default.mean():.3g}",
        f"{made.fresh.incumbent.mean():.3g}",
    ]


def main() -> None:
    """All seeds, two at a time; the table is shown and written down."""
    seeds = range(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
    kept = Path(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="cunctator-"))
    folders = [kept / str(seed) for seed in seeds]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        made = list(pool.map(one, folders, seeds))
    headings = ["seed", "runs", "certified", "other seeds", "fresh", "default, s", "answer, s"]
    grid = Grid(title="Times as fast as the default")
    for heading in headings:
        grid.add_column(heading, justify="right")
    for each in made:
        grid.add_row(*row(each))
    Console().print(grid)
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "real_solver.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(headings)
        writer.writerows(map(row, made))


if __name__ == "__main__":
    main()
