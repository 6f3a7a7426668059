"""The `tight` profile's lower bounds, at the user's confidence.

They are betting bounds (`betting.py`) on the mean of min(runtime, known cap), from a histogram of
the runtimes: valid for all configurations, caps and times at once with the given confidence. A
fixed share of the charged time goes to the least of them, so that the worst case stays within a
constant factor of SPC's; `docs/algorithm.md` has the statement. "Proved optimal" rests on them;
certificates have games of their own (`claims.py`). They do not depend on t, so the scheduling keys
are static.

The histogram has four edges an octave; a runtime is split between its two neighbours so that the
mean stays what it is. The log of a gambler's factor is concave in the value, so that only
understates his wealth: the bound stays valid.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cunctator.core.betting import PRICE, lower_mean
from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.known import known_at, least_mean, octave_at
from cunctator.core.proposals import is_proposal
from cunctator.core.rules import Rules, timeout_value
from cunctator.core.state import EDGES_PER_OCTAVE, ENDLESS, State

FAMILIES = 3
"""A third of the error is for these bounds."""

EPOCH_GROWTH = 1.25
"""Finite sets: epochs begin at 1, 1.25, 1.25^2, ... runs; see `counted_runs`."""

PRECISION = 1e-3
"""Of the bounds that the search goes by; they are below the exact ones by this at most."""

OPEN_SHARE = 0.5
"""Of the error budget, the part kept for configurations by their number alone."""


@compiled
def error_share(index: int, initial: int) -> float:
    """The share of the error budget that configuration `index` may spend; all add up to 1 at most.

    Half is divided among the `initial` ones. The other half is laid out for endlessly many, in
    blocks of 1, 2, 4, ..., so that more may be added at any time.
    """
    block = int(math.log2(index + 1.0))
    own = OPEN_SHARE / (math.ldexp(1.0, block) * (block + 1.0) * (block + 2.0))
    if index < initial:
        own += (1.0 - OPEN_SHARE) / initial
    return own


@compiled
def epochs(instances: int) -> float:
    """How many epochs a finite set of pairs has; 1 for an endless stream, which needs none."""
    if instances == ENDLESS:
        return 1.0
    return 2.0 + math.floor(math.log(instances) / math.log(EPOCH_GROWTH))


@compiled
def counted_runs(instances: int, started: int) -> float:
    """How many runs the wealth is counted for.

    An endless stream: all. A finite set is drawn without replacement, where wealth is a fair game
    at each count by itself but not at all counts together. The empirical distribution, though, is
    a martingale backwards in the count, and the best log wealth a run is convex in it; so what
    holds at the beginning of an epoch, for that count, holds throughout it.
    """
    if instances == ENDLESS:
        return float(started)
    epoch = math.floor(math.log(started) / math.log(EPOCH_GROWTH) + 1e-9)
    return max(1.0, min(float(started), math.ceil(EPOCH_GROWTH**epoch)))


@compiled
def evidence_at_one_count(rules: Rules, share: float, octave: int) -> float:
    """Log wealth at which a mean is refuted, for one bound at one octave's cap, at one count.

    The error of the octave g is 1 / ((g + 1)(g + 2)) of the configuration's, so that all octaves
    together keep within it.
    """
    octaves = (octave + 1.0) * (octave + 2.0)
    return math.log(FAMILIES * octaves / (rules.error * share)) + PRICE


@compiled
def evidence(rules: Rules, share: float, octave: int, started: int) -> float:
    """Log wealth over all started runs at which a mean is refuted, for one bound at one octave."""
    needed = evidence_at_one_count(rules, share, octave) + math.log(epochs(rules.instances))
    return needed * started / counted_runs(rules.instances, started)


@compiled
def bin_runtime(edges: NDArray[np.float64], row: NDArray[np.float64], runtime: float) -> None:
    """Add a runtime to a histogram, split between its two neighbouring edges.

    Beyond the last edge it counts as that edge: less than it is, which lower bounds allow.
    """
    runtime = min(runtime, edges[edges.size - 1])
    place = int(math.log2(runtime / edges[0]) * EDGES_PER_OCTAVE)
    place = max(0, min(place, edges.size - 2))
    while place > 0 and edges[place] > runtime:
        place -= 1
    while place < edges.size - 2 and edges[place + 1] <= runtime:
        place += 1
    upper = (runtime - edges[place]) / (edges[place + 1] - edges[place])
    row[place] += 1.0 - upper
    row[place + 1] += upper


@compiled_apart
def collect(state: State, index: int, cap: float, in_flight: float) -> int:
    """Lay out min(runtime, cap) of all started runs as values and weights; returns how many.

    What is not known is imputed by something smaller: `in_flight` (first_cap for a valid bound)
    for new runs in flight, the cap for runs put off (the caller's cap is one they are known to
    reach). A crash counts as a timeout.
    """
    tester, rules, edges = state.testers[index], state.rules, state.edges
    values, weights = state.scratch.points, state.scratch.weights
    size = 0
    counted = float(tester.new_in_flight)
    if counted > 0:
        values[0], weights[0], size = in_flight, counted, 1
    for place in range(edges.size):
        if edges[place] >= cap:
            break
        weight = state.histogram[index, place]
        if weight > 0.0:
            values[size], weights[size] = edges[place], weight
            counted += weight
            size += 1
    crashed = tester.crashed
    rest = tester.started - crashed - counted
    if rest > 1e-9:
        values[size], weights[size] = cap, rest
        size += 1
    if crashed > 0:
        values[size], weights[size] = timeout_value(rules), float(crashed)
        size += 1
    return size


@compiled_apart
def measure_bets(state: State, index: int, raised: bool, has_result: bool) -> None:
    """Compute the lower bound, if enough has happened since it was last computed.

    That is: the known cap has changed, or a result has come in and the runs have grown by a 64th.
    In between it stays as it is, which costs the search little and saves most of the work.
    """
    tester, rules, scratch = state.testers[index], state.rules, state.scratch
    started, level = tester.started, tester.known_level
    due = has_result and started >= tester.measure_at
    if started == 0 or not (raised or due):
        return
    tester.measure_at = started + 1 + (started >> 6)
    if tester.crashed > 0 and math.isinf(rules.cutoff):
        tester.full = math.inf
        return
    if is_proposal(state, index):  # its runs may be why it was proposed
        tester.full = max(tester.full, least_mean(state, index))
        return
    cap = max(rules.first_cap, tester.least_share * known_at(rules, level))
    size = collect(state, index, cap, rules.first_cap)
    share = error_share(state.testers[index].rank, state.pools[0].members)
    needed = evidence(rules, share, octave_at(rules, level), started)
    bound, bet = lower_mean(
        scratch.points, scratch.weights, size, needed, tester.full_bet, PRECISION
    )
    # Bounds of all times hold at once, so the best so far may be kept.
    tester.full, tester.full_bet = max(tester.full, least_mean(state, index), bound), bet


@compiled
def tight_queue_target(state: State, index: int) -> int:
    """How many runs may be put off: in proportion to the evidence that a bound takes."""
    share = error_share(state.testers[index].rank, state.pools[0].members)
    octave = octave_at(state.rules, state.testers[index].known_level)
    needed = evidence_at_one_count(state.rules, share, octave)
    return math.ceil(state.profile.queue_factor * needed)
