"""What the tests of processes share: hostile targets, who is left of them, how late we are."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

from cunctator.target.process import Request

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


def wait_until(condition, seconds: float = 20.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.005)


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
