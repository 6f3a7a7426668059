"""Everything the core knows, as arrays of records.

The state is a tuple of NumPy arrays so that the same compiled kernels serve two drivers: the
ask/tell scheduler, one call a run, and the simulation of recorded runtimes, millions of steps a
call. Kernels change the arrays in place; only `grow` and `with_more_configurations` replace
arrays, between steps.

There are few arrays on purpose, each of records (`rows.py`): every one of them costs compile time
in every kernel. A number that is kept for each configuration is a field of `Tester`, one kept for
each pool a field of `Pool`, and a single one a field of `Now`. Lists of any length, one for each
configuration, are headers and cells, as in `queues.py`, `runtimes.py` and `values.py`.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cunctator.core.compiled import compiled
from cunctator.core.profiles import EQUATION_1, Profile
from cunctator.core.queues import Queues, new_queues, queue_has_room
from cunctator.core.rows import Rows, continued, longer, new_record, new_rows
from cunctator.core.rules import Rules, timeout_value
from cunctator.core.runtimes import Runtimes, new_runtimes, runtimes_have_room
from cunctator.core.sentinels import NONE
from cunctator.core.tournament import Tournament, copy_keys, new_tournament
from cunctator.core.values import Values, new_values, values_have_room

MAX_BINS = 24
"""Bins of Equation 1 kept for a configuration. Bin k counts once r >= 36 * 2^k * ln(k t), so 24
bins are not exceeded before some configuration has 2^31 started runs."""

SEEKING, NEWCOMER, RATIO, BOUND, GUIDED, BESIDE, RACE, CLOSING, HONEST = 0, 1, 2, 3, 4, 5, 6, 7, 8
"""For whose sake a run is made: to find out which cap to begin with, to look at one more
configuration, to know the most promising or the least known ones better (`search.py`), because a
guide has asked for it (`tasks.py`), to show that the incumbent is faster than the default
(`beside.py`) or close to the best (`race.py`), to bring what was put off to an end (`closing.py`),
or for the least lower bound of a pool: HONEST is the first pool's, HONEST + k that of pool k."""

ENDLESS = 2**31 - 1
"""Number of instances that stands for an endless stream (pairs are kept as 32-bit numbers)."""


GAMMA_SHARE = 0.1
"""Of the error, with more than one pool: the part for draws that miss the best of the space."""

RUNGS = 96
"""The most rungs of a ladder (`ladder.py`)."""

EDGES_PER_OCTAVE = 4
MOST_OCTAVES = 44
"""Of a histogram without a cutoff: longer runs count as first_cap * 2^44, which is valid."""

MOST_EDGES = MOST_OCTAVES * EDGES_PER_OCTAVE + 2

MOST_POINTS = MOST_EDGES + 3
"""Values that a betting bound may be computed from: see `tight.collect`."""

MOST_HEIGHT = 64
"""More than the height of any tournament."""

MOST_NOMINATIONS = 28
"""The last of them (`nominations.py`) is after 2^30 pairs."""

MOST_TASKS = 64
"""Of a guide, at a time."""

BETS = 8
"""Of each game (`games.py`)."""


class Tester:
    """What is known of one configuration: its tester's state (Algorithm 1, lines 10 to 30).

    The first ones are read for all configurations when the incumbent is looked for; they are as
    long as a line of the processor's cache.
    """

    started: int
    """r: the first r pairs of the stream have been started."""
    completed: int
    """Pairs whose runtime is known, the cutoff included."""
    crashed: int
    """Pairs that will never finish, and are not tried again."""
    rung: int
    """The rung of the ladder that it has reached (`climbing.py`), or NONE."""
    known_level: int
    """theta_i of the analysis: every started pair has been tried at this level (invariant 3)."""
    below_count: int
    """Completed runs that count less than the known cap (see `known.known_at`) ..."""
    below_sum: float
    """... and their sum."""
    new_in_flight: int
    """Runs in flight whose pair has never been run before: nothing is known but R >= first_cap."""
    cap_level: int
    """theta of the pseudo-code, as a level: runs of new pairs are capped at that. With a ladder,
    the longest that was tried."""
    queue_target: int
    """q: new pairs are started while fewer than this many are pending."""
    in_flight: int
    """Runs asked for and not yet told."""
    patience: int
    """How long a scheduling key is kept: for step / 2^patience further steps."""
    full: float
    """Profile tight: the lower bound at full confidence ..."""
    full_bet: int
    """... and the number of the bet that gave it."""
    measure_at: int
    """Profile tight: how many started runs it takes until it is computed again."""
    charged: float
    """Seconds spent, restarts and overruns included."""
    overrun: float
    """The part of `charged` that ran past a cap."""
    least_share: float
    """The least share of its cap that a run was measured for which was put off: 1, unless it did
    nothing until it was ended by the clock, or a wrapper gave up a bit early."""
    bins: int
    """How many of `State.areas` counted when they were last computed."""
    covered: int
    """The first pairs, so many, are known up to the cap of its next rung."""
    difference: float
    """How much slower than the incumbent it is, by pair, as a share of the incumbent's mean ..."""
    deviation: float
    """... and the standard error of that."""
    whole: int
    """The first pairs, so many, are known to their end."""
    rank: int
    """Its number among the default, the user's own and random draws; or among the proposals. The
    error and the capital that it may spend go by that: it does not depend on results."""
    proposed_at: int
    """Of a configuration that was proposed because of results: how many pairs anybody had started
    by then. NONE for the default, the user's own and random draws (`proposals.py`)."""
    beaten: int
    """In the race (`race.py`): how many of its targets the incumbent has been shown to reach ..."""
    race_pairs: int
    """... and for the next one, so many pairs are to be known ..."""
    race_level: int
    """... up to the cap of this level."""


