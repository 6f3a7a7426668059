"""Which process a folder belongs to, written into its name, so that others know when it is stale.

A process is named by its machine, its number and the moment it started: numbers come up again. The
machine is this boot of the kernel and this process's view of processes, since containers may share
a folder and yet not see each other. Whoever cannot be seen from here is never taken to be gone.
"""

from __future__ import annotations

import hashlib
import os
import re
from functools import cache
from pathlib import Path

from cunctator.target.tree import ENDED, START, STATE, status_fields

UNKNOWN = "0" * 12
"""A machine that does not say which it is."""

OWNER = re.compile(r"([0-9a-f]{12})-([0-9]{1,10})-([0-9]{1,20})", re.ASCII)


@cache
def machine() -> str:
    """Name this boot of this machine, as seen from this process."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_bytes()
        view = Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return UNKNOWN
    return hashlib.sha256(boot + str(view).encode()).hexdigest()[:12]


def owner(process: int | None = None) -> str:
    """A process of this machine in a word: this one, or a child that has not been reaped."""
    number = os.getpid() if process is None else process
    fields = status_fields(number)
    start = int(fields[START]) if fields else 0
    return f"{machine()}-{number}-{start}"


def number_of(word: str) -> int:
    """The process that a word names."""
    return int(word.split("-")[1])


def is_gone(word: str) -> bool:
    """Whether a word names a process that was here, and surely is no more."""
    match = OWNER.fullmatch(word)
    if match is None or match[1] != machine() or match[1] == UNKNOWN:
        return False
    try:
        fields = status_fields(int(match[2]))
    except OSError:
        return False
    return not fields or fields[STATE] in ENDED or int(fields[START]) != int(match[3])
