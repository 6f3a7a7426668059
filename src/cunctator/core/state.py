"""Everything the core knows, as plain arrays.

The state is a tuple of NumPy arrays so that the same compiled kernels serve two drivers: the
ask/tell scheduler, one call a run, and the simulation of recorded runtimes, millions of steps a
call. Kernels change the arrays in place; only `grow` replaces arrays, between steps.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cunctator.core.compiled import compiled
from cunctator.core.profiles import Profile
from cunctator.core.queues import Queues, new_queues, queue_has_room
from cunctator.core.runtimes import Runtimes, new_runtimes, runtimes_have_room
from cunctator.core.slabs import NONE
from cunctator.core.tournament import Tournament, new_tournament

Scalar = TypeVar("Scalar", bound=np.generic)

MAX_BINS = 24
"""Bins of Equation 1 kept for a configuration. Bin k counts once r >= 36 * 2^k * ln(k t), so 24
bins are not exceeded before some configuration has 2^31 started runs."""

SHARP, FULL, RIVAL = 0, 1, 2
"""Whose turn it is: the sharper index, the one at full confidence, or the rivals of the former's
choice, again by full confidence."""

TURNS = 3

ENDLESS = 2**31 - 1
"""Number of instances that stands for an endless stream (pairs are kept as 32-bit numbers)."""


GAMMA_SHARE = 0.1
"""Of the error, with more than one pool: the part for draws that miss the best of the space."""

RUNGS = 64
"""Doublings of the first cap that the time of a configuration is told apart by (`rungs.py`)."""

SHORTLIST = 64
"""The most that are looked for on a rung at a time (`halving.py`)."""

EDGES_PER_OCTAVE = 4
MOST_OCTAVES = 44
"""Of a histogram without a cutoff: longer runs count as first_cap * 2^44, which is valid."""


class Rules(NamedTuple):
    """What holds for the whole study."""

    first_cap: float
    """kappa_0: the shortest cap; no run counts as faster than this."""
    cutoff: float
    """kappa-bar: a run that reaches it counts as complete with this value; infinity if none."""
    instances: int
    """How many (instance, seed) pairs there are; ENDLESS for a stream without end."""
    error: float = 0.05
    """zeta: the probability with which anything that is certified may be wrong."""
    gamma_error: float = 0.0
    """The same for draws that miss the best of a space, apart from that."""
    octaves: int = 1
    """Each cap is 2^octaves times the one before."""
    longest: float = math.inf
    """Caps above this are left out: the cutoff comes next."""


class Testers(NamedTuple):
    """One row a configuration: its tester's state (Algorithm 1, lines 10 to 30)."""

    started: NDArray[np.int64]
    """r: the first r pairs of the stream have been started."""
    chosen: NDArray[np.int64]
    """Those of them started for the frontier's sake (`ladder.py`); all, if there is one pool."""
    cap_level: NDArray[np.int64]
    """theta of the pseudo-code, as a level: runs of new pairs are capped at that."""
    known_level: NDArray[np.int64]
    """theta_i of the analysis: every started pair has been tried at this level (invariant 3)."""
    queue_target: NDArray[np.int64]
    """q: new pairs are started while fewer than this many are pending."""
    in_flight: NDArray[np.int64]
    """Runs asked for and not yet told."""
    new_in_flight: NDArray[np.int64]
    """Those of them whose pair has never been run before: nothing is known but R >= first_cap."""
    completed: NDArray[np.int64]
    """Pairs whose runtime is known, the cutoff included."""
    crashed: NDArray[np.int64]
    """Pairs that will never finish, and are not tried again."""
    below_count: NDArray[np.int64]
    """Completed runtimes below the known cap ..."""
    below_sum: NDArray[np.float64]
    """... and their sum."""
    bins: NDArray[np.int64]
    """How many rows of `areas` counted when they were last computed."""
    areas: NDArray[np.float64]
    """A_k: the area under the empirical survival curve in bin k, at [configuration, k - 1]."""
    patience: NDArray[np.int64]
    """How long a scheduling key is kept: for step / 2^patience further steps."""
    full: NDArray[np.float64]
    """Profile tight: the lower bound at full confidence ..."""
    full_bet: NDArray[np.int64]
    """... and the number of the bet that gave it."""
    sharp: NDArray[np.float64]
    """Profile tight: the sharper index ..."""
    sharp_bet: NDArray[np.int64]
    """... and its bet."""
    measure_at: NDArray[np.int64]
    """Profile tight: how many started runs it takes until both are computed again."""
    charged: NDArray[np.float64]
    """Seconds spent, restarts and overruns included."""
    overrun: NDArray[np.float64]
    """The part of `charged` that ran past a cap."""
    granted: NDArray[np.float64]
    """Seconds charged, runs in flight counted at their caps ..."""
    rung: NDArray[np.int64]
    """... and how often that has doubled (`rungs.py`)."""


