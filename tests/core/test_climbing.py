"""Who is the incumbent: by pair, on a rung that others have reached too, and never by crashing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cunctator.core.profiles import PROFILES
from cunctator.core.scheduler import Scheduler
from cunctator.core.sentinels import NONE
from cunctator.core.state import HONEST
from tests.core.driving import drive
from tests.core.test_choice import Scan


def plain_score(state, index, rung):
    """The mean over a rung's pairs; without a cutoff, crashes come first."""
    crashed = int(state.testers[index].crashed) if math.isinf(state.rules.cutoff) else 0
    return crashed, float(Scan(state).worths(index, rung).mean())


def check_incumbent(scheduler):
    """Nobody who has come as far is better over the same pairs up to the same cap."""
    state, answer = scheduler.state, int(scheduler.state.now.incumbent)
    rung = int(state.testers[answer].rung)
    if rung == NONE:
        assert answer == 0, "the default is, until it can be compared"
        return
    best = plain_score(state, answer, rung)
    if not best[0]:
        assert state.now.incumbent_mean == pytest.approx(best[1])
        seconds = Scan(state).seconds(answer, rung).mean()
        assert state.now.incumbent_seconds == pytest.approx(seconds), "estimates of time go by it"
    for rival in np.flatnonzero(state.testers["rung"] >= rung).tolist():
        crashed, mean = plain_score(state, rival, rung)
        # Without a cutoff, crashes count so much that less than a millisecond is lost beside them.
        assert (crashed, mean * (1 + 1e-9) + 1e-3 * (crashed > 0)) >= best


class Problem:
    """Runtimes by configuration and pair, some of them crashes."""

    def __init__(self, seed, spread, crash_share):
        random = np.random.default_rng(seed)
        size = (12, 60)
        hardness = random.lognormal(0.5, 1.0, (1, 60))
        self.table = hardness * random.lognormal(0.0, spread, size)
        self.table[random.random(size) < crash_share] *= -1

    def __call__(self, configuration, pair):
        return float(self.table[configuration % 12, pair % 60])


runtimes = st.builds(
    Problem,
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 0.3, 2.0]),
    st.sampled_from([0.0, 0.1, 0.9]),
)


@given(
    problem=runtimes,
    configurations=st.sampled_from([1, 2, 12, None]),
    instances=st.sampled_from([1, 4, 60, None]),
    cutoff=st.sampled_from([None, 1.0, 9.0, 64.0]),
    penalty=st.sampled_from([1.0, 10.0]),
    slots=st.integers(1, 9),
)
@settings(max_examples=60)
def test_nobody_is_recommended_whom_another_beats_on_the_same_pairs(
    problem, configurations, instances, cutoff, penalty, slots
):
    penalty = 1.0 if cutoff is None else penalty
    scheduler = Scheduler(configurations, instances, first_cap=0.5, cutoff=cutoff, penalty=penalty)
    drive(scheduler, problem, 400, slots, lambda: check_incumbent(scheduler))
    scheduler.check()


@pytest.mark.parametrize("slots", [1, 5])
@pytest.mark.parametrize("cutoff", [None, 40.0])
def test_ties_keep_the_default(cutoff, slots):
    scheduler = Scheduler(12, None, first_cap=0.5, cutoff=cutoff)
    hardness = np.random.default_rng(2).lognormal(1.0, 1.0, 3000)
    answers = set()
    drive(
        scheduler, lambda c, p: hardness[p], 1500, slots, lambda: answers.add(scheduler.recommend())
    )
    assert answers == {0}


def test_better_on_other_pairs_is_not_better():
    """The first pairs are hard. Whoever is slower by a little on each of them is not preferred."""
    hardness = np.concatenate([np.full(12, 8.0), np.full(500, 1.0)])
    scheduler = Scheduler(20, None, first_cap=0.5, cutoff=100.0)
    answers = set()
    drive(
        scheduler,
        lambda c, p: hardness[p] * (1 + 0.02 * c),
        1500,
        after=lambda: answers.add(scheduler.recommend()),
    )
    assert answers == {0}
    assert np.unique(scheduler.state.testers["started"]).size >= 3


def test_crashes_count_as_the_cutoff():
    """One crashes on every fifth pair, and is a little faster on the others."""

    def runtime_of(configuration, pair):
        if configuration == 1:
            return -0.1 if pair % 5 == 4 else 0.9
        return 1.0

    for cutoff, expected in ((1.05, 1), (40.0, 0), (None, 0)):
        scheduler = Scheduler(2, 200, first_cap=0.5, cutoff=cutoff)
        drive(scheduler, runtime_of, 900)
        assert scheduler.recommend() == expected, cutoff


def test_a_crash_is_counted_when_it_happens():
    """Without a cutoff, the mean of whoever crashes is infinite, whichever pair it was."""
    scheduler = Scheduler(2, None, first_cap=1.0)

    def runtime_of(configuration, pair):
        if configuration == 1 and pair == 30:
            return -0.1
        return 3.0 - configuration

    answers = []

    def note():
        answers.append((int(scheduler.state.testers[1].crashed), scheduler.recommend()))
        check_incumbent(scheduler)

    drive(scheduler, runtime_of, 400, after=note)
    assert (0, 1) in answers and {answer for crashed, answer in answers if crashed} == {0}


def test_runs_made_for_whatever_sake_count():
    """All runs are those of the least lower bound; the ladder is climbed all the same."""
    scheduler = Scheduler(6, None, first_cap=0.5, cutoff=60.0)
    honest = PROFILES["tight"]._replace(full_share=2.0)
    scheduler.state = scheduler.state._replace(profile=honest)
    drive(scheduler, lambda c, p: (1.0 + 0.3 * (5 - c)) * (1 + p % 3), 1500, after=scheduler.check)
    state = scheduler.state
    assert state.turns[:HONEST].sum() <= 0.5, "but the very first, when nobody is due"
    assert (state.testers["rung"] > state.ladder.base_rung).all()
    assert scheduler.recommend() == 5
