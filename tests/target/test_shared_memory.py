"""Memory that is no part of any process counts, once, and only if it is the run's own."""

from __future__ import annotations

import ctypes
import os
import uuid
from pathlib import Path

import pytest

from cunctator.target import memory, shared_memory
from cunctator.target.process import Ending
from tests.target.hostility import request

MEMORY = Path("/dev/shm")

LIMIT = 150 << 20


@pytest.fixture
def path():
    if not os.path.ismount(MEMORY):
        pytest.skip("there is no file system in memory at /dev/shm")
    path = MEMORY / f"cunctator-test-{uuid.uuid4().hex}"
    yield path
    path.unlink(missing_ok=True)


KINDS = ["memfd", "mapped", "inherited", "closed", "unlinked", "attached segment", "segment"]


@pytest.mark.parametrize("kind", KINDS)
def test_files_in_memory_are_limited(supervisor, mark, path, kind):
    measurement = supervisor.run(
        request("files", kind, "300", str(path), mark=mark, cap=20.0, memory=LIMIT)
    )
    remove_segment(kind, path)
    assert measurement.ending is Ending.MEMORY, measurement.stderr
    assert LIMIT < measurement.peak_memory < 3 * LIMIT


@pytest.mark.parametrize("limit", [LIMIT, None])
@pytest.mark.parametrize("kind", KINDS)
def test_files_in_memory_count_once(supervisor, mark, path, kind, limit):
    measurement = supervisor.run(
        request("files", kind, "80", str(path), mark=mark, cap=20.0, memory=limit, idle_cap=20.0)
    )
    remove_segment(kind, path)
    assert measurement.ending is Ending.EXITED and measurement.exit_code == 0, measurement.stderr
    assert 80 << 20 <= measurement.peak_memory < LIMIT


def test_files_in_memory_that_are_read_do_not_count(supervisor, mark, path):
    path.write_bytes(b"x" * (200 << 20))
    wanted = request("files", "read", "0", str(path), mark=mark, cap=20.0, memory=LIMIT)
    measurement = supervisor.run(wanted)
    assert measurement.ending is Ending.EXITED and measurement.peak_memory < 100 << 20


DETACHED = {
    "status": b"VmRSS:\t 10240 kB\nRssShmem:\t 0 kB\n",
    "smaps": b"00-10 rw-p 00000000 00:00 0 \nPss:  10240 kB\n",
    "smaps_rollup": b"00-10 ---p 00000000 00:00 0 [rollup]\nPss:  10240 kB\n",
}
ATTACHED = {
    "status": b"VmRSS:\t 92160 kB\nRssShmem:\t 81920 kB\n",
    "smaps": DETACHED["smaps"] + b"10-20 rw-s 00000000 00:01 7 /SYSV\nPss:  81920 kB\n",
    "smaps_rollup": b"00-20 ---p 00000000 00:00 0 [rollup]\nPss:  92160 kB\n",
}


@pytest.mark.parametrize("limit", [LIMIT, None])
@pytest.mark.parametrize("reads", range(4))
def test_what_is_detached_between_two_reads_counts_once(monkeypatch, limit, reads):
    """80 MB, resident when the tree was looked at, are let go of after so many reads since."""
    watch, seen = memory.MemoryWatch(limit), []

    def read(path):
        seen.append(path)
        return (ATTACHED if len(seen) <= reads else DETACHED)[path.rpartition("/")[2]]

    monkeypatch.setattr(memory, "read_kernel_file", read)
    monkeypatch.setattr(shared_memory, "read_kernel_file", read)
    monkeypatch.setattr(watch._shared, "look", lambda processes: {(os.makedev(0, 1), 7): 80 << 20})
    assert watch.size(90 << 20, [1]) == 90 << 20


def remove_segment(kind: str, path: Path) -> None:
    """The kernel keeps it otherwise."""
    if kind == "segment":
        assert ctypes.CDLL(None).shmctl(int(path.read_text()), 0, None) == 0
