"""The journal's file: opening it, and saying in words what SQLite says in codes."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

from cunctator.errors import StudyProblem
from cunctator.journal_rows import decoded

FILE = "study.db"
PATIENCE = 10.0
"""Seconds to wait for somebody else's lock on the file."""

DAMAGED = {
    sqlite3.SQLITE_ERROR,  # our queries are right, so a table or a column is missing
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_FORMAT,
    sqlite3.SQLITE_MISMATCH,
}
REFUSED = {
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
}


def damaged(directory: Path, reason: object) -> StudyProblem:
    """The error about a journal that cannot be believed."""
    return StudyProblem(
        directory / FILE,
        f"the journal is damaged ({reason})",
        "restore it from a copy, or begin a new study",
    )


def in_words(directory: Path, error: sqlite3.Error) -> StudyProblem:
    """SQLite's error as one line that says what to do."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_IOERR) & 0xFF
    if code in DAMAGED:
        return damaged(directory, error)
    fix = "make room or repair the folder, then resume: everything recorded is kept"
    if code in REFUSED:
        fix = "check the permissions of the folder and of the files in it"
    return StudyProblem(directory / FILE, f"the journal cannot be used ({error})", fix)


def connect(directory: Path, mode: str) -> sqlite3.Connection:
    """A connection to the journal; the mode is ro, rw or rwc, as in SQLite's addresses."""
    address = f"file:{quote(os.fsencode((directory / FILE).absolute()))}?mode={mode}"
    if mode == "ro" and not os.access(directory, os.W_OK):
        address += _for_looking_only(directory)
    try:
        # One thread uses it at a time; the display reads through its own connection.
        connection = sqlite3.connect(address, uri=True, timeout=PATIENCE)
        connection.text_factory = decoded
        connection.execute("pragma synchronous = normal")
    except sqlite3.Error as error:
        raise in_words(directory, error) from error
    return connection


def _for_looking_only(directory: Path) -> str:
    """What to add to the address if the folder cannot be written to.

    SQLite keeps files beside the journal, for readers too. It does without if it is told that
    nothing changes; but then it does not see what is in the log of changes.
    """
    log, shared = (directory / f"{FILE}{ending}" for ending in ("-wal", "-shm"))
    if not log.exists() or log.stat().st_size == 0:
        return "&immutable=1"
    if not shared.exists():
        raise StudyProblem(
            directory,
            f"the last changes are in {log.name}, and cannot be read in a folder that is read-only",
            "copy the folder to where you may write, and give the copy",
        )
    return ""