class Pool:
    """One of the pools of `pools.py`: a prefix of the sequence of configurations."""

    members: int
    """Its configurations are those below this index, without the ones that were proposed because of
    results ..."""
    count: int
    """... and this is how many these are."""
    is_done: bool
    """Whether its best is known exactly."""


class Ladder:
    """The rungs that configurations climb, and what was seen on each: see `ladder.py`."""

    made: int
    """How many rungs there are; none before it is known which cap to begin with."""
    trial: int
    """Until then, the level that is tried."""
    base_rung: int
    """The rung whose cap that was found to be ..."""
    entry: int
    """... and the one that newcomers are to reach."""
    top: int
    """The last one, whose pairs are all there are, up to the cutoff; RUNGS while there is none."""
    pairs: Annotated[NDArray[np.int64], RUNGS]
    """How many pairs a rung has: the first ones of the stream ..."""
    level: Annotated[NDArray[np.int64], RUNGS]
    """... which are run up to the cap of this level."""
    wanted: Annotated[NDArray[np.float64], RUNGS]
    """The cap that it would have if there were others than those of levels."""
    unsolved: Annotated[NDArray[np.float64], RUNGS]
    """Of all configurations on it: runs that reached its cap ..."""
    clipped: Annotated[NDArray[np.float64], RUNGS]
    """... and the seconds of all runs, up to its cap."""
    measured: Annotated[NDArray[np.float64], RUNGS]
    """How many have been compared with the incumbent on it ..."""
    variances: Annotated[NDArray[np.float64], RUNGS]
    """... and the sum of the variances seen."""


class Task:
    """What a guide has asked for: see `tasks.py`."""

    configuration: int
    rung: int
    """Of the ladder, that it is to reach."""


class Flight:
    """A run in flight; a free slot has configuration NONE."""

    configuration: int
    pair: int
    level: int
    is_new: bool
    tried: int
    """The level that the pair has been tried at before, unless it is new."""
    turn: int
    """For whose sake it is: see `Now.turn`."""


class Now:
    """The single numbers."""

    step: int
    """t: runs asked for so far."""
    turn: int
    """For whose sake the last run was: the place in `State.turns`."""
    pair: int
    """What `turns.choose` has chosen: the pair ..."""
    level: int
    """... and the level of its cap."""
    proved: int
    """The configuration that was proved optimal on a finite set, or NONE."""
    opened: int
    """How many pools have a share of the time."""
    entered: int
    """All configurations below this one have reached a rung, but for proposals."""
    proposals: int
    """How many configurations have been proposed because of results."""
    tasks: int
    """How many of `State.tasks` count."""
    last_entered: int
    """The one of highest number that has."""
    incumbent: int
    """The best by pair so far (`climbing.py`) ..."""
    incumbent_mean: float
    """... its score on the rung that it has reached ..."""
    incumbent_seconds: float
    """... what its runs are expected to take, with which it is the same unless timeouts count more
    than they take ..."""
    incumbent_since: float
    """... and the seconds charged when it came to be that."""
    faster: int
    """The incumbent that was last certified to be faster than the default (`beside.py`)."""
    look_at: int
    """How many pairs both must have run to their end before that is looked at again."""
    racing: int
    """The incumbent that the race is about (`race.py`), or NONE ..."""
    race_members: int
    """... the configurations below this index being its rivals, but for proposals ..."""
    race_size: int
    """... so many, with the incumbent, if that is one of them."""
    race_target: int
    """The number of the target ..."""
    race_octave: int
    """... and the octave up to which the incumbent's runs count, or WHOLE."""
    race_upper: float
    """An upper bound on the incumbent's mean up to that."""
    race_look_at: int
    """How many pairs the incumbent must have run to their end before these are looked at again."""
    unbeaten: int
    """Rivals that have not been beaten at the target."""
    closing: bool
    """Whether a budget is about to end (`closing.py`) ..."""
    closing_rung: int
    """... and the rung on which it is decided then, or NONE."""
    compared_pairs: float
    """Pairs that all configurations together have on their rungs."""
    nominated: Annotated[NDArray[np.int64], MOST_NOMINATIONS]
    """Incumbents at certain moments (`nominations.py`), or NONE while they have not come."""


