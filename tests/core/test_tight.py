"""The tight profile's parts: the histogram, the error budget, the epochs of a finite set."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cunctator.base.records import Outcome, Status
from cunctator.core.certificate import certify
from cunctator.core.claims import upper_mean_of
from cunctator.core.known import cap_at, last_octave, octave_at, octave_cap
from cunctator.core.profiles import PROFILES
from cunctator.core.rules import Rules
from cunctator.core.scheduler import Scheduler, check_rules
from cunctator.core.state import BOUND, ENDLESS, HONEST, MOST_EDGES, NEWCOMER, RATIO, runtime_edges
from cunctator.core.tight import bin_runtime, counted_runs, epochs, error_share
from cunctator.recorded.simulation import Simulation
from cunctator.recorded.table import make_table
from tests.core.driving import of_table, outcome

BETS = 2.0 ** -np.arange(16)


def reference_lower(values, needed):
    """The betting bound by bisection, from above: nothing shared with the package."""
    values, counts = np.unique(np.asarray(values, dtype=float), return_counts=True)
    if not values.any():
        return 0.0

    def wealth(mean):
        with np.errstate(divide="ignore"):
            logs = np.log(1 - BETS[:, None] + BETS[:, None] * values / mean)
        return (logs * counts).sum(axis=1).max()

    high = low = float((values * counts).sum() / counts.sum())
    while wealth(low) < needed:
        low /= 4
        if low < 1e-200:
            return 0.0
    for _ in range(34):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if wealth(middle) >= needed else (low, middle)
    return high


def reference_evidence(error, index, configurations, octave, instances, started):
    """By the letter of docs/algorithm.md, "The error budget" and "Finite sets"."""
    block = math.floor(math.log2(index + 1))
    share = 0.5 / configurations + 0.5 / (2**block * (block + 1) * (block + 2))
    needed = math.log(16 * 3 * (octave + 1) * (octave + 2) / (error * share))
    if instances is None:
        return needed
    epochs = [math.ceil(1.25**k - 1e-9) for k in range(100) if 1.25**k <= instances]
    first = max(epoch for epoch in epochs if epoch <= started)
    return (needed + math.log(len(set(epochs)))) * started / first


@given(
    runtimes=st.lists(st.floats(1.0, 1e30), min_size=1, max_size=30),
    cutoff=st.sampled_from([math.inf, 1.0, 1.3, 900.0]),
    penalty=st.sampled_from([1.0, 1.01, 10.0]),
)
def test_the_histogram_keeps_counts_and_means(runtimes, cutoff, penalty):
    """No weight is negative, however long a run: beyond the last edge it counts as that edge."""
    penalty = 1.0 if math.isinf(cutoff) else penalty
    edges = runtime_edges(Rules(1.0, cutoff, ENDLESS, penalty=penalty))
    assert edges.size <= MOST_EDGES and (np.diff(edges) > 0).all()
    row = np.zeros(edges.size)
    values = np.where(np.array(runtimes) >= cutoff, penalty * cutoff, runtimes)
    kept = np.minimum(values, edges[-1])
    for value in values:
        bin_runtime(edges, row, value)
    assert (row >= 0).all()
    assert row.sum() == pytest.approx(len(runtimes))
    assert (row * edges).sum() == pytest.approx(kept.sum(), rel=1e-9)
    if penalty > 1:  # none of their weight is that of a run that ends just before the cutoff
        assert row[-1] == pytest.approx((values > cutoff).sum())


def test_runs_beyond_the_histogram_are_certified_on_the_safe_side():
    """First cap a nanosecond, no cutoff: runs of 10^5 seconds lie beyond the last edge."""
    scheduler = Scheduler(2, None, first_cap=1e-9)
    while scheduler.standing(0).known_cap < 1e5:
        run = scheduler.ask()
        solved = run.cap >= 1e5
        scheduler.tell(run, Outcome(Status.SOLVED if solved else Status.CAPPED, min(run.cap, 1e5)))
    scheduler.check()
    octave = octave_at(scheduler.state.rules, int(scheduler.state.testers[0].known_level))
    assert scheduler.state.testers["full"].max() <= 1e5
    assert upper_mean_of(scheduler.state, 0, octave) >= 1e5
    for point in certify(scheduler.state, 0).points:
        assert point.epsilon >= 0 and (point.cap < 1e5) <= (point.delta > 0.9)


@given(
    first_cap=st.floats(1e-9, 10.0),
    ratio=st.one_of(st.floats(1.0, 1e7), st.sampled_from([2.0**k for k in range(20)])),
    nudge=st.integers(-2, 2),
    profile=st.sampled_from(sorted(PROFILES)),
)
def test_every_cap_is_that_of_one_octave(first_cap, ratio, nudge, profile):
    """Each octave has an error of its own: two caps in one would spend it twice."""
    cutoff = max(first_cap, first_cap * ratio * (1 + nudge * 2.0**-52))
    rules = check_rules(PROFILES[profile], 1, None, first_cap, cutoff, 0.95)
    last = last_octave(rules)
    octaves = [octave_cap(rules, octave) for octave in range(last + 1)]
    assert sorted(set(octaves)) == octaves and octaves[-1] == cutoff
    caps = [cap_at(rules, 0)]
    while caps[-1] < cutoff:
        caps.append(cap_at(rules, len(caps)))
        assert caps[-1] >= 2 * caps[-2] or caps[-1] == cutoff
    assert [octave_cap(rules, octave_at(rules, level)) for level in range(len(caps))] == caps
    if profile == "tight":
        assert all(2 * a <= b < 4 * a for a, b in itertools.pairwise(caps))


@pytest.mark.parametrize("initial", [1, 7, 1000])
def test_the_error_budget_is_not_overspent(initial):
    """Were all of the first 2^20 numbers used, and the rest of the series: at most 1."""
    spent = sum(error_share(index, initial) for index in range(2**17))
    rest = 0.5 / (17 + 1)  # blocks from 17 on: half of sum 1 / ((b + 1)(b + 2))
    assert spent + rest == pytest.approx(1.0)


def test_everyone_has_their_share_of_the_time():
    """A sixteenth for the least lower bound; of the rest, two parts look closer and one at doubts.

    Thirty newcomers are soon looked at, and have no share any more.
    """
    random = np.random.default_rng(4)
    runtimes = np.exp(random.normal(0, 0.4, (30, 1)) + random.normal(0, 1.0, (30, 20_000)))
    simulation = Simulation(make_table(runtimes), first_cap=0.1)
    simulation.advance(30_000)
    turns, longest = simulation.state.turns, runtimes.max()
    assert simulation.stop is None and turns.sum() == pytest.approx(simulation.charged)
    assert abs(turns[HONEST] - PROFILES["tight"].full_share * simulation.charged) < longest
    assert abs(turns[RATIO] - 2 * turns[BOUND]) < 3 * longest
    assert turns[NEWCOMER] < simulation.charged / 20


def test_newcomers_have_their_share_while_there_are_some():
    random = np.random.default_rng(4)
    runtimes = np.exp(random.normal(0, 0.4, (4000, 1)) + random.normal(0, 1.0, (4000, 500)))
    simulation = Simulation(make_table(runtimes), first_cap=0.1)
    simulation.advance(20_000)
    assert simulation.state.now.entered < 4000
    turns, longest = simulation.state.turns, runtimes.max()
    assert abs(turns[HONEST] - PROFILES["tight"].full_share * simulation.charged) < longest
    assert abs(turns[RATIO] - turns[NEWCOMER]) < 2 * longest
    assert abs(turns[BOUND] - turns[NEWCOMER] / 2) < 2 * longest


def test_epochs_are_few_and_begin_where_they_say():
    for instances in (1, 2, 150, 1294, 20_000):
        begun = {counted_runs(instances, started) for started in range(1, instances + 1)}
        assert len(begun) <= epochs(instances)
        assert all(
            started / 1.25 - 1 <= counted_runs(instances, started) <= started
            for started in range(1, instances + 1)
        )
    assert counted_runs(ENDLESS, 1234) == 1234 and epochs(ENDLESS) == 1


@pytest.mark.parametrize(
    ("seed", "penalty"), [*((seed, 1.0) for seed in range(24)), *((s, 10.0) for s in (4, 6, 8, 9))]
)
def test_the_index_at_full_confidence_is_not_beyond_what_the_true_runtimes_would_show(
    seed, penalty
):
    """With runs in flight, put off and crashed: a bound from what is known is on the safe side of
    the bound from the whole truth about the started runs, at the documented error.
    """
    random = np.random.default_rng(seed)
    configurations, first_cap, confidence = 2, 0.5, 0.5
    instances = [None, 40][seed % 2]
    cutoff = [math.inf, 0.5, 1.9, 2.1, 64.0, 300.0][seed // 2 % 6]
    size = 200 if instances is None else instances
    true = np.array(
        [
            first_cap * 2.0 ** random.integers(0, 9, size),  # on the edges of octaves
            np.where(random.random(size) < 0.2, 40.0, 0.6),
        ]
    )
    crashed = (random.random(true.shape) < 0.1) & (seed % 3 == 0)
    scheduler = Scheduler(
        configurations,
        instances,
        first_cap=first_cap,
        cutoff=None if math.isinf(cutoff) else cutoff,
        penalty=penalty,
        confidence=confidence,
    )
    runtime_of, timeout = of_table(true, crashed), penalty * cutoff
    true = np.where(crashed | (true >= cutoff), timeout, true)
    flying, best = [], np.full(configurations, first_cap)

    def needed_at(index, octave, started):
        return reference_evidence(1 - confidence, index, configurations, octave, instances, started)

    def look(index):
        state, started = scheduler.state, int(scheduler.state.testers[index].started)
        if started == 0:
            return
        values, gone = true[index, :started], crashed[index, :started]
        most = octave_at(state.rules, int(state.testers[index].cap_level) + 1)
        caps = [first_cap * 2.0**octave for octave in range(most + 1)]
        caps = [cap if cap < cutoff else timeout for cap in caps]
        if math.isinf(values.max()):
            return
        lower = float(state.testers[index].full)
        if instances is not None:
            certain = (values.sum() + (instances - started) * first_cap) / instances
            best[index] = max(best[index], certain)
        # The best bound of all times may be used, so look back as far as it takes.
        for count, (octave, cap) in itertools.product(range(started, 0, -1), enumerate(caps)):
            if lower <= best[index] * (1 + 1e-6):
                break
            known = np.where(gone[:count], timeout, np.minimum(values[:count], cap))
            bound = reference_lower(known, needed_at(index, octave, count))
            best[index] = max(best[index], bound)
        assert lower <= best[index] * (1 + 1e-6)

    for step in range(260):
        while len(flying) < 8 and (run := scheduler.ask()) is not None:
            flying.append(run)
        if not flying or (max(run.pair for run in flying) >= size - 8 and instances is None):
            break
        run = flying.pop(int(random.integers(len(flying))))
        scheduler.tell(run, outcome(scheduler, run, runtime_of))
        if step % 20 == 0:
            for index in range(configurations):
                look(index)


def test_runs_put_off_count_as_the_cap_they_have_reached():
    """Just above a cap: whoever takes them to reach the next one errs."""
    scheduler = Scheduler(1, None, first_cap=1.0, confidence=0.5)
    best, solved = 1.0, 0
    while solved < 5:
        run = scheduler.ask()
        solved += run.cap >= 16.1
        scheduler.tell(run, outcome(scheduler, run, lambda *_: 16.1))
        started = int(scheduler.state.testers[0].started)
        for octave in range(7):
            needed = reference_evidence(0.5, 0, 1, octave, None, started)
            bound = reference_lower(np.full(started, min(16.1, 2.0**octave)), needed)
            best = max(best, bound)
        assert scheduler.state.testers[0].full <= best * (1 + 1e-6)
