"""Claims beside a plain reading of the documentation, and what may not count as known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cunctator.base.records import Outcome, Status
from cunctator.core.claims import (
    BEYOND,
    FASTER,
    MEAN,
    MOST_PAIRS,
    PRECISION,
    SLOWER,
    answer_capital,
    claim_capital,
    claim_target,
    default_capital,
    known_from_below,
    most_mean,
    ratio_bound,
    rival_capital,
    share_beyond,
    slower_capital,
    upper_mean_of,
    worst_ratio,
)
from cunctator.core.known import least_mean
from cunctator.core.nominations import nomination_pairs
from cunctator.core.scheduler import Scheduler
from cunctator.core.sentinels import NONE, WHOLE
from cunctator.core.values import values_of
from cunctator.recorded.simulation import Simulation
from cunctator.recorded.table import make_table
from tests.core.by_pair import Reference
from tests.core.driving import of_table, outcome

FIRST_CAP, CONFIGURATIONS = 0.5, 3


def searched(seed, instances, cutoff, steps, penalty=1.0, flying_at_once=4):
    """A scheduler in the middle of a search, the truth, and which runs crash."""
    random = np.random.default_rng(seed)
    size = instances or 400
    true = np.array(
        [
            FIRST_CAP * 2.0 ** random.integers(0, 9, size),  # on the edges of octaves
            np.where(random.random(size) < 0.2, 40.0, 0.6),
            np.exp(random.normal(0, 1.0, size)) + FIRST_CAP,
        ]
    )
    crashed = (random.random(true.shape) < 0.1) & (seed % 3 == 0)
    scheduler = Scheduler(
        CONFIGURATIONS,
        instances,
        first_cap=FIRST_CAP,
        cutoff=None if math.isinf(cutoff) else cutoff,
        penalty=penalty,
        confidence=0.5,
    )
    flying = []
    for _ in range(steps):
        while len(flying) < flying_at_once and (run := scheduler.ask()) is not None:
            flying.append(run)
        if not flying:
            break
        run = flying.pop(int(random.integers(len(flying))))
        scheduler.tell(run, outcome(scheduler, run, of_table(true, crashed)))
    return scheduler, np.where(crashed | (true >= cutoff), penalty * cutoff, true), crashed


def with_truth(state, true, crashed):
    """The reference as if every started run had been made to its end."""
    reference = Reference(state)
    for index in range(CONFIGURATIONS):
        started = reference.lower[index].size
        reference.lower[index] = true[index, :started]
        reference.upper[index] = np.where(crashed[index, :started], math.inf, true[index, :started])
    return reference


def up_to(target, capital):
    """Kernels stop where the target is reached."""
    return min(capital, target)


CASES = [
    (seed, instances, cutoff, 1.0)
    for seed, (instances, cutoff) in enumerate(
        (instances, cutoff)
        for instances in (None, 40)
        for cutoff in (math.inf, 1.9, 2.1, 64.0, 300.0, 64.0)
    )
]
CASES += [
    (12 + seed, instances, cutoff, 10.0)
    for seed, (instances, cutoff) in enumerate(
        (instances, cutoff) for cutoff in (1.9, 64.0) for instances in (None, 40)
    )
]


@pytest.mark.parametrize(("seed", "instances", "cutoff", "penalty"), CASES)
@pytest.mark.parametrize("steps", [30, 260])
def test_capital_is_what_the_documentation_says_and_no_more_than_the_truth_has_won(
    seed, instances, cutoff, penalty, steps
):
    """With runs in flight, put off and crashed; also if these count ten times the cutoff."""
    scheduler, true, crashed = searched(seed, instances, cutoff, steps, penalty)
    state = scheduler.state
    known, truth = Reference(state), with_truth(state, true, crashed)
    has_cutoff = math.isfinite(cutoff)
    octaves = [*range(known.octaves if has_cutoff else 5), *([WHOLE] if has_cutoff else [])]

    def agree(claim, found, expected, most):
        target = claim_target(state.rules, claim)
        assert up_to(target, found) == pytest.approx(up_to(target, expected), rel=1e-7)
        assert up_to(target, found) <= up_to(target, most) * (1 + 1e-7)

    for answer in range(CONFIGURATIONS):
        for octave in octaves:
            of = None if octave == WHOLE else octave
            cap = known.cap(of)
            for share in (0.2, 0.6, 0.9):
                bounds = (answer, of, share * cap)
                means = [one.mean_capital(*bounds) for one in (known, truth)]
                agree(MEAN, answer_capital(state, MEAN, answer, octave, share * cap), *means)
                if octave != WHOLE:
                    shares = [one.beyond_capital(answer, of, share) for one in (known, truth)]
                    agree(BEYOND, answer_capital(state, BEYOND, answer, octave, share), *shares)
            for rival in range(CONFIGURATIONS):
                if rival == answer or (crashed[rival].any() and not has_cutoff):
                    continue
                for ratio in (0.7, 1.0, 3.0):
                    claim = (answer, rival, of, ratio, 0.4 * cap)
                    found = rival_capital(state, answer, rival, octave, ratio, 0.4 * cap, 1e9)
                    expected, most = (
                        up_to(1e9, one.rival_capital(*claim)) for one in (known, truth)
                    )
                    assert up_to(1e9, found) == pytest.approx(expected, rel=1e-7)
                    assert up_to(1e9, found) <= most * (1 + 1e-7)
        if answer > 0 and has_cutoff:
            for ratio in (0.3, 1.0, 2.0):
                upper = 0.4 * penalty * cutoff
                faster = [one.faster_capital(answer, ratio, upper) for one in (known, truth)]
                slower = [one.slower_capital(answer, ratio) for one in (known, truth)]
                agree(FASTER, default_capital(state, answer, ratio, upper), *faster)
                agree(SLOWER, slower_capital(state, answer, ratio), *slower)


@pytest.mark.parametrize(("seed", "instances", "cutoff", "penalty"), CASES[1:])
def test_bounds_are_where_the_capital_is_enough(seed, instances, cutoff, penalty):
    """A bound has the capital, or is certain; a little below it, there is not enough."""
    scheduler, _, _ = searched(seed, instances, cutoff, 200, penalty)
    state, little = scheduler.state, 1 - 2 * PRECISION
    reference = Reference(state)
    if math.isinf(cutoff):
        return

    def holds(claim, answer, octave, bound, certain, upper=math.inf):
        target = claim_target(state.rules, claim)
        if bound < certain * (1 - 1e-12):
            assert claim_capital(state, claim, answer, octave, bound, upper) >= target
        assert claim_capital(state, claim, answer, octave, little * bound, upper) < target

    for answer in range(1, CONFIGURATIONS):
        started = reference.upper[answer].size
        for octave in [*range(reference.octaves), WHOLE]:
            cap = reference.cap(None if octave == WHOLE else octave)
            room = reference.room(answer, cap, started).sum()
            certain = cap if instances is None else cap - room / instances
            holds(MEAN, answer, octave, upper_mean_of(state, answer, octave), certain)
            if octave != WHOLE:
                within = (reference.upper[answer] <= cap).sum()
                certain = 1.0 if instances is None else 1 - within / instances
                holds(BEYOND, answer, octave, share_beyond(state, answer, octave), certain)
        for claim, slow, quick in ((FASTER, 0, answer), (SLOWER, answer, 0)):
            bound, upper = ratio_bound(state, claim, answer), upper_mean_of(state, answer, WHOLE)
            holds(
                claim,
                answer,
                WHOLE,
                bound,
                most_mean(state, quick) / least_mean(state, slow),
                upper,
            )


def test_the_worst_of_the_rivals_decides():
    scheduler, _, _ = searched(3, None, 64.0, 60)
    state, answer = scheduler.state, scheduler.recommend()
    upper, target = upper_mean_of(state, answer, WHOLE), 4.0
    ratio = worst_ratio(state, answer, WHOLE, upper, 3, 1.0, math.inf, target)

    def is_certified(ratio):
        return all(
            upper <= ratio * FIRST_CAP
            or rival_capital(state, answer, rival, WHOLE, ratio, upper, target) >= target
            for rival in range(CONFIGURATIONS)
            if rival != answer
        )

    assert 1 < ratio < math.inf
    less = ratio * (1 - 2 * PRECISION)
    assert is_certified(ratio) and not is_certified(less)
    assert worst_ratio(state, answer, WHOLE, upper, 3, 1.0, less, target) == math.inf
    assert worst_ratio(state, answer, WHOLE, upper, 3, 2 * ratio, math.inf, target) == 2 * ratio


def test_crashes_count_as_the_cutoff():
    for cutoff in (None, 100.0):
        scheduler = Scheduler(2, None, first_cap=1.0, cutoff=cutoff)
        for _ in range(400):
            run = scheduler.ask()
            fails = run.configuration == 1 and run.pair % 2 == 0
            scheduler.tell(run, Outcome(Status.CRASHED if fails else Status.SOLVED, 0.5))
        state = scheduler.state
        if cutoff is None:
            assert rival_capital(state, 0, 1, 1, 1e-9, 1.0, 1e9) == math.inf
            assert ratio_bound(state, SLOWER, 1) == math.inf  # nor is the default known
            assert ratio_bound(state, FASTER, 1) == math.inf
        else:
            assert ratio_bound(state, FASTER, 1) > 50
            assert upper_mean_of(state, 1, WHOLE) > 50
        assert share_beyond(state, 1, 1) > 0.5


def test_exact_means_are_compared_exactly():
    runtimes = np.array([[4.0] * 9 + [30.0], [2.0] * 9 + [20.0], [8.0] * 10])
    for cutoff in (None, 25.0):
        scheduler = Scheduler(3, 10, first_cap=1.0, cutoff=cutoff)
        while (run := scheduler.ask()) is not None:
            runtime = runtimes[run.configuration, run.pair]
            solved = runtime <= run.cap and runtime < (cutoff or math.inf)
            status = Status.SOLVED if solved else Status.CAPPED
            scheduler.tell(run, Outcome(status, min(runtime, run.cap)))
        state = scheduler.state
        if state.testers[0].completed == 10 == state.testers[1].completed:
            means = np.minimum(runtimes, cutoff or math.inf).mean(axis=1)
            assert ratio_bound(state, FASTER, 1) == pytest.approx(means[1] / means[0], rel=1e-12)
            assert ratio_bound(state, SLOWER, 1) == pytest.approx(means[0] / means[1], rel=1e-12)


def test_no_more_pairs_count_than_can_be_gone_through_in_no_time():
    simulation = Simulation(make_table(np.array([[1.0, 3.0], [1.0, 9.0]])), resample=True)
    bounds = []
    for _ in range(2):
        while simulation.state.testers["started"].max() < MOST_PAIRS * (1 + len(bounds)):
            simulation.advance(10_000)
        bounds.append(upper_mean_of(simulation.state, 0, 4))
    assert bounds[0] == bounds[1] < 1.6


@pytest.mark.parametrize("kept", [8, 16, 32])
def test_a_nomination_is_a_function_of_the_pairs_before_it(kept):
    """What later pairs come to has no part in it, but has in the nominations after."""
    random = np.random.default_rng(8)
    runtimes = np.exp(random.normal(0, 1.0, (6, 300)))
    changed = runtimes.copy()
    changed[:, kept:] = runtimes[::-1, kept:]

    def nominated(runtimes):
        scheduler = Scheduler(6, None, first_cap=0.1, cutoff=20.0)
        flying = []
        while scheduler.state.testers["started"].max() < 290:
            while len(flying) < 3 and (run := scheduler.ask()) is not None:
                flying.append(run)
            run = flying.pop(0)
            runtime = runtimes[run.configuration, run.pair]
            status = Status.SOLVED if runtime <= run.cap else Status.CAPPED
            scheduler.tell(run, Outcome(status, min(runtime, run.cap)))
        return scheduler.state.now.nominated

    before, after = nominated(runtimes), nominated(changed)
    same = [number for number in range(6) if nomination_pairs(number) <= kept]
    assert before[same].tolist() == after[same].tolist()
    assert (before[:6] != NONE).all() and (before[6:] == NONE).all()
    assert before.tolist() != after.tolist()


@pytest.mark.parametrize("instances", [60, None])
def test_a_run_that_was_put_off_early_counts_for_what_was_measured(instances):
    """Ended by the clock, it may have been about to end by itself: all others take longer."""
    scheduler = Scheduler(2, instances, first_cap=0.1, cutoff=100.0, confidence=0.5)
    state = scheduler.state
    for _ in range(110):
        run = scheduler.ask()
        if run.configuration == 0 and run.cap < 100.0:
            answer = Outcome(Status.CAPPED, 0.15 if run.cap > 0.15 else run.cap)
        else:
            answer = outcome(scheduler, run, lambda *_: 0.2)
        scheduler.tell(run, answer)
        scheduler.check()
        # Nobody takes more than 0.2 s.
        for pair in range(state.testers[0].started):
            assert known_from_below(state, 0, pair) <= 0.2
        assert least_mean(state, 0) <= 0.2 * (1 + 1e-9) and state.testers[0].full <= 0.2
    pending = values_of(state.values, 0, int(state.testers[0].started))
    assert (pending < -0.2).any() and 0.0 < state.testers[0].least_share < 0.2
