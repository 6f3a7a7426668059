"""The certificate: how close to the best an incumbent provably is, read off the data at any time.

Configuration i is (epsilon, delta)-optimal if, with its runs cut off at some cap that at most a
share delta of them exceed, its mean is at most 1 + epsilon times the best mean of all. With
probability at least `confidence`, at all times, for whatever incumbent and whenever one stops,

    lower_j <= mean_j,  upper_ig >= mean of min(runtime_i, cap_g),  delta_ig >= Pr(R_i > cap_g)

for all configurations and caps at once; so with Lmin the least lower bound of the others,
epsilon_g = max(0, upper_ig / Lmin - 1) goes with delta_ig. (The incumbent itself may be left out of
Lmin: were it the best, its mean up to any cap is at most its own mean, and epsilon is 0.)

All three are betting bounds: the lower one on runtimes, the upper one on what is left to the cap,
the share on the runs that finish. What is not known is imputed on the safe side each time. None
of it depends on how runs were chosen. On a finite set, what is known of all pairs bounds the mean
too, and a configuration run to the end is known exactly.

With pools that grow (`pools.py`) the best mean is that of a pool. Pool k, of M random draws,
holds one of the best share gamma of the whole space, as it is drawn from, but for a probability
(1 - gamma)^M, which is set to the pool's part of the error; so what is within 1 + epsilon of the
pool's best is within 1 + epsilon of all but the best gamma of the space. Larger pools have smaller
gammas, and larger epsilons while little is known of them; all these statements hold at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cunctator.core.betting import lower_mean
from cunctator.core.compiled import compiled_apart
from cunctator.core.known import (
    is_exact,
    last_octave,
    least_mean,
    mean_runtime,
    octave_at,
    octave_cap,
)
from cunctator.core.pools import missed_share, pool_error
from cunctator.core.runtimes import below
from cunctator.core.state import ENDLESS, GAMMA_SHARE, HONEST, State
from cunctator.core.tight import collect, error_share, evidence

PRECISION = 1e-6
OCTAVES_TRIED = 4
"""Lower bounds are tried at the known cap and a few below: a shorter cap is sometimes sharper."""

NEARLY_AS_MUCH = 1.25
"""A wider pool is what people want to hear about, if its (epsilon, delta) is not much worse."""

MIDDLE_BET = 3
MOST_POINTS = 80


@dataclass(frozen=True, slots=True)
class Point:
    """With runs cut off at `cap`, which at most a share delta exceeds: within 1 + epsilon."""

    delta: float
    epsilon: float
    cap: float


@dataclass(frozen=True, slots=True)
class PoolPoints:
    """What is certified against one pool of a space that is too large to be searched whole."""

    size: int
    """Configurations in the pool, which all have been within reach of the search."""
    gamma: float
    """The share of the space that may be better; 0 if the pool is the whole space."""
    time_share: float
    """The pool's share of the charged time."""
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Certificate:
    """What can be said of an incumbent with a given confidence."""

    confidence: float
    incumbent: int
    points: tuple[Point, ...]
    """From the least delta to the least epsilon; each one is true, all of them at once."""
    optimal: bool
    """Nothing is left to learn: the incumbent is the best on this instance set, for certain."""
    versus_default: tuple[float, float]
    """Bounds on the mean of configuration 0 over that of the incumbent: how many times faster."""

    floor: float | None = None
    """The first cap, if some run was shorter: such runs count as it."""
    instances: int | None = None
    """All of this is about a finite set of so many pairs; None: about an endless stream."""
    cutoff: float | None = None
    """Runs that reach it, or crash, count as it."""
    gamma: float = 0.0
    """`points` are about all configurations but the best share gamma of the space, as it is
    drawn from."""
    looked_at: int | None = None
    """If these are a fixed number of draws: `points` are about so many, and with that gamma about
    all. None: about all, or see `pools`."""
    pools: tuple[PoolPoints, ...] = ()
    """The same for each pool, if there is more than one; `points` are those of one of them."""

    def epsilon_at(self, delta: float, gamma: float = 0.0) -> float:
        """The least epsilon that is certified with at most this delta; infinity if none is.

        With pools, against all but the best share gamma of the space at most.
        """
        groups = [pool.points for pool in self.pools if pool.gamma <= gamma]
        if not self.pools:
            groups = [self.points]
        points = (p for group in groups for p in group if p.delta <= delta)
        return min((p.epsilon for p in points), default=math.inf)

    @property
    def best_point(self) -> Point | None:
        """The point whose larger number is least."""
        return min(self.points, key=lambda p: max(p.epsilon, p.delta), default=None)


