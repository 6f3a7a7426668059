"""SPC by the letter: plain Python, no arrays, nothing incremental, nothing shared with the package.

Written from the paper's Algorithm 1 and Equation 1 with the readings that docs/algorithm.md
states. Every lower bound is integrated afresh from the list of known values at every step.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from fractions import Fraction


def bin_of(profile: str, share: Fraction) -> int:
    """k(p): the bin of p = a / b, decided in whole numbers."""
    k = 0
    if profile == "paper":  # floor(log2(1/p)): largest k with 2^k <= 1/p
        while share * 2 ** (k + 1) <= 1:
            k += 1
    else:  # ceil(log2(1/p)): smallest k with 2^k >= 1/p
        while share * 2**k < 1:
            k += 1
    return max(1, k)


def epsilon(k: int, started: int, step: int) -> float:
    return math.sqrt(9 * 2**k * math.log(k * step) / started)


def beta(profile: str, share: Fraction, started: int, step: int) -> float:
    width = epsilon(bin_of(profile, share), started, step)
    return float(share) / (1 + width) if width <= 0.5 else 0.0


def integral(profile: str, values: list[float], step: int) -> float:
    """L(G, r, t): the integral of beta over the empirical survival curve, one step at a time."""
    ordered = sorted(values)
    started = len(ordered)
    total = 0.0
    last = 0.0
    for passed, value in enumerate(ordered):
        longer = Fraction(
            started - passed, started
        )  # share of runs above anything in [last, value)
        if value > last:
            total += beta(profile, longer, started, step) * (value - last)
        last = value
    return total


def queue_target(profile: str, started: int, step: int) -> int:
    factor = 25 if profile == "paper" else 50
    return max(1, math.ceil(factor * math.log2(step * math.log2(max(started, 2)))))


@dataclass
class ReferenceTester:
    first_cap: float
    started: int = 0
    cap: float = 0.0
    target: int = 1
    queue: deque[tuple[int, float]] = field(default_factory=deque)
    done: dict[int, float] = field(default_factory=dict)
    spent: float = 0.0

    def known_cap(self) -> float:
        return self.queue[0][1] / 2 if self.queue else self.cap

    def values(self) -> list[float]:
        known = self.known_cap()
        return [min(v, known) for v in self.done.values()] + [known] * len(self.queue)


class ReferenceSPC:
    """One run at a time on a table; caps without a cutoff, or a cutoff of first_cap * 2^whole."""

    def __init__(self, runtimes, profile: str, first_cap: float, cutoff: float = math.inf) -> None:
        self.runtimes, self.profile = runtimes, profile
        self.first_cap, self.cutoff = first_cap, cutoff
        self.step = 0
        self.testers = [ReferenceTester(first_cap, cap=first_cap) for _ in runtimes]

    def exact(self, i: int) -> bool:
        return len(self.testers[i].done) == len(self.runtimes[i])

    def lower(self, i: int, step: int) -> float:
        tester = self.testers[i]
        if self.exact(i):
            return math.fsum(tester.done.values()) / len(tester.done)
        if tester.started == 0:
            return self.first_cap
        return max(self.first_cap, integral(self.profile, tester.values(), step))

    def lowers(self) -> list[float]:
        return [self.lower(i, self.step + 1) for i in range(len(self.testers))]

    def execute(self, i: int) -> tuple[int, int, float]:
        """Line 12 to 28 for configuration i; returns (configuration, pair, cap)."""
        self.step += 1
        tester = self.testers[i]
        if len(tester.queue) < tester.target and tester.started < len(self.runtimes[i]):
            pair = tester.started
            tester.started += 1
        else:
            pair, tester.cap = tester.queue.popleft()
        cap = min(tester.cap, self.cutoff)
        runtime = self.runtimes[i][pair]
        tester.spent += min(runtime, cap)
        if runtime <= cap and runtime < self.cutoff:
            tester.done[pair] = max(runtime, self.first_cap)
        elif cap >= self.cutoff:
            tester.done[pair] = self.cutoff
        else:
            tester.queue.append((pair, 2 * tester.cap))
        tester.target = queue_target(self.profile, tester.started, self.step)
        return i, pair, cap
