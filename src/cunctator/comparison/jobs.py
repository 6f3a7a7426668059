"""What there is to do in a comparison: a method, its settings, a seed; and under which conditions.

A job's result is a function of the table, the conditions and the job alone, so results may be
made in any order, by any process, and kept.
"""

from __future__ import annotations

import itertools
import json
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cunctator.base.errors import CunctatorError, InvalidSetting
from cunctator.recorded.table import Table
from cunctator.siblings.method import Method
from cunctator.siblings.problem import Found, Problem, TooFewInstances
from cunctator.siblings.registry import METHODS
from cunctator.space.parameters import text_of

ROWS = 7
"""Keeps the random numbers of the order of the rows apart from others of the same seed."""

LEAST_PRODUCT = 1e-30
"""Of epsilon^2 and delta: efforts can be added and subtracted."""

KILLED = "its process was killed, for example because memory ran out; give fewer --workers"
REPORT = "; please report this"
"""What failures that are ours end with."""

INVALID = "invalid"
"""In records of jobs that failed because a setting makes no sense: its name."""

NEEDED = "needed"
"""In records of jobs that failed for want of instances: how many it would take."""

Record = dict[str, Any]
"""A job and what came of it, as JSON has it."""


@dataclass(frozen=True)
class Conditions:
    """What is the same for all methods of a comparison."""

    first_cap: float
    cutoff: float
    budget: float | None
    """Seconds; None: none for methods that end by themselves, `endless_budget` for the others."""
    endless_budget: float
    resample: bool

    def budget_of(self, method: Method) -> float:
        """Seconds that a method may charge."""
        if self.budget is not None:
            return self.budget
        return math.inf if method.ends else self.endless_budget


@dataclass(frozen=True)
class Job:
    """One method, with settings and a seed."""

    method: str
    settings: tuple[tuple[str, float | str], ...]
    seed: int

    @property
    def key(self) -> str:
        """Tells it from all others."""
        return json.dumps([self.method, self.settings, self.seed])

    @property
    def effort(self) -> float:
        """About how long it takes, compared with others of the same method.

        Samples that are large enough for (epsilon, delta) grow with 1 / (epsilon^2 delta).
        """
        given = dict(self.settings)
        epsilon, delta = (float(given.get(name, 1.0)) for name in ("epsilon", "delta"))
        return 1.0 / max(epsilon**2 * delta, LEAST_PRODUCT)


def short_text(value: float | str) -> str:
    """A setting's value for people; a whole number has no point, and none has dozens of zeros."""
    if not isinstance(value, float):
        return text_of(value)
    is_short = value == 0 or 1e-6 <= abs(value) < 1e15
    return repr(value).removesuffix(".0") if is_short else f"{value:g}"


Given = Mapping[str, Mapping[str, Sequence[float | str]]]
"""Settings that the user gives, by method; all of their values are tried."""


def make_jobs(
    methods: Iterable[str], seeds: int, grid: Mapping[str, Sequence[float]], given: Given
) -> list[Job]:
    """All jobs: those first whose settings may be wrong, then those without any, then the longest.

    Of the former all settings are tried with one seed before any is with another.
    `grid` replaces the paper's values of a setting, `given` those and defaults of one method.
    """
    jobs: list[Job] = []
    for name in methods:
        own: dict[str, tuple[float | str, ...]] = {
            key: tuple(grid.get(key, values)) for key, values in METHODS[name].grid.items()
        }
        own |= {key: tuple(values) for key, values in given.get(name, {}).items()}
        for values in itertools.product(*own.values()):
            settings = tuple(zip(own, values, strict=True))
            jobs.extend(Job(name, settings, seed) for seed in range(seeds))

    def place(job: Job) -> tuple[float, ...]:
        is_given = job.method in given
        return (not is_given, job.seed if is_given else 0, len(job.settings), -job.effort)

    return sorted(jobs, key=place)


@dataclass(frozen=True, eq=False)
class Arranged:
    """A problem whose rows are in an order of the seed's own, and which rows of the table they are.

    Ties go to the first row, and many methods begin with it: in the order of the table, whoever
    wrote it down would have a say in who is quick.
    """

    problem: Problem
    rows: NDArray[np.int64]
    default_first: bool

    def serves(self, conditions: Conditions, job: Job) -> bool:
        """Whether another job would be given the same: then nothing is drawn anew."""
        method = METHODS[job.method]
        wanted = (job.seed, conditions.budget_of(method), method.needs_parameters)
        return wanted == (self.problem.seed, self.problem.budget, self.default_first)


def arranged(table: Table, conditions: Conditions, job: Job) -> Arranged:
    """What the job's method is given. To those that go by parameters, row 0 is the default."""
    method = METHODS[job.method]
    random = np.random.default_rng([job.seed, ROWS])
    first = [0] if method.needs_parameters else []
    rest = np.arange(len(first), len(table.configurations))
    rows = np.concatenate([np.array(first, dtype=np.int64), random.permutation(rest)])
    names = tuple(table.configurations[row] for row in rows)
    shuffled = replace(table, runtimes=table.runtimes[rows], configurations=names, measures={})
    budget = conditions.budget_of(method)
    first_cap, cutoff, resample = conditions.first_cap, conditions.cutoff, conditions.resample
    problem = Problem(shuffled, first_cap, cutoff, budget, job.seed, resample)
    return Arranged(problem, rows, method.needs_parameters)


def run_job(given: Arranged, job: Job) -> Record:
    """Make it; whatever goes wrong is in the record."""
    method = METHODS[job.method]
    record: Record = {"method": job.method, "settings": dict(job.settings), "seed": job.seed}
    begun = time.perf_counter()
    try:
        outcome = method.solve(given.problem, **dict(job.settings))
        record |= _as_data(outcome, given.rows)
    except InvalidSetting as error:
        record |= {"error": str(error), INVALID: error.setting}
    except TooFewInstances as error:
        record |= {"error": str(error), NEEDED: error.needed}
    except CunctatorError as error:
        record |= {"error": str(error)}
    except Exception as error:  # one method's failure must not lose the others' results
        record |= {"error": f"it failed ({type(error).__name__}: {error}){REPORT}"}
    return record | {"seconds": time.perf_counter() - begun}


def _as_data(outcome: Found, rows: NDArray[np.int64]) -> Record:
    spent = np.zeros(rows.size)
    spent[rows] = outcome.spent
    numbers = [outcome.charged, *outcome.spent, *(at for at, _ in outcome.trajectory)]
    if not all(math.isfinite(number) for number in numbers):
        return {"error": f"its result is not finite{REPORT}"}
    return {
        "trajectory": [[at, int(rows[index])] for at, index in outcome.trajectory],
        "charged": outcome.charged,
        "steps": outcome.steps,
        "spent": spent.tolist(),
        "stop": outcome.stop,
        "claim": outcome.claim,
        "facts": {name: float(value) for name, value in outcome.facts.items()},
    }
