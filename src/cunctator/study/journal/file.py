"""The journal's file: opening it, waiting for it, and saying in words what SQLite says in codes."""

from __future__ import annotations

import os
import shlex
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from cunctator.base.errors import StudyProblem
from cunctator.base.notices import log
from cunctator.study.journal.rows import decoded

FILE = "study.db"
PATIENCE = 2.0
"""Seconds to wait for somebody else's lock on the file before that is said."""

PAUSE = 0.05
"""Seconds between tries: SQLite itself waits, but not always."""

DAMAGED = {
    sqlite3.SQLITE_ERROR,  # our queries are right, so a table or a column is missing
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_FORMAT,
    sqlite3.SQLITE_MISMATCH,
    sqlite3.SQLITE_CONSTRAINT,  # our rows are right, so what is there already is not
}
REFUSED = {
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
}

Result = TypeVar("Result")


def damaged(directory: Path, reason: object, can_repair: bool = True) -> StudyProblem:
    """The error about a journal that cannot be believed."""
    fix = "restore it from a copy, or "
    if can_repair:
        place = shlex.quote(str(directory))
        fix += f"go on with what comes before the damage: cunctator resume {place} --repair"
    else:
        fix += "begin a new study"
    return StudyProblem(directory / FILE, f"the journal is damaged ({reason})", fix)


def in_words(directory: Path, error: sqlite3.Error) -> StudyProblem:
    """SQLite's error as one line that says what to do."""
    code = _code(error)
    if code in DAMAGED:
        return damaged(directory, error)
    fix = "make room or repair the folder, then resume: everything recorded is kept"
    if code in REFUSED:
        fix = "check the permissions of the folder and of the files in it"
    return StudyProblem(directory / FILE, f"the journal cannot be used ({error})", fix)


def _code(error: sqlite3.Error) -> int:
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_IOERR)
    return code & 0xFF


def is_locked(error: sqlite3.Error) -> bool:
    """Whether it is only that somebody else has locked the file."""
    return _code(error) == sqlite3.SQLITE_BUSY


def patiently(directory: Path, action: Callable[[], Result]) -> Result:
    """Do something with the journal; if somebody has locked it, say so and wait.

    A copy, a backup or a look with other tools may lock it for a while. What is to be written is
    a result that may have taken hours, so there is no limit: whoever waits can see why.
    """
    is_said = False
    while True:
        try:
            return action()
        except sqlite3.OperationalError as error:
            if not is_locked(error):
                raise
        if not is_said:
            log.warning("%s is locked by another program; waiting for it", directory / FILE)
            is_said = True
        time.sleep(PAUSE)


def connect(directory: Path, mode: str, name: str = FILE) -> sqlite3.Connection:
    """A connection to the journal; the mode is ro, rw or rwc, as in SQLite's addresses."""
    address = f"file:{quote(os.fsencode((directory / name).absolute()))}?mode={mode}"
    if mode == "ro" and not os.access(directory, os.W_OK):
        address += _for_looking_only(directory)

    def opened() -> sqlite3.Connection:
        # One thread uses it at a time; the display reads through its own connection.
        connection = sqlite3.connect(address, uri=True, timeout=PATIENCE)
        connection.text_factory = decoded
        connection.execute("pragma synchronous = normal")
        return connection

    try:
        return patiently(directory, opened)
    except sqlite3.Error as error:
        raise in_words(directory, error) from error


def _for_looking_only(directory: Path) -> str:
    """What to add to the address if the folder cannot be written to.

    SQLite keeps files beside the journal, for readers too. It does without if it is told that
    nothing changes; but then it does not see what is in the log of changes.
    """
    log_file, shared = (directory / f"{FILE}{ending}" for ending in ("-wal", "-shm"))
    if not log_file.exists() or log_file.stat().st_size == 0:
        return "&immutable=1"
    if not shared.exists():
        raise StudyProblem(
            directory,
            f"the last changes are in {log_file.name}, and cannot be read in a folder that is"
            " read-only",
            "copy the folder to where you may write, and give the copy",
        )
    return ""