class Scratch:
    """Working memory, of no meaning between calls: kernels cannot allocate (see `compiled`)."""

    stack: Annotated[NDArray[np.int64], MOST_HEIGHT]
    """Of `choice.choose_honestly`."""
    points: Annotated[NDArray[np.float64], MOST_POINTS]
    """Values that a betting bound is computed from ..."""
    weights: Annotated[NDArray[np.float64], MOST_POINTS]
    """... and how many runs have each."""
    books: Annotated[NDArray[np.float64], (MOST_NOMINATIONS + 2, BETS)]
    """Capital at [game, bet] (`games.py`) ..."""
    begins: Annotated[NDArray[np.int64], MOST_NOMINATIONS + 2]
    """... and after how many pairs each game begins."""


class Candidate:
    """Working memory of `recommend.most_run`."""

    index: int
    price: float


class State(NamedTuple):
    """The whole of it."""

    profile: Profile
    rules: Rules
    now: Now
    testers: Rows[Tester]
    areas: NDArray[np.float64]
    """A_k: the area under the empirical survival curve in bin k, at [configuration, k - 1]. None
    with betting bounds, which have no use for them."""
    histogram: NDArray[np.float64]
    """Weight of completed runtimes at [configuration, edge]."""
    edges: NDArray[np.float64]
    """The edges: first_cap * 2^(k / 4), up to the cutoff, and what a timeout counts."""
    runtimes: Runtimes
    queues: Queues
    values: Values
    """What is known of each pair, by configuration."""
    flights: Rows[Flight]
    by_lower: Tournament
    """Keys (a value the lower bound does not fall below before the key expires, started)."""
    by_expiry: Tournament
    """Keys (last step for which the key in `by_lower` holds, 0)."""
    by_ratio: Tournament
    """With a ladder: keys (difference / deviation, 0) of those that may climb ..."""
    by_bound: Tournament
    """... and (difference - z deviation, 0)."""
    by_race: Tournament
    """Keys (difference / deviation, 0) of rivals that have something to run (`race.py`)."""
    pools: Rows[Pool]
    turns: NDArray[np.float64]
    """Seconds charged for whose sake, runs in flight counted at their caps."""
    ladder: Ladder
    tasks: Rows[Task]
    scratch: Scratch
    candidates: Rows[Candidate]


