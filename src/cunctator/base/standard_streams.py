"""What is printed, when nobody reads it any more.

A pipe may lose its reader (`| head -1`; Ctrl-C ends `| tee log` before us), a terminal may go, and
some programs are started without standard streams. That is no reason to end otherwise than in good
order: what cannot be delivered is dropped. A full disk is another matter, and stays an error.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

GONE = frozenset([errno.EPIPE, errno.EBADF, errno.EIO])
"""What writing fails with when the other side has gone."""


class PatientFile(io.FileIO):
    """A file that takes no offence when its reader goes: whatever wraps it never hears of it."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write, or drop it."""
        try:
            return super().write(data)
        except OSError as error:
            if error.errno not in GONE:
                raise
            return memoryview(data).nbytes


def open_missing() -> None:
    """Open what is missing of the three standard streams.

    A file that is opened later would get its number, and what is meant for people.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the least number that is free


def make_patient() -> None:
    """Let standard output and standard error take no offence; names in them may hold anything."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            raw = PatientFile(stream.fileno(), "w", closefd=False)
            patient = io.TextIOWrapper(
                io.BufferedWriter(raw),
                encoding=stream.encoding,
                errors="backslashreplace",
                line_buffering=stream.line_buffering,
            )
            setattr(sys, name, patient)


def say(words: str) -> None:
    """A line on standard error, from a signal handler."""
    with suppress(OSError):
        os.write(2, f"cunctator: {words}\n".encode())
