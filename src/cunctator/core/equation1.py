"""Equation 1 of the paper: the lower bound of the profiles `paper` and `proved`.

With r started runs, step t and the empirical survival curve S(x) = (share of runs known to take
longer than x, up to the known cap),

    L = integral of beta(S(x)) dx,   beta(p) = p / (1 + eps_k)  if eps_k <= 1/2, else 0,
    eps_k = sqrt(9 * 2^k * ln(k t) / r),
    k = the bin of p: max(1, floor(log2(1/p))) as printed, max(1, ceil(log2(1/p))) as proved.

S is a step function of the sorted runtimes, so bin k is the stretch between two of them: with x(m)
the m-th longest and m_k the fewest runs whose share falls into bins 1 to k, the area under S up to
x(m_k) is W_k / r, where

    W_k = sum of min(runtime, x(m_k)),  A_k = (W_k - W_{k-1}) / r,  L = sum of A_k / (1 + eps_k).

The A_k change only when the configuration runs; L at another t costs one square root a bin.
"""

from __future__ import annotations

import math

import numpy as np

from cunctator.core.compiled import compiled
from cunctator.core.known import known_at
from cunctator.core.profiles import CEIL, Profile
from cunctator.core.rules import timeout_value
from cunctator.core.state import MAX_BINS, State

LN_BIN = np.log(np.arange(1, MAX_BINS + 1))
"""ln k at [k - 1]."""

FOREVER = math.inf


@compiled
def dyadic_queue_target(profile: Profile, started: int, step: int) -> int:
    """The target q = ceil(C * log2(t * log2(r))), at least 1 (Algorithm 1, line 28)."""
    return max(1, math.ceil(profile.queue_factor * math.log2(step * math.log2(max(started, 2)))))


@compiled
def bin_edge(rounding: int, started: int, k: int) -> int:
    """m_k: the fewest runs whose share of all started falls into bins 1 to k.

    ceil: p >= 2^-k, so m >= r / 2^k. floor: p > 2^-(k+1), so m > r / 2^(k+1).
    """
    if rounding == CEIL:
        return (started + (1 << k) - 1) >> k
    return (started >> (k + 1)) + 1


@compiled
def squared_epsilon(k: int, started: int, log_step: float) -> float:
    """eps_k squared, from ln t."""
    return float(9.0 * (1 << k) * (LN_BIN[k - 1] + log_step) / started)


@compiled
def measure_areas(state: State, index: int) -> None:
    """Compute the A_k of every bin that counts at the current step."""
    tester, rules, runtimes = state.testers[index], state.rules, state.runtimes
    started, new = tester.started, tester.new_in_flight
    log_step = math.log(max(state.now.step, 1))
    known_cap = known_at(rules, tester.known_level)
    below_count, below_sum = tester.below_count, tester.below_sum
    not_crashed = started - tester.crashed
    cell, passed, passed_sum = runtimes.headers[index].start, 0, 0.0
    previous = 0.0
    k = 0
    while k < MAX_BINS and started > 0:
        if squared_epsilon(k + 1, started, log_step) > 0.25:
            break
        k += 1
        edge = bin_edge(state.profile.rounding, started, k)
        rank = started - edge
        # In ascending order: new runs in flight (first_cap), the runtimes below the known cap,
        # those known to reach it, crashes. The edge is the value at `rank`; `shorter` is the sum
        # of the values before it.
        if rank >= not_crashed:
            edge_value = timeout_value(rules)
            shorter = new * rules.first_cap + below_sum
            shorter += (not_crashed - new - below_count) * known_cap
            if rank > not_crashed:
                shorter += (rank - not_crashed) * edge_value
        elif rank < new:
            edge_value = rules.first_cap
            shorter = rank * edge_value
        elif rank - new >= below_count:
            edge_value = known_cap
            shorter = new * rules.first_cap + below_sum + (rank - new - below_count) * known_cap
        else:
            wanted = rank - new
            while passed + runtimes.cells[cell].count <= wanted:
                passed += runtimes.cells[cell].count
                passed_sum += runtimes.cells[cell].total
                cell += 1
            row = runtimes.cells[cell].link
            edge_value = runtimes.values[row, wanted - passed]
            shorter = new * rules.first_cap + passed_sum
            for offset in range(wanted - passed):
                shorter += runtimes.values[row, offset]
        whole = shorter + edge * edge_value
        # Rounding must not make an area negative: L would not fall with t any more.
        state.areas[index, k - 1] = max(0.0, whole - previous) / started
        previous = whole
        if math.isinf(whole):
            break
    tester.bins = k


@compiled
def area_bound(state: State, index: int, log_step: float) -> float:
    """L at the step whose natural logarithm is given; from the areas last measured."""
    tester = state.testers[index]
    total = 0.0
    for k in range(1, tester.bins + 1):
        square = squared_epsilon(k, tester.started, log_step)
        if square > 0.25:
            break
        total += state.areas[index, k - 1] / (1.0 + math.sqrt(square))
    return max(state.rules.first_cap, total)


@compiled
def lasting_area_bound(state: State, index: int, step: int) -> tuple[float, float]:
    """A value that L does not fall below from `step` on, and the last step for which that holds.

    L falls as t grows, and drops when the last bin stops counting. So the value is L at a later
    step, at most the last before that drop.
    """
    tester = state.testers[index]
    log_step = math.log(step)
    started = tester.started
    k = tester.bins
    while k > 0 and squared_epsilon(k, started, log_step) > 0.25:
        k -= 1
    if k == 0:
        return state.rules.first_cap, FOREVER
    last = step + (step >> tester.patience)
    log_last = math.log(last)
    if squared_epsilon(k, started, log_last) > 0.25:
        # eps_k <= 1/2 exactly while k t <= exp(r / (36 * 2^k)); rounding is undone step by step.
        last = min(last, int(math.exp(started / (36.0 * (1 << k))) / k) + 1)
        log_last = math.log(last)
        while last > step and squared_epsilon(k, started, log_last) > 0.25:
            last -= 1
            log_last = math.log(last)
        last = max(last, step)
    return area_bound(state, index, math.log(last)), float(last)
