"""Cunctator beside SMAC3, irace, Optuna and successive halving: `make peers`.

    PYTHONPATH=benchmarks python -m peers [--problems NAME ...] [--tools NAME ...] [--seeds N]
        [--first-seed N] [--budget RUNS] [--real] [--jobs N] [--folder FOLDER]

Everybody has the same account: what runs take is charged, on the same instances with the same
seeds and the same cutoff, and the budget is so many mean runs of the default. Results are kept in
FOLDER, one file for each problem, tool and seed; what is there is not done again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import traceback
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib import import_module
from pathlib import Path

from rich.console import Console

from peers import jobs, report
from peers.jobs import REAL, TOOLS, Job, Result

RESULTS = Path(__file__).parents[1] / "results" / "peers"
BUDGET = 2000.0
SEEDS = 10


OTHERS = [tool for tool in TOOLS if tool != "unguided"]
"""What is compared unless it is asked otherwise: Cunctator is there once."""


def arguments(words: Sequence[str]) -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(prog="peers", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--problems", nargs="+", help="default: all that are replayed, or real")
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=list(OTHERS))
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--budget", type=float, default=BUDGET, help="in runs of the default")
    parser.add_argument("--real", action="store_true", help="real runs of real solvers")
    parser.add_argument("--jobs", type=int, default=1, help="at a time")
    parser.add_argument("--folder", type=Path, default=RESULTS)
    return parser.parse_args(words)


def wanted(asked: argparse.Namespace) -> list[Job]:
    """All jobs, one seed after the other, so that there is something to see soon."""
    names = asked.problems
    if names is None and asked.real:
        names = [f"{REAL}{name}" for name in import_module("peers.real").NAMES]
    elif names is None:
        names = list(import_module("peers.replay").NAMES)
    seeds = range(asked.first_seed, asked.first_seed + asked.seeds)
    return [
        Job(name, tool, seed, asked.budget, asked.folder)
        for seed in seeds
        for name in names
        for tool in asked.tools
        if not jobs.missing(tool)
    ]


def make(todo: Sequence[Job], at_a_time: int) -> list[Result]:
    """Do the jobs, each in a process of its own: tools keep state, and leave threads."""
    found = []
    pool = ProcessPoolExecutor(
        at_a_time, mp_context=multiprocessing.get_context("spawn"), max_tasks_per_child=1
    )
    with pool:
        flights = {pool.submit(jobs.do, job): job for job in todo}
        for number, flight in enumerate(as_completed(flights), 1):
            job = flights[flight]
            name = f"{number}/{len(todo)} {job.problem} {job.tool} {job.seed}"
            if error := flight.exception():
                print(f"{name} failed:", *traceback.format_exception(error), file=sys.stderr)
                continue
            result = flight.result()
            found.append(result)
            ratio = result.at(1.0) / report.reference(result)
            print(f"{name}: {ratio:.3f}, {result.runs:,} runs, {result.wall:.0f} s", flush=True)
    return found


def main(words: Sequence[str]) -> None:
    """Do what has not been done; show all."""
    asked = arguments(words)
    asked.folder.mkdir(parents=True, exist_ok=True)
    for tool in asked.tools:
        if what := jobs.missing(tool):
            print(f"{tool} is left out: {what}", file=sys.stderr)
    everything = wanted(asked)
    for name in dict.fromkeys(job.problem for job in everything if job.is_real):
        import_module("peers.real").prepare(name.removeprefix(REAL), asked.folder)
    known = {job: jobs.done(job) for job in everything}
    made = make([job for job, result in known.items() if result is None], asked.jobs)
    results = [*filter(None, known.values()), *made]
    if not results:
        sys.exit("nothing has come of it")
    for name in report.mixed(results):
        print(f"{name} has changed since some of this: remove {asked.folder}/{name}.*.json")
    tables = report.tables_of(results)
    report.show(tables, Console())
    report.write(tables, asked.folder / "table.csv")
    import_module("peers.figure").draw(results, asked.folder / "anytime")


if __name__ == "__main__":
    main(sys.argv[1:])
