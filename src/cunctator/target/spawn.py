"""A program started without a copy of our memory: what `posix_spawn` does, and a little more.

A forked child has a copy of its parent's memory until it becomes the target. To drop that copy is
part of becoming it, and takes half a millisecond of CPU time that no clock can tell from the
target's own. So the child shares our memory instead, and we wait until it has become the target
(`CLONE_VM` and `CLONE_VFORK`). `posix_spawn` does just that, but its children cannot ask to be
killed when their parent ends, and nobody can ask that for them.

A child that shares our memory must not run Python. It runs the C library alone: `makecontext` makes
a context that calls a function and then goes on in another context. So the calls that the child has
to make are a chain, with `execve` near its end. Nothing can be decided within a chain: whatever may
be refused is done by us beforehand, or shows afterwards in our memory.

All this rests on what C libraries and kernels do, not on what they promise. So a forked child tries
it first: where it crashes or hangs, we start programs in another way.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import resource
import select
import signal
import socket
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

SHARED_MEMORY, UNTIL_EXEC = 0x100, 0x4000
"""CLONE_VM and CLONE_VFORK, for clone(2)."""

SET_PARENT_DEATH_SIGNAL = 1
"""For prctl(2)."""

NOT_STARTED = 127
"""Exit code of a child that could not become what it was started for."""

PREPARATIONS, LINKS = 11, 14
"""Calls that a child makes before `execve`, in which no signal may interrupt it, and in all."""

LARGEST_CONTEXT, STACK = 1 << 13, 1 << 14
"""Bytes for each call. The largest context that is known has 4.5 thousand, and what is called needs
some hundreds on its stack."""

LONGEST_TRIAL = 10.0
"""Seconds after which a trial that has not ended hangs; it takes a millisecond."""

Limits = Mapping[int, int]
"""The most that a program may use of some resources, such as `resource.RLIMIT_CORE`."""

Calls = list[tuple[Any, ...]]
"""Each a function of the C library, and its arguments."""

Strings = ctypes.Array[ctypes.c_char_p]

_number = ctypes.c_long

_Signals = ctypes.c_ulong * (1024 // 8 // ctypes.sizeof(ctypes.c_ulong))
"""A `sigset_t`."""

ALL_SIGNALS = _Signals(*[2 ** (8 * ctypes.sizeof(ctypes.c_ulong)) - 1] * len(_Signals()))


class _Stack(ctypes.Structure):
    _fields_ = (("start", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t))


class _Context(ctypes.Structure):
    """The beginning of an `ucontext_t`, which is the same everywhere."""

    _fields_ = (("flags", ctypes.c_ulong), ("next", ctypes.c_void_p), ("stack", _Stack))


class _Limit(ctypes.Structure):
    """A `struct rlimit`."""

    _fields_ = (("soft", ctypes.c_ulong), ("hard", ctypes.c_ulong))


class Spawner:
    """Starts programs. Raises OSError when it is made where that cannot work."""

    def __init__(self, niceness: int) -> None:
        self._library = library = ctypes.CDLL(None, use_errno=True)
        try:
            self._clone, self._make_context = library.clone, library.makecontext
            self._go_on_in = ctypes.cast(library.setcontext, ctypes.c_void_p)
            self._contexts = self._made_contexts()
        except AttributeError as error:
            raise OSError(errno.ENOSYS, "the C library has no contexts") from error
        self._ours, self._theirs = socket.socketpair()
        self._has_failed = ctypes.c_bool()
        self._same_calls = self._made_calls(niceness)
        self._probe()

    def close(self) -> None:
        """Leave nothing open; whoever was started goes on."""
        self._ours.close()
        self._theirs.close()

    def _made_contexts(self) -> list[ctypes.c_void_p]:
        """One for each call, each with its successor and a stack; and a stack for the first."""
        self._memory = mmap.mmap(-1, LINKS * LARGEST_CONTEXT + (LINKS + 1) * STACK)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        places = [start + number * LARGEST_CONTEXT for number in range(LINKS)]
        self._first_stack = ctypes.c_void_p(start + len(self._memory) - mmap.PAGESIZE)
        for number, place in enumerate(places):
            # A context goes on with the signals blocked that were when it was made.
            blocked = signal.valid_signals() if number < PREPARATIONS else set()
            before = signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            self._library.getcontext(ctypes.c_void_p(place))
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            context = _Context.from_address(place)
            context.next = places[number + 1] if number + 1 < LINKS else None
            context.stack = _Stack(start + LINKS * LARGEST_CONTEXT + number * STACK, 0, STACK)
        return [ctypes.c_void_p(place) for place in places]

    def _probe(self) -> None:
        """See whether it works: what cannot be started must be refused, and in the right words."""
        try:
            self.start("", [""], strings([]), (1, 2), {})
        except FileNotFoundError:
            return
        raise OSError(errno.ENOSYS, "the contexts of the C library cannot be used")

    def start(
        self,
        program: str,
        arguments: Sequence[str],
        environment: Strings,
        output: tuple[int, int],
        limits: Limits,
    ) -> tuple[int, float]:
        """Start a program, in a session of its own; its process, and the moment on the clock.

        `environment` has items like NAME=value; `output` becomes its standard output and error.
        Raises OSError if it cannot be started, and ValueError if there is a null byte in a string.
        """
        path, words = _string(program), strings(arguments)
        core, size = _limit(resource.RLIMIT_CORE, limits), _limit(resource.RLIMIT_FSIZE, limits)
        call, failed = self._library, self._has_failed
        calls: Calls = [
            (call.setrlimit, _number(resource.RLIMIT_CORE), ctypes.byref(core)),
            (call.setrlimit, _number(resource.RLIMIT_FSIZE), ctypes.byref(size)),
            (call.dup2, _number(output[0]), _number(1)),
            (call.dup2, _number(output[1]), _number(2)),
            *self._same_calls,
            (call.execve, path, words, environment),
            (call.memset, ctypes.byref(failed), _number(1), _number(1)),
            (call._exit, _number(NOT_STARTED)),
        ]
        return self._run(calls, program)

    def _made_calls(self, niceness: int) -> Calls:
        """Those that are the same for all programs.

        Our parent may have ended before the kernel was told to kill us with it. Then nobody has the
        other end of a socket once we have closed our copy of it. To send something there, if only
        nothing, earns a SIGPIPE, which kills us as soon as signals are no longer blocked.
        """
        call = self._library
        return [
            (call.setpriority, _number(os.PRIO_PROCESS), _number(0), _number(niceness)),
            (call.setsid,),
            (call.signal, _number(signal.SIGXFSZ), _number(signal.SIG_DFL)),
            (call.signal, _number(signal.SIGPIPE), _number(signal.SIG_DFL)),
            (call.prctl, _number(SET_PARENT_DEATH_SIGNAL), _number(signal.SIGKILL)),
            (call.close, _number(self._ours.fileno())),
            (call.send, _number(self._theirs.fileno()), None, _number(0), _number(0)),
        ]

    def _run(self, calls: Calls, program: str) -> tuple[int, float]:
        """Have a child make these calls, and wait until it shares our memory no more."""
        for context, (function, *values) in zip(self._contexts, calls, strict=True):
            self._make_context(context, function, len(values), *values)
        flags = SHARED_MEMORY | UNTIL_EXEC | signal.SIGCHLD
        # Python's own way to block signals takes ten times as long as all else here.
        block, before = self._library.pthread_sigmask, _Signals()
        block(signal.SIG_SETMASK, ctypes.byref(ALL_SIGNALS), ctypes.byref(before))
        self._has_failed.value = False
        begun = time.monotonic()
        process: int = self._clone(self._go_on_in, self._first_stack, flags, self._contexts[0])
        number = ctypes.get_errno()
        block(signal.SIG_SETMASK, ctypes.byref(before), None)
        if process < 0:
            raise OSError(number, os.strerror(number))
        if self._has_failed:
            os.waitpid(process, 0)
            raise OSError(number, os.strerror(number), program)
        return process, begun


def tried_spawner(niceness: int) -> Spawner | None:
    """A spawner, if one works here."""
    trial = os.fork()
    if trial == 0:
        try:
            Spawner(niceness)
            os._exit(0)
        finally:
            os._exit(1)
    handle = os.pidfd_open(trial)
    try:
        if not select.select([handle], [], [], LONGEST_TRIAL)[0]:
            os.kill(trial, signal.SIGKILL)
    finally:
        os.close(handle)
    return Spawner(niceness) if os.waitpid(trial, 0)[1] == 0 else None


def strings(items: Iterable[str]) -> Strings:
    """Strings of C, and a null pointer after them."""
    pointers = [_string(item) for item in items]
    return (ctypes.c_char_p * (len(pointers) + 1))(*pointers)


def _string(item: str) -> ctypes.c_char_p:
    encoded = os.fsencode(item)
    if b"\0" in encoded:
        raise ValueError("embedded null byte")
    return ctypes.c_char_p(encoded)


def _limit(what: int, limits: Limits) -> _Limit:
    """A limit for good, if there is to be one; else what there is now."""
    soft, hard = resource.getrlimit(what)
    if what in limits:
        soft = hard = limits[what] if hard == resource.RLIM_INFINITY else min(limits[what], hard)
    return _Limit(soft, hard)
