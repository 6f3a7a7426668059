"""Certificates beside bounds that share nothing with the package, and what may not be claimed."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from cunctator.base.records import Outcome, Status, StopReason
from cunctator.core.certificate import (
    certified_lower,
    certified_share,
    certified_upper,
    certify,
    least_runs,
    top_octave,
)
from cunctator.core.scheduler import Scheduler
from cunctator.core.tight import error_share, evidence
from cunctator.recorded.simulation import Simulation
from cunctator.recorded.table import make_table

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


@pytest.mark.parametrize("seed", range(24))
def test_nothing_is_certified_beyond_what_the_true_runtimes_would_show(seed):
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
    true = np.where(crashed, cutoff, np.minimum(true, cutoff))
    scheduler = Scheduler(
        configurations,
        instances,
        first_cap=first_cap,
        cutoff=None if math.isinf(cutoff) else cutoff,
        confidence=confidence,
    )
    flying, best = [], np.full(configurations, first_cap)

    def needed_at(index, octave, started):
        return reference_evidence(1 - confidence, index, configurations, octave, instances, started)

    def look(index):
        state, started = scheduler.state, int(scheduler.state.testers[index].started)
        if started == 0:
            return
        values, gone = true[index, :started], crashed[index, :started]
        caps = [
            min(first_cap * 2.0**octave, cutoff)
            for octave in range(int(top_octave(state, index)) + 1)
        ]
        for octave, cap in enumerate(caps):
            needed = needed_at(index, octave, started)
            left, finished = cap - np.minimum(values, cap), (values <= cap) & ~gone
            room, within = reference_lower(left, needed), reference_lower(finished, needed)
            if instances is not None:
                room = max(room, left.sum() / instances)
                within = max(within, finished.sum() / instances)
            assert certified_upper(state, index, octave) >= (cap - room) * (1 - 1e-6)
            if cap < cutoff:
                assert certified_share(state, index, octave) >= 1 - within - 1e-6
        if math.isinf(values.max()):
            return
        lower = certified_lower(state, index)
        if instances is not None:
            certain = (values.sum() + (instances - started) * first_cap) / instances
            best[index] = max(best[index], certain)
        # The best bound of all times may be used, so look back as far as it takes.
        for count, (octave, cap) in itertools.product(range(started, 0, -1), enumerate(caps)):
            if lower <= best[index] * (1 + 1e-6):
                break
            known = np.where(gone[:count], cutoff, np.minimum(values[:count], cap))
            bound = reference_lower(known, needed_at(index, octave, count))
            best[index] = max(best[index], bound)
        assert lower <= best[index] * (1 + 1e-6)

    for step in range(260):
        while len(flying) < 8 and (run := scheduler.ask()) is not None:
            flying.append(run)
        if not flying or (max(run.pair for run in flying) >= size - 8 and instances is None):
            break
        run = flying.pop(int(random.integers(len(flying))))
        runtime = true[run.configuration, run.pair]
        if crashed[run.configuration, run.pair]:
            scheduler.tell(run, Outcome(Status.CRASHED, 0.1))
        elif runtime <= run.cap and runtime < cutoff:
            scheduler.tell(run, Outcome(Status.SOLVED, runtime))
        else:
            scheduler.tell(run, Outcome(Status.CAPPED, run.cap))
        if step % 20 == 0:
            for index in range(configurations):
                look(index)


def test_new_runs_in_flight_count_as_the_first_cap():
    """Forty short runs known up to a long cap, then hundreds in flight."""
    scheduler = Scheduler(1, None, first_cap=1.0, confidence=0.5)
    for _ in range(600):
        run = scheduler.ask()
        solved = run.cap >= 50.0
        outcome = Outcome(Status.SOLVED if solved else Status.CAPPED, min(run.cap, 50.0))
        scheduler.tell(run, outcome)
    before = certified_lower(scheduler.state, 0)
    assert before > 30.0
    scheduler.state.testers["full"] = 1.0  # what was shown before is of no interest here
    started = int(scheduler.state.testers[0].started)
    while scheduler.ask() is not None:
        pass
    flying = int(scheduler.state.testers[0].new_in_flight)
    assert flying > 0 and scheduler.state.testers[0].started == started + flying
    most = (50.0 * started + 1.0 * flying) / (started + flying)
    assert certified_lower(scheduler.state, 0) <= most


def test_crashes_count_as_the_cutoff_in_all_three_bounds():
    for cutoff, profile in ((None, "tight"), (None, "proved"), (100.0, "tight")):
        scheduler = Scheduler(1, None, first_cap=1.0, cutoff=cutoff, profile=profile)
        for step in range(400):
            run = scheduler.ask()
            status = Status.CRASHED if step % 2 else Status.SOLVED
            scheduler.tell(run, Outcome(status, 0.5))
        state = scheduler.state
        if cutoff is None:
            assert certified_lower(state, 0) == math.inf
        else:
            assert 25.0 < certified_lower(state, 0) < 50.5  # the mean is 50.5
            assert certified_upper(state, 0, 1) > 1.5  # half of 1, half of 2
        assert certified_share(state, 0, 1) > 0.5


def test_optimal_is_said_only_when_all_is_known():
    """A slow rival need not be run to the end to be ruled out at 95%."""
    runtimes = np.vstack([np.full(300, 1.0), np.full(300, 500.0)])
    simulation = Simulation(make_table(runtimes), first_cap=0.5)
    result = simulation.run()
    assert result.stop is StopReason.PROVED_OPTIMAL and not result.standings[1].exact
    assert result.certificate.epsilon_at(0.0) == 0.0 and not result.certificate.optimal


def test_a_configuration_that_was_never_run_may_be_the_best():
    """Nothing is known of it but the first cap."""
    simulation = Simulation(make_table(np.full((3, 500), 8.0), cutoff=10.0), first_cap=0.5)
    simulation.advance(1)
    testers = simulation.state.testers
    begun = int(testers["started"].argmax())
    assert testers["started"].sum() == 1
    assert certify(simulation.state, begun).epsilon_at(0.0) == pytest.approx(10.0 / 0.5 - 1)


@pytest.mark.parametrize("delta", [0.3, 0.05, 0.01])
def test_least_runs_is_where_the_share_is_certified(delta):
    """One run fewer would not do, had none exceeded the shortest cap."""
    state = Scheduler(3, None, first_cap=1.0).state
    runs = least_runs(state, delta)

    def share(started):
        needed = evidence(state.rules, error_share(0, 3), 0, started)
        return 1 - reference_lower(np.ones(started), needed)

    assert share(runs) <= delta * (1 + 1e-6) and share(runs - 1) > delta * (1 - 1e-6)


def test_runs_put_off_count_as_the_cap_they_have_reached():
    """Just above a cap: whoever takes them to reach the next one errs."""
    scheduler = Scheduler(1, None, first_cap=1.0, confidence=0.5)
    best, solved = 1.0, 0
    while solved < 5:
        run = scheduler.ask()
        solved += run.cap >= 16.1
        outcome = Outcome(Status.SOLVED, 16.1) if run.cap >= 16.1 else None
        scheduler.tell(run, outcome or Outcome(Status.CAPPED, run.cap))
        started = int(scheduler.state.testers[0].started)
        for octave in range(7):
            needed = reference_evidence(0.5, 0, 1, octave, None, started)
            bound = reference_lower(np.full(started, min(16.1, 2.0**octave)), needed)
            best = max(best, bound)
        assert certified_lower(scheduler.state, 0) <= best * (1 + 1e-6)
