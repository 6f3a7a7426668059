# ruff: noqa: PTH123
"""How a target waits for the watch instead of for the clock."""

import os
import time

WATCH = os.getppid()
"""The supervisor; import this before anybody forks."""

LOOKS = 10
"""So many are waited for: the first may have begun before, and of looks at files in memory some
are left out if the one before took long."""


def times_asleep():
    """How many times the supervisor has gone to sleep: it does so after each look."""
    with open(f"/proc/{WATCH}/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt"))


def await_looks():
    """Return when all that has been done before has been looked at. Print nothing meanwhile."""
    enough = times_asleep() + LOOKS
    while times_asleep() < enough:
        time.sleep(0.001)
