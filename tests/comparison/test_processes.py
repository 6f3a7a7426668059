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
from tests.comparison.comparing import compare, table_of


def children():
    """Of this process, all threads."""
    found = []
    for path in Path("/proc/self/task").glob("*/children"):
        found += map(int, path.read_text().split())
    return [pid for pid in found if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_a_process_that_is_killed_costs_its_job_alone():
    table = table_of(40, 400)
    conditions = make_conditions(table, 0.05, resample=True)
    jobs = [Job("sp", (("epsilon", 0.05), ("delta", 0.05)), seed) for seed in range(2)]
    jobs.append(Job("sp", (("epsilon", 0.5), ("delta", 0.5)), 0))
    begun = set(children())

    def kill():
        while len(now := set(children()) - begun) < 1:
            time.sleep(0.01)
        time.sleep(1.0)
        os.kill(min(now), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    found = list(completed(table, conditions, jobs, 1))
    killer.join()
    errors = [record.get("error", "") for _, record in found]
    assert sum("its process was killed" in error for error in errors) == 1
    assert [job for job, _ in found] == jobs and not errors[-1]
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
    runtimes = np.random.default_rng(0).lognormal(0.0, 1.0, (4, 40))
    table = make_table(runtimes, cutoff=50.0)
    jobs = [Job("lb", (("epsilon", 0.1), ("delta", 0.1), ("multiplier", 1.001)), s) for s in (0, 1)]
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
        deadline = time.monotonic() + 60.0
        while len(workers := children_of(process.pid)) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(workers) == 2
        time.sleep(3.0)
        process.send_signal(number)
        process.wait(30.0)
        deadline = time.monotonic() + 30.0
        while any(is_alive(pid) for pid in workers) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not [pid for pid in workers if is_alive(pid)]
        assert not list(folder.iterdir())
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def children_of(pid):
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(p) for p in found if b"spawn_main" in Path(f"/proc/{p}/cmdline").read_bytes()]


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


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
