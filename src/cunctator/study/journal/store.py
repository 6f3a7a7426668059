"""Rows with checksums in a file of SQLite's: what the journal is made of.

Whatever is wrong is a StudyProblem, one line that says what to do. If somebody else has locked the
file, everything here waits.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cunctator.study.journal.file import damaged, in_words, is_locked, patiently
from cunctator.study.journal.rows import encoded
from cunctator.study.journal.tables import (
    CREATIONS,
    EVENTS,
    LAYOUTS,
    End,
    Layout,
    Row,
    end_of_facts,
)

GUIDED_SCHEMA, SCHEMA, UNCHECKED_SCHEMA = "4", "3", "2"
"""The number of the format of studies that have a guide, which numbers its configurations; that of
the others; and that of the one before, without checksums, which is read too.

It changes only if a version that does not know of a change would misread the file. One more table,
one more fact and one more field of the snapshot do not change it: whoever does not know them leaves
them alone, and whoever adds them can do without them in earlier studies."""


class Store:
    """The tables of one journal, open for reading or for both."""

    def __init__(self, directory: Path, connection: sqlite3.Connection) -> None:
        self.directory = directory
        self.connection = connection
        self._ends: dict[str, End] = {}
        """Of what this process has written, and what was there before; see `begin_writing`."""
        self._moved: set[str] = set()
        """Tables whose end has moved since the last commit."""

    def fill(self, facts: dict[str, str]) -> None:
        """Make the tables in an empty file."""
        # One transaction: whoever is killed here leaves no half of a journal.
        self.run("pragma journal_mode = wal")
        self.run("begin immediate")
        for creation in CREATIONS:
            self.run(creation)
        self.set_facts({"schema": SCHEMA, **facts})
        self.begin_filling()
        self.commit()

    def begin_filling(self) -> None:
        """All tables have just been made, or are to be sealed."""
        for layout in LAYOUTS:
            self.run("insert into ends values (?, 0, 0)", (layout.name,))
            self._ends[layout.name] = End()

    def fact(self, name: str) -> str | None:
        """Something that was set when the study began."""
        row = self.one("select value from facts where name = ?", (name,))
        return None if row is None else str(row[0])

    def set_facts(self, facts: dict[str, str]) -> None:
        """Replace the facts; it counts once `commit` has returned."""
        values = {name: encoded(value) for name, value in facts.items()}
        self.run("delete from facts")
        for item in values.items():
            self.run("insert into facts values (?, cast(? as text))", item)
        self.run("insert or replace into ends values ('facts', ?, ?)", end_of_facts(values))

    @property
    def is_unchecked(self) -> bool:
        """Whether it is of the format without checksums."""
        return self.fact("schema") == UNCHECKED_SCHEMA

    def begin_writing(self) -> None:
        """Check all but the events, which are checked as they are read; find the tables' ends."""
        self.check(layout for layout in LAYOUTS if layout is not EVENTS)
        with self.reading():
            self._ends = self._read_ends()

    def check(self, layouts: Iterable[Layout]) -> None:
        """Name the first row of these tables, if any, that is not as it was written."""
        if self.is_unchecked:
            return
        with self.reading(), self.snapshot():
            for layout in layouts:
                for _ in self.verified(layout):
                    pass

    def check_facts(self) -> None:
        """The same of the facts, which all else goes by."""
        with self.reading(), self.snapshot():
            has_ends = self.one("select 1 from sqlite_master where name = 'ends'") is not None
            if has_ends == self.is_unchecked:
                raise ValueError("the number of its format is not as it was written")
            found = self.run("select name, cast(value as blob) from facts")
            if has_ends and end_of_facts(dict(found)) != self._read_ends().get("facts"):
                raise ValueError("its facts are not as they were written")

    def add(self, layout: Layout, *values: object) -> int:
        """Add a row, texts as bytes; it counts once `commit` has returned. Returns its number."""
        end = self._ends[layout.name]
        number = end.rows + 1
        checksum = layout.checksum((number, *layout.filled(values)), end.checksum)
        self.run(layout.insertion, (number, *values, checksum))
        self._move(layout, End(number, checksum))
        return number

    def seal(self, layout: Layout, row: Row) -> None:
        """Give the next row of a table its checksum; see `add_checksums`."""
        end = self._ends[layout.name]
        checksum = layout.checksum(row, end.checksum)
        self.run(layout.sealing, (checksum, row[0]))
        self._move(layout, End(row[0], checksum))

    def replace_last(self, layout: Layout, *values: object) -> None:
        """Put another row in the place of the last, in a table whose checksums stand alone."""
        number = self._ends[layout.name].rows
        checksum = layout.checksum((number, *values), 0)
        self.run(layout.replacement, (number, *values, checksum))
        self._move(layout, End(number, checksum))

    def last_number(self, layout: Layout) -> int:
        """The number of the last row; 0 if there is none."""
        return self._ends[layout.name].rows

    def commit(self) -> None:
        """Make sure of all that was added."""
        for name in self._moved:
            row = (*self._ends[name], name)
            self.run("update ends set rows = ?, checksum = ? where name = ?", row)
        self._moved.clear()
        if self.connection.in_transaction:
            self.run("commit")

    def rows(self, layout: Layout) -> list[Row]:
        """All rows of a table that is small."""
        with self.reading(), self.snapshot():
            return list(self.verified(layout))

    def verified(self, layout: Layout) -> Iterator[Row]:
        """The rows of a table, checked as they come; to be used within a snapshot."""
        if self.is_unchecked:
            return iter(self.run(layout.plain_query))
        return layout.verified(self.run(layout.query), self._read_ends()[layout.name])

    def last(self, layout: Layout) -> Row | None:
        """The last row of a table whose checksums stand alone."""
        with self.reading(), self.snapshot():
            if self.is_unchecked:
                rows = self.run(f"{layout.plain_query} desc limit 1").fetchall()
            else:
                found = self.run(f"{layout.query} desc limit 1")
                rows = list(layout.verified(found, self._read_ends()[layout.name]))
        return rows[0] if rows else None

    def _move(self, layout: Layout, end: End) -> None:
        self._ends[layout.name] = end
        self._moved.add(layout.name)

    def _read_ends(self) -> dict[str, End]:
        ends = {name: End(*end) for name, *end in self.run("select * from ends")}
        if missing := {layout.name for layout in LAYOUTS} - ends.keys():
            raise ValueError(f"the end of its table {min(missing)} is missing")
        return ends

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """What is read within is of one moment, even if others are just adding to it."""
        if self.connection.in_transaction:
            yield
            return
        self.run("begin")
        try:
            yield
        finally:
            self.connection.rollback()

    def run(self, statement: str, arguments: tuple[object, ...] = ()) -> sqlite3.Cursor:
        """Execute a statement."""
        execute = self.connection.execute
        try:
            return execute(statement, arguments)
        except sqlite3.Error as error:
            if not is_locked(error):
                raise in_words(self.directory, error) from error
        with self._problems():
            return patiently(self.directory, lambda: execute(statement, arguments))

    def one(self, query: str, arguments: tuple[object, ...] = ()) -> tuple[Any, ...] | None:
        """The first row that a query finds."""
        with self._problems():
            row: tuple[Any, ...] | None = self.run(query, arguments).fetchone()
        return row

    @contextmanager
    def reading(self) -> Iterator[None]:
        """SQLite's errors, and rows that cannot be, as one line."""
        try:
            with self._problems():
                yield
        except (ValueError, TypeError) as error:
            raise damaged(self.directory, error) from error

    @contextmanager
    def _problems(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise in_words(self.directory, error) from error
