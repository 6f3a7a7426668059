"""Driver and supervisors that die at once: their guard ends what they ran, and then itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cunctator.target.cgroup import own_folder
from cunctator.target.guard import guard
from cunctator.target.process import Request
from cunctator.target.supervisor import Supervisor
from tests.target.hostility import (
    HOSTILE,
    MARK,
    Lateness,
    guard_of,
    guards_of,
    is_alive,
    kill_at_once,
    marked,
    supervisors_of,
    wait_until,
)

TRUE = Request(("/bin/true",), cap=10.0)

CLAN = 5
"""Processes of `hostile/clan.py`."""


class Scene:
    """A driver with two slots, and all who are there because of it."""

    def __init__(self, folder: Path, method: str, **environment: str) -> None:
        self.temporary, self.born = folder / "temporary", folder / "born"
        self.temporary.mkdir()
        self.born.mkdir()
        clan = f"{sys.executable} -S -E {HOSTILE / 'clan.py'} {self.born}"
        self.driver = subprocess.Popen(
            [sys.executable, str(HOSTILE / "driver.py"), method, clan],
            env={**os.environ, "TMPDIR": str(self.temporary), **environment},
            start_new_session=True,
        )
        self.supervisors: list[int] = []
        self.guards: list[int] = []
        self.targets: list[int] = []

    def wait(self) -> None:
        wait_until(lambda: len(list(self.born.iterdir())) == 2 * CLAN)
        self.supervisors = supervisors_of(self.temporary)
        self.guards = [guard_of(self.driver.pid)]
        self.targets = [int(path.name) for path in self.born.iterdir()]
        assert len(self.supervisors) == 2
        assert all(map(is_alive, self.targets))

    def close(self) -> None:
        """Whatever the test has shown, nobody is left."""
        for process in (self.driver.pid, *self.guards, *self.supervisors, *self.targets):
            if is_alive(process):
                os.kill(process, signal.SIGKILL)
        self.driver.wait()


@pytest.fixture
def scene(tmp_path):
    made = []

    def make(method="processes", **environment):
        made.append(Scene(tmp_path, method, **environment))
        made[-1].wait()
        return made[-1]

    yield make
    for each in made:
        each.close()


def seconds_until_gone(processes: list[int]) -> float:
    begun = time.monotonic()
    wait_until(lambda: not any(map(is_alive, processes)))
    return time.monotonic() - begun


def watched_by(guard: int) -> int:
    """How many processes a guard holds a handle of: its driver, and whom it was told to watch."""
    links = [path.readlink() for path in Path(f"/proc/{guard}/fd").iterdir()]
    return sum("pidfd" in str(link) for link in links)


@pytest.mark.parametrize("method", ["cgroup", "processes"])
def test_all_who_were_killed_at_once_leave_nothing_for_a_second(scene, method):
    there = scene(method)
    with Lateness() as late:
        kill_at_once([there.driver.pid, *there.supervisors])
        took = seconds_until_gone(there.targets)
    assert took < 1.0 + 10 * late.worst
    wait_until(lambda: not any(map(is_alive, there.guards)))
    assert not any(there.temporary.iterdir())
    above = own_folder()
    assert above is None or not any(
        path.name.split("-")[3:4] == [str(process)]
        for path in above.glob("cunctator-*")
        for process in there.supervisors
    )


def test_who_kills_the_session_or_the_children_of_a_driver_spares_its_guard(scene):
    there = scene()
    children = Path(f"/proc/{there.driver.pid}/task").glob("*/children")
    of_driver = {int(word) for path in children for word in path.read_text().split()}
    assert set(there.supervisors) <= of_driver and of_driver.isdisjoint(there.guards)
    driver = os.getsid(there.driver.pid)
    assert [os.getsid(process) for process in there.guards] != [driver]
    kill_at_once(of_driver)
    os.killpg(there.driver.pid, signal.SIGKILL)
    seconds_until_gone([*there.targets, *there.guards])


def test_a_fork_of_the_driver_does_not_hide_its_end(scene):
    there = scene(FORK="60")
    tasks = f"/proc/{there.driver.pid}/task/{there.driver.pid}/children"
    wait_until(lambda: len(Path(tasks).read_text().split()) == 1)
    fork = int(Path(tasks).read_text())
    try:
        there.driver.kill()
        seconds_until_gone([*there.targets, *there.supervisors, *there.guards])
        assert is_alive(fork)
    finally:
        os.kill(fork, signal.SIGKILL)


def test_a_guard_that_was_killed_is_replaced(scene):
    there = scene()
    for process in there.guards:
        os.kill(process, signal.SIGKILL)
    wait_until(lambda: [p for p in guards_of(there.driver.pid) if p not in there.guards])
    fresh = guard_of(there.driver.pid)
    wait_until(lambda: watched_by(fresh) == 1 + len(there.supervisors))
    kill_at_once([there.driver.pid, *there.supervisors])
    seconds_until_gone(there.targets)


def test_signals_that_ask_to_end_do_not_end_a_guard(scene):
    there = scene()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        for process in there.guards:
            os.kill(process, number)
    kill_at_once([there.driver.pid, *there.supervisors])
    seconds_until_gone([*there.targets, *there.guards])


def test_one_guard_for_all_supervisors_and_only_as_long_as_there_are_any():
    assert guards_of(os.getpid()) == []
    with Supervisor() as first, Supervisor() as second:
        assert guards_of(os.getpid()) == []
        assert first.run(TRUE).exit_code == second.run(TRUE).exit_code == 0
        first.close()
        assert is_alive(guard_of(os.getpid()))
    wait_until(lambda: not guards_of(os.getpid()))
    assert guard._watched == {} and guard._post is None


def test_drivers_that_end_by_themselves_or_by_ctrl_c_leave_no_guard(tmp_path):
    script = (
        "import sys; from cunctator.target.supervisor import Supervisor\n"
        "from cunctator.target.process import Request\n"
        "supervisor = Supervisor()\n"
        "supervisor.run(Request(('/bin/true',), cap=10.0))\n"
        "print(flush=True); sys.stdin.read()"
    )
    for number in (None, signal.SIGINT):
        with subprocess.Popen(
            [sys.executable, "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "TMPDIR": str(tmp_path), MARK: str(tmp_path)},
        ) as driver:
            driver.stdout.readline()
            guards = [guard_of(driver.pid)]
            if number is not None:
                driver.send_signal(number)
            driver.stdin.close()
        seconds_until_gone(guards)
        wait_until(lambda: not marked(str(tmp_path)) and not any(tmp_path.iterdir()))
