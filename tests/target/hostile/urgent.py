# ruff: noqa: T201
"""Tries all ways to come before others, prints those that work, and keeps all CPUs busy."""

import ctypes
import os
import struct
import sys

DEADLINE = struct.pack("=IIQiIQQQ", 48, 6, 0, 0, 0, 90_000_000, 100_000_000, 100_000_000)
NUMBERS = {"x86_64": 314, "aarch64": 274}
"""Of sched_setattr(2)."""


def deadline():
    number = NUMBERS[os.uname().machine]
    if ctypes.CDLL(None).syscall(number, 0, DEADLINE, 0) != 0:
        raise PermissionError


def change(policy):
    os.sched_setscheduler(0, policy, os.sched_param(os.sched_get_priority_max(policy)))


WAYS = {
    "deadline": deadline,
    "fifo": lambda: change(os.SCHED_FIFO),
    "rr": lambda: change(os.SCHED_RR),
    "nice": lambda: os.setpriority(os.PRIO_PROCESS, 0, -10),
}

for way in sys.argv[1:]:
    try:
        WAYS[way]()
        print(way, flush=True)
    except (OSError, KeyError):
        pass
for cpu in sorted(os.sched_getaffinity(0))[1:]:
    if os.fork() == 0:
        os.sched_setaffinity(0, [cpu])
        while True:
            pass
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
while True:
    pass
