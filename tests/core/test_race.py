"""The race: what is run to show that nobody is much better than the incumbent."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cunctator.core.claims import RIVALS, rival_capital
from cunctator.core.known import is_exact, least_mean
from cunctator.core.race import TARGETS
from cunctator.core.scheduler import Scheduler
from cunctator.core.sentinels import NONE
from cunctator.core.state import RACE
from tests.core.driving import drive, made_up, of_table, outcome, runs_for


def has_something_to_run(state, index):
    leaves = state.by_race.size // 2
    return not math.isinf(state.by_race[leaves + index].first)


@pytest.mark.parametrize("seed", range(20, 30))
def test_asking_in_vain_begins_no_race(seed):
    """All slots are busy when the last one enters the ladder, and somebody asks all the same."""
    runtime_of = of_table(made_up(seed, [1.0, 1.0], spread=0.5))
    asked_often, asked_rarely = (Scheduler(2, None, first_cap=0.5) for _ in range(2))
    random, flying = np.random.default_rng(seed), []
    for _ in range(150):
        wanted = int(random.integers(1, 10))
        while len(flying) < wanted and (run := asked_often.ask()) is not None:
            assert asked_rarely.ask() == run
            flying.append(run)
        assert asked_often.state.now.racing == asked_rarely.state.now.racing
        run = flying.pop(int(random.integers(len(flying))))
        result = outcome(asked_often, run, runtime_of)
        for scheduler in (asked_often, asked_rarely):
            scheduler.tell(run, result)


def check_nobody_is_stuck(scheduler):
    """A rival that has started all pairs and is not beaten has something to run for the race."""
    state = scheduler.state
    if state.now.racing == NONE or state.now.unbeaten == 0:
        return
    for index in range(state.now.race_members):
        tester = state.testers[index]
        is_unbeaten = index != state.now.racing and tester.beaten <= state.now.race_target
        has_all = min(tester.started, state.testers[state.now.racing].started)
        if is_unbeaten and has_all == state.rules.instances and tester.in_flight == 0:
            assert has_something_to_run(state, index) or is_exact(state, index)


@pytest.mark.parametrize(("seed", "spread"), [(8, 1.0), (12, 0.05), (18, 0.05)])
def test_a_rival_that_was_run_for_others_goes_on_in_the_race(seed, spread):
    """All of its pairs may be known up to a longer cap than its task's."""
    scheduler = Scheduler(5, 30, first_cap=0.5, cutoff=20.0)
    table = made_up(seed, [1.0] * 5, 30, spread)
    drive(scheduler, of_table(table), 600, after=lambda: check_nobody_is_stuck(scheduler))


def test_rivals_that_are_far_worse_are_never_run_to_the_cutoff():
    scheduler = Scheduler(8, None, first_cap=0.5, cutoff=1000.0)
    table = made_up(1, [1.0] + [20.0] * 7, 3000)
    caps = {True: set(), False: set()}
    for run in runs_for(scheduler, RACE, of_table(table), 1000):
        caps[run.configuration == scheduler.state.now.incumbent].add(run.cap)
    assert caps[True] == {1000.0}, "the incumbent is run to the end"
    assert caps[False] and max(caps[False]) <= 64.0
    assert scheduler.state.now.race_target >= 1
    assert (table[1:, :50].max(axis=1) > 64.0).all(), "it would have taken longer than that"


@pytest.mark.parametrize("slots", [1, 6])
@pytest.mark.parametrize("instances", [80, None])
def test_targets_fall_and_what_is_shown_is_certified(instances, slots):
    scheduler = Scheduler(6, instances, first_cap=0.5, cutoff=60.0)
    state, seen = scheduler.state, []

    def note():
        scheduler.check()
        now = scheduler.state.now
        race = int(now.racing), int(now.race_octave)
        if seen and seen[-1][0] == race:
            assert now.race_target >= seen[-1][1], "only another cap begins from the first target"
            if now.race_target > seen[-1][1]:
                epsilon = scheduler.certificate().epsilon_at(1.0)
                assert epsilon <= 1.02 * TARGETS[now.race_target - 1] - 1.0
        seen.append((race, int(now.race_target)))

    drive(scheduler, of_table(made_up(2, [2, 1, 3, 3, 4, 6], 3000)), 700, slots, note)
    now = state.now
    assert now.racing == scheduler.recommend() == 1
    assert now.race_target >= 2


@pytest.mark.parametrize("slots", [1, 6])
def test_a_rival_that_is_better_takes_over_and_the_race_begins_anew(slots):
    """On the first forty pairs the default is faster, on all later ones the other one."""
    scheduler = Scheduler(3, None, first_cap=0.5, cutoff=30.0)
    races = []

    def note():
        scheduler.check()
        now, testers = scheduler.state.now, scheduler.state.testers
        if not races or races[-1] != now.racing:
            races.append(int(now.racing))
            if now.racing != NONE:
                beaten = testers["beaten"][: now.race_members]
                assert (beaten <= now.race_target + 1).all()
                assert now.race_members == 3

    def runtime_of(configuration, pair):
        return (1.0, 1.5 if pair < 40 else 0.6, 9.0)[configuration]

    drive(scheduler, runtime_of, 2500, slots, note)
    races = [index for index in races if index != NONE]
    assert races == [0, 1]


@pytest.mark.parametrize("slots", [1, 5])
@pytest.mark.parametrize("cutoff", [None, 0.5, 6.0])
@pytest.mark.parametrize("instances", [1, 3, 30, None])
@pytest.mark.parametrize("configurations", [1, 2, 5])
@pytest.mark.parametrize("runtime", [1.0, 1e6, -0.1])
def test_the_state_stays_right(configurations, instances, cutoff, slots, runtime):
    """One of all, everything is cut off, everything crashes; results in any order."""
    scheduler = Scheduler(configurations, instances, first_cap=0.5, cutoff=cutoff)
    drive(scheduler, lambda c, p: runtime, 120, slots, scheduler.check)
    scheduler.certificate()
    if runtime > 0 or cutoff is not None:  # otherwise, whoever has crashed less often is better
        assert scheduler.recommend() == 0


def check_beaten_ones_are(scheduler):
    """Whoever counts as beaten at a target is, by what is known now; returns how many there are."""
    state, now = scheduler.state, scheduler.state.now
    if now.racing == NONE or math.isinf(now.race_upper):
        return 0
    enough, counted = 1.0 / (RIVALS * state.rules.error), 0
    for index in range(now.race_members):
        beaten = int(state.testers[index].beaten)
        if index == now.racing or beaten == 0:
            continue
        ratio, upper = TARGETS[beaten - 1], float(now.race_upper)
        octave = int(now.race_octave)
        counted += 1
        if upper > ratio * least_mean(state, index):
            capital = rival_capital(state, int(now.racing), index, octave, ratio, upper, enough)
            assert capital >= enough
    return counted


@pytest.mark.parametrize("instances", [80, None])
def test_nobody_counts_as_beaten_without_the_evidence_for_it(instances):
    scheduler = Scheduler(6, instances, first_cap=0.5, cutoff=60.0)
    runtime_of = of_table(made_up(3, [2.0, 1.0, 1.2, 1.5, 3.0, 1.1], 400))
    counts = []
    drive(scheduler, runtime_of, 900, 2, lambda: counts.append(check_beaten_ones_are(scheduler)))
    assert sum(counts) > 500
