"""Measures runtimes of real solvers for `replay.py`: a sparse table, in minutes.

    cd benchmarks; python -m peers.measure NAME FOLDER [SECONDS]

Instances are written to FOLDER, and what is measured to `data/NAME.npz` and `data/NAME.json`.
NAME is minisat, clasp or highs, SECONDS the CPU time of all runs.

A search looks at random configurations first and at those near good ones later, so that is what is
measured: drawn configurations on a sample of the instances that is even in how hard these are for
the default, and between them such as differ from the default or from one of the best so far in one
or a few parameters. The best by far of these so far is run on all instances, from time to time;
so are the default and some random ones, by whose times instances can be told apart. Some cells are
measured with several seeds.

Each run is a child of this process: clasp and HiGHS come as libraries, which the child has already
when it begins, so their times are those of reading and solving. The kernel kills it at the cutoff.
"""

from __future__ import annotations

import importlib
import json
import os
import platform
import resource
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from subprocess import run

import numpy as np

from cunctator.data.formulas import FAMILIES, SEED
from cunctator.demo.formulas import write_formulas
from cunctator.scenario import Scenario, load_scenario
from cunctator.space.parameters import Value
from cunctator.spaces import run_clasp, run_highs, solver_text
from cunctator.spaces.launching import launch
from peers.replay_files import CUT_OFF, DATA, FAILED, SOLVED, note
from peers.replay_models import write_models
from peers.replay_moves import near

INSTANCES = 100
CUTOFF = 2
"""CPU seconds; the kernel counts whole ones."""

SAMPLE = 16
"""Instances of a configuration."""

REFERENCES = 8
"""Random configurations on all instances."""

NEAR, AGAIN = 0.4, 0.08
"""Shares of configurations near good ones, and of cells with more than one seed."""

LEADERS = 5
"""Of the best so far, changes are made to one of so many."""

CERTAIN = 8
"""Means of few runs are drawn to that of the default, as if so many runs of it were among them."""

FINALS = 8
"""Best configurations on all instances, in the end."""

REST = """
[instances]
glob = "instances/*"

[search]
first_cap = "10ms"
cutoff = "2s"

[budget]
runs = 1
"""

Values = dict[str, Value]


@dataclass(frozen=True)
class Solver:
    """How a solver is started in a child, and on what."""

    write: Callable[[Path], Sequence[Path]]
    start: Callable[[list[str]], int]
    """Given the arguments of a command line; returns the exit code, if at all."""
    module: str | None
    """Of the wheel that it comes with, or None."""


def exec_program(words: list[str]) -> int:
    """Become another program."""
    os.execvp(words[0], words)


def write_cnf(folder: Path) -> Sequence[Path]:
    """The first formulas of the table that ships."""
    return write_formulas(folder, INSTANCES, SEED, FAMILIES)


def write_lp(folder: Path) -> Sequence[Path]:
    """Small mixed-integer programs."""
    return write_models(folder, INSTANCES, SEED)


LAUNCHER = 4
"""Words of a command that start a launcher of ours: python -P -m MODULE."""

SOLVERS = {
    "minisat": Solver(write_cnf, exec_program, None),
    "clasp": Solver(
        write_cnf, lambda words: run_clasp.main(["--mode=clasp", *words[LAUNCHER:]]), "clingo"
    ),
    "highs": Solver(write_lp, lambda words: launch(run_highs.solve, words[LAUNCHER:]), "highspy"),
}


def timed(start: Callable[[list[str]], int], words: list[str]) -> tuple[float, int]:
    """CPU seconds and exit code of a child, negative if a signal ended it."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (CUTOFF, CUTOFF))
            silent = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(silent, stream)
            code = start(words)
        finally:
            os._exit(code)
    _, status, usage = os.wait4(child, 0)
    return usage.ru_utime + usage.ru_stime, os.waitstatus_to_exitcode(status)


@dataclass
class Measurement:
    """What has been measured so far."""

    solver: Solver
    scenario: Scenario
    instances: Sequence[Path]
    random: np.random.Generator
    configurations: list[Values] = field(default_factory=list)
    cells: list[tuple[int, int, int, float, int]] = field(default_factory=list)
    """Configuration, instance, seed, seconds, verdict."""
    best: dict[int, dict[int, float]] = field(default_factory=dict)
    """The first time of each instance, by configuration."""
    spent: float = 0.0
    drawn: int = 0

    def add(self, values: Values) -> int:
        """Number a configuration, which may have a number."""
        if values in self.configurations:
            return self.configurations.index(values)
        self.configurations.append(values)
        return len(self.configurations) - 1

    def measure(self, number: int, instance: int, seed: int = 0) -> None:
        """One run."""
        words = self.scenario.command.argv(
            self.configurations[number], str(self.instances[instance]), seed + 1, CUTOFF
        )
        seconds, code = timed(self.solver.start, words)
        verdict = CUT_OFF if code == -signal.SIGKILL else FAILED
        if code in self.scenario.command.judging.success:
            verdict = SOLVED
        self.spent += seconds
        self.cells.append((number, instance, seed, seconds, verdict))
        charged = min(seconds, CUTOFF) if verdict == SOLVED else CUTOFF
        self.best.setdefault(number, {}).setdefault(instance, charged)

    def on_all(self, number: int) -> None:
        """Run a configuration on all instances that it has not seen."""
        for instance in range(len(self.instances)):
            if instance not in self.best.get(number, {}):
                self.measure(number, instance)

    def on_sample(self, number: int) -> None:
        """Run a configuration on instances of all degrees of hardness; some with more seeds."""
        hardness = self.best[0]
        order = np.array(sorted(hardness, key=lambda instance: hardness[instance]))
        for part in np.array_split(order, SAMPLE):
            instance = int(self.random.choice(part))
            if instance not in self.best.get(number, {}):
                self.measure(number, instance)
            if self.random.random() < AGAIN:
                for seed in (1, 2):
                    self.measure(number, instance, seed)

    def score(self, number: int) -> float:
        """Mean runtime as a share of the default's on the same instances, with due doubt."""
        seen = self.best[number]
        doubt = CERTAIN * float(np.mean(list(self.best[0].values())))
        default = sum(self.best[0][instance] for instance in seen)
        return (sum(seen.values()) + doubt) / (default + doubt)

    def leaders(self, count: int) -> list[int]:
        """The best so far."""
        return sorted(self.best, key=self.score)[:count]

    def next(self) -> int:
        """A configuration to be measured now."""
        space = self.scenario.space
        if self.random.random() < NEAR:
            base = 0
            if self.random.random() > 0.25:
                base = int(self.random.choice(self.leaders(LEADERS)))
            return self.add(near(space, self.configurations[base], self.random))
        self.drawn += 1
        return self.add(space.configuration(space.fixed + self.drawn - 1))


