"""Drivers and supervisors that die, stop and go on: what they ran is gone in every case."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hostility import HOSTILE, MARK, Lateness, marked, request, wait_until
from hypothesis import given
from hypothesis import strategies as st

from cunctator.target.cgroup import own_folder
from cunctator.target.channel import (
    decoded,
    encoded,
    measurement_from,
    measurement_message,
    request_from,
    request_message,
)
from cunctator.target.folder import remove_folder
from cunctator.target.process import Call, Ending, Measurement, Request
from cunctator.target.supervisor import Supervisor, SupervisorLost, _Worker

TRUE = Request(("/bin/true",), cap=10.0)


@pytest.fixture
def mark():
    mark = uuid.uuid4().hex
    yield mark
    assert marked(mark) == []


@pytest.fixture(params=["cgroup", "processes"])
def supervisor(request):
    with Supervisor() as supervisor:
        supervisor._methods = (request.param,)
        yield supervisor


def groups(names) -> list[Path]:
    """Those of our groups that are still there."""
    above = own_folder()
    return [] if above is None else [above / name for name in names if (above / name).exists()]


@pytest.mark.parametrize("method", ["cgroup", "processes"])
def test_killed_driver_leaves_nothing(mark, method, tmp_path):
    environment = {**os.environ, MARK: mark, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, str(HOSTILE / "driver.py"), method], env=environment
    ) as driver:
        # One driver, two supervisors, two targets of two processes each.
        wait_until(lambda: len(marked(mark)) == 7)
        names = [path.name for path in tmp_path.iterdir()]
        assert len(names) == 2
        driver.kill()
    wait_until(lambda: not marked(mark))
    wait_until(lambda: not any(tmp_path.iterdir()))
    assert groups(names) == []


@pytest.mark.parametrize("target", ["stubborn", "runaway", "sleeper"])
def test_killed_supervisor_leaves_nothing_and_is_replaced(supervisor, mark, target):
    with ThreadPoolExecutor() as pool:
        result = pool.submit(supervisor.run, request(target, mark=mark, cap=1000.0))
        wait_until(lambda: len(marked(mark)) == (1 if target == "sleeper" else 2))
        folder = supervisor._worker._folder
        os.kill(supervisor._worker._process.pid, signal.SIGKILL)
        with pytest.raises(SupervisorLost, match="killed by signal 9; what it ran has been killed"):
            result.result(timeout=30)
    assert marked(mark) == []
    assert not folder.exists() and groups([folder.name]) == []
    assert supervisor.run(TRUE).exit_code == 0


def test_killed_supervisor_between_runs(supervisor):
    assert supervisor.run(TRUE).exit_code == 0
    os.kill(supervisor._worker._process.pid, signal.SIGKILL)
    with pytest.raises(SupervisorLost):
        supervisor.run(TRUE)
    assert supervisor.run(TRUE).exit_code == 0


def test_first_process_dies_with_its_supervisor(mark, monkeypatch):
    monkeypatch.setattr(_Worker, "_sweep", lambda worker: remove_folder(worker._folder))
    with Supervisor() as supervisor, ThreadPoolExecutor() as pool:
        supervisor._methods = ("processes",)
        result = pool.submit(supervisor.run, request("sleeper", mark=mark, cap=1000.0))
        wait_until(lambda: len(marked(mark)) == 1)
        os.kill(supervisor._worker._process.pid, signal.SIGKILL)
        with pytest.raises(SupervisorLost):
            result.result(timeout=30)
        wait_until(lambda: not marked(mark))


def test_stop_ends_the_run_now(supervisor, mark):
    with Lateness() as late, ThreadPoolExecutor() as pool:
        result = pool.submit(supervisor.run, request("stubborn", mark=mark, cap=1000.0))
        wait_until(lambda: len(marked(mark)) == 2)
        begun = time.monotonic()
        supervisor.stop()
        measurement = result.result(timeout=30)
        took = time.monotonic() - begun
    assert measurement.ending is Ending.STOPPED and measurement.cpu > 0
    assert took < 0.1 + 10 * late.worst
    assert supervisor.run(TRUE).ending is Ending.STOPPED


def test_stop_before_the_first_run():
    with Supervisor() as supervisor:
        supervisor.stop()
        assert supervisor.run(TRUE).ending is Ending.STOPPED
        assert supervisor._worker is None


def test_close_leaves_no_process_and_no_folder():
    with Supervisor() as supervisor:
        supervisor.run(TRUE)
        worker = supervisor._worker
        assert worker._folder.exists()
    assert worker._process.returncode == 0
    assert not worker._folder.exists() and groups([worker._folder.name]) == []


def test_interrupted_driver_gives_the_run_up(supervisor, mark, monkeypatch):
    supervisor.run(TRUE)
    worker = supervisor._worker

    def interrupt(is_overdue):
        wait_until(lambda: len(marked(mark)) == 2)
        raise KeyboardInterrupt

    monkeypatch.setattr(worker, "_receive", interrupt)
    with pytest.raises(KeyboardInterrupt):
        supervisor.run(request("stubborn", mark=mark, cap=1000.0))
    assert marked(mark) == []
    assert supervisor.run(TRUE).exit_code == 0


def test_folder_of_the_user_cannot_shadow_our_imports(tmp_path, monkeypatch):
    for name in ("json", "select", "signal", "resource", "ctypes"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    with Supervisor() as supervisor:
        assert supervisor.run(TRUE).exit_code == 0


TEXT = st.text(st.characters(exclude_categories=()))


@given(
    target=st.lists(TEXT, min_size=1).map(tuple)
    | st.builds(
        Call, TEXT, st.dictionaries(TEXT, TEXT | st.integers()), TEXT, st.integers(), st.just(1.5)
    ),
    environment=st.none() | st.dictionaries(TEXT, TEXT),
)
def test_requests_survive_the_channel(target, environment):
    wanted = Request(target, cap=0.25, memory=7, directory="d", environment=environment)
    line = encoded(request_message(wanted))
    assert line.count(b"\n") == 1 and line.endswith(b"\n")
    assert request_from(decoded(line)) == wanted


@given(ending=st.sampled_from(Ending), stdout=st.binary(), cpu=st.floats(0, 1e9), problem=TEXT)
def test_measurements_survive_the_channel(ending, stdout, cpu, problem):
    measurement = Measurement(ending, cpu=cpu, stdout=stdout, stderr=b"\xff", problem=problem)
    line = encoded(measurement_message(measurement))
    assert line.count(b"\n") == 1 and line.endswith(b"\n")
    assert measurement_from(decoded(line)) == measurement
