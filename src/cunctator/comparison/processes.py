"""Jobs on all cores: a process for each, which may be killed without harm to the others.

The runtimes lie in a file that all processes map into memory, so a large table is there once. A
process that is killed, by whom ever, costs its job, which is recorded as failed, and no more.
"""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np

from cunctator.comparison.jobs import KILLED, Arranged, Conditions, Job, Record, arranged, run_job
from cunctator.target.table import Table

PATIENCE = 5.0
"""Seconds for a process to end when it is told to."""


def completed(
    table: Table, conditions: Conditions, jobs: Iterable[Job], workers: int
) -> Iterator[tuple[Job, Record]]:
    """Make all these jobs; each is yielded as soon as it is done."""
    waiting = iter(jobs)
    with tempfile.TemporaryDirectory(prefix="cunctator-compare-") as folder:
        path = Path(folder) / "runtimes.npy"
        np.save(path, np.minimum(table.runtimes, conditions.cutoff))
        bare = replace(table, runtimes=np.empty((0, 0)), measures={})
        team = [_Worker(path, bare, conditions) for _ in range(workers)]
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
            for worker in team:
                worker.end()


class _Worker:
    """A process that makes one job after the other."""

    def __init__(self, path: Path, table: Table, conditions: Conditions) -> None:
        self._given = (path, table, conditions)
        self._job: Job | None = None
        self._start()

    def _start(self) -> None:
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        arguments = (theirs, *self._given)
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
        except (EOFError, ConnectionResetError):
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


def _work(connection: Connection, path: Path, table: Table, conditions: Conditions) -> None:
    """What a process does until it is told to end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who gave us the jobs
    # Not read-only, though nobody writes: kernels are compiled for arrays that may be written to.
    whole = replace(table, runtimes=np.load(path, mmap_mode="c"))
    last: Arranged | None = None
    with suppress(EOFError, BrokenPipeError):
        while True:
            job: Job = connection.recv()
            if last is None or not last.serves(conditions, job):
                last = arranged(whole, conditions, job)
            connection.send(run_job(last, job))
