"""Hostile targets: each is ended soon after its cap, measured truly, and leaves nothing behind."""

from __future__ import annotations

import json
import math
import os
import signal
import statistics
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from cunctator.target.process import Ending, Measurement, Request
from cunctator.target.supervisor import Supervisor
from tests.target.hostility import Lateness, command, request

CPUS = os.cpu_count() or 1

SOON = 0.1
"""Seconds within which everything must be over after a cap and its grace."""


def check_capped(measurement: Measurement, cap: float, grace: float = 0.0) -> None:
    """It reached its CPU cap, and went on for no longer than it was allowed to."""
    assert measurement.ending is Ending.CAP
    assert cap <= measurement.cpu <= cap + grace * CPUS + SOON
    assert measurement.overshoot == pytest.approx(measurement.cpu - cap)


@pytest.mark.parametrize("cap", [0.001, 0.03, 0.25])
def test_busy_loop_is_ended_at_its_cap(supervisor, mark, cap):
    measurement = supervisor.run(request("busy", mark=mark, cap=cap))
    check_capped(measurement, cap)
    assert measurement.signal == signal.SIGTERM and measurement.exit_code is None
    assert measurement.wall > 0 and measurement.host == os.uname().nodename


def test_sleeper_is_ended_by_the_wall_clock(supervisor, mark):
    with Lateness() as late:
        measurement = supervisor.run(request("sleeper", mark=mark, cap=0.5, wall_cap=0.2))
    assert measurement.ending is Ending.WALL
    assert 0.2 <= measurement.wall <= 0.2 + SOON + 10 * late.worst
    assert measurement.cpu < 0.2 and measurement.overshoot == 0.0


def test_sleeper_is_ended_for_being_idle(supervisor, mark):
    with Lateness() as late:
        measurement = supervisor.run(request("sleeper", mark=mark, cap=0.5, idle_cap=0.3))
    assert measurement.ending is Ending.WALL
    assert 0.3 <= measurement.idle <= measurement.wall <= 0.5 + SOON + 10 * late.worst


def test_starved_target_is_not_idle(supervisor, mark):
    """Others leave it next to nothing of its CPU, but it is always ready to run."""
    cpu = min(os.sched_getaffinity(0))
    script = f"import os; os.sched_setaffinity(0, [{cpu}]); os.nice({{}})\nwhile True: pass"
    python = (sys.executable, "-S", "-E", "-c")
    others = [subprocess.Popen([*python, script.format(0)]) for _ in range(8)]
    try:
        target = (*python, script.format(19))
        measurement = supervisor.run(Request(target, cap=50.0, wall_cap=1.5, idle_cap=0.5))
    finally:
        for other in others:
            other.kill()
            other.wait()
    assert measurement.ending is Ending.WALL and measurement.wall >= 1.5
    assert measurement.idle < 0.5


def test_work_with_pauses_is_idle_in_them_at_most(supervisor, mark):
    measurement = supervisor.run(request("pauses", "0.2", mark=mark, cap=10.0, idle_cap=5.0))
    assert measurement.ending is Ending.EXITED and measurement.exit_code == 0
    assert measurement.idle < measurement.wall - 0.2


def test_wall_clock_as_objective(supervisor, mark):
    with Lateness() as late:
        measurement = supervisor.run(request("sleeper", mark=mark, cap=0.1, objective="wall"))
    assert measurement.ending is Ending.CAP
    assert 0.1 <= measurement.wall <= 0.1 + SOON + 10 * late.worst
    assert measurement.overshoot == pytest.approx(measurement.wall - 0.1)


def test_children_are_counted_and_ended(supervisor, mark):
    check_capped(supervisor.run(request("family", mark=mark, cap=0.2)), 0.2)


def test_runaway_grandchild_is_counted_and_ended(supervisor, mark):
    check_capped(supervisor.run(request("runaway", mark=mark)), 0.1)


def test_ignored_signals_do_not_help(supervisor, mark):
    measurement = supervisor.run(request("stubborn", mark=mark, grace=0.05))
    check_capped(measurement, 0.1, grace=0.05)
    assert measurement.signal == signal.SIGKILL


def test_fork_bomb(supervisor, mark):
    wanted = request("bomb", "200", mark=mark, cap=50.0, wall_cap=0.3, grace=0.05)
    with Lateness() as late:  # the best of three: others may have had all CPUs
        measurement = min((supervisor.run(wanted) for _ in range(3)), key=lambda made: made.wall)
    assert measurement.ending is Ending.WALL
    # Without a group one has to look into each of 200 processes, and to share the CPUs with them;
    # one who may not precede them gets a small share only.
    is_urgent = os.getpriority(os.PRIO_PROCESS, supervisor._worker._process.pid) < 0
    soon = (SOON if measurement.method == "cgroup" else 10 * SOON) if is_urgent else 50 * SOON
    assert measurement.wall <= 0.3 + 0.05 + soon + 10 * late.worst