class Pools(NamedTuple):
    """The pools of `ladder.py`: prefixes of the sequence of configurations; usually one, of all."""

    sizes: NDArray[np.int64]
    opened: NDArray[np.int64]
    """One number: how many pools have a share of the time."""
    frontier: NDArray[np.int64]
    """One number: the pool that most of the time is for."""
    is_done: NDArray[np.bool_]
    """Whether a pool's best is known exactly."""
    frontier_since: NDArray[np.float64]
    """One number: seconds charged when the frontier came to be where it is."""
    screened_at: NDArray[np.float64]
    """One number: seconds charged when it was screened, or NONE."""
    most_chosen: NDArray[np.int64]
    """One number: runs started for the frontier's sake of the configuration that has most."""


class Ranks(NamedTuple):
    """Who has had how much time, and is to have more: see `rungs.py` and `halving.py`."""

    reached: NDArray[np.int64]
    """How many configurations have reached each rung."""
    promoted: NDArray[np.int64]
    """Two numbers: who is promoted (or NONE), and the rung that it is to reach."""
    shortlist: NDArray[np.int64]
    """The best on a rung, at [rung, place] ..."""
    listed: NDArray[np.int64]
    """... how many of these have had their turn, and how many there are, at [rung]."""


class Flights(NamedTuple):
    """The runs in flight, one slot each; a free slot has configuration NONE."""

    configuration: NDArray[np.int64]
    pair: NDArray[np.int64]
    level: NDArray[np.int64]
    is_new: NDArray[np.bool_]
    turn: NDArray[np.int64]
    """Place in `State.turns`: whose turn it was."""


class State(NamedTuple):
    """The whole of it."""

    profile: Profile
    rules: Rules
    testers: Testers
    histogram: NDArray[np.float64]
    """Weight of completed runtimes at [configuration, edge]."""
    edges: NDArray[np.float64]
    """The edges, in seconds: first_cap * 2^(k / 4), up to the cutoff."""
    runtimes: Runtimes
    queues: Queues
    flights: Flights
    by_lower: Tournament
    """Keys (a value the lower bound does not fall below before the key expires, started)."""
    by_expiry: Tournament
    """Keys (last step for which the key in `by_lower` holds, 0)."""
    by_sharp: Tournament
    """Keys (sharp index, started), if the profile has such an index."""
    step: NDArray[np.int64]
    """One number, t: runs asked for so far."""
    pools: Pools
    turns: NDArray[np.float64]
    """Seconds charged at [SHARP, FULL, RIVAL], runs in flight counted at their caps; six numbers
    a pool, see `turns.py`."""
    turn: NDArray[np.int64]
    """One number: the place in `turns` of whose turn the last one was."""
    ranks: Ranks
    proved: NDArray[np.int64]
    """One number: the configuration that was proved optimal on a finite set, or NONE."""
    stack: NDArray[np.int64]
    """Working memory of `scheduler.choose`: kernels cannot allocate (see `compiled`)."""
    values: NDArray[np.float64]
    """Working memory of the betting bounds ..."""
    weights: NDArray[np.float64]
    """... likewise."""
    candidates: NDArray[np.int64]
    """Working memory of `answer.recommended` ..."""
    candidate_means: NDArray[np.float64]
    """... and of `halving.choose_promoted`."""


