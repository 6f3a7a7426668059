"""A full table of runtimes: every configuration on every pair, to the cutoff.

For researchers, and for those who want to know what a search would have found. Every result is
kept in a small database beside the table as it comes in, so that a measurement may be interrupted,
or killed, and goes on where it was.
"""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path

import numpy as np

from cunctator.errors import InvalidSetting, StudyProblem
from cunctator.parameters import text_of
from cunctator.records import Status
from cunctator.scenario import Scenario
from cunctator.target.table import Table, make_table
from cunctator.workers import Execution, LocalWorkers, Report

AHEAD = 4
"""Runs submitted for each slot, so that none waits for us."""

Progress = Callable[[int, int], None]


class Recorded:
    """The results so far, in a file of their own."""

    def __init__(self, path: Path, digest: str) -> None:
        self.path = path
        try:
            self._connection = sqlite3.connect(path)
            self._connection.execute("pragma journal_mode = wal")
            self._connection.execute("create table if not exists facts (digest text)")
            self._connection.execute(
                "create table if not exists runs (configuration integer, pair integer, status text,"
                " seconds real, cpu real, wall real, primary key (configuration, pair))"
            )
            row = self._connection.execute("select digest from facts").fetchone()
            if row is None:
                self._connection.execute("insert into facts values (?)", (digest,))
                self._connection.commit()
        except sqlite3.Error as error:
            fix = "remove the file, or give another --out"
            raise StudyProblem(path, f"cannot be used ({error})", fix) from None
        if row is not None and row[0] != digest:
            fix = "give another --out, or restore the scenario"
            raise StudyProblem(path, "it was begun with another scenario", fix)

    def done(self) -> dict[tuple[int, int], float]:
        """Runtimes by (configuration, pair)."""
        rows = self._connection.execute("select configuration, pair, seconds from runs")
        return {(configuration, pair): seconds for configuration, pair, seconds in rows}

    def add(self, configuration: int, pair: int, report: Report, seconds: float) -> None:
        """Keep a result."""
        status = report.status.value if report.status else ""
        details = report.details
        row = (configuration, pair, status, seconds, details.cpu, details.wall)
        try:
            with self._connection:
                self._connection.execute("insert into runs values (?, ?, ?, ?, ?, ?)", row)
        except sqlite3.Error as error:
            fix = "make room, then measure again: what was recorded is kept"
            raise StudyProblem(self.path, f"cannot be written ({error})", fix) from None

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def measure(
    scenario: Scenario, configurations: int, pairs: int, beside: Path, progress: Progress
) -> Table:
    """Run everything that has not been run yet; returns the whole table.

    A run that crashes counts as the cutoff, as in recorded tables everywhere.
    """
    cutoff = scenario.search.cutoff
    if cutoff is None:
        raise InvalidSetting("cutoff", None, "runs must end: give a cutoff in the scenario")
    count = scenario.instances.count
    pairs = pairs if count is None else min(pairs, count)
    configurations = min(configurations, scenario.space.size or configurations)
    with closing(Recorded(beside, scenario.digest)) as recorded:
        known = recorded.done()
        jobs = [(c, p) for p in range(pairs) for c in range(configurations) if (c, p) not in known]
        workers = LocalWorkers(scenario, scenario.search.workers, beside.parent / "instances")
        try:
            _run_all(scenario, workers, recorded, jobs, cutoff, progress)
        finally:
            workers.close()
        known = recorded.done()
    runtimes = np.array([[known[c, p] for p in range(pairs)] for c in range(configurations)])
    names = [_name(scenario, index) for index in range(configurations)]
    titles = [" ".join(map(str, scenario.instances.pair(pair))) for pair in range(pairs)]
    return make_table(runtimes, names, _distinct(titles), cutoff)


def _run_all(
    scenario: Scenario,
    workers: LocalWorkers,
    recorded: Recorded,
    jobs: list[tuple[int, int]],
    cutoff: float,
    progress: Progress,
) -> None:
    flying: deque[tuple[int, int, Future[Report]]] = deque()

    def take() -> None:
        index, pair, future = flying.popleft()
        report = future.result()
        if report.abort:
            fix = "mend that, then measure again: what was recorded is kept"
            raise StudyProblem(recorded.path, report.details.problem, fix)
        solved = report.status is Status.SOLVED
        recorded.add(index, pair, report, report.seconds if solved else cutoff)

    for number, (index, pair) in enumerate(jobs):
        instance, seed = scenario.instances.pair(pair)
        execution = Execution(number, scenario.space.configuration(index), instance, seed, cutoff)
        flying.append((index, pair, workers.submit(execution)))
        if len(flying) == AHEAD * workers.slots:
            take()
            progress(number + 1 - len(flying), len(jobs))
    while flying:
        take()
        progress(len(jobs) - len(flying), len(jobs))


def _name(scenario: Scenario, index: int) -> str:
    settings = scenario.space.configuration(index)
    return " ".join(f"{name}={text_of(value)}" for name, value in settings.items()) or "default"


def _distinct(titles: list[str]) -> list[str]:
    """Titles of columns; those that come up again are numbered."""
    seen: dict[str, int] = {}
    result = []
    for title in titles:
        seen[title] = seen.get(title, 0) + 1
        result.append(title if seen[title] == 1 else f"{title} #{seen[title]}")
    return result
