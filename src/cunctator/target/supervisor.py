"""The driver's side of a supervisor: one for each worker slot, used by one thread at a time.

The work is done by a process of its own (`supervise.py`), because only a single-threaded process
that runs one target at a time can own all orphans of its run and know whose CPU time is whose.

If that process is lost, or does not answer in time, whatever it ran is found by a mark in its
environment, or by its control group, and killed; see `sweep.py`. The first process of a run dies
with its supervisor in any case. What could escape is a grandchild that emptied its environment, and
only where there are no control groups.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from cunctator.errors import CunctatorError
from cunctator.target.cgroup import GroupTree
from cunctator.target.channel import (
    Message,
    decoded,
    encoded,
    measurement_from,
    request_message,
)
from cunctator.target.function import LONGEST_IMPORT
from cunctator.target.measurement import Call, Ending, Measurement, Request
from cunctator.target.owner import owner
from cunctator.target.sweep import MARK, folder_prefix, sweep, sweep_stale
from cunctator.target.tree import ProcessTree

METHODS = (GroupTree.method, ProcessTree.method)
"""How runs may be watched; the first that works is used."""

GLANCE = 1.0
"""Seconds between looks at a supervisor that does not answer."""

PATIENCE = 15.0
"""Seconds that a supervisor may take to end its run; it gives up on the run after 10."""

SLACK = 120.0
"""Seconds that a supervisor may take to start, and for all that it does around a run: ending it,
removing what it left, on a machine that has other things to do."""


class SupervisorLost(CunctatorError):
    """The process that supervised a run is gone; the run has been killed, its result is lost."""

    def __init__(self, code: int, *, is_silent: bool = False) -> None:
        self.code = code
        self.is_silent = is_silent
        how = "ended" if code >= 0 else f"was killed by signal {-code}"
        if is_silent:
            how = "did not answer any more and has been killed"
        super().__init__(
            f"the process that supervised a run {how}; what it ran has been killed: run it again"
        )


class Supervisor:
    """Runs targets, one at a time. Use it in a `with` statement, or close it."""

    _methods: tuple[str, ...] = METHODS

    def __init__(self) -> None:
        self.has_answered = False
        """Whether a run has ever been answered: then supervisors can work here."""
        self._lock = threading.Lock()
        self._worker: _Worker | None = None
        self._stopped_at: float | None = None

    def __enter__(self) -> Supervisor:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def run(self, request: Request) -> Measurement:
        """Run a target; blocks until it has ended.

        Raises `SupervisorLost` if the supervisor's process ended before, or fell silent; the next
        run gets a new one. After `stop` nothing is run any more.
        """
        with self._lock:
            if self._stopped_at is not None:
                return Measurement(Ending.STOPPED)
            if self._worker is None:
                try:
                    self._worker = _Worker(self._methods)
                except OSError as error:
                    problem = f"its supervisor cannot be started ({error})"
                    return Measurement(Ending.FAILED_TO_START, problem=problem)
            worker = self._worker
        try:
            answer = worker.ask(request, self._is_overdue)
        except BaseException:  # Ctrl-C too: an answer that nobody waits for must not come later
            self._lose(worker)
            raise
        if answer is None:
            code = self._lose(worker)
            if self._stopped_at is None:
                raise SupervisorLost(code, is_silent=worker.is_silent)
            return Measurement(Ending.STOPPED)
        self.has_answered = True
        if answer["is_last"]:
            self._lose(worker)
        return measurement_from(answer["measurement"])

    def stop(self) -> None:
        """End the current run now, and start no other. May come from another thread."""
        with self._lock:
            if self._stopped_at is None:
                self._stopped_at = time.monotonic()
                if self._worker is not None:
                    self._worker.hang_up()

    def close(self) -> None:
        """Stop, and end the supervisor's process. Not while another thread is in `run`."""
        self.stop()
        if self._worker is not None:
            self._worker.retire(PATIENCE)
            self._worker = None

    def _is_overdue(self) -> bool:
        return self._stopped_at is not None and time.monotonic() > self._stopped_at + PATIENCE

    def _lose(self, worker: _Worker) -> int:
        code = worker.end()
        with self._lock:
            self._worker = None
        return code


class _Worker:
    """A supervisor's process and the channel to it."""

    def __init__(self, methods: tuple[str, ...]) -> None:
        self.is_silent = False
        """Whether it was given up because no answer came."""
        self._identity = secrets.token_hex(8)
        self._greeting: Message | None = None
        place = Path(tempfile.gettempdir())
        prefix = str(place / folder_prefix(self._identity))
        script = Path(__file__).with_name("supervise.py")
        settings = json.dumps([sys.path, prefix, methods])
        self._channel, theirs = socket.socketpair()
        try:
            with theirs:
                self._process = subprocess.Popen(  # noqa: S603 (our own script)
                    [sys.executable, "-P", str(script), str(theirs.fileno()), settings],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    env={**os.environ, MARK: self._identity},
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,  # Ctrl-C is the driver's to handle
                )
        except OSError:
            self._channel.close()
            raise
        self._folder = Path(prefix + owner(self._process.pid))

    def ask(self, request: Request, is_overdue: Callable[[], bool]) -> Message | None:
        """Send a request and wait for the answer; None if there will be none."""
        if self._greeting is None:
            sweep_stale(self._folder.parent)  # while it starts
            self._greeting = self._receive(is_overdue, SLACK)
        if self._greeting is None or not self._send(request_message(request)):
            return None
        importing = LONGEST_IMPORT if isinstance(request.target, Call) else 0.0
        return self._receive(
            is_overdue, importing + request.longest_wall + request.grace + PATIENCE + SLACK
        )

    def hang_up(self) -> None:
        """Tell it to end its run and itself."""
        with suppress(OSError):
            self._channel.shutdown(socket.SHUT_WR)

    def retire(self, seconds: float) -> None:
        """Wait for its end after hanging up; if it does not come so soon or so well, enforce it."""
        try:
            is_clean = self._process.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            is_clean = False
        if is_clean:
            self._channel.close()
        else:
            self.end()

    def end(self) -> int:
        """Kill it unless it has ended, and whatever it may have left; its exit code."""
        self._process.kill()
        code = self._process.wait()
        self._channel.close()
        self._sweep()
        return code

    def _send(self, message: Message) -> bool:
        """Whether it took the message; if it has ended, that shows when no answer comes."""
        self._channel.settimeout(SLACK)
        try:
            self._channel.sendall(encoded(message))
        except TimeoutError:
            self.is_silent = True
        except (BrokenPipeError, ConnectionResetError):
            pass
        return not self.is_silent

    def _receive(self, is_overdue: Callable[[], bool], patience: float) -> Message | None:
        """Wait for a message; None if it has ended, or so many seconds have passed.

        They are counted in glances, so that time in which we were stopped ourselves is none.
        """
        self._channel.settimeout(GLANCE)
        line = bytearray()
        while not line.endswith(b"\n"):
            try:
                piece = self._channel.recv(1 << 16)
            except TimeoutError:
                patience -= GLANCE
                self.is_silent = patience < 0
                if self._process.poll() is None and not is_overdue() and not self.is_silent:
                    continue
                return None
            except ConnectionResetError:
                return None
            if not piece:
                return None
            line += piece
        return decoded(bytes(line))

    def _sweep(self) -> None:
        group = None if self._greeting is None else self._greeting["group"]
        sweep(self._identity, self._folder, None if group is None else Path(group), PATIENCE)
