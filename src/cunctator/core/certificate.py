"""The certificate: how close to the best an incumbent provably is, read off the data at any time.

Configuration i is (epsilon, delta)-optimal if, with its runs cut off at some cap that at most a
share delta of them exceed, its mean is at most 1 + epsilon times the best mean of all. With
probability at least `confidence`, at all times, for whatever incumbent and whenever one stops,
everything that a certificate says is true at once: how many times as fast as the default the
incumbent is, and for each cap theta

    mean of min(runtime_i, theta) <= (1 + epsilon) best mean,  Pr(runtime_i > theta) <= delta.

Where that comes from is in `claims.py`: games on the pairs that two have run, in stream order. The
incumbent is compared with every other one, and epsilon is the worst of them. None of it depends on
how runs were chosen. On a finite set, what is known of all pairs bounds a mean too, and a
configuration run to the end is known exactly.

With pools that grow (`pools.py`) the best mean is that of a pool. Each pool has a best of its own,
and a part of the error (`pool_error`). Pool k, of M random draws, holds one of the best share gamma
of the whole space, as it is drawn from, but for a probability (1 - gamma)^M, which is set to the
pool's part of the error for that; so what is within 1 + epsilon of the pool's best is within
1 + epsilon of all but the best gamma of the space. Larger pools have smaller gammas, and larger
epsilons while little is known of them; all these statements hold at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cunctator.core.claims import (
    FASTER,
    RIVALS,
    SLOWER,
    claim_cap,
    ratio_bound,
    share_beyond,
    upper_mean_of,
    worst_ratio,
)
from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.known import is_exact, last_octave, mean_runtime, octave_at
from cunctator.core.pools import missed_share, pool_error
from cunctator.core.proposals import is_proposal
from cunctator.core.sentinels import NONE, WHOLE
from cunctator.core.state import ENDLESS, GAMMA_SHARE, State

NEARLY_AS_MUCH = 1.25
"""A wider pool is what people want to hear about, if its (epsilon, delta) is not much worse."""

MOST_CAPS = 80
"""More than there are octaves with any first cap and cutoff, and whole runs."""


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
    """The share of the charged time that its configurations have had."""
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
    seeds: int | None = None
    """How many seeds each instance is in that set with; None: the target takes none."""
    measured: bool = False
    """Whether runtimes were measured, so that another run of the same pair takes another time."""
    cutoff: float | None = None
    """Runs that reach it, or crash, count as it ..."""
    penalty: float = 1.0
    """... so many times."""
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
def top_octave(state: State, index: int) -> int:
    """The highest octave worth a bound: the last below the cutoff, or that of the next cap."""
    if math.isinf(state.rules.cutoff):
        return octave_at(state.rules, state.testers[index].cap_level + 1)
    return int(last_octave(state.rules)) - 1


@compiled
def _octave_of(top: int, row: int) -> int:
    """Caps are in rows, the longest first."""
    return WHOLE if row == 0 else top + 1 - row


@compiled_apart
def measure_caps(state: State, answer: int, out: NDArray[np.float64]) -> int:
    """For each cap, in a row: the cap, the upper bound on the mean up to it, the share beyond it.

    Returns how many there are, down to where all runs may be longer. For whole runs the cap is the
    cutoff, where they are cut off, however many times it counts.
    """
    top = top_octave(state, answer)
    rows = min(top + 2, out.shape[0])
    for row in range(rows):
        octave = _octave_of(top, row)
        out[row, 0] = min(claim_cap(state.rules, octave), state.rules.cutoff)
        out[row, 2] = share_beyond(state, answer, octave)
        if out[row, 2] >= 1.0:
            return row
        out[row, 1] = upper_mean_of(state, answer, octave)
    return int(rows)


@compiled_apart
def measure_rivals(
    state: State,
    answer: int,
    caps: NDArray[np.float64],
    errors: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """The certified ratio of the answer to the best, at [pool, row of `caps`].

    A shorter cap has a larger delta. If its ratio is not smaller than that of a longer one it says
    nothing new, and is left at infinity.
    """
    top = top_octave(state, answer)
    for pool in range(errors.size):
        least = math.inf
        for row in range(caps.shape[0]):
            out[pool, row] = math.inf
            if least > 1.0 and not math.isinf(caps[row, 1]):
                members, octave = state.pools[pool].members, _octave_of(top, row)
                # What is not certified against a smaller pool is not against this one.
                begin = max(1.0, out[pool - 1, row]) if pool > 0 else 1.0
                if math.isinf(begin):
                    begin = 1.0
                target = 1.0 / errors[pool]
                out[pool, row] = worst_ratio(
                    state, answer, octave, caps[row, 1], members, begin, least, target
                )
                least = min(least, out[pool, row])


@compiled_apart
def is_known_best(state: State, answer: int) -> bool:
    """Whether all is known of all, and nobody is better."""
    for index in range(state.testers.size):
        if not is_exact(state, index):
            if is_proposal(state, index):
                continue  # if all that there is is in a pool, it is there once more
            return False
        if mean_runtime(state, index) < mean_runtime(state, answer):
            return False
    return not math.isinf(mean_runtime(state, answer))


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
    pools = _pool_points(state, incumbent, draws or int, is_whole)
    widest = _best_pool(pools)
    # All is known of all, so no pool is left out, and the last is the one that holds them all.
    is_all = is_whole and len(pools) == state.pools.size
    return Certificate(
        confidence=1.0 - state.rules.error - state.rules.gamma_error,
        incumbent=incumbent,
        points=widest.points,
        optimal=bool(is_all and is_known_best(state, incumbent)),
        versus_default=_speed_up(state, incumbent),
        floor=state.rules.first_cap if _has_shorter_runs(state) else None,
        instances=None if state.rules.instances == ENDLESS else state.rules.instances,
        cutoff=state.rules.cutoff if math.isfinite(state.rules.cutoff) else None,
        penalty=state.rules.penalty,
        gamma=widest.gamma,
        looked_at=widest.size if is_fixed else None,
        pools=pools if state.pools.size > 1 else (),
    )


def _speed_up(state: State, incumbent: int) -> tuple[float, float]:
    """Bounds on the mean of the default over that of the incumbent."""
    if incumbent == 0:
        return 1.0, 1.0
    share, high = (float(ratio_bound(state, claim, incumbent)) for claim in (FASTER, SLOWER))
    # What is known exactly may differ in its last digit, one being computed from the inverse.
    return min(high, math.inf if share == 0.0 else 1.0 / share), high


def _with_gamma_error(state: State) -> State:
    """The same for a fixed pool of draws, part of whose error is for what they miss."""
    part = GAMMA_SHARE * state.rules.error
    rules = state.rules._replace(error=state.rules.error - part, gamma_error=part)
    return state._replace(rules=rules)


def _pool_points(
    state: State, incumbent: int, draws: Callable[[int], int], is_whole: bool
) -> tuple[PoolPoints, ...]:
    """What is certified against each open pool."""
    sizes, rules = state.pools["count"].tolist(), state.rules
    is_one = len(sizes) == 1
    opened, charged = int(state.now.opened), state.testers["charged"]
    total = math.fsum(charged) or 1.0  # to the digit, whatever room there is
    drawn = charged[state.testers["proposed_at"] == NONE]

    def part(error: float, pool: int) -> float:
        return error if is_one else pool_error(error, pool + 1)

    caps = np.zeros((MOST_CAPS, 3))
    caps = caps[: measure_caps(state, incumbent, caps)]
    errors = np.array([part(RIVALS * rules.error, pool) for pool in range(opened)])
    ratios = np.zeros((opened, caps.shape[0]))
    measure_rivals(state, incumbent, caps, errors, ratios)
    found = []
    for pool in range(opened):
        is_all = is_whole and pool == len(sizes) - 1
        missed = part(rules.gamma_error, pool)
        gamma = 0.0 if is_all else missed_share(draws(sizes[pool]), missed)
        points = _points(caps, ratios[pool])
        share = math.fsum(drawn[: sizes[pool]]) / total
        found.append(PoolPoints(sizes[pool], gamma, share, points))
    return tuple(found)


def _points(caps: NDArray[np.float64], ratios: NDArray[np.float64]) -> tuple[Point, ...]:
    """All caps' pairs that no other pair beats in both numbers."""
    points = [
        Point(delta, ratio - 1.0, cap)
        for (cap, _, delta), ratio in zip(caps.tolist(), ratios.tolist(), strict=True)
        if math.isfinite(ratio)
    ]
    points.sort(key=lambda point: (point.delta, point.epsilon, point.cap))
    kept: list[Point] = []
    for point in points:
        if not kept or point.epsilon < kept[-1].epsilon:
            kept.append(point)
    return tuple(kept)


def _best_pool(pools: tuple[PoolPoints, ...]) -> PoolPoints:
    """The widest pool against which nearly as much is certified as against any."""
    values = [
        min((max(p.epsilon, p.delta) for p in pool.points), default=math.inf) for pool in pools
    ]
    enough = NEARLY_AS_MUCH * min(values)
    return next(
        pool for pool, value in reversed(list(zip(pools, values, strict=True))) if value <= enough
    )


def _has_shorter_runs(state: State) -> bool:
    """Whether a completed run counts as the first cap."""
    runtimes = state.runtimes
    first = runtimes.headers["start"][runtimes.headers["chunks"] > 0]
    return bool((runtimes.cells["least"][first] <= state.rules.first_cap).any())