def test_flood_of_output_is_drained_and_cut(supervisor, mark):
    before = resident(supervisor)
    measurement = supervisor.run(request("flood", mark=mark, cap=20.0, output=1000, wall_cap=60.0))
    assert measurement.ending is Ending.EXITED and measurement.exit_code == 0
    assert len(measurement.stdout) == 1000
    assert measurement.stdout.startswith(b"first\nxxx") and measurement.stdout.endswith(
        b"x\nlast\n"
    )
    assert measurement.stdout_left_out == (1 << 30) + len("first\n\nlast\n") - 1000
    assert measurement.stderr == b"done\n" and measurement.stderr_left_out == 0
    assert resident(supervisor) < before + (10 << 20)


def resident(supervisor: Supervisor) -> int:
    pages = Path(f"/proc/{supervisor._worker._process.pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def test_memory_bomb(supervisor, mark):
    limit = 100 << 20
    measurement = supervisor.run(request("hoard", mark=mark, cap=20.0, memory=limit))
    assert measurement.ending is Ending.MEMORY
    assert limit < measurement.peak_memory < 3 * limit


def test_memory_within_the_limit(supervisor, mark):
    script = "data = b'x' * (60 << 20)"
    target = (sys.executable, "-S", "-E", "-c", script)
    measurement = supervisor.run(Request(target, cap=10.0, memory=200 << 20))
    assert measurement.ending is Ending.EXITED and measurement.exit_code == 0
    assert 60 << 20 < measurement.peak_memory < 200 << 20


def test_shared_memory_counts_once(supervisor, mark):
    measurement = supervisor.run(request("shared", mark=mark, cap=10.0, memory=200 << 20))
    assert measurement.ending is Ending.EXITED and measurement.exit_code == 0
    assert 60 << 20 < measurement.peak_memory < 200 << 20


def test_output_into_a_file_and_its_limit(supervisor, tmp_path):
    file = tmp_path / "printed"
    target = (sys.executable, "-S", "-E", "-c", "print('x' * 99)")
    measurement = supervisor.run(Request(target, cap=10.0, printed=str(file)))
    assert file.read_bytes() == b"x" * 99 + b"\n" and measurement.stdout == b""
    flood = ("/bin/cat", "/dev/zero")
    wanted = Request(flood, cap=10.0, printed=str(file), largest_file=10**6)
    measurement = supervisor.run(wanted)
    assert measurement.signal == signal.SIGXFSZ and file.stat().st_size == 10**6
    lost = supervisor.run(Request(target, cap=10.0, printed=str(tmp_path / "no" / "folder")))
    assert lost.ending is Ending.FAILED_TO_START and "no/folder" in lost.problem


def test_address_space_is_not_memory(supervisor, mark):
    script = "import mmap; mmap.mmap(-1, 1 << 33, flags=mmap.MAP_PRIVATE | 0x4000)"
    target = (sys.executable, "-S", "-E", "-c", script)
    measurement = supervisor.run(Request(target, cap=10.0, memory=100 << 20))
    assert measurement.ending is Ending.EXITED and measurement.exit_code == 0


def test_live_grandchild_of_an_ended_child(supervisor, mark):
    with Lateness() as late:
        measurement = supervisor.run(request("orphan", mark=mark, cap=10.0))
    assert measurement.ending is Ending.EXITED and measurement.exit_code == 7
    assert measurement.stdout == b"result\n"
    assert measurement.wall < 1.0 + 10 * late.worst


def test_closed_pipes(supervisor, mark):
    check_capped(supervisor.run(request("silent", mark=mark)), 0.1)


def test_fake_results_are_mere_output(supervisor, mark):
    measurement = supervisor.run(request("liar", mark=mark))
    check_capped(measurement, 0.1)
    assert measurement.stdout.startswith(b"Result for ParamILS: SAT")
    assert measurement.stderr == b"\x00\xff\x1b[2J\n"


@pytest.mark.parametrize("kind", ["reaped", "orphaned"])
def test_cpu_time_is_true(supervisor, mark, kind):
    measurement = supervisor.run(request("burn", "0.2", kind, mark=mark, cap=20.0))
    assert measurement.ending is Ending.EXITED and measurement.exit_code == 0
    truth = float(measurement.stdout)
    assert measurement.cpu == pytest.approx(truth, rel=0.02, abs=0.005)


def test_orphans_are_reaped_during_the_run(supervisor, mark):
    measurement = supervisor.run(request("orphans", mark=mark, cap=20.0, memory=1 << 30))
    assert measurement.stdout == b"all gone\n"


def test_end_after_the_cap_is_a_cap(supervisor):
    measurement = supervisor.run(Request(("/bin/true",), cap=1e-6))
    assert measurement.ending is Ending.CAP and measurement.overshoot > 0


def test_exit_code_and_signal(supervisor):
    run = supervisor.run
    assert run(Request(("/bin/false",), cap=10.0)).exit_code == 1
    script = "import os; os.kill(os.getpid(), 11)"
    measurement = run(Request((sys.executable, "-S", "-E", "-c", script), cap=10.0))
    assert measurement.ending is Ending.EXITED
    assert measurement.signal == signal.SIGSEGV and measurement.exit_code is None


@pytest.mark.parametrize(
    ("target", "settings", "problem"),
    [
        (("/no/such/program",), {}, "/no/such/program: No such file or directory"),
        (("no-such-program-4711",), {}, "no-such-program-4711: no such program on the PATH"),
        (("/",), {}, "/: Permission denied"),
        (("/bin/true",), {"directory": "/no/such/folder"}, "/no/such/folder: No such file"),
        (("/bin/true", "a\0b"), {}, "embedded null"),
        (("a\0b",), {}, "embedded null"),
        (("/bin/true",), {"environment": {"a=b": ""}}, "illegal environment variable name"),
        (("/bin/true", "x" * (1 << 18)), {}, "Argument list too long"),
    ],
)
def test_what_cannot_be_started(supervisor, target, settings, problem):
    measurement = supervisor.run(Request(target, cap=1.0, **settings))
    assert measurement.ending is Ending.FAILED_TO_START
    assert problem in measurement.problem


def test_state_of_a_new_target(supervisor, tmp_path):
    odd = ["a b", "$HOME", "'\"", "two\nlines", "", "ü\udcff"]
    target = command("state", *odd)
    settings = {"directory": str(tmp_path), "environment": {"GIVEN": "x=y"}}
    measurement = supervisor.run(Request(target, cap=10.0, **settings))
    assert json.loads(measurement.stdout) == {
        "arguments": odd,
        "session": True,
        "descriptors": [0, 1, 2],
        "stdin": "",
        "blocked": 0,
        "ignored": 0,
        "core": [0, 0],
        "directory": str(tmp_path),
        "temporary": [],
        "given": "x=y",
    }
    assert measurement.stderr == b""


def test_sigpipe_kills_a_target(supervisor):
    measurement = supervisor.run(Request(("/bin/cat", "/proc/self/status"), cap=10.0))
    ignored = next(line for line in measurement.stdout.splitlines() if line.startswith(b"SigIgn"))
    assert int(ignored.split()[1], 16) & ~(0b11 << 31) == 0  # 32 and 33: see hostile/state.py


def test_temporary_folder_is_emptied(supervisor, mark, tmp_path):
    (tmp_path / "kept").touch()
    folder = supervisor._worker._folder
    measurement = supervisor.run(request("litter", str(tmp_path), mark=mark, cap=20.0))
    assert measurement.exit_code == 0, measurement.stderr
    assert measurement.problem == ""
    assert list(folder.iterdir()) == [] and (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    "script",
    [
        "os.rmdir(folder)",
        "os.rmdir(folder); os.symlink(other, folder)",
        "os.rmdir(folder); os.close(os.open(folder, os.O_CREAT))",
        "os.chmod(folder, 0)",
    ],
)
def test_temporary_folder_is_restored(supervisor, tmp_path, script):
    (tmp_path / "kept").touch()
    script = f"import os, sys; folder = os.environ['TMPDIR']; other = sys.argv[1]; {script}"
    target = (sys.executable, "-S", "-E", "-c", script, str(tmp_path))
    measurement = supervisor.run(Request(target, cap=10.0))
    assert measurement.exit_code == 0 and measurement.problem == ""
    folder = supervisor._worker._folder
    assert not folder.is_symlink() and list(folder.iterdir()) == []
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "kept").exists()


def test_long_caps_do_not_overflow(supervisor):
    measurement = supervisor.run(Request(("/bin/true",), cap=1e18, wall_cap=math.inf))
    assert measurement.ending is Ending.EXITED and measurement.exit_code == 0


def test_overshoot_with_all_cpus_busy():
    overshoots = []

    def work() -> None:
        with Supervisor() as supervisor:
            for cap in (0.005, 0.02, 0.05, 0.1) * 3:
                measurement = supervisor.run(Request(command("busy"), cap=cap, wall_cap=20.0))
                assert measurement.ending is Ending.CAP
                overshoots.append(measurement.overshoot)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(overshoots) == 24
    assert statistics.median(overshoots) < 0.02
