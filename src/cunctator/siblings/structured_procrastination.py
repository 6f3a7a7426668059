"""Structured Procrastination (Kleinberg, Leyton-Brown, Lucier and Graham, 2019).

SPC's elder sibling: epsilon is chosen in advance, every queue is long enough for it from the start,
and whose turn it is depends on empirical means of capped runs instead of confidence bounds. It is
anytime in delta alone.

A queue holds runs that have not been made yet, all at the cap of its head, before those that were
put off, whose caps are the same or twice as long. So it is kept as a number of new runs and a ring
of positions that were put off.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cunctator.core.tournament import Tournament, new_tournament, set_key
from cunctator.siblings.compiled import compiled
from cunctator.siblings.method import Method
from cunctator.siblings.problem import Found, Problem
from cunctator.siblings.settings import GRID_DELTAS, GRID_EPSILONS, check_shares, require

ROOT = 1
MOST_CHANGES = 1 << 16
"""Of the answer; of more than that many, the last one is recorded last."""

REACHED, SPENT, EXHAUSTED = 0, 1, 2
STOPS = {
    REACHED: "delta has been reached",
    SPENT: "the budget is spent",
    EXHAUSTED: "it needs more instances than there are",
}


def doublings(first_cap: float, cutoff: float) -> float:
    """B: how often the shortest cap can be doubled; at least one, so that logarithms are sane."""
    return max(1.0, math.log2(cutoff / first_cap))


@compiled
def queue_size(epsilon: float, scale: float, started: float) -> float:
    """Compute q = ceil(12 eps^-2 ln(3 B n K^2 / zeta)), with scale = 3 B n / zeta and K started.

    As a float: it may be infinite.
    """
    logs = math.log(scale) + 2.0 * math.log(max(1.0, started))
    return float(np.ceil(12.0 / epsilon / epsilon * logs))


def runs_needed(epsilon: float, delta: float, scale: float) -> float:
    """The least K of the answer with sqrt(1 + eps) q(K) / K <= delta."""
    started, needed = 0.0, 1.0
    while needed > started:
        started = needed
        queue = queue_size(epsilon, scale, started)
        needed = float(np.ceil(math.sqrt(1.0 + epsilon) * queue / delta))
    return started


class PutOff(NamedTuple):
    """The queues of runs that were put off, one for each configuration."""

    ring: NDArray[np.int32]
    """Their positions in the stream, in a ring for each."""
    head: NDArray[np.int64]
    level: NDArray[np.int64]
    """Of the head."""
    waiting: NDArray[np.int64]
    """How many there are ..."""
    at_level: NDArray[np.int64]
    """... and how many of these have the level of the head."""


@compiled
def _take(queues: PutOff, i: int) -> int:
    """The position of the next run to try again; a round that is over begins at twice the cap."""
    if queues.at_level[i] == 0:
        queues.level[i] += 1
        queues.at_level[i] = queues.waiting[i]
    head = queues.head[i]
    queues.head[i] = (head + 1) % queues.ring.shape[1]
    queues.waiting[i] -= 1
    queues.at_level[i] -= 1
    return int(queues.ring[i, head])


@compiled
def _put_off(queues: PutOff, i: int, position: int) -> None:
    queues.ring[i, (queues.head[i] + queues.waiting[i]) % queues.ring.shape[1]] = position
    queues.waiting[i] += 1


@compiled
def _simulate(
    runtimes: NDArray[np.float64],
    stream: NDArray[np.int64],
    caps: NDArray[np.float64],
    tree: Tournament,
    queues: PutOff,
    settings: tuple[float, float, float, float],
    spent: NDArray[np.float64],
    changes: NDArray[np.float64],
) -> tuple[int, int, int, int]:
    """The loop; returns why it stopped, the answer's K, steps, and changes of the answer.

    `caps` are the shortest cap, its doublings, and the cutoff, where nothing is put off any more.
    """
    epsilon, delta, scale, budget = settings
    count, level, waiting = runtimes.shape[0], queues.level, queues.waiting
    total = np.zeros(count)  # sum of R_il
    started = np.zeros(count, dtype=np.int64)  # K_i
    wanted = np.full(count, int(queue_size(epsilon, scale, 1.0)), dtype=np.int64)  # q_i
    fresh = wanted.copy()
    charged, steps, incumbent, used = 0.0, 0, -1, 0
    while True:
        i = tree[ROOT].winner
        is_new = fresh[i] > 0
        if is_new:
            position = started[i]
            if position >= stream.size:
                return EXHAUSTED, started[incumbent], steps, used
            fresh[i] -= 1
            started[i] += 1
        else:
            position = _take(queues, i)
        cap = caps[level[i]]
        runtime = runtimes[i, stream[position]]
        seconds = min(runtime, cap)
        steps += 1
        charged += seconds
        spent[i] += seconds
        # Runs shorter than the first cap count as that long: none is known to take less.
        total[i] += max(seconds, caps[0]) if is_new else seconds - caps[level[i] - 1]
        if runtime > cap:
            _put_off(queues, i, position)
        if is_new:
            wanted[i] = int(queue_size(epsilon, scale, float(started[i])))
        fresh[i] += max(0, wanted[i] - fresh[i] - waiting[i])
        set_key(tree, i, total[i] / started[i], 0.0)
        if incumbent < 0 or total[i] > total[incumbent]:
            if incumbent != i:
                used = min(used + 1, changes.shape[0])
                changes[used - 1, 0], changes[used - 1, 1] = charged, i
            incumbent = i
        if charged >= budget:
            return SPENT, started[incumbent], steps, used
        if i == incumbent and math.sqrt(1.0 + epsilon) * wanted[i] <= delta * started[i]:
            return REACHED, started[incumbent], steps, used


def solve(problem: Problem, epsilon: float, delta: float, zeta: float) -> Found:
    """Run it until delta is reached."""
    check_shares(epsilon=epsilon, delta=delta, zeta=zeta)
    count, first_cap, cutoff = problem.configurations, problem.first_cap, problem.cutoff
    scale = 3.0 * doublings(first_cap, cutoff) * count / zeta
    title = STRUCTURED_PROCRASTINATION.title
    require(problem, title, lambda e, d: runs_needed(e, d, scale), (epsilon, delta))
    caps = [first_cap * 2.0**k for k in range(math.ceil(math.log2(cutoff / first_cap)))]
    tree = new_tournament(count)
    for index in range(count):
        set_key(tree, index, 0.0, 0.0)  # whoever has not been run is first
    longest_queue = int(queue_size(epsilon, scale, float(problem.stream.size)))
    spent, changes = np.zeros(count), np.zeros((MOST_CHANGES, 2))
    stop, started, steps, used = _simulate(
        problem.runtimes,
        problem.stream,
        np.array([*caps, cutoff]),
        tree,
        PutOff(
            np.zeros((count, longest_queue + 1), dtype=np.int32), *np.zeros((4, count), np.int64)
        ),
        (epsilon, delta, scale, problem.budget),
        spent,
        changes,
    )
    reached = math.sqrt(1.0 + epsilon) * queue_size(epsilon, scale, started) / started
    claim = ""
    if reached < 1.0:
        claim = (
            f"With probability at least {1 - zeta:g}, it is (epsilon, delta)-optimal for"
            f" epsilon = {epsilon:g} and delta = {reached:.3g}.{problem.floor_note}"
        )
    return Found(
        trajectory=tuple((float(at), int(index)) for at, index in changes[:used]),
        charged=float(spent.sum()),
        steps=steps,
        spent=spent,
        stop=STOPS[stop],
        claim=claim,
        facts={"epsilon": epsilon, "delta": reached, "runs_of_answer": float(started)},
    )


STRUCTURED_PROCRASTINATION = Method(
    name="sp",
    title="Structured Procrastination",
    run=solve,
    charges="restart",
    guarantee="(epsilon, delta)-optimal with probability 1 - zeta, anytime in delta",
    stops="when the delta that was asked for is reached",
    defaults={"epsilon": 0.2, "delta": 0.2, "zeta": 0.1},
    grid={"epsilon": GRID_EPSILONS, "delta": GRID_DELTAS},
    anytime=True,
)