@compiled_apart
def certified_lower(state: State, index: int) -> float:
    """A lower bound on the mean of one configuration."""
    tester, rules, scratch = state.testers[index], state.rules, state.scratch
    if is_exact(state, index):
        return mean_runtime(state, index)
    started = tester.started
    if started == 0:
        return rules.first_cap
    if tester.crashed > 0 and math.isinf(rules.cutoff):
        return math.inf
    best = max(rules.first_cap, tester.full, least_mean(state, index))
    share = error_share(index, state.pools[0].members)
    bet = MIDDLE_BET
    known = octave_at(rules, tester.known_level)
    for octave in range(max(0, known - OCTAVES_TRIED + 1), known + 1):
        size = collect(state, index, octave_cap(rules, octave), rules.first_cap)
        needed = evidence(rules, share, octave, started)
        bound, bet = lower_mean(scratch.points, scratch.weights, size, needed, bet, PRECISION)
        best = max(best, bound)
    return float(best)


@compiled_apart
def least_lowers(state: State, index: int, out: NDArray[np.float64]) -> None:
    """For each open pool, the least certified lower bound of all but one; infinity if it is alone.

    A pool holds the one before and more, so its bound is at most that one's.
    """
    least, other = math.inf, 0
    for pool in range(state.now.opened):
        while other < state.pools[pool].members:
            if other != index:
                least = min(least, certified_lower(state, other))
            other += 1
        out[pool] = least


@compiled_apart
def certified_upper(state: State, index: int, octave: int) -> float:
    """An upper bound on the mean of min(runtime, cap of an octave)."""
    rules, scratch = state.rules, state.scratch
    cap, started = octave_cap(rules, octave), state.testers[index].started
    if started == 0:
        return cap
    # What is left to the cap; nothing, for runs that are put off, in flight or crashed.
    values, weights, size, counted, left = scratch.points, scratch.weights, 0, 0.0, 0.0
    # Nothing, too, for those at the last edge: they may be longer than it says.
    for place in range(state.edges.size - 1):
        if state.edges[place] >= cap:
            break
        weight = state.histogram[index, place]
        if weight > 0.0:
            values[size], weights[size] = cap - state.edges[place], weight
            counted += weight
            left += weight * values[size]
            size += 1
    if started - counted > 1e-9:
        values[size], weights[size] = 0.0, started - counted
        size += 1
    needed = evidence(rules, error_share(index, state.pools[0].members), octave, started)
    bound, _ = lower_mean(values, weights, size, needed, MIDDLE_BET, PRECISION)
    if rules.instances != ENDLESS:
        bound = max(bound, left / rules.instances)
    return float(cap - bound)


@compiled_apart
def certified_share(state: State, index: int, octave: int) -> float:
    """An upper bound on the share of runs that exceed the cap of an octave."""
    rules, scratch = state.rules, state.scratch
    cap, started = octave_cap(rules, octave), state.testers[index].started
    if cap >= rules.cutoff:
        return 0.0  # by definition: a run that reaches the cutoff is complete
    if started == 0:
        return 1.0
    within, _ = below(state.runtimes, index, cap)
    values, weights = scratch.points, scratch.weights
    values[0], weights[0] = 1.0, float(within)
    values[1], weights[1] = 0.0, float(started - within)
    needed = evidence(rules, error_share(index, state.pools[0].members), octave, started)
    bound, _ = lower_mean(values, weights, 2, needed, MIDDLE_BET, PRECISION)
    if rules.instances != ENDLESS:
        bound = max(bound, within / rules.instances)
    return float(1.0 - bound)


