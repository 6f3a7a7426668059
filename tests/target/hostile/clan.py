"""A family that is hard to be rid of; each writes a file with its number, and lives on.

The first process, a child in a session of its own, an orphan in another, one who ignores what can
be ignored, and one who has emptied its environment.
"""

import os
import signal
import sys
import time


def live():
    open(os.path.join(sys.argv[1], str(os.getpid())), "w").close()  # noqa: PTH118, PTH123
    while True:
        time.sleep(1000)


def bear(change, *, is_orphan):
    if os.fork() == 0:
        if is_orphan and os.fork() != 0:
            os._exit(0)
        change()
        live()


def ignore():
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
        signal.signal(number, signal.SIG_IGN)


def forget():
    """What a program is started with is all that can be seen of its environment."""
    if len(sys.argv) == 2:
        os.setsid()
        command = [sys.executable, "-S", "-E", __file__, sys.argv[1], "alone"]
        os.execve(sys.executable, command, {})


if len(sys.argv) == 2:
    bear(os.setsid, is_orphan=False)
    bear(os.setsid, is_orphan=True)
    bear(ignore, is_orphan=True)
    bear(forget, is_orphan=True)
live()
