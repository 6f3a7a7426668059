"""Results of a comparison, kept as they come in: one line of JSON each, after a line of facts.

Whoever is interrupted or killed goes on with the same command. A last line that was not written to
its end is dropped: its job is made again.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from cunctator.comparison.jobs import KILLED, REPORT, Conditions, Job, Record
from cunctator.core.compiled import PACKAGE, digest_of_files
from cunctator.errors import StudyProblem
from cunctator.target.table import Table

NAME = "results.jsonl"
OTHER_FOLDER = "give another --out"


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
        whole = content[: content.rfind(b"\n") + 1]
        lines = whole.splitlines()
        try:
            data = [json.loads(line) for line in lines]
            known = data[0] if data else facts
            self.records = {_key(one): one for one in data[1:] if not _is_to_be_made_again(one)}
        except (ValueError, KeyError, TypeError, AttributeError):
            fix = f"remove the file, or {OTHER_FOLDER}"
            raise StudyProblem(self.path, "it is damaged", fix) from None
        if known != facts:
            problem = "it was begun with another table, other conditions or another version"
            raise StudyProblem(self.path, problem, OTHER_FOLDER)
        os.ftruncate(self._descriptor, len(whole))
        os.lseek(self._descriptor, 0, os.SEEK_END)
        if not lines:
            self._write(facts)

    def add(self, job: Job, record: Record) -> None:
        """Keep a result, for good."""
        self._write(record)
        self.records[job.key] = record

    def _write(self, record: Record) -> None:
        line = json.dumps(record, allow_nan=False).encode() + b"\n"
        try:
            written = os.write(self._descriptor, line)
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
        except OSError as error:
            fix = "make room, then compare again: what was recorded is kept"
            raise StudyProblem(self.path, f"cannot be written ({error.strerror})", fix) from None


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
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StudyProblem(path, f"cannot be used ({error.strerror})", OTHER_FOLDER) from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            fix = f"wait for it, or {OTHER_FOLDER}"
            raise StudyProblem(path, "another comparison is writing to it", fix) from None
        kept = Kept(path, descriptor)
        sources = [*PACKAGE.glob("siblings/*.py"), *PACKAGE.glob("core/*.py")]
        code = digest_of_files([*sources, PACKAGE / "simulation.py"])
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
