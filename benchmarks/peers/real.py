"""Real solvers on generated instances, every run made and measured by Cunctator's own slots.

The pairs are those of a study with the same seed, so that a study and everybody else's search are
on the same account. CPU time is real: no two runs are alike, and nothing else should be running.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from subprocess import run
from typing import NamedTuple

from cunctator.base.errors import CunctatorError
from cunctator.base.records import Status
from cunctator.demo.formulas import write_formulas
from cunctator.scenario import Scenario, load_scenario
from cunctator.space.parameters import Value
from cunctator.spaces import solver_text
from cunctator.study.bulk import completed, new_reply
from cunctator.study.folder import scenario_of
from cunctator.study.journal.journal import open_journal
from cunctator.study.workers import LocalWorkers, slot_settings
from cunctator.target.execution import Execution, Report
from cunctator.target.replies import Replies
from peers.problem import Account, Point
from peers.replay_models import write_models

TRAIN, TEST = 200, 200
FORMULA_SEED, FRESH = 1, 10_000
"""Of training instances, and what is added to it for test instances."""

FOLDER = "real"
"""In the folder of results: instances, and what the default takes."""

REST = """
[instances]
glob = "{place}/training/*"
seeds = 1

[test_instances]
glob = "{place}/test/*"
seeds = 1

[search]
first_cap = "10ms"
cutoff = "5s"
seed = {seed}
workers = 1

[budget]
charged = "{budget:.6f}s"
"""

NO_BUDGET = 1.0
"""Seconds, for a scenario whose budget is another's business."""


class Solver(NamedTuple):
    """What a solver needs, and what it is run on."""

    missing: Callable[[], bool]
    install: str
    write: Callable[[Path, int, int], object]


SOLVERS = {
    "minisat": Solver(lambda: which("minisat") is None, "apt-get install minisat", write_formulas),
    "clasp": Solver(lambda: find_spec("clingo") is None, "pip install clingo", write_formulas),
    "highs": Solver(lambda: find_spec("highspy") is None, "pip install highspy", write_models),
}
NAMES = tuple(SOLVERS)


class Real:
    """A solver that is run for real."""

    def __init__(self, name: str, seed: int, folder: Path) -> None:
        self.name = name
        self.place = folder.resolve() / FOLDER / name
        self.scenario = scenario_in(self.place / "scenarios", self.place, name, seed, NO_BUDGET)
        self.space = self.scenario.space
        assert self.scenario.search.cutoff is not None
        self.cutoff = self.scenario.search.cutoff
        instances = self.scenario.instances
        assert instances.count is not None
        self._pairs = sorted(instances.pair(position) for position in range(instances.count))
        self.train = len(self._pairs)
        self._workers = LocalWorkers(slot_settings(self.scenario, self.place / "none"), 1)
        self._replies = Replies({})
        self._runs = 0

    def close(self) -> None:
        """Leave nothing behind."""
        self._workers.close()

    def run(
        self, values: Mapping[str, Value], instance: int, seed: int, cap: float
    ) -> tuple[float, bool]:
        """(CPU seconds, solved), with the seed that a study gives this instance."""
        name, own = self._pairs[instance]
        self._runs += 1
        execution = Execution(self._runs, self.space.checked(values), name, own, cap)
        report = self._workers.submit(execution).result()
        self._check(execution, report)
        return report.seconds, report.status is Status.SOLVED

    def test_mean(self, values: Mapping[str, Value]) -> float:
        """On test instances; what is not solved counts the cutoff."""
        instances = self.scenario.test_instances
        assert instances is not None and instances.count is not None
        pairs = [instances.even_pair(place) for place in range(instances.count)]
        return self._mean(self.space.checked(values), pairs)

    def default_seconds(self) -> float:
        """Of the default on training instances, measured once and kept."""
        kept = self.place / "default.json"
        if not kept.exists():
            kept.write_text(json.dumps(self._mean(self.space.default, self._pairs)), "utf-8")
        return float(json.loads(kept.read_text("utf-8")))

    def best_known(self) -> None:
        """Nobody knows."""
        return

    def _mean(self, values: Mapping[str, Value], pairs: list[tuple[str, int]]) -> float:
        total = 0.0
        executions = [
            Execution(number, values, name, seed, self.cutoff)
            for number, (name, seed) in enumerate(pairs)
        ]
        for execution, report in completed(self._workers, executions):
            self._check(execution, report)
            total += report.seconds if report.status is Status.SOLVED else self.cutoff
        return total / len(pairs)

    def _check(self, execution: Execution, report: Report) -> None:
        if report.abort or report.status is None:
            raise CunctatorError(f"{self.name}: {report.details.problem or 'called off'}")
        fix = "find out which of the two is wrong: a wrong answer is no fast one"
        new_reply(self._replies, self._workers, execution, report, fix)


def scenario_in(folder: Path, place: Path, name: str, seed: int, budget: float) -> Scenario:
    """A scenario file in a folder, with the instances of a place."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{seed}.toml"
    rest = REST.format(place=place, seed=seed, budget=budget)
    path.write_text(solver_text(name) + rest, "utf-8")
    return load_scenario(path)


def prepare(name: str, folder: Path) -> None:
    """Write the instances and measure the default, before searches need either."""
    solver = SOLVERS[name]
    if solver.missing():
        raise CunctatorError(f"{name} is missing: {solver.install}")
    place = folder.resolve() / FOLDER / name
    for part, count, seed in (
        ("training", TRAIN, FORMULA_SEED),
        ("test", TEST, FORMULA_SEED + FRESH),
    ):
        if not (place / part).exists():
            solver.write(place / part, count, seed)
    problem = load_problem(name, 0, folder)
    try:
        problem.default_seconds()
    finally:
        problem.close()


def load_problem(name: str, seed: int, folder: Path) -> Real:
    """A problem that was prepared."""
    return Real(name, seed, folder)


def close(problem: Real) -> None:
    """Leave nothing behind."""
    problem.close()


def study(problem: Real, account: Account, seed: int, folder: Path) -> None:
    """Cunctator on a real problem: a study, in a process of its own, as a user would make it."""
    scenario = scenario_in(folder, problem.place, problem.name, seed, account.budget)
    place = folder / "peers.study"
    words = ["run", str(scenario.path), str(place)]
    run([sys.executable, "-m", "cunctator", *words], check=True, capture_output=True)
    journal = open_journal(place, writing=False)
    try:
        last, changes = journal.last_progress(), journal.changes()
        space = scenario_of(place, journal).space
    finally:
        journal.close()
    assert last is not None
    shown = last[1]
    account.charged, account.runs = shown.charged, shown.runs
    account.inside = shown.busy * shown.wall
    account.trajectory += [
        Point(change.charged, space.configuration(change.configuration)) for change in changes
    ]