@compiled_apart
def top_octave(state: State, index: int) -> int:
    """The highest octave worth a bound: that of the cutoff, or that of the next cap."""
    if math.isinf(state.rules.cutoff):
        return octave_at(state.rules, state.testers[index].cap_level + 1)
    return last_octave(state.rules)


@compiled_apart
def upper_mean(state: State, index: int) -> float:
    """An upper bound on the whole mean; infinite without a cutoff, unless it is known exactly.

    At each cap: the mean up to it, and the rest to the cutoff for the share that exceeds it.
    """
    if is_exact(state, index):
        return mean_runtime(state, index)
    cutoff = state.rules.cutoff
    best = cutoff
    if not math.isinf(cutoff):
        for octave in range(top_octave(state, index) + 1):
            cap = octave_cap(state.rules, octave)
            share = certified_share(state, index, octave)
            best = min(best, certified_upper(state, index, octave) + (cutoff - cap) * share)
    return float(best)


@compiled_apart
def measure_incumbent(
    state: State, incumbent: int, out: NDArray[np.float64], rivals: NDArray[np.float64]
) -> tuple[bool, int]:
    """All that a certificate needs, in one call; returns whether all is known, and the octaves.

    Row 0 of `out`: lower and upper bounds on the means of the default and of the incumbent. Row
    1 + g: cap, upper bound and share at octave g. `rivals`: the least lower bound of the others,
    for each pool.
    """
    all_exact = True
    for index in range(state.testers.size):
        all_exact = all_exact and is_exact(state, index)
    least_lowers(state, incumbent, rivals)
    out[0, 0], out[0, 1] = certified_lower(state, 0), upper_mean(state, 0)
    out[0, 2], out[0, 3] = certified_lower(state, incumbent), upper_mean(state, incumbent)
    if is_exact(state, incumbent):
        out[1, 0], out[1, 1], out[1, 2] = state.rules.cutoff, mean_runtime(state, incumbent), 0.0
        return all_exact, 1
    octaves = min(top_octave(state, incumbent) + 1, out.shape[0] - 1)
    for octave in range(octaves):
        out[1 + octave, 0] = octave_cap(state.rules, octave)
        out[1 + octave, 1] = certified_upper(state, incumbent, octave)
        out[1 + octave, 2] = certified_share(state, incumbent, octave)
    return all_exact, octaves


def certify(
    state: State,
    incumbent: int,
    draws: Callable[[int], int] | None = None,
    is_whole: bool = True,
) -> Certificate:
    """The certificate of an incumbent as of now.

    `draws` says how many of the first so many configurations are random draws, by default all;
    `is_whole`, whether the last pool is all that there is.
    """
    is_fixed = state.pools.size == 1 and not is_whole
    if is_fixed:
        state = _with_gamma_error(state)
    out, rivals = np.zeros((MOST_POINTS, 4)), np.zeros(state.pools.size)
    all_exact, octaves = measure_incumbent(state, incumbent, out, rivals)
    default_low, default_high, low, high = (float(number) for number in out[0])
    faster = (1.0, 1.0)
    if incumbent != 0:
        faster = (_ratio(default_low, high), _ratio(default_high, low))
        if math.isinf(low):  # the incumbent never finishes either
            faster = (0.0, math.inf)
    caps = out[1 : 1 + octaves].tolist()
    pools = _pool_points(state, draws or int, is_whole, caps, rivals)
    widest = _best_pool(pools)
    # All is known of all, so no pool is left out, and the last is the one that holds them all.
    is_best = all_exact and is_whole and len(pools) == state.pools.size
    return Certificate(
        confidence=1.0 - state.rules.error - state.rules.gamma_error,
        incumbent=incumbent,
        points=widest.points,
        optimal=bool(is_best and high <= rivals[len(pools) - 1] and math.isfinite(high)),
        versus_default=faster,
        floor=state.rules.first_cap if _has_shorter_runs(state) else None,
        instances=None if state.rules.instances == ENDLESS else state.rules.instances,
        cutoff=state.rules.cutoff if math.isfinite(state.rules.cutoff) else None,
        gamma=widest.gamma,
        looked_at=widest.size if is_fixed else None,
        pools=pools if state.pools.size > 1 else (),
    )


