"""What a study remembers: every ask and every outcome, in `study.db`.

SQLite in WAL mode: what was committed survives the death of the process at any moment, and others
may read while the driver writes. The order of events is part of what is remembered: a fresh
scheduler that goes through the same events is in the same state.

`events` has one row an ask and one an outcome. `progress` has what people want to see, so that a
look need not go through all events again; old rows are thinned out. `facts` says what the study
is, `extensions` what was added to its budget, `answers` what each instance was answered first,
`incumbents` how the study's own answer changed, `sessions` and `files` what it was driven by and
what it ran. All rows have checksums; see `tables.py`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path

import numpy as np

from cunctator.base.errors import StudyProblem
from cunctator.base.records import Run, Status
from cunctator.base.units import finite_or_none
from cunctator.core.replay import Events
from cunctator.core.scheduler import STATUS_CODE
from cunctator.core.sentinels import ASKED
from cunctator.study.journal.file import FILE, connect, damaged
from cunctator.study.journal.records import Advised, Change, Crash, FileState
from cunctator.study.journal.rows import (
    WRONG_EVENTS,
    advised_of,
    closing_budget_of,
    closing_of,
    decoded,
    encoded,
    given_of,
    parsed,
    problem_of,
)
from cunctator.study.journal.store import GUIDED_SCHEMA, SCHEMA, UNCHECKED_SCHEMA, Store
from cunctator.study.journal.tables import (
    EVENTS,
    EXTENSIONS,
    FILES,
    INCUMBENTS,
    LAYOUTS,
    PROGRESS,
    REPLIES,
    SESSIONS,
    BadRow,
)
from cunctator.study.snapshot import Snapshot, snapshot_of
from cunctator.target.execution import Details
from cunctator.target.replies import Given

__all__ = [
    "FILE",
    "Advised",
    "Change",
    "Crash",
    "FileState",
    "Journal",
    "create_journal",
    "is_begun",
    "open_journal",
]

NEEDED = ("version", "digest", "folder")
"""Facts that every study has, apart from the number of its format."""

DETAILS = {field.name: field.name for field in fields(Details)} | {"reply": "answer"}
"""Names of what is kept of a run, and what they are called in its row."""

PROGRESS_KEPT = 64
"""Of rows of `progress`, all of the last so many are kept, then every second, fourth, eighth ..."""

WRONG = WRONG_EVENTS.format(
    asked=ASKED, statuses=", ".join(str(code) for code in STATUS_CODE.values())
)


class Journal:
    """The database of one study, open for reading or for both."""

    def __init__(self, directory: Path, connection: sqlite3.Connection) -> None:
        self.directory = directory
        self.store = Store(directory, connection)
        self._closing: bool | None = None
        """What the next event is to say of that: see `note_closing` ..."""
        self._closing_budget: list[float | None] = []
        """... and of what was to be spent in all."""
        self._advised: Advised | None = None
        """The same of a guide: see `note_advice`."""

    def close(self) -> None:
        """Close the file; what was committed stays."""
        self.store.connection.close()

    def fact(self, name: str) -> str | None:
        """Something that was set when the study began."""
        return self.store.fact(name)

    def check(self) -> None:
        """Raise StudyProblem, which names the first bad row, if any is not as it was written."""
        self.store.check(LAYOUTS)

    def note_closing(self, is_closing: bool, budget: Sequence[float]) -> None:
        """Remember that closing has begun, or is over (`core/closing.py`), with the next event, and
        what the study may spend in all.

        If there is no event any more, nothing has come of it.
        """
        self._closing, self._closing_budget = is_closing, [finite_or_none(one) for one in budget]

    def note_advice(self, advised: Advised) -> None:
        """Remember what a guide has said (`core/tasks.py`), with the next event.

        If there is no event any more, nothing has come of it.
        """
        assert self._advised is None, "an event holds one"
        self._advised = advised

    @property
    def has_advice_to_write(self) -> bool:
        """Whether a guide has said something that is to be written with the next event."""
        return self._advised is not None

    def advice(self) -> list[Advised]:
        """All that a guide has said, in order."""
        with self.store.reading():
            rows = self.store.run(
                "select id, details from events where cast(details as text) like '%\"advice\"%'"
                " order by id"
            )
            found = [advised_of(number - 1, details) for number, details in rows]
        return [one for one in found if one is not None]

    def closing_budget(self) -> list[float] | None:
        """What the study might spend in all when closing last began or ended, if that is known."""
        row = self.store.one(
            "select details from events where details like '%\"closing_budget\"%'"
            " order by id desc limit 1"
        )
        with self.store.reading():
            return None if row is None else closing_budget_of(row[0])

    def add_ask(self, run: Run, at: float) -> None:
        """Remember that a run was asked for; it counts once `commit` has returned."""
        self._add_event(run, at, ASKED, None, None)

    def add_outcome(
        self, run: Run, at: float, status: Status, seconds: float, details: Details
    ) -> None:
        """Remember how a run ended; it counts once `commit` has returned."""
        # Most fields are usually empty: a million rows should not be a gigabyte.
        values = ((stored, getattr(details, name)) for name, stored in DETAILS.items())
        kept = {name: value for name, value in values if value not in (None, "")}
        self._add_event(run, at, STATUS_CODE[status], seconds, kept)

    def _add_event(
        self,
        run: Run,
        at: float,
        status: int,
        seconds: float | None,
        details: dict[str, object] | None,
    ) -> None:
        if self._closing is not None:
            said = {"closing": self._closing, "closing_budget": self._closing_budget}
            details = {**(details or {}), **said}
            self._closing = None
        if self._advised is not None:
            details = {**(details or {}), "advice": self._advised._asdict()}
            self._advised = None
        numbers = (run.number, at, status, run.configuration, run.pair, run.cap, seconds)
        self.store.add(EVENTS, *numbers, None if details is None else encoded(json.dumps(details)))

    def add_reply(self, instance: str, given: Given) -> None:
        """Remember what an instance was answered first; it counts once `commit` has returned."""
        texts = (instance, given.reply, json.dumps(given.command))
        self.store.add(REPLIES, *map(encoded, texts))

    def replies(self) -> dict[str, Given]:
        """What each instance was answered first."""
        with self.store.reading():
            return {
                decoded(instance): given_of(decoded(reply), decoded(command))
                for _, instance, reply, command in self.store.rows(REPLIES)
            }

    def add_progress(self, at: float, snapshot: Snapshot, instead: bool = False) -> None:
        """Keep what `status` shows, `instead` of the last or after it; `commit` makes it count."""
        row = (at, encoded(json.dumps(snapshot.as_data())))
        if instead and self.store.last_number(PROGRESS):
            self.store.replace_last(PROGRESS, *row)
        else:
            self.add_progress_row(*row)

    def add_progress_row(self, at: float, text: bytes) -> None:
        """Add a row as it is written, and thin out those before.

        Row n stays until it is as many rows old as PROGRESS_KEPT times the greatest power of two
        that divides n: some hundred rows tell how a study went, however long it takes.
        """
        number = self.store.add(PROGRESS, at, text)
        old = number - PROGRESS_KEPT * (number & -number)
        if old > 0:
            self.store.run("delete from progress where id = ?", (old,))

    def last_progress(self) -> tuple[float, Snapshot] | None:
        """When progress was last kept, and what it was."""
        row = self.store.last(PROGRESS)
        with self.store.reading():
            return None if row is None else (float(row[1]), snapshot_of(parsed(decoded(row[2]))))

    def progress(self) -> list[Snapshot]:
        """All progress that is kept, in order."""
        rows = self.store.rows(PROGRESS)
        with self.store.reading():
            return [snapshot_of(parsed(decoded(row[2]))) for row in rows]

    def extend(self, at: float, seconds: float, runs: int = 0) -> None:
        """Add to the budget; it counts once `commit` has returned."""
        self.store.add(EXTENSIONS, at, seconds, runs)

    def extended(self) -> tuple[float, int]:
        """Seconds and runs that were added to the budget so far."""
        rows = self.store.rows(EXTENSIONS)
        return sum(row[2] for row in rows), sum(row[3] for row in rows)

    def add_change(self, at: float, change: Change) -> None:
        """Remember that the study's answer has changed; it counts once `commit` has returned."""
        self.store.add(INCUMBENTS, at, *change)

    def changes(self) -> list[Change]:
        """How the study's answer changed; nothing is known of that in the format before."""
        if self.store.is_unchecked:
            return []
        return [Change(*row[2:]) for row in self.store.rows(INCUMBENTS)]

    def add_session(self, at: float, version: str) -> int:
        """Remember that a process of this version works on the study now; returns its number."""
        return self.store.add(SESSIONS, at, encoded(version))

    def last_version(self) -> str | None:
        """The version that worked on the study last, if that is known."""
        rows = self.store.rows(SESSIONS)
        return decoded(rows[-1][2]) if rows else None

    def add_file(self, session: int, state: FileState) -> None:
        """Remember what a file was like that runs from now on depend on."""
        texts = (state.role, state.name, state.digest)
        self.store.add(FILES, session, state.size, state.modified, *map(encoded, texts))

    def files(self) -> dict[tuple[str, str], FileState]:
        """What the files were like at last, by role and name."""
        found = (
            FileState(decoded(role), decoded(name), size, modified, decoded(digest))
            for _, _, size, modified, role, name, digest in self.store.rows(FILES)
        )
        return {(state.role, state.name): state for state in found}

    def commit(self) -> None:
        """Make sure of all that was added."""
        self.store.commit()

    def events(self) -> Events:
        """All events, in order."""
        store = self.store
        with store.reading(), store.snapshot():
            count = int(store.run("select count(*) from events").fetchone()[0])
            wrong = store.run(WRONG).fetchone()
            if wrong is not None:
                raise BadRow(EVENTS.name, int(wrong[0]))
            found = store.verified(EVENTS)
            rows = (
                (row[1], row[4], row[5], row[3], max(row[7], 0.0), closing_of(row[8]))
                for row in found
            )
            kind = [(name, float if name == "seconds" else np.int64) for name in Events._fields]
            table = np.fromiter(rows, dtype=kind, count=count)
        return Events(*(np.ascontiguousarray(table[name]) for name in Events._fields))

    def crashes(self, most: int) -> list[Crash]:
        """The first crashed runs: the default's, which tell what is broken for all, then others."""
        with self.store.reading():
            rows = self.store.run(
                "select number, configuration, pair, cap, details from events where status = ?"
                " order by configuration != 0, id limit ?",
                (STATUS_CODE[Status.CRASHED], most),
            )
            return [
                Crash(number, configuration, pair, cap, problem_of(details))
                for number, configuration, pair, cap, details in rows
            ]

    def has_tables(self) -> bool:
        """Whether there is anything in the file: not if its maker was killed at the very start."""
        return self.store.one("select name from sqlite_master limit 1") is not None


