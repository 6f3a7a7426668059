"""What a study remembers: every ask and every outcome, in `study.db`.

SQLite in WAL mode: what was committed survives the death of the process at any moment, and others
may read while the driver writes. Rows are only ever added. The order of events is part of what is
remembered: a fresh scheduler that goes through the same events is in the same state.

`events` has one row an ask and one an outcome. `progress` has a row every second or so with what
people want to see, so that a look at a study of a million runs costs nothing. `facts` says what
the study is, `extensions` what was added to its budget, `answers` what each instance was answered
first.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cunctator.core.replay import Events
from cunctator.core.scheduler import STATUS_CODE
from cunctator.core.sentinels import ASKED
from cunctator.errors import StudyProblem
from cunctator.journal_file import FILE, connect, damaged, in_words
from cunctator.journal_rows import WRONG_EVENTS, encoded, given_of, problem_of, progress_of
from cunctator.records import Run, Status
from cunctator.target.answers import Given

__all__ = ["FILE", "Crash", "Details", "Journal", "create_journal", "is_begun", "open_journal"]

SCHEMA = 2

NEEDED = ("version", "digest", "folder")
"""Facts that every study has, apart from the number of its format."""

WRONG = WRONG_EVENTS.format(
    asked=ASKED, statuses=", ".join(str(code) for code in STATUS_CODE.values())
)

TABLES = """
create table facts (name text primary key, value text not null) without rowid;
create table events (
    id integer primary key,
    number integer not null,
    at real not null,
    status integer not null,
    configuration integer not null,
    pair integer not null,
    cap real not null,
    seconds real,
    details text
);
create table progress (id integer primary key, at real not null, data text not null);
create table extensions (id integer primary key, at real not null, seconds real not null);
create table answers (
    instance text primary key, answer text not null, command text not null
) without rowid;
"""


@dataclass(frozen=True, slots=True)
class Details:
    """What is kept of an execution, apart from how it ended and the time it is charged."""

    cpu: float
    wall: float
    ending: str
    exit_code: int | None = None
    signal: int | None = None
    memory: int = 0
    overshoot: float = 0.0
    method: str = ""
    host: str = ""
    answer: str | None = None
    reported: float | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Crash:
    """A run that crashed, for the list at the end."""

    number: int
    configuration: int
    pair: int
    cap: float
    problem: str


class Journal:
    """The database of one study, open for reading or for both."""

    def __init__(self, directory: Path, connection: sqlite3.Connection) -> None:
        self.directory = directory
        self._connection = connection

    def close(self) -> None:
        """Close the file; what was committed stays."""
        self._connection.close()

    def fact(self, name: str) -> str | None:
        """Something that was set when the study began."""
        row = self._one("select value from facts where name = ?", (name,))
        return None if row is None else str(row[0])

    def add_ask(self, run: Run, at: float) -> None:
        """Remember that a run was asked for; it counts once `commit` has returned."""
        self._add(run, at, ASKED, None, None)

    def add_outcome(
        self, run: Run, at: float, status: Status, seconds: float, details: Details
    ) -> None:
        """Remember how a run ended; it counts once `commit` has returned."""
        # Most fields are usually empty: a million rows should not be a gigabyte.
        kept = {name: value for name, value in asdict(details).items() if value not in (None, "")}
        self._add(run, at, STATUS_CODE[status], seconds, json.dumps(kept))

    def _add(
        self, run: Run, at: float, status: int, seconds: float | None, details: str | None
    ) -> None:
        row = (run.number, at, status, run.configuration, run.pair, run.cap, seconds, details)
        with self._problems():
            self._connection.execute(
                "insert into events (number, at, status, configuration, pair, cap, seconds,"
                " details) values (?, ?, ?, ?, ?, ?, ?, ?)",
                row,
            )

    def add_answer(self, instance: str, given: Given) -> None:
        """Remember what an instance was answered first; it counts once `commit` has returned."""
        row = (encoded(instance), encoded(given.answer), json.dumps(given.command))
        with self._problems():
            self._connection.execute(
                "insert into answers values (cast(? as text), cast(? as text), ?)", row
            )

    def answers(self) -> dict[str, Given]:
        """What each instance was answered first."""
        with self._reading():
            rows = self._connection.execute("select instance, answer, command from answers")
            return {instance: given_of(answer, command) for instance, answer, command in rows}

    def add_progress(self, at: float, data: dict[str, object]) -> None:
        """Keep what `status` shows."""
        with self._problems():
            self._connection.execute(
                "insert into progress (at, data) values (?, ?)", (at, json.dumps(data))
            )

    def last_progress(self) -> tuple[float, dict[str, object]] | None:
        """When progress was last kept, and what it was."""
        row = self._one("select at, data from progress order by id desc limit 1")
        with self._reading():
            return None if row is None else (float(row[0]), progress_of(row[1]))

    def extend(self, at: float, seconds: float) -> None:
        """Add to the budget, for good."""
        with self._problems():
            row = (at, seconds)
            self._connection.execute("insert into extensions (at, seconds) values (?, ?)", row)
            self._connection.commit()

    def extended(self) -> float:
        """Seconds that were added to the budget so far."""
        wrong = "total(typeof(seconds) != 'real' or abs(seconds) >= 9e999)"
        row = self._one(f"select total(seconds), {wrong} from extensions")  # noqa: S608
        assert row is not None
        if row[1]:
            raise damaged(self.directory, "more time was added than there is")
        return float(row[0])

    def commit(self) -> None:
        """Make sure of all that was added."""
        with self._problems():
            self._connection.commit()

    def events(self) -> Events:
        """All events, in order."""
        with self._reading():
            count = int(self._connection.execute("select count(*) from events").fetchone()[0])
            wrong = self._connection.execute(WRONG).fetchone()
            if wrong is not None:
                raise ValueError(f"event {wrong[0]} cannot have been")
            rows = self._connection.execute(
                "select number, configuration, pair, status, coalesce(seconds, 0.0) from events"
                " order by id limit ?",
                (count,),
            )
            kind = [(name, np.int64) for name in Events._fields[:4]] + [("seconds", np.float64)]
            table = np.fromiter(rows, dtype=kind, count=count)
        return Events(*(np.ascontiguousarray(table[name]) for name in Events._fields))

    def crashes(self, most: int) -> list[Crash]:
        """The first crashed runs: the default's, which tell what is broken for all, then others."""
        with self._reading():
            rows = self._connection.execute(
                "select number, configuration, pair, cap, details from events where status = ?"
                " order by configuration != 0, id limit ?",
                (STATUS_CODE[Status.CRASHED], most),
            )
            return [
                Crash(number, configuration, pair, cap, problem_of(details))
                for number, configuration, pair, cap, details in rows
            ]

    def _has_tables(self) -> bool:
        return self._one("select name from sqlite_master limit 1") is not None

    def _one(self, query: str, arguments: tuple[object, ...] = ()) -> tuple[Any, ...] | None:
        with self._problems():
            row: tuple[Any, ...] | None = self._connection.execute(query, arguments).fetchone()
        return row

    @contextmanager
    def _problems(self) -> Iterator[None]:
        """SQLite's errors as one line that says what to do."""
        try:
            yield
        except sqlite3.Error as error:
            raise in_words(self.directory, error) from error

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """The same, and rows that cannot be."""
        try:
            with self._problems():
                yield
        except (ValueError, TypeError) as error:
            raise damaged(self.directory, error) from error


