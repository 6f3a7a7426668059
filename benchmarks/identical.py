"""Whether two versions of the sources search alike, to the digit.

    python benchmarks/identical.py BEFORE/src AFTER/src

Each version runs in a process of its own, on the table that ships and on the ASlib scenarios in
the data folder (`CUNCTATOR_DATA`), for the three profiles. Compared are the results of simulations
as JSON, each instance once and with replacement, with pools that grow and without; and the runs
that the scheduler asks for, one at a time and three, with some crashes. The first difference is
shown, and the exit code is 1.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

import numpy as np

import cunctator

# Public names only: where they are at home differs between versions.
from cunctator import Outcome, Run, Scheduler, Simulation, Status, Table, load_table

PROFILES = ("tight", "proved", "paper")
SEEDS = (0, 1, 2)
BUDGET = 0.25
"""Of a table's whole cost."""

MOST_STEPS = 400_000
ASKS = 4000
CRASH_EVERY = 37
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def tables() -> Iterator[tuple[str, Table]]:
    """The table that ships, and the scenarios that are there."""
    yield "minisat", load_table("minisat")
    folder = Path(os.environ.get("CUNCTATOR_DATA") or DATA) / "aslib"
    for path in sorted(folder.glob("*/algorithm_runs.arff")):
        yield path.parent.name, load_table(path.parent)


def simulated(table: Table, profile: str, seed: int, resample: bool, ladder: bool) -> object:
    """The result of one simulation as it would be written, but for the time it took."""
    simulation = Simulation(
        table,
        profile=profile,
        first_cap=0.01 if table.cutoff == 10.0 else 0.1,
        budget=BUDGET * float(table.runtimes.sum()),
        seed=seed,
        resample=resample,
        ladder=ladder,
    )
    while simulation.stop is None and simulation.steps < MOST_STEPS:
        simulation.advance(MOST_STEPS // 4)
    data = simulation.result().as_data()
    del data["scheduler_seconds"]
    return data


def asked(table: Table, profile: str, slots: int, is_open: bool) -> object:
    """All runs that the scheduler asks for, as a digest, and what it says of them in the end."""
    rows, columns = table.runtimes.shape
    scheduler = Scheduler(
        None if is_open else rows,
        columns,
        profile=profile,
        cutoff=table.cutoff,
        limit=rows if is_open else None,
    )
    random = np.random.default_rng(slots)
    asks, flying = hashlib.sha256(), list[Run]()
    for _ in range(ASKS):
        run = scheduler.ask()
        asks.update(repr(run).encode())
        if run is not None:
            flying.append(run)
        elif not flying:
            break
        if run is None or len(flying) == slots:
            ended = flying.pop(int(random.integers(len(flying))))
            scheduler.tell(ended, outcome_of(table, ended))
    answer = scheduler.recommend()
    said = (scheduler.certificate(), scheduler.standing(answer), scheduler.compared(0, answer))
    return [asks.hexdigest(), scheduler.step, repr(said)]


def outcome_of(table: Table, run: Run) -> Outcome:
    """What a run comes to."""
    runtime = float(table.runtimes[run.configuration, run.pair])
    if (run.configuration + run.pair) % CRASH_EVERY == 0:
        return Outcome(Status.CRASHED, min(runtime, run.cap))
    solved = runtime <= run.cap
    return Outcome(Status.SOLVED if solved else Status.CAPPED, min(runtime, run.cap))


def search() -> None:
    """Everything, a line for each case."""
    print(json.dumps(["sources", str(Path(cunctator.__file__).parent.parent)]))
    for name, table in tables():
        for profile in PROFILES:
            is_tight = profile == "tight"
            for seed in SEEDS:
                for resample in (False, True):
                    for ladder in (False, True) if is_tight else (False,):
                        case = f"{name}, {profile}, seed {seed}, {resample=}, {ladder=}"
                        data = simulated(table, profile, seed, resample, ladder)
                        print(json.dumps([case, data]), flush=True)
            for slots in (1, 3):
                for is_open in (False, True) if is_tight else (False,):
                    case = f"{name}, {profile}, asks, {slots=}, {is_open=}"
                    print(json.dumps([case, asked(table, profile, slots, is_open)]), flush=True)


def main() -> int:
    """Run both versions at the same time and compare what they say."""
    if len(sys.argv) == 1:
        search()
        return 0
    versions = [Path(folder).resolve() for folder in sys.argv[1:]]
    if len(versions) != 2 or not all((folder / "cunctator").is_dir() for folder in versions):
        print("give two folders that hold a package `cunctator`, e.g. the src of two checkouts")
        return 2
    processes = [
        subprocess.Popen(
            [sys.executable, __file__],
            env={**os.environ, "PYTHONPATH": str(folder)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for folder in versions
    ]
    same = 0
    outputs = zip_longest(*(process.stdout or () for process in processes))
    for number, lines in enumerate(outputs):
        if None in lines:
            print(f"one of them ended after {number} lines")
            break
        cases = [json.loads(line) for line in lines]
        if number == 0:
            assert [Path(case[1]) for case in cases] == versions, "the wrong sources are loaded"
            continue
        if lines[0] != lines[1]:
            print(f"DIFFERENT: {cases[0][0]}")
            print(first_difference(cases[0][1], cases[1][1]))
            break
        print(f"same: {cases[0][0]}")
        same += 1
    else:
        print(f"all {same} cases are the same, to the digit")
        return max(process.wait() for process in processes)
    for process in processes:
        process.kill()
    return 1


def first_difference(before: object, after: object, place: str = "result") -> str:
    """Where two pieces of data differ first."""
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        pairs = [(f"{place}.{key}", before[key], after[key]) for key in before]
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = [(f"{place}[{k}]", *two) for k, two in enumerate(zip(before, after, strict=True))]
    else:
        return f"{place}: {before!r} before, {after!r} after"
    return next(first_difference(b, a, where) for where, b, a in pairs if b != a)


if __name__ == "__main__":
    sys.exit(main())
