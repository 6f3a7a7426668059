"""The driver's side of a supervisor: one for each worker slot, used by one thread at a time.

The work is done by a process of its own (`supervise.py`), because only a single-threaded process
that runs one target at a time can own all orphans of its run and know whose CPU time is whose.

If that process is lost or stopped, or does not answer in time, whatever it ran is found by its mark
(`mark.py`) or by its control group, and killed; see `sweep.py`. If the driver is lost as well, its
guard does that (`guard.py`). The first process of a run dies with its supervisor in any case.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
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

from cunctator.base.errors import CunctatorError
from cunctator.target.cgroup import GroupTree, own_folder
from cunctator.target.channel import (
    Message,
    decoded,
    encoded,
    measurement_from,
    request_message,
)
from cunctator.target.function import LONGEST_IMPORT
from cunctator.target.guard import guard
from cunctator.target.mark import MARK
from cunctator.target.measurement import Ending, FunctionCall, Measurement, Request
from cunctator.target.owner import owner
from cunctator.target.sweep import Remains, folder_prefix, sweep, sweep_stale
from cunctator.target.tree import STATE, STOPPED, ProcessTree, status_fields

METHODS = (GroupTree.method, ProcessTree.method)
"""How runs may be watched; the first that works is used."""

GLANCE = 0.5
"""Seconds between looks at a supervisor that does not answer. One that is found stopped (SIGSTOP)
twice in a row is given up: a run without a watch has no cap. Once is not enough, since whoever
stops and continues all of us may continue the driver first."""

PATIENCE = 15.0
"""Seconds that a supervisor may take to end its run; it gives up on the run after 10."""

SLACK = 120.0
"""Seconds that a supervisor may take to start, and for all that it does around a run: ending it,
removing what it left, on a machine that has other things to do."""


class SupervisorLost(CunctatorError):
    """The process that supervised a run is gone; the run has been killed, its result is lost."""

    def __init__(self, code: int, given_up: str = "") -> None:
        self.code = code
        how = "ended" if code >= 0 else f"was killed by signal {-code}"
        if given_up:
            how = f"{given_up} and has been killed"
        super().__init__(
            f"the process that supervised a run {how}; what it ran has been killed: run it again"
        )


class Supervisor:
    """Runs targets, one at a time. Use it in a `with` statement, or close it."""

    _methods: tuple[str, ...] = METHODS

    def __init__(self) -> None:
        self.has_responded = False
        """Whether a run has ever been answered: then supervisors can work here."""
        self._lock = threading.Lock()
        self._worker: _Worker | None = None
        self._is_guarded = False
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
                if not self._is_guarded:
                    guard.join()
                    self._is_guarded = True
                try:
                    self._worker = _Worker(self._methods)
                except OSError as error:
                    problem = f"its supervisor cannot be started ({error})"
                    return Measurement(Ending.FAILED_TO_START, problem=problem)
            worker = self._worker
        try:
            response = worker.ask(request, self._is_overdue)
        except BaseException:  # Ctrl-C too: an answer that nobody waits for must not come later
            self._lose(worker)
            raise
        if response is None:
            code = self._lose(worker)
            if self._stopped_at is None:
                raise SupervisorLost(code, worker.given_up)
            return Measurement(Ending.STOPPED)
        self.has_responded = True
        if response["is_last"]:
            self._lose(worker)
        return measurement_from(response["measurement"])

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
        if self._is_guarded:
            guard.leave()
            self._is_guarded = False

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
        self.given_up = ""
        """Why we do not wait for it any longer, if so."""
        self._was_stopped = False
        """At the last glance."""
        self._identity = secrets.token_hex(8)
        self._greeting: Message | None = None
        place = Path(tempfile.gettempdir())
        prefix = str(place / folder_prefix(self._identity))
        script = Path(__file__).with_name("supervise.py")
        settings = json.dumps([sys.path, prefix, methods])
        guard.watch(None, Remains(self._identity, Path(prefix), None))
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
            guard.forget(self._identity)
            raise
        self._folder = Path(prefix + owner(self._process.pid))
        above = own_folder()
        group = None if above is None else above / self._folder.name
        try:
            guard.watch(self._process.pid, Remains(self._identity, self._folder, group))
        except OSError:
            self.end()
            raise

    def ask(self, request: Request, is_overdue: Callable[[], bool]) -> Message | None:
        """Send a request and wait for the answer; None if there will be none."""
        if self._greeting is None:
            sweep_stale(self._folder.parent)  # while it starts
            self._greeting = self._receive(is_overdue, SLACK)
        if self._greeting is None or not self._send(request_message(request), is_overdue):
            return None
        importing = LONGEST_IMPORT if isinstance(request.target, FunctionCall) else 0.0
        return self._receive(
            is_overdue, importing + request.longest_wall + request.grace + PATIENCE + SLACK
        )

    def hang_up(self) -> None:
        """Tell it to end its run and itself."""
        with suppress(OSError):
            self._channel.shutdown(socket.SHUT_WR)
            self._process.send_signal(signal.SIGCONT)  # in case that it is stopped

    def retire(self, seconds: float) -> None:
        """Wait for its end after hanging up; if it does not come so soon or so well, enforce it."""
        try:
            is_clean = self._process.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            is_clean = False
        if is_clean:
            self._channel.close()
            guard.forget(self._identity)
        else:
            self.end()

    def end(self) -> int:
        """Kill it unless it has ended, and whatever it may have left; its exit code."""
        self._process.kill()
        code = self._process.wait()
        self._channel.close()
        self._sweep()
        guard.forget(self._identity)
        return code

    def _send(self, message: Message, is_overdue: Callable[[], bool]) -> bool:
        """Whether it took the message; if it has ended, that shows when no answer comes."""
        self._channel.settimeout(GLANCE)
        patience = SLACK
        rest = memoryview(encoded(message))
        while rest:
            try:
                rest = rest[self._channel.send(rest) :]
            except TimeoutError:
                patience -= GLANCE
                if self._is_hopeless(is_overdue, patience):
                    return False
            except (BrokenPipeError, ConnectionResetError):
                break
        return True

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
                if self._is_hopeless(is_overdue, patience):
                    return None
                continue
            except ConnectionResetError:
                return None
            if not piece:
                return None
            line += piece
        return decoded(bytes(line))

    def _is_hopeless(self, is_overdue: Callable[[], bool], patience: float) -> bool:
        """Glance at it, with so much patience left; whether there is no point in waiting."""
        guard.check()
        fields = status_fields(self._process.pid)
        is_stopped = bool(fields) and fields[STATE] == STOPPED
        if is_stopped and self._was_stopped:
            self.given_up = "was stopped (SIGSTOP), did not answer any more"
        elif patience < 0:
            self.given_up = "did not answer any more"
        self._was_stopped = is_stopped
        return bool(self.given_up) or self._process.poll() is not None or is_overdue()

    def _sweep(self) -> None:
        group = None if self._greeting is None else self._greeting["group"]
        remains = Remains(self._identity, self._folder, None if group is None else Path(group))
        sweep([remains], PATIENCE)
