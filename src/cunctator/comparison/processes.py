"""Jobs on all cores: a process for each, which may be killed without harm to the others.

The table lies in files that all processes read, and its runtimes are mapped into memory, so a large
one is there once. The files have no names, so nothing is left of them, whoever is killed. A process
that is killed costs its job, which is recorded as failed, and no more; and when the one who gave
the jobs is gone, all others end.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import IO

import numpy as np

from cunctator.base.errors import StudyProblem
from cunctator.comparison.jobs import KILLED, Arranged, Conditions, Job, Record, arranged, run_job
from cunctator.recorded.table import Table
from cunctator.target.launch import die_with_parent

PATIENCE = 5.0
"""Seconds for a process to end when it is told to."""


def completed(
    table: Table, conditions: Conditions, jobs: Sequence[Job], workers: int
) -> Iterator[tuple[Job, Record]]:
    """Make all these jobs; each is yielded as soon as it is done."""
    if not jobs:
        return
    waiting = iter(jobs)
    with tempfile.TemporaryFile() as runtimes, tempfile.TemporaryFile() as names:
        _lay_out(table, conditions, runtimes, names)
        given = (_path_of(runtimes), _path_of(names), conditions)
        team = [_Worker(*given) for _ in range(min(workers, len(jobs)))]
        try:
            busy = {worker.connection: worker for worker in team if worker.begin(waiting)}
            while busy:
                for ready in wait(list(busy)):
                    assert isinstance(ready, Connection)
                    worker = busy.pop(ready)
                    yield worker.finished()
                    if worker.begin(waiting):
                        busy[worker.connection] = worker
        finally:
            with _patient_ctrl_c():
                for worker in team:
                    worker.end()


@contextmanager
def _patient_ctrl_c() -> Iterator[None]:
    """Let Ctrl-C wait: whoever presses it again is not to see us fail while we clean up."""
    if threading.current_thread() is not threading.main_thread():
        yield  # it is not for us
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _lay_out(table: Table, conditions: Conditions, runtimes: IO[bytes], names: IO[bytes]) -> None:
    """Write the table into two files."""
    try:
        np.save(runtimes, np.minimum(table.runtimes, conditions.cutoff))
        names.write(json.dumps([table.configurations, table.instances, table.cutoff]).encode())
        runtimes.flush()
        names.flush()
    except OSError as error:  # NumPy's has no reason, only a number of bytes
        problem = f"there is no room for the table ({error.strerror or error})"
        fix = "make room, or name another folder by the variable TMPDIR"
        raise StudyProblem(tempfile.gettempdir(), problem, fix) from None


def _path_of(file: IO[bytes]) -> Path:
    """How other processes find an open file of this one."""
    return Path(f"/proc/{os.getpid()}/fd/{file.fileno()}")


class _Worker:
    """A process that makes one job after the other."""

    def __init__(self, runtimes: Path, names: Path, conditions: Conditions) -> None:
        self._given = (runtimes, names, conditions)
        self._job: Job | None = None
        self._start()

    def _start(self) -> None:
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        arguments = (theirs, os.getpid(), *self._given)
        self._process: BaseProcess = context.Process(target=_work, args=arguments, daemon=True)
        self._process.start()
        theirs.close()

    def begin(self, jobs: Iterator[Job]) -> bool:
        """Take the next job, if there is one."""
        self._job = next(jobs, None)
        if self._job is None:
            return False
        with suppress(BrokenPipeError):  # it was killed: that shows when it is waited for
            self.connection.send(self._job)
        return True

    def finished(self) -> tuple[Job, Record]:
        """The job that is done, and what came of it."""
        job = self._job
        assert job is not None
        try:
            record: Record = self.connection.recv()
        except (EOFError, OSError):  # it was killed, perhaps in the middle of its message
            record = {"method": job.method, "settings": dict(job.settings), "seed": job.seed}
            record |= {"error": KILLED, "seconds": 0.0}
            self.end()
            self._start()
        return job, record

    def end(self) -> None:
        """Leave nothing behind."""
        self.connection.close()
        self._process.terminate()
        self._process.join(PATIENCE)
        self._process.kill()
        self._process.join()


def _work(
    connection: Connection, parent: int, runtimes: Path, names: Path, conditions: Conditions
) -> None:
    """What a process does until it is told to end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who gave us the jobs
    die_with_parent(parent)
    logging.getLogger("cunctator").setLevel(logging.ERROR)  # one process has told what there is
    with names.open("rb") as file:
        configurations, instances, cutoff = json.load(file)
    # Not read-only, though nobody writes: kernels are compiled for arrays that may be written to.
    table = Table(np.load(runtimes, mmap_mode="c"), tuple(configurations), tuple(instances), cutoff)
    last: Arranged | None = None
    with suppress(EOFError, ConnectionError):  # whoever gave us the jobs wants no more of us
        while True:
            job: Job = connection.recv()
            if last is None or not last.serves(conditions, job):
                last = arranged(table, conditions, job)
            connection.send(run_job(last, job))
