"""Supervisors come before their targets, and targets cannot change that.

A target with a real-time schedule (SCHED_FIFO, SCHED_RR, SCHED_DEADLINE) keeps every other process
from its CPU, the one that is to end it too; one with the least niceness is nearly as bad. Root may
have either, and others whom the machine's limits allow it. So a supervisor makes itself as urgent
as it may and then gives the right to do so away, for itself and for all that it will ever start:
the capability CAP_SYS_NICE, also for programs that are root's, and the limits RLIMIT_RTPRIO and
RLIMIT_NICE. Where it cannot give the capability away (root without CAP_SETPCAP), targets keep it.
"""

from __future__ import annotations

import ctypes
import os
import resource
import struct
from contextlib import suppress
from pathlib import Path

URGENT = -20
"""Niceness of a supervisor, where that is allowed: it is to be on time however busy the CPUs."""

NICENESS = os.getpriority(os.PRIO_PROCESS, 0)
"""Of the targets: as we were started."""

REAL_TIME = (os.SCHED_FIFO, os.SCHED_RR)

CAP_SYS_NICE = 23
DROP_FROM_BOUNDS = 24
"""For prctl(2): what no program that we or our children start can have."""

CAPABILITIES = 0x20080522
"""The version of the kernel's records of them."""

RLIMIT_NICE, RLIMIT_RTPRIO = 13, 14
"""Python has no names for them."""

_libc = ctypes.CDLL(None, use_errno=True)


def become_urgent() -> None:
    """Take precedence over the targets, if we may (as root); what they use is measured the same.

    Where the kernel shares CPUs between sessions ("autogroup"), ours has to be told apart; else
    hundreds of processes, each in a session of its own, leave us with next to nothing.
    """
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, min(URGENT, NICENESS))
        Path("/proc/self/autogroup").write_text(str(min(URGENT, NICENESS)))


def keep_precedence() -> None:
    """See to it that nothing we start can have what we have, or more."""
    policy = os.sched_getscheduler(0)
    if policy in REAL_TIME:  # as the driver was started: targets begin without it
        with suppress(OSError):
            how = policy | os.SCHED_RESET_ON_FORK
            os.sched_setscheduler(0, how, os.sched_getparam(0))
    for limit in (RLIMIT_NICE, RLIMIT_RTPRIO):
        with suppress(OSError, ValueError):
            resource.setrlimit(limit, (0, 0))
    _libc.prctl(DROP_FROM_BOUNDS, CAP_SYS_NICE, 0, 0, 0)
    _drop_capability(CAP_SYS_NICE)


def _drop_capability(number: int) -> None:
    """Give it up, for the functions that our forks call: these start no program."""
    header = ctypes.create_string_buffer(struct.pack("=Ii", CAPABILITIES, 0))
    held = ctypes.create_string_buffer(struct.calcsize("=6I"))
    if _libc.capget(header, held) != 0:
        return
    words = list(struct.unpack("=6I", held.raw))
    place = 3 * (number // 32)
    for each in range(place, place + 3):  # effective, permitted, inheritable
        words[each] &= ~(1 << number % 32)
    _libc.capset(header, struct.pack("=6I", *words))
