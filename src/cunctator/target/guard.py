"""The driver's side of its guard: a process that outlives it for as long as it takes to sweep.

If the driver dies, its supervisors end their runs; if a supervisor dies, the driver sweeps. If all
die at once (whoever is short of memory kills by name, or a whole job), nobody of them can. So there
is one more process, in a session of its own and nobody's child, which does nothing until the driver
is gone (`stand_guard.py`). A driver has one for all its supervisors, from its first run until the
last supervisor is closed. If somebody kills it, there is a new one within a second.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

from cunctator.target.channel import Message, encoded
from cunctator.target.owner import owner
from cunctator.target.sweep import Remains

PASSED_ON = ("PYTHON", "LD_")
"""Variables that an interpreter may need to start at all; the others do not concern a guard, least
of all marks."""

PATIENCE = 2.0
"""Seconds to wait until it takes a message, or for its end; if that takes longer, it ends without
us."""


class Guard:
    """At most one process, for whoever has joined. Used by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._joined = 0
        self._watched: dict[str, Message] = {}
        """By the supervisors' random words."""
        self._post: _Post | None = None

    def join(self) -> None:
        """Have a guard from now on, until as many have left as have joined."""
        with self._lock:
            self._joined += 1

    def leave(self) -> None:
        """The last one to leave sends the guard home."""
        with self._lock:
            self._joined -= 1
            if self._joined == 0 and self._post is not None:
                self._post.close()
                self._post = None

    def watch(self, process: int | None, remains: Remains) -> None:
        """Tell it of a supervisor, and of what might be left of that.

        Before the supervisor is started, so that none is ever without a guard, and again when its
        process is known. Raises OSError if there is no guard and none can be started.
        """
        group = remains.group
        message = {
            "identity": remains.identity,
            "is_over": False,
            "process": process,
            "folder": str(remains.folder),
            "group": None if group is None else str(group),
        }
        with self._lock:
            self._watched[remains.identity] = message
            try:
                self._tell(message)
            except OSError:
                del self._watched[remains.identity]
                raise

    def forget(self, identity: str) -> None:
        """A supervisor has ended, and nothing is left of it."""
        with self._lock:
            if self._watched.pop(identity, None) is not None:
                with suppress(OSError):  # a new one would be told of nothing that is over
                    self._tell({"identity": identity, "is_over": True})

    def check(self) -> None:
        """Put a new guard in the place of one that was killed, as far as possible."""
        with self._lock, suppress(OSError):
            if self._watched:
                self._stand()

    def _tell(self, message: Message) -> None:
        post = self._stand()
        try:
            post.channel.sendall(encoded(message))
        except OSError:  # it has ended since, or does not listen
            self._relieve()

    def _stand(self) -> _Post:
        """The guard that is there, or a new one."""
        if self._post is not None and self._post.is_held():
            return self._post
        return self._relieve()

    def _relieve(self) -> _Post:
        """A new guard, who knows all that the old one knew."""
        if self._post is not None:
            self._post.close()
            self._post = None
        self._post = _Post()
        for message in self._watched.values():
            self._post.channel.sendall(encoded(message))
        return self._post


class _Post:
    """The guard's process and the channel to it."""

    def __init__(self) -> None:
        self._driver = os.getpid()
        script = Path(__file__).with_name("stand_guard.py")
        self.channel, theirs = socket.socketpair()
        self.channel.settimeout(PATIENCE)
        settings = json.dumps([sys.path, owner()])
        try:
            with theirs:
                self._starter = subprocess.Popen(  # noqa: S603 (our own script)
                    [sys.executable, "-P", str(script), str(theirs.fileno()), settings],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,  # the user's may be a pipe whose end is waited for
                    env={
                        name: value
                        for name, value in os.environ.items()
                        if name.startswith(PASSED_ON)
                    },
                    cwd="/",
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
        except OSError:
            self.channel.close()
            raise

    def is_held(self) -> bool:
        """Whether it is there, and is ours rather than that of a process we were forked from."""
        if self._driver != os.getpid():
            return False
        self._starter.poll()  # it ends at once
        self.channel.settimeout(0.0)
        try:
            self.channel.recv(1)  # it says nothing: at most that it has ended
        except BlockingIOError:
            return True
        except OSError:
            pass
        finally:
            self.channel.settimeout(PATIENCE)
        return False

    def close(self) -> None:
        """Send it home, and wait until it is gone; it says nothing, but its channel ends."""
        with self.channel, suppress(OSError):
            if self._driver != os.getpid():
                return
            self.channel.shutdown(socket.SHUT_WR)
            try:
                self._starter.wait(PATIENCE)
            except subprocess.TimeoutExpired:  # somebody has stopped it
                self._starter.kill()
                self._starter.wait()
            self.channel.recv(1)


guard = Guard()
"""This process's."""
