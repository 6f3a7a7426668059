"""The first process of a run: a child that becomes the target.

A program is started by a child that shares our memory (`spawn.py`), so that all of the child's CPU
time is the program's, as that of a program which a shell has started.

A function is called in a forked child, which has its memory from us. It reports the moment and its
own CPU time just before it becomes the target, so that nothing before that is charged to the run,
or says why it cannot. It notes its CPU time once more when the function has returned: to drop our
memory at its end takes a millisecond, which is not charged either. Programs are started in this way
too where the other does not work; they drop our memory when they begin, and are charged for it.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import resource
import signal
import struct
import sys
import time
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import NoReturn

from cunctator.target.function import call_function, load_function, load_in_time
from cunctator.target.measurement import FunctionCall, Request
from cunctator.target.precedence import NICENESS
from cunctator.target.spawn import (
    NOT_STARTED,
    SET_PARENT_DEATH_SIGNAL,
    Spawner,
    Strings,
    strings,
    tried_spawner,
)

SET_CHILD_SUBREAPER = 36
"""For prctl(2)."""

BEGUN = b"\0"
"""What the report begins with if the target did; else it is a problem, in words."""

REPORT = struct.Struct("=cqq")
"""`BEGUN`, and nanoseconds: the monotonic clock, and the CPU time used so far."""

NOTE = struct.Struct("=q")
"""The CPU time of a child when its function has returned, and of all that it has reaped."""

_prctl = ctypes.CDLL(None, use_errno=True).prctl


@dataclass(frozen=True, slots=True)
class Child:
    """A started process, and the reading ends of its pipes."""

    process: int
    handle: int
    """A pidfd: readable when the process has ended."""
    stdout: int
    stderr: int
    report: int | None
    """None: there is nothing to report, it has become the target."""
    begun: float
    """When it was started, by the monotonic clock."""


def become_subreaper() -> None:
    """Make orphans among the descendants of this process its own children."""
    if _prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot become a child subreaper")


def wake_at_drivers_death() -> None:
    """Be sent SIGCONT when the driver ends, so that a stopped one learns of it, and ends too.

    Not SIGKILL: whoever is not stopped sees the channel end, and has its run to end before itself.
    The kernel sends it also when the thread ends that started us, and then it must do no harm.
    """
    _prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGCONT, 0, 0, 0)


def die_with_parent(parent: int) -> None:
    """Be killed when the process ends that started us; it may have ended already."""
    _prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(NOT_STARTED)


def launch(request: Request, added: dict[str, str], private: int) -> Child:
    """Start the target of a request.

    `added` goes into its environment; `private` is a descriptor that it must not inherit.
    """
    program = ""
    if isinstance(request.target, FunctionCall):
        if request.directory is not None and request.directory not in sys.path:
            sys.path.insert(0, request.directory)  # as if Python had been started there
        load_in_time(request.target.function)  # imported here, it is not charged to any run
    else:
        program = find_program(request.target[0], added.get("PATH") or os.environ.get("PATH", ""))
        if (made := spawner()) is not None:
            return _spawned(made, program, request, added)
    NOTE.pack_into(_notes(), 0, 0)
    supervisor = os.getpid()
    pipes = [os.pipe() for _ in range(3)]
    begun = time.monotonic()
    try:
        process = os.fork()
        if process == 0:
            _become_target(request, program, added, supervisor, private, pipes)
        handle = _handle(process)
    except OSError:
        for reading, _ in pipes:
            os.close(reading)
        raise
    finally:
        for _, writing in pipes:
            os.close(writing)
    stdout, stderr, report = (reading for reading, _ in pipes)
    return Child(process, handle, stdout, stderr, report, begun)


@cache
def spawner() -> Spawner | None:
    """How programs are started without a copy of our memory; None: it does not work here.

    To be called once before the first run is measured, because a child tries it.
    """
    return tried_spawner(NICENESS)


def _spawned(spawner: Spawner, program: str, request: Request, added: dict[str, str]) -> Child:
    """Start a program without a copy of our memory."""
    assert not isinstance(request.target, FunctionCall)
    limits = {resource.RLIMIT_CORE: 0}
    if request.largest_file is not None:
        limits[resource.RLIMIT_FSIZE] = request.largest_file
    environment = _environment(tuple(added.items()))
    home = _home()
    descriptors: list[int] = []
    try:
        descriptors += os.pipe()
        descriptors += os.pipe()
        stdout, printed, stderr, errors = descriptors
        if request.printed is not None:
            printed = _opened(request.printed)
            descriptors.append(printed)
        if request.directory is not None:
            os.chdir(request.directory)
        output = (printed, errors)
        process, begun = spawner.start(program, request.target, environment, output, limits)
        child = Child(process, _handle(process), stdout, stderr, None, begun)
        descriptors = [each for each in descriptors if each not in (stdout, stderr)]
        return child
    finally:
        os.fchdir(home)
        for descriptor in descriptors:
            os.close(descriptor)


@cache
def _home() -> int:
    """The folder that we were started in."""
    return os.open(".", os.O_PATH | os.O_CLOEXEC)


@lru_cache(maxsize=1)
def _environment(added: tuple[tuple[str, str], ...]) -> Strings:
    if any("=" in name or not name for name, _ in added):
        raise ValueError("illegal environment variable name")
    return strings(f"{name}={value}" for name, value in (os.environ | dict(added)).items())


def _handle(process: int) -> int:
    try:
        return os.pidfd_open(process)
    except OSError:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        raise


def find_program(name: str, path: str) -> str:
    """Where a program is, as a shell would look for it; a name with a slash is a path."""
    if "/" in name:
        return name
    for folder in path.split(os.pathsep):
        place = f"{folder or '.'}/{name}"
        if os.access(place, os.X_OK) and Path(place).is_file():
            return place
    raise FileNotFoundError(errno.ENOENT, "no such program on the PATH", name)


def words(error: Exception, place: str = "") -> str:
    """What an error says, for a user; `place` is what it is about if it does not know."""
    if not isinstance(error, OSError):
        return str(error)
    place = str(error.filename or place)
    return f"{place}: {error.strerror}" if place else str(error.strerror)


def _become_target(
    request: Request,
    program: str,
    added: dict[str, str],
    supervisor: int,
    private: int,
    pipes: list[tuple[int, int]],
) -> NoReturn:
    stdout, stderr, report = (writing for _, writing in pipes)
    try:
        die_with_parent(supervisor)
        os.setpriority(os.PRIO_PROCESS, 0, NICENESS)
        os.setsid()
        os.dup2(stdout if request.printed is None else _opened(request.printed), 1)
        os.dup2(stderr, 2)
        _limit(resource.RLIMIT_CORE, 0)
        if request.largest_file is not None:
            _limit(resource.RLIMIT_FSIZE, request.largest_file)
        if request.directory is not None:
            os.chdir(request.directory)
        os.environ.update(added)
        if isinstance(request.target, FunctionCall):
            _close_own_descriptors()
            _call(request.target, private, pipes)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
            signal.signal(number, signal.SIG_DFL)
        _report(report)
        os.execv(program, request.target)  # noqa: S606 (to start programs is what we are for)
    except (OSError, ValueError) as error:
        os.write(report, words(error, program).encode(errors="backslashreplace"))
    finally:
        os._exit(NOT_STARTED)


def _close_own_descriptors() -> None:
    """Those that programs are started with: they close when a program begins, not with a call."""
    if (made := spawner()) is not None:
        made.close()
    os.close(_home())


def _opened(file: str) -> int:
    return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)


def _limit(what: int, most: int) -> None:
    """Limit a resource of this process and its children, for good."""
    allowed = resource.getrlimit(what)[1]
    most = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
    resource.setrlimit(what, (most, most))


def _call(call: FunctionCall, private: int, pipes: list[tuple[int, int]]) -> NoReturn:
    function = load_function(call.function)
    process, notes, report = os.getpid(), _notes(), pipes[2][1]
    for descriptor in (private, *(end for ends in pipes for end in ends if end != report)):
        os.close(descriptor)
    _report(report)
    os.close(report)
    code = call_function(function, call)
    if os.getpid() == process:  # it may have forked, and let the child return too
        reaped = resource.getrusage(resource.RUSAGE_CHILDREN)
        children = round(1e9 * (reaped.ru_utime + reaped.ru_stime))
        NOTE.pack_into(notes, 0, time.process_time_ns() + children)
    os._exit(code)


@cache
def _notes() -> mmap.mmap:
    """Memory that we share with forked children: the function may close any descriptor."""
    return mmap.mmap(-1, NOTE.size)


def used_until_return() -> float:
    """CPU seconds of the last child when its function had returned; 0 if it did not."""
    return float(NOTE.unpack_from(_notes())[0]) / 1e9


def _report(descriptor: int) -> None:
    os.write(descriptor, REPORT.pack(BEGUN, time.monotonic_ns(), time.process_time_ns()))
