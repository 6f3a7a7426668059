"""The processes of a comparison: killed, or orphaned, or out of room."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from cunctator.base.errors import StudyProblem
from cunctator.comparison.jobs import Job
from cunctator.comparison.processes import completed
from cunctator.comparison.running import make_conditions
from cunctator.target.tree import process_clock
from tests.comparison.comparing import compare, table_of
from tests.target.hostility import is_alive, wait_until

LONG = Job("lb", (("epsilon", 0.1), ("delta", 0.1), ("multiplier", 1.001)), 0)
"""Half a minute in a kernel, with 2000 configurations."""


def children():
    """Of this process, all threads."""
    found = []
    for path in Path("/proc/self/task").glob("*/children"):
        found += map(int, path.read_text().split())
    return [pid for pid in found if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_a_process_that_is_killed_costs_its_job_alone():
    table = table_of(2000)
    conditions = make_conditions(table, 0.001, resample=True)
    jobs = [LONG, *(Job("sp", (("epsilon", 0.5), ("delta", 0.5)), seed) for seed in range(2))]
    begun = set(children())

    def kill():
        wait_until(lambda: set(children()) - begun, 60.0)
        worker = min(set(children()) - begun)
        wait_until(lambda: is_at_work(worker), 60.0)
        os.kill(worker, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    found = list(completed(table, conditions, jobs, 1))
    killer.join()
    errors = [record.get("error", "") for _, record in found]
    assert [job for job, _ in found] == jobs
    assert "its process was killed" in errors[0] and errors[1:] == ["", ""]
    assert set(children()) <= begun


def test_no_more_processes_than_jobs(tmp_path, monkeypatch):
    started = []
    start = "cunctator.comparison.processes._Worker._start"
    import cunctator.comparison.processes as module

    original = module._Worker._start
    monkeypatch.setattr(start, lambda self: (started.append(self), original(self)))
    compare(tmp_path, methods=["sp"], workers=1000)
    assert len(started) == 2
    compare(tmp_path, methods=["sp"], workers=1000)
    assert len(started) == 2, "nothing was left to do"


ORPHANED = """
import os, sys
import numpy as np
from cunctator.comparison.jobs import Job
from cunctator.comparison.processes import completed
from cunctator.comparison.running import make_conditions
from cunctator.recorded.table import make_table

if __name__ == "__main__":
    runtimes = np.random.default_rng(0).lognormal(0.0, 1.0, (2000, 40))
    table = make_table(runtimes, cutoff=50.0)
    long = (("epsilon", 0.1), ("delta", 0.1), ("multiplier", 1.001))
    jobs = [Job("lb", long, seed) for seed in (0, 1)]
    print(os.getpid(), flush=True)
    list(completed(table, make_conditions(table, 0.001, resample=True), jobs, 2))
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_nobody_stays_behind(tmp_path, number):
    """A kernel at work sees no end of a pipe: only the system can tell it."""
    script = tmp_path / "orphaned.py"
    script.write_text(ORPHANED)
    folder = tmp_path / "temporary"
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    try:
        assert process.stdout is not None and process.stdout.readline()
        wait_until(lambda: len(children_of(process.pid)) == 2, 60.0)
        workers = children_of(process.pid)
        wait_until(lambda: all(map(is_at_work, workers)), 120.0)
        process.send_signal(number)
        process.wait(30.0)
        wait_until(lambda: not any(map(is_alive, workers)), 30.0)
        assert not list(folder.iterdir())
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def children_of(pid):
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(p) for p in found if b"spawn_main" in Path(f"/proc/{p}/cmdline").read_bytes()]


def is_at_work(pid):
    """Whether it computes, as a kernel does: it neither reads nor writes, nor waits."""
    before = exchanged(pid), process_clock(pid)
    time.sleep(0.2)
    return exchanged(pid) == before[0] and process_clock(pid) > before[1] + 0.01


def exchanged(pid):
    """How much a process has read and written, and how often it has waited."""
    status = Path(f"/proc/{pid}/status").read_text()
    waited = next(line for line in status.splitlines() if line.startswith("voluntary_ctxt"))
    return Path(f"/proc/{pid}/io").read_text(), waited


class FullFile:
    """As on a disk that has no room."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def write(self, data):
        raise OSError(28, "No space left on device")


def test_no_room_for_the_table_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "TemporaryFile", FullFile)
    with pytest.raises(StudyProblem, match=r"no room for the table \(No space left.*TMPDIR"):
        compare(tmp_path, methods=["sp"])
