"""Results of a comparison, kept as they come in: one line of JSON each, after a line of facts.

Whoever is interrupted or killed goes on with the same command. Every line ends with a checksum of
the rest: lines that were not written to their end, or changed since, are dropped, and their jobs
are made again.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from cunctator.base.errors import StudyProblem
from cunctator.base.units import counted
from cunctator.comparison.jobs import KILLED, REPORT, Conditions, Job, Record
from cunctator.core.compiled import PACKAGE, digest_of_files
from cunctator.recorded.table import Table

NAME = "results.jsonl"
WRITTEN = ("results.csv", "results.json", "summary.md")
"""What `files.py` makes of it: not to be written over what is somebody else's."""

OTHER_FOLDER = "give another --out"

CHECKSUM = "checksum"
"""The last key of every line but the first."""


class Kept:
    """The file, open for more; make it with `kept_in`."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self.records: dict[str, Record] = {}
        """By the keys of their jobs."""

    def begin(self, facts: Record) -> None:
        """Read what is there, and see that it is of the same comparison."""
        with os.fdopen(os.dup(self._descriptor), "rb") as file:
            content = file.read()
        head = _line(facts)
        if head.startswith(content):  # nothing yet, or not even this line to its end
            self._begin_anew(head)
            return
        first, _, rest = content.partition(b"\n")
        known = _decoded(first)
        if not isinstance(known, dict) or known.keys() != facts.keys():
            problem = "it is no file of a comparison, or damaged"
            raise StudyProblem(self.path, problem, f"move it, or {OTHER_FOLDER}")
        if known != facts:
            problem = f"it was begun with {_difference(known, facts)}"
            raise StudyProblem(self.path, problem, OTHER_FOLDER)
        whole = rest[: rest.rfind(b"\n") + 1]
        found = [_sound(line) for line in whole.splitlines()]
        damaged = found.count(None)
        if damaged:
            words = f"{counted(damaged, 'line')} of {self.path} cannot be read, and not counted"
            logging.getLogger(__name__).warning(words)
        sound = [one for one in found if one is not None and not _is_to_be_made_again(one)]
        self.records = {_key(one): one for one in sound}
        os.ftruncate(self._descriptor, len(first) + 1 + len(whole))
        os.lseek(self._descriptor, 0, os.SEEK_END)

    def _begin_anew(self, head: bytes) -> None:
        others = [name for name in WRITTEN if (self.path.parent / name).exists()]
        if others:
            problem = f"the folder has {others[0]} of something else"
            raise StudyProblem(self.path.parent, problem, OTHER_FOLDER)
        os.ftruncate(self._descriptor, 0)
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        self._write(head)

    def add(self, job: Job, record: Record) -> None:
        """Keep a result, for good."""
        self._write(_line({**record, CHECKSUM: _checksum(record)}))
        self.records[job.key] = record

    def _write(self, line: bytes) -> None:
        try:
            written = os.write(self._descriptor, line)
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
        except OSError as error:
            fix = "make room, then compare again: what was recorded is kept"
            raise StudyProblem(self.path, f"cannot be written ({error.strerror})", fix) from None


def _difference(known: Record, facts: Record) -> str:
    """What is not the same in two comparisons, in words."""
    if known["table"] != facts["table"]:
        return "another table"
    if known["code"] != facts["code"]:
        return "another version"
    before, now = known["conditions"], facts["conditions"]
    if not isinstance(before, dict) or before.keys() != now.keys():
        return "other conditions"
    others = [name for name in now if before[name] != now[name]]
    return " and ".join(f"{name} = {before[name]} instead of {now[name]}" for name in others)


def _sound(line: bytes) -> Record | None:
    """The record of a line that is as it was written, or None."""
    record = _decoded(line)
    if not isinstance(record, dict):
        return None
    checksum = record.pop(CHECKSUM, None)
    return record if checksum == _checksum(record) else None


def _decoded(line: bytes) -> object:
    """What a line says, or None."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _checksum(record: Record) -> int:
    """What tells a record from others: JSON writes the same numbers in the same way."""
    return zlib.crc32(json.dumps(record).encode())


def _line(record: Record) -> bytes:
    return json.dumps(record, allow_nan=False).encode() + b"\n"


def _is_to_be_made_again(record: Record) -> bool:
    """Whether it failed for a reason that may be gone: a kill, or a mistake of ours."""
    error = str(record.get("error", ""))
    return error == KILLED or error.endswith(REPORT)


def _key(record: Record) -> str:
    settings = tuple(record["settings"].items())
    return Job(record["method"], settings, record["seed"]).key


@contextmanager
def kept_in(folder: Path, table: Table, conditions: Conditions) -> Iterator[Kept]:
    """The file of a comparison, which is nobody else's meanwhile."""
    path = folder / NAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o644)
    except OSError as error:
        raise StudyProblem(path, f"cannot be used ({error.strerror})", OTHER_FOLDER) from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise StudyProblem(path, "it is no ordinary file", OTHER_FOLDER)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            fix = f"wait for it, or {OTHER_FOLDER}"
            raise StudyProblem(path, "another comparison is writing to it", fix) from None
        kept = Kept(path, descriptor)
        folders = ("siblings", "core", "recorded")
        code = digest_of_files(path for name in folders for path in PACKAGE.glob(f"{name}/*.py"))
        facts = {"table": digest_of(table), "conditions": asdict(conditions), "code": code}
        kept.begin(facts)
        yield kept
    finally:
        os.close(descriptor)


def digest_of(table: Table) -> str:
    """Tells a table from all others."""
    digest = hashlib.sha256(table.runtimes.tobytes())
    names = json.dumps([table.configurations, table.instances, table.cutoff])
    digest.update(names.encode(errors="surrogatepass"))
    return digest.hexdigest()