def _with_gamma_error(state: State) -> State:
    """The same for a fixed pool of draws, part of whose error is for what they miss.

    The search itself goes by all of the error, and the bounds that it keeps do not count here.
    """
    part = GAMMA_SHARE * state.rules.error
    rules = state.rules._replace(error=state.rules.error - part, gamma_error=part)
    testers = state.testers.copy()
    testers["full"] = 0.0
    return state._replace(rules=rules, testers=testers)


def _pool_points(
    state: State,
    draws: Callable[[int], int],
    is_whole: bool,
    caps: list[list[float]],
    rivals: NDArray[np.float64],
) -> tuple[PoolPoints, ...]:
    """What is certified against each open pool."""
    sizes, error = state.pools["members"].tolist(), state.rules.gamma_error
    times = state.turns[HONEST:].tolist()
    total = sum(times) or 1.0
    found = []
    for pool in range(int(state.now.opened)):
        is_all = is_whole and pool == len(sizes) - 1
        part = pool_error(error, pool + 1) if len(sizes) > 1 else error
        share = 0.0 if is_all else missed_share(draws(sizes[pool]), part)
        points = _points(caps, float(rivals[pool]))
        found.append(PoolPoints(sizes[pool], share, times[pool] / total, points))
    return tuple(found)


def _best_pool(pools: tuple[PoolPoints, ...]) -> PoolPoints:
    """The widest pool against which nearly as much is certified as against any."""
    values = [
        min((max(p.epsilon, p.delta) for p in pool.points), default=math.inf) for pool in pools
    ]
    enough = NEARLY_AS_MUCH * min(values)
    return next(
        pool for pool, value in reversed(list(zip(pools, values, strict=True))) if value <= enough
    )


def least_runs(state: State, delta: float) -> int:
    """How many runs of a configuration it takes at least to certify this delta.

    If none of them exceeds the shortest cap; on a finite set, running all of it always suffices.
    """
    rules = state.rules
    most = rules.instances if rules.instances != ENDLESS else 2**30
    share = error_share(0, int(state.pools[0].members))
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        needed = evidence(rules, share, 0, middle)
        # All runs within the cap: the bound is where (1 / m)^runs reaches the evidence.
        if 1.0 - math.exp(-needed / middle) <= delta:
            high = middle
        else:
            low = middle + 1
    return low


def _has_shorter_runs(state: State) -> bool:
    """Whether a completed run counts as the first cap."""
    runtimes = state.runtimes
    first = runtimes.headers["start"][runtimes.headers["chunks"] > 0]
    return bool((runtimes.cells["least"][first] <= state.rules.first_cap).any())


def _points(caps: list[list[float]], rivals: float) -> tuple[Point, ...]:
    """All caps' pairs that no other pair beats in both numbers."""
    points = [
        Point(delta, max(0.0, _ratio(upper, rivals) - 1.0), cap)
        for cap, upper, delta, _ in caps
        if delta < 1.0 and math.isfinite(upper)
    ]
    points.sort(key=lambda point: (point.delta, point.epsilon, point.cap))
    kept: list[Point] = []
    for point in points:
        if not kept or point.epsilon < kept[-1].epsilon:
            kept.append(point)
    return tuple(kept)


def _ratio(above: float, below: float) -> float:
    """A quotient of bounds; an infinite divisor makes it 0, whatever is divided."""
    if math.isinf(below) or below == 0:
        return 0.0 if math.isinf(below) else math.inf
    return above / below