def runtime_edges(rules: Rules) -> NDArray[np.float64]:
    """Edges of the histogram: four an octave, the last ones at the cutoff and at a timeout."""
    places = np.arange(MOST_OCTAVES * EDGES_PER_OCTAVE + 1) / EDGES_PER_OCTAVE
    edges: NDArray[np.float64] = rules.first_cap * 2.0**places
    if rules.cutoff < edges[-1]:
        edges = np.append(edges[edges < rules.cutoff], rules.cutoff)
        if rules.penalty > 1.0:
            edges = np.append(edges, timeout_value(rules))
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
    room = 8 * configurations + 64
    edges = runtime_edges(rules)
    pools = new_rows(Pool, sizes.size)
    pools["members"] = pools["count"] = sizes
    return State(
        profile=profile,
        rules=rules,
        now=_new_now(),
        testers=_new_testers(configurations, rules),
        areas=np.zeros((configurations if profile.bound == EQUATION_1 else 0, MAX_BINS)),
        histogram=np.zeros((configurations, edges.size)),
        edges=edges,
        runtimes=new_runtimes(configurations, configurations // 4 + 16, room),
        queues=new_queues(configurations, room),
        values=new_values(configurations, configurations + 16, 4 * configurations + 64),
        flights=new_flights(16),
        by_lower=new_tournament(configurations),
        by_expiry=new_tournament(configurations),
        by_ratio=new_tournament(configurations if profile.has_ladder else 1),
        by_bound=new_tournament(configurations if profile.has_ladder else 1),
        by_race=new_tournament(configurations if profile.has_ladder else 1),
        pools=pools,
        turns=np.zeros(HONEST + sizes.size),
        ladder=_new_ladder(),
        tasks=new_rows(Task, MOST_TASKS),
        scratch=new_record(Scratch),
        candidates=new_rows(Candidate, configurations),
    )


def _new_testers(size: int, rules: Rules) -> Rows[Tester]:
    """Configurations of which nothing is known."""
    testers = new_rows(Tester, size)
    testers["queue_target"] = 1
    testers["full"] = rules.first_cap
    testers["full_bet"] = 2
    testers["rung"] = testers["proposed_at"] = NONE
    testers["rank"] = np.arange(size)
    testers["deviation"] = testers["least_share"] = 1.0
    return testers


def _new_now() -> Now:
    now = new_record(Now)
    now.turn, now.opened = HONEST, 1
    now.proved = now.racing = now.closing_rung = NONE
    now.nominated[:] = NONE
    return now


def _new_ladder() -> Ladder:
    ladder = new_record(Ladder)
    ladder.top = RUNGS
    return ladder


def new_flights(slots: int) -> Rows[Flight]:
    """Free slots for runs in flight."""
    flights = new_rows(Flight, slots)
    flights["configuration"] = NONE
    return flights


def with_more_configurations(state: State, configurations: int) -> State:
    """The same state with room for more configurations, of which nothing is known yet.

    The keys of lower bounds must be set from scratch (see `scheduler.rekey_all`). Those of climbers
    stay as they are: they tell what was known when they were set, and when there is more room is
    not to matter.
    """
    fresh = new_state(configurations, state.rules, state.profile, state.pools["members"])
    copy_keys(state.by_ratio, fresh.by_ratio)
    copy_keys(state.by_bound, fresh.by_bound)
    copy_keys(state.by_race, fresh.by_race)
    fresh.testers["rank"] -= state.now.proposals
    queues, runtimes, values = state.queues, state.runtimes, state.values
    return state._replace(
        testers=continued(fresh.testers, state.testers),
        areas=continued(fresh.areas, state.areas),
        histogram=continued(fresh.histogram, state.histogram),
        queues=queues._replace(headers=continued(fresh.queues.headers, queues.headers)),
        runtimes=runtimes._replace(headers=continued(fresh.runtimes.headers, runtimes.headers)),
        values=values._replace(headers=continued(fresh.values.headers, values.headers)),
        by_lower=fresh.by_lower,
        by_expiry=fresh.by_expiry,
        by_ratio=fresh.by_ratio,
        by_bound=fresh.by_bound,
        by_race=fresh.by_race,
        candidates=fresh.candidates,
    )


@compiled
def room_for_result(state: State, index: int) -> bool:
    """Whether one more run of configuration `index`, and its result, fit into the arrays."""
    return (
        queue_has_room(state.queues, index)
        and runtimes_have_room(state.runtimes, index)
        and values_have_room(state.values, index)
    )


def grow(state: State, index: int) -> State:
    """The same state with larger arrays, so that a run of configuration `index` fits."""
    runtimes, queues, values = state.runtimes, state.queues, state.values
    if runtimes.used.rows == runtimes.values.shape[0]:
        runtimes = runtimes._replace(values=longer(runtimes.values))
    if not runtimes_have_room(runtimes, index):
        extra = 2 * int(runtimes.headers[index].capacity) + 4
        runtimes = runtimes._replace(cells=longer(runtimes.cells, extra))
    if not queue_has_room(queues, index):
        extra = 2 * int(queues.headers[index].capacity) + 4
        queues = queues._replace(cells=longer(queues.cells, extra))
    if values.used.rows == values.chunks.shape[0]:
        values = values._replace(chunks=longer(values.chunks))
    if not values_have_room(values, index):
        extra = 2 * int(values.headers[index].capacity) + 4
        values = values._replace(cells=longer(values.cells, extra))
    return state._replace(runtimes=runtimes, queues=queues, values=values)
