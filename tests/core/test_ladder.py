"""The ladder: the first cap, the rungs above and below it, where newcomers enter, the top."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from cunctator.base.records import StopReason
from cunctator.core.check import caps_up_to
from cunctator.core.ladder import make_rung
from cunctator.core.scheduler import Scheduler
from cunctator.core.state import HONEST, NEWCOMER, RUNGS, SEEKING
from tests.core.driving import drive


def rungs_of(scheduler):
    """(pairs, cap) of all rungs."""
    ladder = scheduler.state.ladder
    made = int(ladder.made)
    caps = [float(caps_up_to(scheduler.state, int(level))[-1]) for level in ladder.level[:made]]
    return list(zip(ladder.pairs[:made].tolist(), caps, strict=True))


def base_of(scheduler):
    return rungs_of(scheduler)[int(scheduler.state.ladder.base_rung)]


def until_begun(scheduler, runtime_of, slots=1):
    """Make runs until there are rungs."""
    while not scheduler.state.ladder.made:
        drive(scheduler, runtime_of, 1, slots)
        scheduler.check()


@pytest.mark.parametrize(
    ("runtime", "cutoff", "expected"),
    [
        (0.3, None, 1.0),
        (1.0, None, 1.0),
        (1.1, None, 4.0),
        (100.0, None, 256.0),
        (3.0, 4096.0, 4.0),
        (100.0, 4096.0, 256.0),
        (257.0, 4096.0, 256.0),  # 1,024 would be a quarter of the cutoff
        (3.0, 20.0, 1.0),
        (1.0, 1.0, 1.0),
        (9.0, 1.0, 1.0),
    ],
)
def test_the_first_cap_is_one_at_which_most_runs_are_solved(runtime, cutoff, expected):
    """Of every other level, and a sixteenth of the cutoff at most."""
    scheduler = Scheduler(20, None, first_cap=1.0, cutoff=cutoff)
    until_begun(scheduler, lambda configuration, pair: runtime)
    assert base_of(scheduler) == (3, expected)


def test_one_that_solves_most_of_its_pairs_is_enough():
    """The third solves six of its eight within 4 s; a fifth, which is faster, is not asked."""

    def runtime_of(configuration, pair):
        if configuration == 4:
            return 0.5
        return 3.0 if configuration == 2 and pair < 6 else 50.0

    scheduler = Scheduler(20, None, first_cap=1.0, cutoff=4096.0)
    until_begun(scheduler, runtime_of)
    assert base_of(scheduler) == (3, 4.0)
    slower = Scheduler(20, None, first_cap=1.0, cutoff=4096.0)
    until_begun(slower, lambda configuration, pair: runtime_of(configuration, pair + (pair == 5)))
    assert base_of(slower) == (3, 64.0)


def test_the_first_cap_is_sought_for_its_own_sake_and_by_honest_turns():
    scheduler = Scheduler(20, None, first_cap=1.0, cutoff=4096.0)
    until_begun(scheduler, lambda configuration, pair: 100.0, slots=3)
    turns = scheduler.state.turns
    assert turns[SEEKING] > 0 and turns[SEEKING] + turns[HONEST] == pytest.approx(turns.sum())


def test_rungs_have_more_pairs_and_longer_caps():
    random = np.random.default_rng(1)
    hardness = np.exp(random.normal(0, 1.5, 300))
    scheduler = Scheduler(30, 300, first_cap=0.1, cutoff=60.0)
    drive(scheduler, lambda configuration, pair: (1 + configuration / 30) * hardness[pair], 6000)
    scheduler.check()
    ladder, rungs = scheduler.state.ladder, rungs_of(scheduler)
    base = int(ladder.base_rung)
    below = rungs[: base + 1]
    assert all(pairs == 3 for pairs, _ in below)
    assert all(4 * one[1] == other[1] for one, other in itertools.pairwise(below))
    assert below[0][1] == 0.1
    for (pairs, cap), (more, longer) in itertools.pairwise(rungs[base:]):
        assert more == min(math.ceil(pairs * math.sqrt(2)), 300) and longer >= cap
        assert pairs < 300 or longer > cap
    assert rungs[-1] == (300, 60.0) and ladder.top == len(rungs) - 1


@pytest.mark.parametrize(("unsolved", "factor"), [(1.0, 1.25), (0.5, 1.25**2), (0.0, 1.25**20)])
def test_caps_grow_faster_where_few_seconds_are_spent_at_the_cap(unsolved, factor):
    scheduler = Scheduler(5, None, first_cap=1.0, cutoff=10.0**9)
    until_begun(scheduler, lambda configuration, pair: 3.0)
    ladder = scheduler.state.ladder
    base = int(ladder.base_rung)
    assert ladder.wanted[base] == base_of(scheduler)[1] == 4.0
    # All was solved in 3 s of 4: the least share of unsolved seconds counts.
    assert ladder.wanted[base + 1] == pytest.approx(4.0 * 1.25**20)
    ladder.unsolved[base], ladder.clipped[base] = 10 * unsolved, 40.0
    ladder.made = base + 1
    make_rung(scheduler.state)
    assert ladder.wanted[base + 1] == pytest.approx(4.0 * factor)
    assert ladder.level[base + 1] == math.floor(math.log2(4.0 * factor))


def test_caps_do_not_run_away_where_there_is_no_cutoff():
    """Nobody has reached the cap: there is nothing to see above it. The ledger stays exact."""
    scheduler = Scheduler(5, None, first_cap=1.0)
    drive(scheduler, lambda configuration, pair: 3.0 + 0.1 * configuration, 3000, 3)
    scheduler.check()
    assert {cap for pairs, cap in rungs_of(scheduler) if pairs > 3} == {4.0}
    assert scheduler.state.turns.sum() == pytest.approx(scheduler.state.testers["charged"].sum())


def test_newcomers_enter_where_the_incumbent_solves_half():
    """The default takes 50 s, the tenth half a second: from then on, 1 s is enough to be seen."""
    scheduler = Scheduler(200, None, first_cap=0.25, cutoff=4096.0)

    def runtime_of(configuration, pair):
        return 0.5 if configuration == 9 else 50.0 + configuration

    entries, caps = [], set()
    while scheduler.state.now.entered < 150:
        (run,) = drive(scheduler, runtime_of, 1)
        if scheduler.state.ladder.made:
            entries.append(rungs_of(scheduler)[int(scheduler.state.ladder.entry)][1])
        if run.configuration > 20 and scheduler.state.now.turn == NEWCOMER:
            caps.add(run.cap)
    scheduler.check()
    assert scheduler.recommend() == 9
    assert [entry for entry, _ in itertools.groupby(entries)] == [64.0, 1.0]
    assert caps == {1.0}


def test_one_configuration_and_one_pair():
    scheduler = Scheduler(1, 1, first_cap=1.0, cutoff=100.0)
    runs = drive(scheduler, lambda configuration, pair: 70.0, after=scheduler.check)
    assert [run.cap for run in runs] == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 100.0]
    assert scheduler.stop is StopReason.PROVED_OPTIMAL and scheduler.recommend() == 0


@pytest.mark.parametrize("slots", [1, 4])
@pytest.mark.parametrize("instances", [1, 2, 20])
@pytest.mark.parametrize("configurations", [1, 3, 12])
def test_the_cutoff_is_the_first_cap(configurations, instances, slots):
    """Every run counts the same, solved or not: the default stays, and nothing is run twice."""
    scheduler = Scheduler(configurations, instances, first_cap=2.0, cutoff=2.0)
    runs = drive(scheduler, lambda c, pair: 1.0 + (c + pair) % 3, 10**6, slots, scheduler.check)
    assert len({(run.configuration, run.pair) for run in runs}) == len(runs)
    assert scheduler.stop is StopReason.PROVED_OPTIMAL
    assert scheduler.standing(scheduler.recommend()).mean == 2.0


@pytest.mark.parametrize("slots", [1, 4])
@pytest.mark.parametrize("cutoff", [None, 50.0])
def test_everything_crashes(cutoff, slots):
    """No longer cap is tried for that, and the default stays the answer."""
    scheduler = Scheduler(6, 20, first_cap=1.0, cutoff=cutoff)
    runs = drive(scheduler, lambda c, pair: -0.5, 10**6, slots, scheduler.check)
    assert len(runs) == len({(run.configuration, run.pair) for run in runs})
    assert base_of(scheduler) == (3, 1.0)
    assert scheduler.stop is StopReason.PROVED_OPTIMAL and scheduler.recommend() == 0


def test_crashes_among_the_first_runs_do_not_lengthen_the_first_cap():
    """Half of the pairs crash all, the others are solved: there is no more to see."""
    scheduler = Scheduler(20, None, first_cap=1.0)
    until_begun(scheduler, lambda configuration, pair: -0.1 if pair % 2 else 3.0)
    assert base_of(scheduler) == (3, 4.0)


@pytest.mark.parametrize("slots", [1, 4])
def test_everything_times_out(slots):
    scheduler = Scheduler(6, 20, first_cap=1.0, cutoff=50.0)
    drive(scheduler, lambda c, pair: 1000.0, 10**6, slots, scheduler.check)
    assert scheduler.stop is StopReason.PROVED_OPTIMAL
    assert scheduler.standing(scheduler.recommend()).mean == 50.0
    assert scheduler.state.ladder.top < RUNGS