def create_journal(directory: Path, facts: dict[str, str], name: str = FILE) -> Journal:
    """A new, empty journal in a folder that has none."""
    journal = Journal(directory, connect(directory, "rwc", name))
    journal.store.fill(facts)
    return journal


def is_begun(directory: Path) -> bool:
    """Whether there is a journal: a file without tables is what a kill at the very start leaves."""
    if not (directory / FILE).exists():
        return False
    with closing(Journal(directory, connect(directory, "rw"))) as journal:
        return journal.has_tables()


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
    if not journal.has_tables():
        fix = "begin a new study in this folder, or restore the file from a copy"
        raise StudyProblem(path, "the journal cannot be used: there is nothing in it", fix)
    schema = journal.fact("schema")
    if schema is not None and schema not in (GUIDED_SCHEMA, SCHEMA, UNCHECKED_SCHEMA):
        problem = (
            f"its format is number {schema}, written by {_writer(journal)}; this is Cunctator"
            f" {version('cunctator')}, which reads {UNCHECKED_SCHEMA} to {GUIDED_SCHEMA}"
        )
        raise StudyProblem(path, problem, "use that version")
    for name in ("schema", *NEEDED):
        value = journal.fact(name)
        if not value or "\0" in value:
            raise damaged(journal.directory, f"its {name} is missing")
    journal.store.check_facts()


def _writer(journal: Journal) -> str:
    """Who wrote a journal last, as far as that can be told of a format that is not known."""
    try:
        row = journal.store.one("select version from sessions order by id desc limit 1")
    except StudyProblem:
        row = None
    name = row[0] if row else journal.fact("version")
    return f"Cunctator {name}" if name else "another version of Cunctator"
