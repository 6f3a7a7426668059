"""Journals of the format before, and journals that are damaged: made whole.

A journal without checksums gets them when the study is resumed, in one transaction. Of a damaged
one, each table is kept up to its first bad row, in a new file; the old one stays beside it.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from cunctator.base.errors import StudyProblem
from cunctator.base.notices import log
from cunctator.base.units import counted
from cunctator.core.sentinels import ASKED
from cunctator.study.journal.file import FILE, connect, damaged
from cunctator.study.journal.journal import (
    NEEDED,
    PROGRESS_KEPT,
    Journal,
    create_journal,
    open_journal,
)
from cunctator.study.journal.rows import decoded, parsed
from cunctator.study.journal.store import SCHEMA, Store
from cunctator.study.journal.tables import (
    ENDS_CREATION,
    EVENTS,
    EXTENSIONS,
    FILES,
    INCUMBENTS,
    PROGRESS,
    REPLIES,
    SESSIONS,
    BadRow,
    Layout,
    Row,
)
from cunctator.study.snapshot import snapshot_of

AT_ONCE = 10_000
"""Rows that get their checksums at a time."""


def add_checksums(journal: Journal) -> None:
    """Bring a journal of the format before to the present one, or leave it as it was."""
    store = journal.store
    if not store.is_unchecked:
        return
    # What cannot be believed must not be certified.
    journal.events()
    journal.last_progress()
    store.run("begin immediate")
    facts = dict(store.run("select name, value from facts"))
    store.run("alter table extensions add column runs integer not null default 0")
    for layout in (EVENTS, PROGRESS, EXTENSIONS):
        store.run(f"alter table {layout.name} add column checksum integer not null default 0")
    store.run("alter table answers rename to earlier")
    store.run(ENDS_CREATION)
    for layout in (REPLIES, INCUMBENTS, SESSIONS, FILES):
        store.run(layout.creation)
    old = "id <= (select max(id) from progress) - ?"
    store.run(f"delete from progress where {old}", (PROGRESS_KEPT,))  # noqa: S608
    store.set_facts({**facts, "schema": SCHEMA})
    store.begin_filling()
    for layout in (EVENTS, PROGRESS, EXTENSIONS):
        _seal(store, layout)
    columns = ", ".join(f"cast({name} as blob)" for name in ("instance", "answer", "command"))
    for row in store.run(f"select {columns} from earlier order by instance").fetchall():  # noqa: S608
        store.add(REPLIES, *row)
    store.run("drop table earlier")
    store.commit()


def _seal(store: Store, layout: Layout) -> None:
    """Give the rows of a table their checksums."""
    last = 0
    query = f"select * from ({layout.plain_query}) where id > ? limit ?"  # noqa: S608
    while rows := store.run(query, (last, AT_ONCE)).fetchall():
        for row in rows:
            store.seal(layout, row)
        last = rows[-1][0]


def repair_journal(directory: Path) -> None:
    """Keep what comes before the damage, if there is any; whoever calls this holds the folder."""
    if _is_whole(directory):
        return
    copy = _copied(directory)
    part = f"{FILE}.part"
    _remove(directory, part)
    with closing(connect(directory, "rw", copy)) as source:
        facts = _facts_of(directory, source)
        with closing(create_journal(directory, facts, part)) as journal:
            events = _salvage(journal, source)
            journal.commit()
    # The old log of changes first: it would be applied to the new file.
    _remove(directory, f"{FILE}-wal", f"{FILE}-shm")
    (directory / part).replace(directory / FILE)
    words = counted(events, "event")
    log.warning("%s was damaged: %s kept; the old file is %s", directory / FILE, words, copy)


def _is_whole(directory: Path) -> bool:
    try:
        with closing(open_journal(directory, writing=False)) as journal:
            journal.check()
            journal.events()
            journal.last_progress()
    except StudyProblem as error:
        if "is damaged" not in error.problem:
            raise
        return False
    return True


def _copied(directory: Path) -> str:
    """Copy the file and its log of changes; returns the copy's name."""
    number = 1
    while (directory / (name := f"{FILE}.damaged{number if number > 1 else ''}")).exists():
        number += 1
    try:
        for ending in ("", "-wal"):
            if (directory / f"{FILE}{ending}").exists():
                shutil.copy2(directory / f"{FILE}{ending}", directory / f"{name}{ending}")
    except OSError as error:
        _remove(directory, name, f"{name}-wal")
        problem = f"the journal cannot be copied ({error.strerror})"
        raise StudyProblem(directory, problem, "make room, or check the permissions") from None
    return name


def _remove(directory: Path, *names: str) -> None:
    for name in names:
        with suppress(FileNotFoundError):
            (directory / name).unlink()


def _facts_of(directory: Path, source: sqlite3.Connection) -> dict[str, str]:
    """What the study is; without that nothing can be done."""
    try:
        facts = dict(source.execute("select name, value from facts"))
        source.execute("select * from ends")
    except sqlite3.Error as error:
        raise damaged(directory, error, can_repair=False) from None
    for name in NEEDED:
        if not isinstance(facts.get(name), str) or "\0" in facts[name]:
            raise damaged(directory, f"its {name} is missing", can_repair=False)
    return {name: value for name, value in facts.items() if isinstance(value, str)}


def _salvage(journal: Journal, source: sqlite3.Connection) -> int:
    """Copy what is good; returns how many events that were."""
    events = told = 0
    for row in _good(source, EVENTS):
        journal.store.add(EVENTS, *EVENTS.as_values(row))
        events += 1
        told += row[3] != ASKED
    for layout in (EXTENSIONS, REPLIES, SESSIONS, FILES):
        for row in _good(source, layout):
            journal.store.add(layout, *layout.as_values(row))
    for row in _good(source, INCUMBENTS):
        if row[3] <= told:
            journal.store.add(INCUMBENTS, *row[1:])
    for row in _good(source, PROGRESS):
        with suppress(ValueError):
            if snapshot_of(parsed(decoded(row[2]))).runs <= told:
                journal.add_progress_row(*row[1:])
    return events


def _good(source: sqlite3.Connection, layout: Layout) -> Iterator[Row]:
    """The rows up to the first that is bad or cannot be read."""
    with suppress(BadRow, sqlite3.Error):
        yield from layout.verified(source.execute(layout.query), None)
