"""The guard's process: a script that `guard.py` starts.

It sleeps until its driver is gone, or sends it home. A driver that is gone leaves supervisors who
end their runs and themselves at once; those who do not were killed too, or are about to be. So all
is over within a second, whatever it was that the driver's end was a part of.

Like `supervise.py` it imports next to nothing before it is told where from.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cunctator.target.sweep import Remains

LAST_WORDS = 0.4
"""Seconds that supervisors have to end their runs once the driver is gone; it takes them 10 ms, if
the machine has a CPU for them."""

SWEEPING = 10.0
"""Seconds to go on killing what does not die."""


class Watch:
    """The supervisors of one driver."""

    def __init__(self) -> None:
        self._remains: dict[str, Remains] = {}
        """By their random words."""
        self._handles: dict[str, int] = {}
        """Of their processes (pidfd); only of those that were there."""
        self._starting: set[str] = set()
        """Whose processes are not known yet."""

    def take(self, line: bytes) -> None:
        """Begin to watch a supervisor, know its process, or let it go."""
        from pathlib import Path

        from cunctator.target.sweep import Remains

        message = json.loads(line)
        identity = message["identity"]
        self._starting.discard(identity)
        if message["is_over"]:
            self._remains.pop(identity, None)
            if identity in self._handles:
                os.close(self._handles.pop(identity))
            return
        group = message["group"]
        folder = Path(message["folder"])
        self._remains[identity] = Remains(identity, folder, None if group is None else Path(group))
        if message["process"] is None:
            self._starting.add(identity)
        else:
            with suppress(OSError):  # if it has ended, there is nothing to wait for
                self._handles[identity] = os.pidfd_open(message["process"])

    def sweep(self) -> None:
        """Sweep at once after those who are gone, then after the others."""
        from cunctator.target.sweep import sweep

        until = time.monotonic() + LAST_WORDS
        while self._remains:
            alive = {handle: each for each, handle in self._handles.items()}
            ended = select.select(list(alive), [], [], 0)[0]
            if time.monotonic() >= until:
                for handle in alive:
                    with suppress(ProcessLookupError):
                        signal.pidfd_send_signal(handle, signal.SIGKILL)
                ended = list(alive)
                self._starting.clear()
            for handle in ended:
                del self._handles[alive[handle]]
            waiting = {*self._handles, *self._starting}
            gone = [each for each in self._remains if each not in waiting]
            if gone:
                sweep([self._remains.pop(each) for each in gone], SWEEPING)
            else:
                handles = list(self._handles.values())
                select.select(handles, [], [], max(until - time.monotonic(), 0.0))


def stand_guard(channel: int, driver: str) -> None:
    """Listen to the driver until it ends, or has nothing more to say; then sweep."""
    from cunctator.target.owner import is_gone, number_of
    from cunctator.target.precedence import become_urgent

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the end of the driver is ours, no other
    become_urgent()
    handle = None
    with suppress(OSError):
        handle = os.pidfd_open(number_of(driver))
    if handle is None or is_gone(driver):
        waiting, patience = [channel], 0.0  # what it said is in the channel
    else:
        waiting, patience = [channel, handle], None
    watch = Watch()
    heard = b""
    # If the driver is gone, the channel ends, unless some fork of it holds it open.
    while channel in select.select(waiting, [], [], patience)[0]:
        piece = os.read(channel, 1 << 16)
        if not piece:
            break
        *lines, heard = (heard + piece).split(b"\n")
        for line in lines:
            watch.take(line)
    watch.sweep()


def main(descriptor: str, settings: str) -> None:
    """Become nobody's child, so that who kills the driver's children spares us; then watch."""
    if os.fork() != 0:
        os._exit(0)
    path, driver = json.loads(settings)
    sys.path[:] = path
    try:
        stand_guard(int(descriptor), driver)
    finally:
        os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
