# ruff: noqa: PTH115, T201
"""Functions as targets."""

import os
import signal
import subprocess
import sys
import time

IMPORTED_BY = os.getpid()


def note(configuration, instance, seed, cap):
    import json

    print(json.dumps([configuration, instance, seed, cap, os.getppid() == IMPORTED_BY]))


def sockets(configuration, instance, seed, cap):
    files = [os.readlink(f"/proc/self/fd/{number}") for number in range(3)]
    for number in range(3, 256):
        try:
            os.fstat(number)
            files.append(os.readlink(f"/proc/self/fd/{number}"))
        except OSError:
            continue
    print(len(files), any(file.startswith("socket:") for file in files))


def answers(configuration, instance, seed, cap):
    return configuration["answer"]


def closes(configuration, instance, seed, cap):
    sys.stdout.close()
    return True


def closes_and_fails(configuration, instance, seed, cap):
    sys.stderr.close()
    raise RuntimeError("nobody will read this")


def fails(configuration, instance, seed, cap):
    raise RuntimeError("this went wrong")


def leaves(configuration, instance, seed, cap):
    sys.exit(0)


def busy(configuration, instance, seed, cap):
    while True:
        pass


def stubborn(configuration, instance, seed, cap):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
    subprocess.Popen([sys.executable, "-S", "-E", "-c", "while True: pass"])
    while True:
        pass


def burns(configuration, instance, seed, cap):
    start = time.process_time()
    while time.process_time() - start < configuration["seconds"]:
        pass


not_a_function = 3


def precedes(configuration, instance, seed, cap):
    """Solved if it may neither have a real-time schedule nor a lower niceness."""
    for attempt in (
        lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
        lambda: os.nice(-1),
    ):
        try:
            attempt()
        except PermissionError:
            continue
        return False
    return True
