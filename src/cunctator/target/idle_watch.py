"""Time that a run spent doing nothing: neither running nor waiting for a CPU.

A limit on the clock alone would end runs that a busy machine starves, and call that their fault.
Time counts as idle if less than a tenth of it was used on a CPU, and if no thread is ready to run
when we look. Whoever uses more than a tenth reaches its cap soon enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from cunctator.target.tree import any_running

IDLE = 0.1
"""CPUs: a tree that uses less of them does next to nothing."""

SHORTEST_PERIOD, LONGEST_PERIOD, PERIODS = 0.01, 1.0, 100
"""Seconds between looks: a share of the limit, within these bounds."""


class IdleWatch:
    """Idle seconds of one run, looked at from time to time."""

    def __init__(self, limit: float, begun: float) -> None:
        self.limit = limit
        self.period = min(max(limit / PERIODS, SHORTEST_PERIOD), LONGEST_PERIOD)
        if limit == math.inf:
            self.period = math.inf
        self.seconds = 0.0
        self._looked = begun
        self._used = 0.0

    def look(self, now: float, used: float, members: Callable[[], Iterable[int]]) -> bool:
        """Told the CPU time used so far; whether the limit has been reached."""
        elapsed = now - self._looked
        if elapsed >= self.period:
            fresh = used - self._used
            if fresh < IDLE * elapsed and not any_running(members()):
                self.seconds += elapsed - fresh
            self._looked, self._used = now, used
        return self.seconds >= self.limit
