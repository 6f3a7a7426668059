"""A comparison from beginning to end: what is known already is read, the rest is made and kept."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from cunctator.base.errors import InvalidSetting, InvalidTable
from cunctator.comparison.jobs import (
    INVALID,
    Conditions,
    Given,
    Job,
    Record,
    make_jobs,
    short_text,
)
from cunctator.comparison.processes import completed
from cunctator.comparison.results_file import kept_in
from cunctator.core.scheduler import LONGEST, SHORTEST
from cunctator.recorded.table import Table
from cunctator.siblings.registry import METHODS
from cunctator.siblings.table_space import read_parameters

WHOLE_TABLES = 10.0
"""Budget of methods that never end, as a multiple of what running the whole table once costs."""


@dataclass(frozen=True)
class Progress:
    """How far a comparison is."""

    done: int
    total: int
    left: float | None
    """Seconds, by what jobs of the same methods took; None before any is known."""
    is_least: bool
    """Whether it may take longer: some method has not finished a job yet."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """A table, the conditions, and a record for each job."""

    table: Table
    conditions: Conditions
    records: list[Record]


def make_conditions(
    table: Table,
    first_cap: float,
    cutoff: float | None = None,
    budget: float | None = None,
    resample: bool = False,
) -> Conditions:
    """What is the same for all methods, with defaults from the table."""
    if cutoff is None:
        cutoff = table.cutoff or float(table.runtimes.max())
        if cutoff == 0:
            expected = "expected a time: all runtimes are 0, so there is no longest one to take"
            raise InvalidSetting("--cutoff", cutoff, expected)
    elif table.cutoff is not None and cutoff > table.cutoff:
        expected = f"the table was recorded with a cutoff of {table.cutoff:g} seconds; give less"
        raise InvalidSetting("--cutoff", cutoff, expected)
    if not 0 < cutoff < math.inf:
        expected = "expected a positive, finite number of seconds"
        raise InvalidSetting("--cutoff", cutoff, expected)
    if not SHORTEST <= first_cap <= min(LONGEST, cutoff):
        most = f"{LONGEST:g} s" if cutoff > LONGEST else f"the cutoff of {cutoff:g} s"
        expected = f"expected at least {SHORTEST:g} s and at most {most}"
        raise InvalidSetting("--first-cap", first_cap, expected)
    if budget is not None and not 0 < budget < math.inf:
        raise InvalidSetting("--budget", budget, "expected a positive, finite number of seconds")
    whole = float(table.runtimes.clip(max=cutoff).sum())
    endless = WHOLE_TABLES * max(whole, first_cap)
    return Conditions(first_cap, cutoff, budget, endless, resample)


def run_comparison(
    table: Table,
    conditions: Conditions,
    methods: Sequence[str],
    folder: Path,
    *,
    seeds: int,
    grid: Mapping[str, Sequence[float]],
    workers: int,
    given: Given = MappingProxyType({}),
    prepare: Callable[[], None] = lambda: None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Comparison:
    """Make all jobs that have not been made yet; records are in the order of the methods.

    `prepare` is called before the first of them, when nothing can be found wrong any more.
    """
    _check_parameters(table, methods)
    jobs = make_jobs(methods, seeds, grid, given)
    with kept_in(folder, table, conditions) as kept:
        missing = [job for job in jobs if job.key not in kept.records]
        if missing:
            prepare()
        clock = _Clock(missing, workers)
        progress(clock.now(len(jobs)))
        for job, record in completed(table, conditions, missing, workers):
            invalid = record.pop(INVALID, None)
            if invalid in given.get(job.method, ()):
                word = f"{job.method}.{invalid}={short_text(record['settings'][invalid])}"
                raise InvalidSetting("--set", word, record["error"])
            kept.add(job, record)
            clock.note(job, record)
            progress(clock.now(len(jobs)))
        jobs.sort(key=lambda job: _place(methods, given, job))
        records = [kept.records[job.key] for job in jobs]
    return Comparison(table, conditions, records)


def _check_parameters(table: Table, methods: Sequence[str]) -> None:
    """Complain if methods go by parameters' values and the table does not tell them."""
    names = [name for name in methods if METHODS[name].needs_parameters]
    try:
        if names:
            read_parameters(table)
    except InvalidTable as error:
        who = f"{' and '.join(names)} {'goes' if len(names) == 1 else 'go'} by parameters"
        fix = f"leave {' and '.join(names)} out, or {error.fix}"
        raise InvalidTable(table.source, f"{who}: {error.problem}", fix, error.where) from None


def _place(methods: Sequence[str], given: Given, job: Job) -> tuple[object, ...]:
    """By method and by value, both in the order in which they were given; values of grids rise."""
    own = given.get(job.method, {})
    values = [own[name].index(value) if name in own else value for name, value in job.settings]
    return (methods.index(job.method), values, job.seed)


class _Clock:
    """How long the rest will take: effort left, at the pace of the same method so far."""

    def __init__(self, missing: Sequence[Job], workers: int) -> None:
        self._left: dict[str, float] = {}
        self._jobs_left = len(missing)
        for job in missing:
            self._left[job.method] = self._left.get(job.method, 0.0) + job.effort
        self._seconds: dict[str, float] = {}
        self._efforts: dict[str, float] = {}
        self._workers = max(1, min(workers, len(missing)))
        self.begun = time.monotonic()

    def note(self, job: Job, record: Record) -> None:
        """A job is done."""
        self._jobs_left -= 1
        self._left[job.method] -= job.effort
        self._efforts[job.method] = self._efforts.get(job.method, 0.0) + job.effort
        self._seconds[job.method] = self._seconds.get(job.method, 0.0) + record["seconds"]

    def now(self, total: int) -> Progress:
        """How far it is."""
        known = [name for name in self._left if name in self._efforts]
        pace = {name: self._seconds[name] / self._efforts[name] for name in known}
        left = sum(self._left[name] * pace[name] for name in known) / self._workers
        unknown = any(name not in pace and effort > 0 for name, effort in self._left.items())
        done = total - self._jobs_left
        return Progress(done, total, left if known or not self._left else None, unknown)
