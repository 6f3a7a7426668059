"""SPC in plain Python, as a researcher would write it for a paper's experiments: the yardstick.

Only the tester that ran is recomputed; the lower bounds of all others, which fall as the step
grows, are refreshed every 1,000 steps and are too high in between, as in published code. The
package's core chooses by the exact bounds at every step instead.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable

REFRESH = 1000


class PlainTester:
    """One configuration."""

    def __init__(self, first_cap: float) -> None:
        self.started = 0
        self.cap = first_cap
        self.queue_target = 1
        self.queue: deque[tuple[int, float]] = deque()
        self.done: list[float] = []

    def lower_bound(self, step: int, first_cap: float, ceil: bool) -> float:
        """Equation 1 by bins: the stretch of bin k ends at the m-th longest known runtime."""
        started = self.started
        if started == 0:
            return first_cap
        known_cap = self.queue[0][1] / 2 if self.queue else self.cap
        below = bisect_left(self.done, known_cap)
        total, area, passed, shorter, k = 0.0, 0.0, 0, 0.0, 1
        while True:
            width = math.sqrt(9 * 2**k * math.log(k * step) / started)
            if width > 0.5:
                return float(max(first_cap, total))
            edge = -(-started // 2**k) if ceil else started // 2 ** (k + 1) + 1
            rank = started - edge
            shorter += sum(self.done[passed : min(rank, below)])
            passed = max(passed, min(rank, below))
            value = self.done[rank] if rank < below else known_cap
            whole = (shorter + max(0, rank - below) * known_cap + edge * value) / started
            total += (whole - area) / (1 + width)
            area = whole
            if edge == 1:
                return float(max(first_cap, total))
            k += 1


class PlainSPC:
    """The scheduler, one run at a time on recorded runtimes."""

    def __init__(
        self,
        runtime: Callable[[int, int], float],
        configurations: int,
        instances: int,
        first_cap: float,
        cutoff: float,
        profile: str,
    ) -> None:
        self.runtime, self.instances = runtime, instances
        self.first_cap, self.cutoff = first_cap, cutoff
        self.ceil = profile == "proved"
        self.factor = 50 if profile == "proved" else 25
        self.testers = [PlainTester(first_cap) for _ in range(configurations)]
        self.keys = [(first_cap, 0)] * configurations
        self.step = 0
        self.charged = 0.0

    def run_one(self) -> bool:
        """One step; False when the chosen configuration has nothing left to run."""
        self.step += 1
        index = self.keys.index(min(self.keys))
        tester = self.testers[index]
        if len(tester.queue) < tester.queue_target and tester.started < self.instances:
            pair = tester.started
            tester.started += 1
        elif tester.queue:
            pair, tester.cap = tester.queue.popleft()
        else:
            return False
        cap = min(tester.cap, self.cutoff)
        runtime = self.runtime(index, pair)
        self.charged += min(runtime, cap)
        if runtime <= cap or cap >= self.cutoff:
            insort(tester.done, max(self.first_cap, min(runtime, self.cutoff)))
        else:
            tester.queue.append((pair, 2 * tester.cap))
        logarithm = math.log2(max(tester.started, 2))
        tester.queue_target = max(1, math.ceil(self.factor * math.log2(self.step * logarithm)))
        self.refresh(index)
        if self.step % REFRESH == 0:
            for other in range(len(self.testers)):
                self.refresh(other)
        return True

    def refresh(self, index: int) -> None:
        """Recompute one key: (lower bound, started)."""
        tester = self.testers[index]
        if len(tester.done) == self.instances:
            bound = sum(tester.done) / self.instances
        else:
            bound = tester.lower_bound(self.step, self.first_cap, self.ceil)
        self.keys[index] = (bound, tester.started)
