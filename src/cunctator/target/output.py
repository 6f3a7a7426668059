"""What a target prints: read as it comes, of which the first and the last part are kept.

A target may print without end, so what is kept is bounded; a result line stands at the end more
often than not, and what went wrong at the beginning, so the middle is what is left out.
"""

from __future__ import annotations

import os

CHUNK = 1 << 16
"""Bytes, the usual size of a pipe."""


class Stream:
    """The reading end of a pipe, and at most `limit` bytes of what came out of it."""

    def __init__(self, descriptor: int, limit: int) -> None:
        self.descriptor = descriptor
        self.is_open = True
        self._first_limit = limit - limit // 2
        self._last_limit = limit // 2
        self._first = bytearray()
        self._last = bytearray()
        self._total = 0
        os.set_blocking(descriptor, False)

    def read(self) -> bool:
        """Read once, without waiting; whether there may be more right now."""
        try:
            chunk = os.read(self.descriptor, CHUNK)
        except BlockingIOError:
            return False
        if not chunk:
            self.close()
            return False
        self._keep(chunk)
        return True

    def close(self) -> None:
        """Read no more."""
        if self.is_open:
            os.close(self.descriptor)
            self.is_open = False

    @property
    def kept(self) -> bytes:
        """The first and the last part of what came."""
        return bytes(self._first + self._last[-self._last_limit :])

    @property
    def left_out(self) -> int:
        """Bytes between the two parts."""
        return self._total - len(self.kept)

    def _keep(self, chunk: bytes) -> None:
        self._total += len(chunk)
        room = self._first_limit - len(self._first)
        self._first += chunk[:room]
        if self._last_limit:
            self._last += chunk[room:]
            if len(self._last) > 2 * max(self._last_limit, CHUNK):
                del self._last[: -self._last_limit]