def runtime_edges(rules: Rules) -> NDArray[np.float64]:
    """Edges of the histogram: four an octave, the last one at the cutoff."""
    places = np.arange(MOST_OCTAVES * EDGES_PER_OCTAVE + 1) / EDGES_PER_OCTAVE
    edges: NDArray[np.float64] = rules.first_cap * 2.0**places
    if rules.cutoff < edges[-1]:
        edges = np.append(edges[edges < rules.cutoff], rules.cutoff)
    if edges.size == 1:  # the cutoff is the first cap: every run counts the same
        edges = np.append(edges, 2.0 * edges[0])
    return edges


def new_state(
    configurations: int, rules: Rules, profile: Profile, sizes: NDArray[np.int64] | None = None
) -> State:
    """The state before the first run, apart from the keys (see `scheduler.rekey_all`).

    `sizes` are those of pools; by default there is one, of all configurations.
    """
    if sizes is None:
        sizes = np.array([configurations], dtype=np.int64)
    if sizes.size > 1 and rules.gamma_error == 0:
        error = GAMMA_SHARE * rules.error
        rules = rules._replace(error=rules.error - error, gamma_error=error)

    def whole() -> NDArray[np.int64]:
        return np.zeros(configurations, dtype=np.int64)

    def real() -> NDArray[np.float64]:
        return np.zeros(configurations)

    testers = Testers(
        started=whole(),
        chosen=whole(),
        cap_level=whole(),
        known_level=whole(),
        queue_target=np.ones(configurations, dtype=np.int64),
        in_flight=whole(),
        new_in_flight=whole(),
        completed=whole(),
        crashed=whole(),
        below_count=whole(),
        below_sum=real(),
        bins=whole(),
        areas=np.zeros((configurations, MAX_BINS)),
        patience=whole(),
        full=np.full(configurations, rules.first_cap),
        full_bet=np.full(configurations, 2, dtype=np.int64),
        sharp=np.full(configurations, rules.first_cap),
        sharp_bet=np.full(configurations, 2, dtype=np.int64),
        measure_at=whole(),
        charged=real(),
        overrun=real(),
        granted=real(),
        rung=whole(),
    )
    room = 8 * configurations + 64
    has_sharp = profile.full_share < 1.0
    edges = runtime_edges(rules)
    return State(
        profile=profile,
        rules=rules,
        testers=testers,
        histogram=np.zeros((configurations, edges.size)),
        edges=edges,
        runtimes=new_runtimes(configurations, configurations // 4 + 16, room),
        queues=new_queues(configurations, room),
        flights=new_flights(16),
        by_lower=new_tournament(configurations),
        by_expiry=new_tournament(configurations),
        by_sharp=new_tournament(configurations if has_sharp else 1),
        step=np.zeros(1, dtype=np.int64),
        pools=new_pools(sizes),
        turns=np.zeros(2 * TURNS * sizes.size),
        turn=np.full(1, FULL, dtype=np.int64),
        ranks=Ranks(
            reached=np.zeros(RUNGS, dtype=np.int64),
            promoted=np.full(2, NONE, dtype=np.int64),
            shortlist=np.zeros((RUNGS, SHORTLIST), dtype=np.int64),
            listed=np.zeros((RUNGS, 2), dtype=np.int64),
        ),
        proved=np.full(1, NONE, dtype=np.int64),
        stack=np.zeros(64, dtype=np.int64),
        values=np.zeros(edges.size + 3),
        weights=np.zeros(edges.size + 3),
        candidates=whole(),
        candidate_means=real(),
    )


def new_pools(sizes: NDArray[np.int64]) -> Pools:
    """Pools of these sizes, the first one open."""
    return Pools(
        sizes=sizes,
        opened=np.ones(1, dtype=np.int64),
        frontier=np.zeros(1, dtype=np.int64),
        is_done=np.zeros(sizes.size, dtype=np.bool_),
        frontier_since=np.zeros(1),
        screened_at=np.full(1, float(NONE)),
        most_chosen=np.zeros(1, dtype=np.int64),
    )


def new_flights(slots: int) -> Flights:
    """Free slots for runs in flight."""
    return Flights(
        configuration=np.full(slots, NONE, dtype=np.int64),
        pair=np.zeros(slots, dtype=np.int64),
        level=np.zeros(slots, dtype=np.int64),
        is_new=np.zeros(slots, dtype=np.bool_),
        turn=np.zeros(slots, dtype=np.int64),
    )


def with_more_configurations(state: State, configurations: int) -> State:
    """The same state with room for more configurations, of which nothing is known yet.

    The keys must be set from scratch (see `scheduler.rekey_all`).
    """
    fresh = new_state(configurations, state.rules, state.profile, state.pools.sizes)
    old = state.testers.started.size
    for mine, others in (
        (fresh.testers, state.testers),
        (fresh.queues[2:], state.queues[2:]),
        (fresh.runtimes[6:], state.runtimes[6:]),
        ((fresh.histogram,), (state.histogram,)),
    ):
        for array, before in zip(mine, others, strict=True):
            array[:old] = before
    return state._replace(
        testers=fresh.testers,
        histogram=fresh.histogram,
        queues=state.queues._replace(
            start=fresh.queues.start,
            capacity=fresh.queues.capacity,
            head=fresh.queues.head,
            length=fresh.queues.length,
        ),
        runtimes=state.runtimes._replace(
            start=fresh.runtimes.start,
            capacity=fresh.runtimes.capacity,
            entries=fresh.runtimes.entries,
        ),
        by_lower=fresh.by_lower,
        by_expiry=fresh.by_expiry,
        by_sharp=fresh.by_sharp,
        candidates=fresh.candidates,
        candidate_means=fresh.candidate_means,
    )


@compiled
def room_for_result(state: State, index: int) -> bool:
    """Whether one more result of configuration `index` fits into the arrays."""
    return queue_has_room(state.queues, index) and runtimes_have_room(state.runtimes, index)


def grow(state: State, index: int) -> State:
    """The same state with larger arrays, so that a result of configuration `index` fits."""
    runtimes, queues = state.runtimes, state.queues
    if runtimes.chunks_used[0] == runtimes.chunks.shape[0]:
        runtimes = runtimes._replace(chunks=_longer(runtimes.chunks, 0))
    if not runtimes_have_room(runtimes, index):
        extra = 2 * int(runtimes.capacity[index]) + 4
        slabs = runtimes.slabs._replace(links=_longer(runtimes.slabs.links, extra))
        runtimes = runtimes._replace(
            slabs=slabs,
            counts=_longer(runtimes.counts, extra),
            sums=_longer(runtimes.sums, extra),
            least=_longer(runtimes.least, extra),
        )
    if not queue_has_room(queues, index):
        extra = 2 * int(queues.capacity[index]) + 4
        slabs = queues.slabs._replace(links=_longer(queues.slabs.links, extra))
        queues = queues._replace(slabs=slabs, levels=_longer(queues.levels, extra))
    return state._replace(runtimes=runtimes, queues=queues)


def _longer(array: NDArray[Scalar], extra: int) -> NDArray[Scalar]:
    """A copy with half as many rows again, and `extra` more."""
    rows = array.shape[0] + array.shape[0] // 2 + extra + 1
    longer = np.zeros((rows, *array.shape[1:]), dtype=array.dtype)
    longer[: array.shape[0]] = array
    return longer
