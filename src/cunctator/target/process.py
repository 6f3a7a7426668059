"""One process tree under a cap: started, watched, ended, measured. Runs inside a supervisor.

Enforcement is our own watch: caps are milliseconds or hours, and the kernel's limits on CPU time
are whole seconds of one process. Between two looks the watch sleeps for as long as the cap cannot
be reached, and wakes up at once when the first process ends, prints, or the run is to be stopped.

Memory is watched by looking as well, every 10 ms. There is no limit on address space besides:
many runtimes reserve far more of it than they ever touch, and would fail under a limit that says
nothing about their memory. A process can touch new memory at a few GB a second at most, so that
what is used beyond the limit between two looks is some tens of MB.
"""

from __future__ import annotations

import os
import select
import signal
import time
from dataclasses import dataclass, replace
from pathlib import Path

from cunctator.base.errors import CunctatorError
from cunctator.target.cgroup import remove_groups_below
from cunctator.target.folder import empty_folder
from cunctator.target.idle_watch import IDLE, IdleWatch
from cunctator.target.launch import BEGUN, REPORT, launch, used_until_return, words
from cunctator.target.measurement import Ending, FunctionCall, Measurement, Request
from cunctator.target.memory import MemoryWatch
from cunctator.target.output import Stream
from cunctator.target.tree import Sight, Tree, send

__all__ = ["Ending", "FunctionCall", "Measurement", "Request", "Surroundings", "run_process"]

CPUS = os.cpu_count() or 1

SHORTEST_PAUSE, LONGEST_PAUSE = 0.001, 0.01
"""Seconds between looks near the cap: the shortest while CPU time is being used."""

MEMORY_PAUSE = 0.01
"""Seconds between looks at most, if memory is limited."""

LONGEST_WAIT = 3600.0
"""Seconds: the kernel takes no infinite ones."""

UNKILLABLE = 10.0
"""Seconds after which we no longer wait for killed processes to be gone."""

REPORT_LIMIT = 2000
"""Bytes of what a child says before it becomes the target."""

LONGEST_END = 0.1
"""Seconds of CPU time that the end of a function's process can take; what claims to take longer is
charged, whoever says that it is none of the target's."""

LAST_READS = 64
"""Of what is left in a pipe once all are gone, in case somebody else goes on filling it."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a supervisor gives to each of its runs."""

    channel: int
    """A descriptor: readable when the run is to be stopped. The target does not inherit it."""
    folder: Path
    """Temporary; emptied after each run."""
    group: Path | None
    """The control group that the supervisor is in; None: it has none of its own."""


def run_process(request: Request, surroundings: Surroundings, tree: Tree) -> Measurement:
    """Run the target of a request to its end, or to ours; nothing of it is left afterwards.

    `tree` has to be new: it counts what has been used since it was made.
    """
    group = surroundings.group
    try:
        measurement = _Run(request, surroundings, tree).run()
    except (OSError, ValueError, CunctatorError) as error:
        host = os.uname().nodename
        return Measurement(Ending.FAILED_TO_START, host=host, problem=words(error))
    if group is not None:
        remove_groups_below(group)
    try:
        empty_folder(surroundings.folder)
    except OSError as error:
        problem = f"its temporary folder cannot be emptied: {words(error)}"
        return replace(measurement, problem=measurement.problem or problem)
    return measurement


