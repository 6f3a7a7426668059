"""Recorded CPU times beside those of the kernel, of the same commands, in turn.

What is charged too much or too little is the same for each run, however long. So the shortest show
it best, and the least of many is what a run takes that nothing else has disturbed, on a busy
machine too. It varies by some hundredths of a millisecond.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import closing
from pathlib import Path

import pytest

from cunctator.target import launch, spawn
from cunctator.target.measurement import Ending, FunctionCall, Request
from cunctator.target.spawn import Spawner, strings
from tests.target.hostility import wait_until

RUNS = 60
TOLERANCE = 0.0002
"""Seconds. A child that has a copy of the supervisor's memory, 10 MB of its own, needs 0.35 ms and
more to drop it."""

NOTHING = ("/bin/sh", "-c", ":")
CHILDREN = ("/bin/sh", "-c", "(:); (:); (:)")


def plain_cpu(argv) -> float:
    usage = os.wait4(os.posix_spawn(argv[0], argv, os.environ, setsid=True), 0)[2]
    return usage.ru_utime + usage.ru_stime


@pytest.mark.parametrize("argv", [NOTHING, CHILDREN], ids=["alone", "children"])
def test_a_program_is_charged_what_it_uses_without_us(fresh_supervisor, argv):
    recorded, plain = [], []
    for _ in range(RUNS):
        recorded.append(fresh_supervisor.run(Request(argv, cap=10.0)).cpu)
        plain.append(plain_cpu(argv))
    assert min(plain) > TOLERANCE / 2  # else there is nothing to compare
    assert abs(min(recorded) - min(plain)) < TOLERANCE


FUNCTION = """
import time
def burn(configuration, instance, seed, cap):
    begun = time.process_time()
    while time.process_time() - begun < 0.003:
        pass
    print(time.process_time() - begun)
"""


def test_a_function_is_charged_what_its_own_clock_says(fresh_supervisor, tmp_path):
    (tmp_path / "burning_for_the_test.py").write_text(FUNCTION)
    call = FunctionCall("burning_for_the_test:burn", {}, "", 0, 10.0)
    runs = [
        fresh_supervisor.run(Request(call, cap=10.0, directory=str(tmp_path))) for _ in range(RUNS)
    ]
    assert {run.ending for run in runs} == {Ending.EXITED}
    # The call itself, and what is printed after the last look at the clock, take as long as that.
    extra = min(run.cpu - float(run.stdout) for run in runs)
    assert 0.0 <= extra < 2 * TOLERANCE


KILLED_PARENT = """
import os
from cunctator.target.spawn import Spawner, strings
process, _ = Spawner(0).start("/bin/sleep", ["sleep", "600"], strings([]), (1, 2), {})
print(process, flush=True)
os.kill(os.getpid(), 9)
"""


def test_a_spawned_program_dies_with_its_parent():
    script = [sys.executable, "-c", textwrap.dedent(KILLED_PARENT)]
    with subprocess.Popen(script, stdout=subprocess.PIPE) as parent:
        process = int(parent.stdout.readline())
    wait_until(lambda: not is_there(process))


def is_there(process: int) -> bool:
    try:
        return b") Z " not in Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return False


@pytest.fixture
def spawner():
    with closing(Spawner(0)) as made:
        yield made


def test_a_program_whose_parent_has_just_ended_does_not_begin(spawner, tmp_path):
    spawner._ours.close()  # as the kernel does when its owner ends
    command = ["sh", "-c", f"echo begun > {tmp_path}/begun"]
    process, _ = spawner.start("/bin/sh", command, strings([]), (1, 2), {})
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGPIPE
    assert list(tmp_path.iterdir()) == []


def test_signals_of_a_spawned_program_are_not_blocked_and_ours_are_as_before(spawner):
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    try:
        reading, writing = os.pipe()
        command = ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]
        process, begun = spawner.start("/bin/grep", command, strings([]), (writing, 2), {})
        os.waitpid(process, 0)
        os.close(writing)
        for line in everything(reading).splitlines():
            assert int(line.split()[1], 16) & ~LIBRARY_SIGNALS == 0, line
        assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before | {signal.SIGUSR1}
        assert begun <= time.monotonic()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def everything(descriptor: int) -> bytes:
    """All that is in a pipe, which is closed."""
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


LIBRARY_SIGNALS = 3 << 31
"""Signals 32 and 33 are the C library's own, and nobody else can block or ignore them."""


def children():
    return {
        word
        for path in Path("/proc/self/task").glob("*/children")
        for word in path.read_text().split()
    }


def crash(niceness):
    os.kill(os.getpid(), signal.SIGKILL)  # a fault would be reported at length


def hang(niceness):
    time.sleep(1000)


def refuse(niceness):
    raise OSError("no contexts here")


@pytest.mark.parametrize("fault", [crash, hang, refuse])
def test_where_spawning_goes_wrong_only_a_child_is_lost(monkeypatch, fault):
    monkeypatch.setattr(spawn, "Spawner", fault)
    monkeypatch.setattr(spawn, "LONGEST_TRIAL", 0.2 if fault is hang else 60.0)
    before = children()
    assert spawn.tried_spawner(0) is None
    assert children() == before


def test_programs_are_forked_where_they_cannot_be_spawned(monkeypatch, tmp_path):
    monkeypatch.setattr(launch, "spawner", lambda: None)
    private, other = os.pipe()
    wanted = Request(("/bin/sh", "-c", "pwd"), cap=1.0, directory=str(tmp_path))
    child = launch.launch(wanted, {}, private)
    assert os.waitpid(child.process, 0)[1] == 0
    assert everything(child.stdout).strip() == os.fsencode(tmp_path)
    assert everything(child.report).startswith(launch.BEGUN)
    for descriptor in (private, other, child.handle, child.stderr):
        os.close(descriptor)