def create_journal(directory: Path, facts: dict[str, str]) -> Journal:
    """A new, empty journal in a folder that has none."""
    connection = connect(directory, "rwc")
    journal = Journal(directory, connection)
    with journal._problems():
        # One transaction: whoever is killed here leaves no half of a journal.
        connection.executescript(f"pragma journal_mode = wal; begin; {TABLES}")
        rows = [(name, encoded(value)) for name, value in facts.items()]
        rows.append(("schema", encoded(str(SCHEMA))))
        connection.executemany("insert into facts values (?, cast(? as text))", rows)
        connection.commit()
    return journal


def is_begun(directory: Path) -> bool:
    """Whether there is a journal: a file without tables is what a kill at the very start leaves."""
    if not (directory / FILE).exists():
        return False
    with closing(Journal(directory, connect(directory, "rw"))) as journal:
        return journal._has_tables()


def open_journal(directory: Path, writing: bool) -> Journal:
    """The journal of a study that has been begun."""
    try:
        is_there = (directory / FILE).is_file()
    except OSError as error:
        problem = f"the folder cannot be read ({error.strerror})"
        raise StudyProblem(directory, problem, "check the path and its permissions") from None
    if not is_there:
        raise StudyProblem(directory, "this is not a study", "give the folder that `run` has made")
    journal = Journal(directory, connect(directory, "rw" if writing else "ro"))
    try:
        _check(journal)
    except StudyProblem:
        journal.close()
        raise
    return journal


def _check(journal: Journal) -> None:
    """See that it is a journal, and one that this version can read."""
    path = journal.directory / FILE
    if not journal._has_tables():
        fix = "begin a new study in this folder, or restore the file from a copy"
        raise StudyProblem(path, "the journal cannot be used: there is nothing in it", fix)
    schema = journal.fact("schema")
    if schema is not None and schema != str(SCHEMA):
        raise StudyProblem(
            path,
            f"its format is number {schema}, this version's is {SCHEMA}",
            "use the version of Cunctator that began the study",
        )
    for name in ("schema", *NEEDED):
        value = journal.fact(name)
        if not value or "\0" in value:
            raise damaged(journal.directory, f"its {name} is missing")
