"""Drivers and supervisors that die, stop and go on: what they ran is gone in every case."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cunctator.target import sweep as sweeping
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
from cunctator.target.mark import MARK as CARRIED
from cunctator.target.mark import marked as carriers
from cunctator.target.owner import is_gone, owner
from cunctator.target.process import Ending, FunctionCall, Measurement, Request
from cunctator.target.supervisor import PATIENCE, Supervisor, SupervisorLost, _Worker
from cunctator.target.sweep import sweep_stale
from tests.target.hostility import (
    HOSTILE,
    MARK,
    Lateness,
    driver_of,
    guard_of,
    kill_at_once,
    marked,
    request,
    supervisors_of,
    wait_until,
)

TRUE = Request(("/bin/true",), cap=10.0)


def groups(names) -> list[Path]:
    """Those of our groups that are still there."""
    above = own_folder()
    return [] if above is None else [above / name for name in names if (above / name).exists()]


@pytest.mark.parametrize("method", ["cgroup", "processes"])
def test_killed_driver_leaves_nothing(mark, method, tmp_path):
    environment = {**os.environ, MARK: mark, "TMPDIR": str(tmp_path)}
    command = [sys.executable, str(HOSTILE / "driver.py"), method]
    with driver_of(command, environment) as driver:
        # One driver, two supervisors, two targets of two processes each. A supervisor tries
        # something with a child of its own before it makes its folder.
        wait_until(lambda: len(list(tmp_path.iterdir())) == 2 and len(marked(mark)) == 7)
        names = [path.name for path in tmp_path.iterdir()]
        assert len(names) == 2
        driver.kill()
    wait_until(lambda: not marked(mark))
    wait_until(lambda: not any(tmp_path.iterdir()))
    assert groups(names) == []


@pytest.mark.parametrize("function", ["", "hostile.endless_import:nothing"])
def test_stopped_or_importing_supervisors_end_with_their_driver(mark, tmp_path, function):
    temporary, importing = tmp_path / "temporary", tmp_path / "importing"
    temporary.mkdir()
    importing.mkdir()
    more = {MARK: mark, "TMPDIR": str(temporary), "IMPORTING": str(importing)}
    command = [sys.executable, str(HOSTILE / "driver.py"), "processes", function]
    with driver_of(command, os.environ | more) as driver:
        wait_until(lambda: len(list(temporary.iterdir())) == 2)
        wait_until(lambda: len(marked(mark)) == (3 if function else 7))
        if function:
            wait_until(lambda: len(list(importing.iterdir())) == 2)
        else:
            for supervisor in supervisors_of(temporary):
                os.kill(supervisor, signal.SIGSTOP)
        driver.kill()
    wait_until(lambda: not marked(mark))
    wait_until(lambda: not any(temporary.iterdir()))


@pytest.mark.parametrize("method", ["cgroup", "processes"])
def test_what_was_killed_together_is_swept_later(mark, method, tmp_path, monkeypatch):
    environment = {**os.environ, MARK: mark, "TMPDIR": str(tmp_path)}
    command = [sys.executable, str(HOSTILE / "driver.py"), method]
    with driver_of(command, environment) as driver:
        wait_until(lambda: len(list(tmp_path.iterdir())) == 2 and len(marked(mark)) == 7)
        names = [path.name for path in tmp_path.iterdir()]
        kill_at_once([driver.pid, guard_of(driver.pid), *supervisors_of(tmp_path)])
    # The first process of each dies by itself; the others too, and their folders, if another
    # supervisor, as that of a test beside this one, has come across their control groups.
    wait_until(lambda: len(marked(mark)) <= 2)
    others = ["cunctator-notes", f"cunctator-{'0' * 16}-{owner()}", f"cunctator-{'0' * 16}-x"]
    for name in others:
        (tmp_path / name).mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Supervisor() as supervisor:
        supervisor._methods = (method,)
        assert supervisor.run(TRUE).exit_code == 0
        wait_until(lambda: not marked(mark))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(others)
    assert len(names) == 2 and groups(names) == []


def test_groups_whose_folder_is_gone_are_swept_too(tmp_path):
    here, number, start = owner().split("-")
    above = own_folder()
    names = [f"cunctator-{'0' * 16}-{here}-{number}-{int(start) + more}" for more in (0, 1)]
    if above is None or not os.access(above, os.W_OK):
        pytest.skip("no control group can be made here")
    for name in names:
        (above / name).mkdir()
    sweep_stale(tmp_path)
    kept = groups(names)
    (above / names[0]).rmdir()
    assert kept == [above / names[0]]


def test_only_those_are_gone_who_were_here():
    here, number, start = owner().split("-")
    assert not is_gone(owner())
    assert is_gone(f"{here}-{number}-{int(start) + 1}")
    assert not is_gone(f"{'1' * 12}-{number}-{int(start) + 1}")
    assert not is_gone(f"{here}-{number}") and not is_gone("")
    child = subprocess.Popen(["/bin/true"])
    word = owner(child.pid)
    child.wait()
    assert is_gone(word)


def test_no_temporary_folder_is_a_problem_in_words(tmp_path, monkeypatch, capfd):
    place = tmp_path / "temporary"
    place.mkdir()
    with monkeypatch.context() as patch, Supervisor() as supervisor:
        patch.setattr("tempfile.tempdir", str(place))
        script = f"import os, shutil; shutil.rmtree({str(place)!r})"
        last = supervisor.run(Request((sys.executable, "-c", script), cap=10.0))
        assert last.exit_code == 0 and "temporary folder" in last.problem
        measurement = supervisor.run(TRUE)
    assert measurement.ending is Ending.FAILED_TO_START
    assert measurement.problem.startswith("no temporary folder can be made: ")
    assert capfd.readouterr().err == ""


def test_supervisor_that_cannot_be_started_is_a_problem_in_words(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with Supervisor() as supervisor:
        measurement = supervisor.run(TRUE)
    assert measurement.ending is Ending.FAILED_TO_START
    assert "/no/such/python" in measurement.problem


@pytest.mark.parametrize("target", ["stubborn", "runaway", "sleeper"])
def test_killed_supervisor_leaves_nothing_and_is_replaced(fresh_supervisor, mark, target):
    with ThreadPoolExecutor() as pool:
        result = pool.submit(fresh_supervisor.run, request(target, mark=mark, cap=1000.0))
        wait_until(lambda: len(marked(mark)) == (1 if target == "sleeper" else 2))
        folder = fresh_supervisor._worker._folder
        os.kill(fresh_supervisor._worker._process.pid, signal.SIGKILL)
        with pytest.raises(SupervisorLost, match="killed by signal 9; what it ran has been killed"):
            result.result(timeout=30)
    assert marked(mark) == []
    assert not folder.exists() and groups([folder.name]) == []
    assert fresh_supervisor.run(TRUE).exit_code == 0


def test_one_look_that_finds_nothing_is_not_enough(tmp_path, monkeypatch):
    """A process that forks and exits meanwhile is not seen, nor is its child."""
    look, looks = carriers, []

    def late(*identities):
        looks.append(identities)
        return look(*identities) if len(looks) > 1 else []

    monkeypatch.setattr(sweeping, "marked", late)
    remains = sweeping.Remains("0123456789abcdef", tmp_path / "folder", None)
    with subprocess.Popen(["/bin/sleep", "60"], env={CARRIED: remains.identity}) as child:
        try:
            sweeping.sweep([remains], 10.0)
            assert child.wait(5) == -signal.SIGKILL
        finally:
            child.kill()


@pytest.fixture
def impatient(monkeypatch):
    """Only for as long as nothing has to be waited for: a new supervisor takes its time."""

    @contextmanager
    def patched():
        with monkeypatch.context() as patch:
            patch.setattr("cunctator.target.supervisor.GLANCE", 0.05)
            patch.setattr("cunctator.target.supervisor.SLACK", 0.5)
            patch.setattr("cunctator.target.supervisor.PATIENCE", 0.5)
            yield

    return patched


def test_stopped_supervisor_is_given_up(fresh_supervisor, mark, impatient):
    assert fresh_supervisor.run(TRUE).exit_code == 0
    os.kill(fresh_supervisor._worker._process.pid, signal.SIGSTOP)
    with impatient(), pytest.raises(SupervisorLost, match="did not answer any more and has been"):
        fresh_supervisor.run(request("sleeper", mark=mark, wall_cap=0.2))
    assert fresh_supervisor.run(TRUE).exit_code == 0


def test_stopped_supervisor_takes_no_long_message(fresh_supervisor, impatient):
    assert fresh_supervisor.run(TRUE).exit_code == 0
    os.kill(fresh_supervisor._worker._process.pid, signal.SIGSTOP)
    with impatient(), pytest.raises(SupervisorLost, match="did not answer"):
        fresh_supervisor.run(Request(("/bin/true", "x" * (1 << 22)), cap=10.0))


def test_silent_supervisor_is_given_up(fresh_supervisor, impatient, monkeypatch):
    """One that is not stopped, but does not answer either."""
    monkeypatch.setattr("cunctator.target.supervisor.STOPPED", b"?")
    assert fresh_supervisor.run(TRUE).exit_code == 0
    os.kill(fresh_supervisor._worker._process.pid, signal.SIGSTOP)
    with impatient(), pytest.raises(SupervisorLost, match="run did not answer any more"):
        fresh_supervisor.run(Request(("/bin/true", "x" * (1 << 22)), cap=10.0))
    assert fresh_supervisor.run(TRUE).exit_code == 0
    os.kill(fresh_supervisor._worker._process.pid, signal.SIGSTOP)
    with impatient(), pytest.raises(SupervisorLost, match="run did not answer any more"):
        fresh_supervisor.run(Request(("/bin/true",), cap=10.0, wall_cap=0.2))


def test_supervisor_that_never_greets_is_given_up(fresh_supervisor, impatient, monkeypatch):
    monkeypatch.setattr("cunctator.target.supervisor.sweep_stale", stop_children)
    with impatient(), pytest.raises(SupervisorLost, match="did not answer"):
        # With a limit on the clock: it may have greeted before it was stopped.
        fresh_supervisor.run(Request(("/bin/true",), cap=10.0, wall_cap=0.2))


def stop_children(place):
    """In place of the first thing that is done while a supervisor starts."""
    for path in Path("/proc/self/task").glob("*/children"):
        for child in path.read_text().split():
            if b"stand_guard.py" not in Path(f"/proc/{child}/cmdline").read_bytes():
                os.kill(int(child), signal.SIGSTOP)


def test_stopped_supervisor_is_replaced_soon(fresh_supervisor, mark):
    """The run has no cap any more: minutes of patience with a slow machine are not for this."""
    assert fresh_supervisor.run(TRUE).exit_code == 0
    with Lateness() as late, ThreadPoolExecutor() as pool:
        result = pool.submit(fresh_supervisor.run, request("runaway", mark=mark, cap=0.5))
        wait_until(lambda: len(marked(mark)) == 2)
        begun = time.monotonic()
        os.kill(fresh_supervisor._worker._process.pid, signal.SIGSTOP)
        with pytest.raises(SupervisorLost, match=r"was stopped \(SIGSTOP\)"):
            result.result(timeout=30)
        took = time.monotonic() - begun
    assert took < 2.0 + 10 * late.worst
    assert marked(mark) == [] and fresh_supervisor.run(TRUE).exit_code == 0


def test_supervisor_that_is_continued_in_time_is_kept(fresh_supervisor, mark, monkeypatch):
    """As when everybody is stopped and continued, and the driver happens to be the first."""
    monkeypatch.setattr("cunctator.target.supervisor.GLANCE", 2.0)  # so that we are in time
    assert fresh_supervisor.run(TRUE).exit_code == 0
    process = fresh_supervisor._worker._process.pid
    with ThreadPoolExecutor() as pool:
        result = pool.submit(fresh_supervisor.run, request("pauses", "0.3", mark=mark, cap=10.0))
        os.kill(process, signal.SIGSTOP)
        wait_until(lambda: fresh_supervisor._worker._was_stopped)
        os.kill(process, signal.SIGCONT)
        assert result.result(timeout=30).exit_code == 0
    assert fresh_supervisor._worker._process.pid == process


def test_closing_does_not_wait_for_a_stopped_supervisor():
    with Lateness() as late:
        with Supervisor() as supervisor:
            assert supervisor.run(TRUE).exit_code == 0
            os.kill(supervisor._worker._process.pid, signal.SIGSTOP)
            worker, begun = supervisor._worker, time.monotonic()
        took = time.monotonic() - begun
    assert worker._process.returncode == 0 and took < 3.0 + 10 * late.worst


def test_killed_supervisor_between_runs(fresh_supervisor):
    assert fresh_supervisor.run(TRUE).exit_code == 0
    os.kill(fresh_supervisor._worker._process.pid, signal.SIGKILL)
    with pytest.raises(SupervisorLost):
        fresh_supervisor.run(TRUE)
    assert fresh_supervisor.run(TRUE).exit_code == 0


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


def test_stop_ends_the_run_now(fresh_supervisor, mark):
    with Lateness() as late, ThreadPoolExecutor() as pool:
        result = pool.submit(fresh_supervisor.run, request("stubborn", mark=mark, cap=1000.0))
        wait_until(lambda: len(marked(mark)) == 2)
        begun = time.monotonic()
        fresh_supervisor.stop()
        measurement = result.result(timeout=30)
        took = time.monotonic() - begun
    assert measurement.ending is Ending.STOPPED and measurement.cpu > 0
    # By order, and not because a supervisor that does not answer was given up.
    assert took < PATIENCE / 3 + 10 * late.worst
    assert fresh_supervisor.run(TRUE).ending is Ending.STOPPED


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


def test_interrupted_driver_gives_the_run_up(fresh_supervisor, mark, monkeypatch):
    fresh_supervisor.run(TRUE)
    worker = fresh_supervisor._worker

    def interrupt(is_overdue, patience):
        wait_until(lambda: len(marked(mark)) == 2)
        raise KeyboardInterrupt

    monkeypatch.setattr(worker, "_receive", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fresh_supervisor.run(request("stubborn", mark=mark, cap=1000.0))
    assert marked(mark) == []
    assert fresh_supervisor.run(TRUE).exit_code == 0


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
        FunctionCall,
        TEXT,
        st.dictionaries(TEXT, TEXT | st.integers()),
        TEXT,
        st.integers(),
        st.just(1.5),
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
