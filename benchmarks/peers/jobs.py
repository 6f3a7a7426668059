"""One search of one tool on one problem, and what its incumbents were worth on test instances."""

from __future__ import annotations

import json
import os
import resource
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from cunctator.base.errors import CunctatorError
from cunctator.space.parameters import text_of
from peers.problem import Account, Problem, Values

SHARES = (0.1, 1 / 3, 1.0)
"""Of the budget: what the table shows."""

CURVE = tuple(10 ** (-2 + step / 6) for step in range(12))
"""More of them for the figure, where test runs cost nothing."""

R_PACKAGES = ("/usr/lib/R/site-library", "/usr/local/lib/R/site-library")
"""Where Debian has irace."""

REAL = "real-"
"""What names of problems begin with whose runs are real."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A configurator: its module in `tools/`, and the package that it needs."""

    module: str
    package: str = ""


TOOLS = {
    "cunctator": Tool("cunctator_tool", "cunctator"),
    "unguided": Tool("unguided", "cunctator"),
    "smac": Tool("smac", "smac"),
    "irace": Tool("irace"),
    "optuna": Tool("optuna_tpe", "optuna"),
    "halving": Tool("halving"),
}


class Measured(Problem, Protocol):
    """What a problem here can say besides."""

    def default_seconds(self) -> float:
        """Mean of the default on training instances."""

    def best_known(self) -> float | None:
        """The least mean on test instances that is known; None if nobody knows."""


@dataclass(frozen=True, slots=True)
class Job:
    """What to do, and where it is kept."""

    problem: str
    tool: str
    seed: int
    default_runs: float
    """The budget, in runs of the default."""
    folder: Path

    @property
    def place(self) -> Path:
        """The file of its result."""
        return self.folder / f"{self.problem}.{self.tool}.{self.seed}.json"

    @property
    def is_real(self) -> bool:
        """Whether runs take time."""
        return self.problem.startswith(REAL)


@dataclass(frozen=True)
class Result:
    """What came of it."""

    problem: str
    tool: str
    seed: int
    default_runs: float
    version: str
    budget: float
    charged: float
    runs: int
    inside: float
    """Seconds on the clock that the runs took; the other two are of the whole search."""
    wall: float
    cpu: float
    default: float
    """Mean on test instances."""
    best: float | None
    tests: Sequence[tuple[float, float]]
    """(Share of the budget, mean on test instances of the incumbent then)."""
    trajectory: Sequence[tuple[float, Mapping[str, str | int | float | bool]]]

    @property
    def own(self) -> float:
        """Seconds of a run on the clock that are the tool's own."""
        return (self.wall - self.inside) / max(1, self.runs)

    def at(self, share: float) -> float:
        """The mean at a share that was looked at."""
        return dict(self.tests)[share]


def missing(tool: str) -> str:
    """What to install for a tool; empty: nothing."""
    if tool == "irace":
        has_irace = any(Path(folder, "irace").is_dir() for folder in R_PACKAGES)
        return "" if has_irace and shutil.which("Rscript") else "apt-get install r-cran-irace"
    package = TOOLS[tool].package
    return f"pip install {package}" if package and find_spec(package) is None else ""


def load_problem(job: Job) -> Measured:
    """The problem of a job: replayed, or real."""
    problem: Measured
    if job.is_real:
        name = job.problem.removeprefix(REAL)
        problem = import_module("peers.real").load_problem(name, job.seed, job.folder)
    else:
        problem = import_module("peers.replay").load_problem(job.problem, job.seed)
    return problem


def done(job: Job) -> Result | None:
    """What was kept of a job, unless its budget was another."""
    try:
        result = Result(**json.loads(job.place.read_text("utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        raise CunctatorError(f"{job.place}: no result ({error}); remove it") from None
    return result if result.default_runs == job.default_runs else None


def do(job: Job) -> Result:
    """Search, look at the incumbents, keep the result."""
    problem = load_problem(job)
    try:
        return _do(job, problem)
    finally:
        if job.is_real:
            import_module("peers.real").close(problem)


def _do(job: Job, problem: Measured) -> Result:
    account = Account(problem, job.default_runs * problem.default_seconds())
    scratch = job.place.with_suffix("")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    wall, cpu = time.perf_counter(), _cpu_seconds()
    _search(job, problem, account, scratch)
    wall, cpu = time.perf_counter() - wall, _cpu_seconds() - cpu
    shares = SHARES if job.is_real else sorted({*CURVE, *SHARES})
    means = _Means(problem)
    result = Result(
        problem=job.problem,
        tool=job.tool,
        seed=job.seed,
        default_runs=job.default_runs,
        version=_version(job.tool, scratch),
        budget=account.budget,
        charged=account.charged,
        runs=account.runs,
        inside=account.inside,
        wall=wall,
        cpu=cpu,
        default=means.of(account.space.default),
        best=problem.best_known(),
        tests=[(share, means.of(account.incumbent_at(share))) for share in shares],
        trajectory=[(charged, dict(values)) for charged, values in account.trajectory],
    )
    _keep(job.place, result)
    shutil.rmtree(scratch)
    return result


def _search(job: Job, problem: Measured, account: Account, scratch: Path) -> None:
    if job.is_real and job.tool == "cunctator":
        import_module("peers.real").study(problem, account, job.seed, scratch)
        return
    module = import_module(f"peers.tools.{TOOLS[job.tool].module}")
    module.search(account, job.seed, scratch)


class _Means:
    """Means on test instances; each configuration is looked at once."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._known: dict[tuple[tuple[str, str], ...], float] = {}

    def of(self, values: Values) -> float:
        """The mean of a configuration."""
        key = tuple((name, text_of(value)) for name, value in values.items())
        if key not in self._known:
            self._known[key] = self._problem.test_mean(values)
        return self._known[key]


def _keep(place: Path, result: Result) -> None:
    """Whole or not at all."""
    part = place.with_suffix(".part")
    part.write_text(json.dumps(asdict(result)), "utf-8")
    part.replace(place)


def _version(tool: str, scratch: Path) -> str:
    """Of the package; irace leaves it in a file."""
    left = scratch / "version.txt"
    if left.is_file():
        return left.read_text("utf-8").strip()
    try:
        return version(TOOLS[tool].package or "cunctator")
    except PackageNotFoundError:
        return ""


def _cpu_seconds() -> float:
    """Of this process and of those that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    times = os.times()
    return times.user + times.system + children.ru_utime + children.ru_stime