class _Run:
    """A run in progress."""

    def __init__(self, request: Request, surroundings: Surroundings, tree: Tree) -> None:
        self.request = request
        self.tree = tree
        self.channel = surroundings.channel
        added = {"TMPDIR": str(surroundings.folder), **(request.environment or {})}
        self.child = launch(request, added, surroundings.channel)
        self.begun = self.child.begun
        self.stdout = Stream(self.child.stdout, request.output)
        self.stderr = Stream(self.child.stderr, request.output)
        self.streams = [self.stdout, self.stderr]
        self.report: Stream | None = None
        if self.child.report is not None:
            self.report = Stream(self.child.report, REPORT_LIMIT)
            self.streams.append(self.report)
        self.has_begun = self.report is None
        self.is_stopped = False
        self.ended: float | None = None
        """When the first process did."""
        self.status: int | None = None
        """Of the first process."""
        self.used = 0.0
        """By the first process, and by all that it has reaped, from its start to its end."""
        self.cpu = 0.0
        """Seen so far."""
        self.looked = self.begun
        self.idle = IdleWatch(request.idle_cap, self.begun)
        self.memory = MemoryWatch(request.memory)
        self.least_pause = SHORTEST_PAUSE
        self.next_look = self.begun + self._pause(1)
        self.peak_memory = 0
        self.problem = ""

    def run(self) -> Measurement:
        try:
            ending = self._watch()
            if ending in (Ending.CAP, Ending.WALL):
                self._ask_to_end()
        finally:
            self._kill_all()
            gone = time.monotonic()
            self._read_the_rest()
            os.close(self.child.handle)
        if ending is Ending.EXITED and self.ended is not None:
            gone = self.ended
        return self._measurement(ending, gone - self.begun)

    def _watch(self) -> Ending:
        """Wait until it ends by itself, or has to be ended."""
        request = self.request
        limit = request.longest_wall
        is_cap = request.objective == "wall" and limit == request.cap
        at_limit = Ending.CAP if is_cap else Ending.WALL
        while True:
            self._wait(min(self.next_look, self.begun + limit) - time.monotonic())
            if self.ended is not None:
                return Ending.EXITED
            if self.is_stopped:
                return Ending.STOPPED
            now = time.monotonic()
            if now >= self.begun + limit:
                return at_limit
            if now >= self.next_look and (ending := self._look(now)):
                return ending

    def _wait(self, seconds: float) -> None:
        """Read what is printed until something happens, at most so long."""
        streams = [stream for stream in self.streams if stream.is_open]
        waiting = [stream.descriptor for stream in streams]
        if not self.is_stopped:
            waiting.append(self.channel)
        if self.ended is None:
            waiting.append(self.child.handle)
        ready = select.select(waiting, [], [], min(max(seconds, 0.0), LONGEST_WAIT))[0]
        for stream in streams:
            if stream.descriptor in ready:
                stream.read()
        if self.channel in ready:
            self.is_stopped = True
        if self.child.handle in ready:
            self.ended = time.monotonic()
        if not self.has_begun:
            self._read_report()

    def _read_report(self) -> None:
        """All that happened before the target began is not charged to it."""
        report = b"" if self.report is None else self.report.kept
        if report.startswith(BEGUN):
            _, begun, used = REPORT.unpack(report[: REPORT.size])
            self.begun = self.looked = begun / 1e9
            self.idle = IdleWatch(self.request.idle_cap, self.begun)
            self.tree.discount(used / 1e9)
            self.next_look = self.begun + self._pause(1)
            self.has_begun = True

    def _look(self, now: float) -> Ending | None:
        """See what they have used, and whether that is too much; when to look again."""
        request = self.request
        self._reap()
        if self.ended is not None:
            return Ending.EXITED
        sight = self.tree.look()
        if self._is_too_large(sight):
            return Ending.MEMORY
        cpu = max(self.cpu, sight.cpu)
        is_idle = cpu - self.cpu < IDLE * (now - self.looked)
        self.least_pause = min(2 * self.least_pause, LONGEST_PAUSE) if is_idle else SHORTEST_PAUSE
        self.cpu, self.looked = cpu, now
        if request.objective == "cpu" and cpu >= request.cap:
            return Ending.CAP
        if self.idle.look(now, cpu, self.tree.members):
            return Ending.WALL
        self.next_look = now + self._pause(sight.threads)
        return None

    def _is_too_large(self, sight: Sight) -> bool:
        size = self.memory.size(sight.memory, sight.processes)
        self.peak_memory = max(self.peak_memory, size)
        return self.request.memory is not None and size > self.request.memory

    def _pause(self, threads: int) -> float:
        """Seconds for which the cap cannot be reached.

        That is by the threads there are now; new ones are believed to come no sooner than after
        10 ms, as looking that often is cheap enough, however many CPUs there are.
        """
        pause = min(LONGEST_WAIT, self.idle.period, self.tree.patience)
        if self.request.objective == "cpu":
            remaining = self.request.cap - self.cpu
            pause = min(pause, remaining / max(1, min(threads, CPUS)))
            pause = min(pause, max(remaining / CPUS, LONGEST_PAUSE))
            pause = max(pause, self.least_pause)
        return pause if self.request.memory is None else min(pause, MEMORY_PAUSE)

    def _reap(self) -> bool:
        """Take leave of all who have ended; whether nobody is left."""
        while True:
            try:
                process, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if process == 0:
                return False
            self.peak_memory = max(self.peak_memory, usage.ru_maxrss * 1024)
            if process == self.child.process:
                self.status = status
                self.used = usage.ru_utime + usage.ru_stime
                self.ended = self.ended or time.monotonic()

    def _ask_to_end(self) -> None:
        """Send SIGTERM, and wait until all are gone or the grace is over."""
        send(self.tree.members(), signal.SIGTERM)
        until = time.monotonic() + self.request.grace
        while not self._reap() and not self.is_stopped:
            remaining = until - time.monotonic()
            if remaining <= 0:
                return
            if self.request.memory is not None and self._is_too_large(self.tree.look()):
                return
            self._wait(min(remaining, SHORTEST_PAUSE))

    def _kill_all(self) -> None:
        """Send SIGKILL until nobody is left."""
        until = time.monotonic() + UNKILLABLE
        while not self._reap():
            if time.monotonic() > until:
                left = self.tree.members()
                self.problem = f"processes {left} are still there {UNKILLABLE:g} s after SIGKILL"
                return
            self.tree.kill()
            self._wait(SHORTEST_PAUSE)

    def _read_the_rest(self) -> None:
        for stream in self.streams:
            for _ in range(LAST_READS):
                if not stream.is_open or not stream.read():
                    break
            stream.close()
        if not self.has_begun:
            self._read_report()
        self._discount_the_end()

    def _discount_the_end(self) -> None:
        """What happened after a function returned is not charged to it."""
        if isinstance(self.request.target, FunctionCall) and (used := used_until_return()) > 0.0:
            after = self.used - used
            if 0.0 < after < LONGEST_END:
                self.tree.discount(after)

    def _measurement(self, ending: Ending, wall: float) -> Measurement:
        request = self.request
        cpu = max(self.cpu, self.tree.final_cpu())
        spent = cpu if request.objective == "cpu" else wall
        report = b"" if self.report is None else self.report.kept
        problem = report[REPORT.size if self.has_begun else 0 :].decode(errors="replace")
        if ending is Ending.EXITED and (problem or not self.has_begun):
            ending = Ending.FAILED_TO_START
            problem = problem or "it ended before it could be started"
        elif ending is Ending.EXITED and spent >= request.cap:
            ending = Ending.CAP
        code = None if self.status is None else os.waitstatus_to_exitcode(self.status)
        return Measurement(
            ending,
            cpu=max(cpu, 0.0),
            wall=max(wall, 0.0),
            idle=self.idle.seconds,
            exit_code=code if code is not None and code >= 0 else None,
            signal=-code if code is not None and code < 0 else None,
            peak_memory=self.peak_memory,
            overshoot=max(spent - request.cap, 0.0),
            method=self.tree.method,
            doubt=self.tree.doubt(),
            stdout=self.stdout.kept,
            stderr=self.stderr.kept,
            stdout_left_out=self.stdout.left_out,
            stderr_left_out=self.stderr.left_out,
            host=os.uname().nodename,
            problem=problem or self.problem,
        )
