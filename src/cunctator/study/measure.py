"""A full table of runtimes: every configuration on every pair, to the cutoff.

For researchers, and for those who want to know what a search would have found. Every result is
kept in a small database beside the table as it comes in, so that a measurement may be interrupted,
or killed, and goes on where it was.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from cunctator.base.errors import InvalidSetting, StudyProblem, one_line
from cunctator.base.records import Status
from cunctator.recorded.table import Table, make_table
from cunctator.scenario import Scenario
from cunctator.space.parameters import text_of
from cunctator.study.bulk import completed, new_reply
from cunctator.study.journal.rows import decoded, encoded, given_of
from cunctator.study.workers import LocalWorkers, Workers, slot_settings
from cunctator.target.execution import Execution, Report
from cunctator.target.instances import Instances
from cunctator.target.replies import Given, Replies

TABLES = (
    "create table if not exists facts (digest text)",
    "create table if not exists runs (configuration integer, pair integer, status text,"
    " seconds real, cpu real, wall real, primary key (configuration, pair))",
    "create table if not exists measures (configuration integer, pair integer, name text,"
    " value real, primary key (configuration, pair, name))",
    "create table if not exists answers (instance text primary key, answer text, command text)",
)

Progress = Callable[[int, int], None]

MOST_RUNS = 10**7
"""Of a table; more would take years, and gigabytes."""


class Recorded:
    """The results so far, in a file of their own; make it with `recorded_in`."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        connection.text_factory = decoded

    def begin(self, digests: tuple[str, ...]) -> None:
        """Make what is missing, and see that it is all of one scenario.

        The first digest is that of this version, the others are those of earlier ones.
        """
        with self._problems("cannot be used", "remove the file, or give another --out"):
            self._connection.execute("pragma journal_mode = wal")
            for table in TABLES:
                self._connection.execute(table)
            row = self._connection.execute("select digest from facts").fetchone()
            if row is None:
                self._connection.execute("insert into facts values (?)", digests[:1])
                self._connection.commit()
        if row is not None and row[0] not in digests:
            fix = "give another --out, or restore the scenario"
            problem = "it was begun with another scenario, or other measures"
            raise StudyProblem(self.path, problem, fix)

    def done(self) -> dict[tuple[int, int], float]:
        """Runtimes by (configuration, pair)."""
        with self._problems("cannot be read", "remove the file, or give another --out"):
            rows = self._connection.execute("select configuration, pair, seconds from runs")
            return {(configuration, pair): seconds for configuration, pair, seconds in rows}

    def measured(self) -> Iterator[tuple[str, int, int, float]]:
        """What else was measured: name, configuration, pair, number."""
        with self._problems("cannot be read", "remove the file, or give another --out"):
            yield from self._connection.execute(
                "select name, configuration, pair, value from measures"
            )

    def replies(self) -> dict[str, Given]:
        """What each instance was answered first."""
        with self._problems("cannot be read", "remove the file, or give another --out"):
            rows = self._connection.execute("select instance, answer, command from answers")
            return {row[0]: given_of(row[1], row[2]) for row in rows}

    def add(self, configuration: int, pair: int, report: Report, seconds: float) -> None:
        """Keep a result, for good."""
        status = report.status.value if report.status else ""
        row = (configuration, pair, status, seconds, report.details.cpu, report.details.wall)
        measures = [(configuration, pair, *item) for item in report.measures.items()]
        with self._writing():
            self._connection.execute("insert into runs values (?, ?, ?, ?, ?, ?)", row)
            self._connection.executemany("insert into measures values (?, ?, ?, ?)", measures)

    def add_reply(self, instance: str, given: Given) -> None:
        """Keep what an instance was answered first, for good."""
        row = (encoded(instance), encoded(given.reply), json.dumps(given.command))
        with self._writing():
            self._connection.execute(
                "insert into answers values (cast(? as text), cast(? as text), ?)", row
            )

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """All that is written within, or nothing."""
        fix = "make room, then measure again: what was recorded is kept"
        with self._problems("cannot be written", fix), self._connection:
            yield

    @contextmanager
    def _problems(self, problem: str, fix: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, ValueError) as error:
            raise StudyProblem(self.path, f"{problem} ({error})", fix) from None