def begun(name: str, folder: Path) -> Measurement:
    """Instances, and nothing measured yet."""
    solver = SOLVERS[name]
    if solver.module is not None:
        importlib.import_module(solver.module)
    instances = solver.write(folder / "instances")
    (folder / "scenario.toml").write_text(solver_text(name) + REST, "utf-8")
    scenario = load_scenario(folder / "scenario.toml")
    return Measurement(solver, scenario, instances, np.random.default_rng(SEED))


def measured(name: str, folder: Path, budget: float) -> Iterator[Measurement]:
    """Measure, and say so after every configuration."""
    made = begun(name, folder)
    scenario = made.scenario
    firsts = [scenario.space.configuration(k) for k in range(scenario.space.fixed)]
    for values in firsts:
        made.on_all(made.add(values))
    for _ in range(REFERENCES):
        made.drawn += 1
        made.on_all(made.add(scenario.space.configuration(len(firsts) + made.drawn - 1)))
    yield made
    count = 0
    while made.spent < 0.92 * budget:
        number = made.next()
        made.on_sample(number)
        count += 1
        if count % 12 == 0:
            made.on_all(made.leaders(1)[0])
        yield made
    while made.spent < budget:
        waiting = [n for n in made.leaders(FINALS) if len(made.best[n]) < len(made.instances)]
        if not waiting:
            break
        made.on_all(waiting[0])
        yield made


def save(name: str, made: Measurement) -> None:
    """Write what was measured, and how."""
    numbers, instances, seeds, seconds, verdicts = zip(*made.cells, strict=True)
    texts = np.array([json.dumps(values) for values in made.configurations])
    np.savez_compressed(
        DATA / f"{name}.npz",
        configurations=texts,
        instances=np.array([path.stem for path in made.instances]),
        configuration=np.array(numbers, np.int32),
        instance=np.array(instances, np.int16),
        seed=np.array(seeds, np.int8),
        seconds=np.array(seconds, np.float32),
        verdict=np.array(verdicts, np.int8),
        cutoff=np.array(float(CUTOFF)),
    )
    facts = {
        "solver": solver_version(name, made.solver),
        "date": datetime.now(UTC).date().isoformat(),
        "system": f"{platform.system()}, {platform.machine()}",
        "cutoff": CUTOFF,
        "instances": len(made.instances),
        "configurations": len(made.configurations),
        "drawn": made.drawn,
        "cells": len(made.cells),
        "seconds": round(made.spent, 1),
        "cut_off": verdicts.count(CUT_OFF),
        "failed": verdicts.count(FAILED),
    }
    note(name, facts)


def solver_version(name: str, solver: Solver) -> str:
    """Which release was measured."""
    if solver.module is not None:
        return f"{name}, from {solver.module} {version(solver.module)}"
    words = ["dpkg-query", "--show", "--showformat=${Version}", name]
    if shutil.which(words[0]) is None:
        return f"{name}, of unknown version"
    found = run(words, capture_output=True, text=True, check=True)
    return f"{name}, Debian package {found.stdout}"


def main() -> None:
    """Measure one solver; what there is so far is kept every half minute."""
    name, folder = sys.argv[1], Path(sys.argv[2])
    budget = float(sys.argv[3]) if len(sys.argv) > 3 else 720.0
    folder.mkdir(parents=True, exist_ok=True)
    saved = time.monotonic()
    for made in measured(name, folder, budget):
        if time.monotonic() > saved + 30:
            save(name, made)
            saved = time.monotonic()
            best = made.leaders(1)[0]
            print(f"{made.spent:.0f} s, {len(made.cells)} cells, best {made.score(best):.3f}")
    save(name, made)


if __name__ == "__main__":
    main()
