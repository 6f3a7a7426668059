"""What the tests of processes share: hostile targets, who is left of them, how late we are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cunctator.target.owner import owner
from cunctator.target.process import Request
from cunctator.target.tree import ENDED, PARENT, STATE, status_fields

HOSTILE = Path(__file__).parent / "hostile"

MARK = "CUNCTATOR_TEST"


def command(name: str, *arguments: str) -> tuple[str, ...]:
    """A hostile script, started as fast as Python can be."""
    return (sys.executable, "-S", "-E", str(HOSTILE / f"{name}.py"), *arguments)


def request(name: str, *arguments: str, mark: str, **settings) -> Request:
    settings = {"cap": 0.1, "wall_cap": 20.0, "environment": {MARK: mark}} | settings
    return Request(command(name, *arguments), **settings)


def marked(mark: str) -> list[int]:
    """All processes that carry a mark in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{MARK}={mark}".encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def is_alive(process: int) -> bool:
    fields = status_fields(process)
    return bool(fields) and fields[STATE] not in ENDED


def supervisors_of(folder: Path) -> list[int]:
    """Whose temporary folders are in a folder."""
    return [int(path.name.split("-")[3]) for path in folder.iterdir()]


def guards_of(driver: int) -> list[int]:
    """The guards that a driver has, those who are just starting apart: these are its children."""
    word = owner(driver).encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = path.read_bytes()
            process = int(path.parent.name)
            if b"stand_guard.py" in words and word in words and is_alive(process):
                found.append(process)
    return [each for each in found if status_fields(each)[PARENT : PARENT + 1] != [b"%d" % driver]]


def guard_of(driver: int) -> int:
    """The one guard that a driver has, as soon as it is there."""
    wait_until(lambda: len(guards_of(driver)) == 1)
    return guards_of(driver)[0]


def kill_at_once(processes: Iterable[int]) -> None:
    """None of them can do anything about the end of another."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for process in processes:
            os.kill(process, number)


def wait_until(condition, seconds: float = 20.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.005)


@contextmanager
def driver_of(command: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A driver in a process of its own, killed at last: a test that fails must not wait for it."""
    with subprocess.Popen(command, env=environment) as driver:
        try:
            yield driver
        finally:
            driver.kill()


class Lateness:
    """How late this machine wakes up whoever sleeps, at worst, while something is going on.

    Tests of how soon something happens are unfair on a machine that has no time for it.
    """

    def __enter__(self) -> Lateness:
        self.worst = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.is_set():
            begun = time.monotonic()
            time.sleep(0.002)
            self.worst = max(self.worst, time.monotonic() - begun - 0.002)
