"""Memory that is no part of any process counts, once, and only if it is the run's own."""

from __future__ import annotations

import ctypes
import os
import uuid
from pathlib import Path

import pytest

from cunctator.target.process import Ending, Request
from cunctator.target.supervisor import Supervisor
from tests.target.hostility import marked, request

MEMORY = Path("/dev/shm")

LIMIT = 150 << 20


@pytest.fixture(scope="module", params=["cgroup", "processes"])
def supervisor(request):
    with Supervisor() as supervisor:
        supervisor._methods = (request.param,)
        if supervisor.run(Request(("/bin/true",), cap=10.0)).method != request.param:
            pytest.skip("no control group can be made here")
        yield supervisor


@pytest.fixture
def mark():
    mark = uuid.uuid4().hex
    yield mark
    assert marked(mark) == []


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
    assert 60 << 20 < measurement.peak_memory < LIMIT  # what came before the first look is missed


def test_files_in_memory_that_are_read_do_not_count(supervisor, mark, path):
    path.write_bytes(b"x" * (200 << 20))
    wanted = request("files", "read", "0", str(path), mark=mark, cap=20.0, memory=LIMIT)
    measurement = supervisor.run(wanted)
    assert measurement.ending is Ending.EXITED and measurement.peak_memory < 100 << 20


def remove_segment(kind: str, path: Path) -> None:
    """The kernel keeps it otherwise."""
    if kind == "segment":
        assert ctypes.CDLL(None).shmctl(int(path.read_text()), 0, None) == 0