@contextmanager
def recorded_in(path: Path, digests: tuple[str, ...]) -> Iterator[Recorded]:
    """The file of a measurement, which is nobody else's meanwhile.

    The lock is on the file itself and goes with the process. SQLite's own are of another kind.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        fix = "give another --out"
        raise StudyProblem(path, f"cannot be used ({error.strerror})", fix) from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            fix = "wait for it, or give another --out"
            raise StudyProblem(path, "another measurement is writing to it", fix) from None
        connection = sqlite3.connect(path)
        try:
            recorded = Recorded(path, connection)
            recorded.begin(digests)
            yield recorded
        finally:
            connection.close()
    finally:
        os.close(handle)


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
    if configurations * pairs > MOST_RUNS:
        expected = f"that is a table of more than {MOST_RUNS:,} runs; ask for fewer"
        raise InvalidSetting("--configurations", configurations, expected)
    wanted = scenario.target.measures
    with recorded_in(beside, _digests_with_measures(scenario)) as recorded:
        known = recorded.done()
        jobs = [(c, p) for p in range(pairs) for c in range(configurations) if (c, p) not in known]
        folder = _generated_folder(scenario.instances, beside)
        workers = LocalWorkers(slot_settings(scenario, folder), scenario.search.workers)
        try:
            _run_all(scenario, workers, recorded, jobs, cutoff, progress)
        finally:
            workers.close()
        known = recorded.done()
        measures = {name: np.full((configurations, pairs), np.nan) for name in wanted}
        for name, configuration, pair, value in recorded.measured():
            if name in measures and configuration < configurations and pair < pairs:
                measures[name][configuration, pair] = value
    runtimes = np.array([[known[c, p] for p in range(pairs)] for c in range(configurations)])
    names = [_name(scenario, index) for index in range(configurations)]
    titles = [" ".join(map(str, scenario.instances.even_pair(pair))) for pair in range(pairs)]
    return make_table(runtimes, names, _distinct(titles), cutoff, measures=measures)


def _digests_with_measures(scenario: Scenario) -> tuple[str, ...]:
    """Tell scenarios apart, and patterns too: what one found is no number of another."""
    if not scenario.target.measures:
        return scenario.digests
    patterns = json.dumps(sorted(scenario.target.measures.items()))
    return tuple(
        hashlib.sha256(f"{digest} {patterns}".encode()).hexdigest() for digest in scenario.digests
    )


def _generated_folder(instances: Instances, beside: Path) -> Path:
    """Where generated instances go: no other table's, and no other generator's."""
    folder = beside.with_name(f"{beside.name.removesuffix('.db')}.instances")
    generator = instances.generator
    if generator is None:
        return folder
    words = [*generator.argv(0, 0, Path("output")), str(generator.directory), instances.seed]
    return folder / hashlib.sha256(json.dumps(words).encode()).hexdigest()[:16]


def _run_all(
    scenario: Scenario,
    workers: Workers,
    recorded: Recorded,
    jobs: list[tuple[int, int]],
    cutoff: float,
    progress: Progress,
) -> None:
    replies = Replies(recorded.replies())
    executions = _executions(scenario, jobs, cutoff)
    for done, (execution, report) in enumerate(completed(workers, executions), 1):
        if report.abort:
            fix = "mend that, then measure again: what was recorded is kept"
            raise StudyProblem(recorded.path, report.details.problem, fix)
        # A run that contradicts is not kept: whoever measures again is told again.
        path = one_line(str(recorded.path), 1000)
        fix = f"find out which of the two is wrong, mend it, and remove {path}"
        new = new_reply(replies, workers, execution, report, fix)
        if new is not None:
            recorded.add_reply(execution.instance, new)
        seconds = report.seconds if report.status is Status.SOLVED else cutoff
        recorded.add(*jobs[execution.number], report, seconds)
        progress(done, len(jobs))


def _executions(
    scenario: Scenario, jobs: list[tuple[int, int]], cutoff: float
) -> Iterable[Execution]:
    for number, (index, pair) in enumerate(jobs):
        instance, seed = scenario.instances.even_pair(pair)
        yield Execution(number, scenario.space.configuration(index), instance, seed, cutoff)


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
