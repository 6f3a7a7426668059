"""Timeouts that count several times the cutoff: what is known, by the letter, and what it costs.

The truth here is a book of our own about every run: what its pair is known to count at a cap.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from cunctator.base.errors import InvalidSetting
from cunctator.base.records import Outcome, Status
from cunctator.core.known import least_mean, pairs_worth
from cunctator.core.profiles import PROFILES
from cunctator.core.scheduler import Scheduler
from cunctator.recorded.simulation import Simulation
from cunctator.recorded.table import make_table
from tests.core.driving import drive, made_up, of_table

FIRST_CAP, CUTOFF, PENALTY = 0.5, 6.0, 10.0
TIMEOUT = 60.0


def problem(seed):
    """Three configurations, a fifth of the runs time out, one in ten crashes."""
    table = made_up(seed, [1.0, 1.3, 1.7], 40)
    return table, np.random.default_rng([seed, 1]).random(table.shape) < 0.1


class Book:
    """What came of every pair at last: the cap that was tried, what it took, whether it crashed."""

    def __init__(self, scheduler):
        self.scheduler, self.pairs, self.seconds = scheduler, {}, np.zeros(3)

    def tell(self, run, outcome):
        self.scheduler.tell(run, outcome)
        self.pairs[run.configuration, run.pair] = (run.cap, outcome)
        self.seconds[run.configuration] += outcome.seconds

    def values(self, index, known_cap):
        """What the started pairs of a configuration count as far as they are known to this cap."""
        limit = TIMEOUT if known_cap == CUTOFF else known_cap
        started = int(self.scheduler.state.testers[index].started)
        return np.array([self._value(index, pair, limit) for pair in range(started)])

    def _value(self, index, pair, limit):
        if (index, pair) not in self.pairs:
            return FIRST_CAP  # its first run is in flight
        cap, outcome = self.pairs[index, pair]
        if outcome.status is Status.CRASHED:
            return TIMEOUT
        if outcome.status is Status.SOLVED:
            return min(max(outcome.seconds, FIRST_CAP), limit)
        assert cap == CUTOFF or limit <= cap
        return limit


@pytest.mark.parametrize("profile", sorted(PROFILES))
@pytest.mark.parametrize("slots", [1, 5])
@pytest.mark.parametrize("instances", [40, None])
def test_means_are_those_of_what_is_known(profile, slots, instances):
    scheduler = Scheduler(
        3, instances, profile=profile, first_cap=FIRST_CAP, cutoff=CUTOFF, penalty=PENALTY
    )
    table, crashed = problem(1)
    runtimes, book, reached = of_table(table, crashed), Book(scheduler), 0
    random, flying = np.random.default_rng(7), []
    for _ in range(1200):
        while len(flying) < slots and (run := scheduler.ask()) is not None:
            flying.append(run)
        if not flying:
            break
        run = flying.pop(int(random.integers(len(flying))))
        assert run.cap <= CUTOFF, "a run may take no longer, whatever it counts"
        runtime = runtimes(run.configuration, run.pair)
        status = Status.CRASHED if runtime < 0 else Status.SOLVED
        if abs(runtime) > run.cap:
            status = Status.CRASHED if runtime < 0 else Status.CAPPED
        book.tell(run, Outcome(status, min(abs(runtime), run.cap)))
        scheduler.check()
        for index in range(3):
            standing = scheduler.standing(index)
            values = book.values(index, standing.known_cap)
            reached += standing.known_cap == CUTOFF
            if values.size:
                assert standing.mean == pytest.approx(values.mean())
            if instances is not None:
                rest = (instances - values.size) * FIRST_CAP
                least = least_mean(scheduler.state, index)
                assert least == pytest.approx((values.sum() + rest) / instances)
            if standing.exact:
                assert standing.lower == standing.mean
            assert standing.charged == pytest.approx(book.seconds[index])
    assert reached > 20 or (instances is None and profile != "tight"), "queues are long there"
    whole = [scheduler.standing(index) for index in range(3)]
    if instances is not None and profile == "tight":
        true = np.where(crashed | (table >= CUTOFF), TIMEOUT, np.maximum(table, FIRST_CAP))
        means = true.mean(axis=1)
        assert [s.mean for s in whole if s.exact] == pytest.approx(
            [means[s.configuration] for s in whole if s.exact]
        )
        assert scheduler.recommend() == means.argmin()


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_a_run_that_takes_the_whole_cutoff_has_reached_it(profile):
    """Whatever it says itself: a recorded runtime of the cutoff is a timeout too."""
    scheduler = Scheduler(
        1, 4, profile=profile, first_cap=FIRST_CAP, cutoff=CUTOFF, penalty=PENALTY
    )
    while (run := scheduler.ask()) is not None:
        whole = run.pair == 0 and run.cap == CUTOFF
        seconds = CUTOFF if whole else min(1.0 if run.pair else CUTOFF, run.cap)
        solved = whole or (run.pair > 0 and run.cap >= 1.0)
        scheduler.tell(run, Outcome(Status.SOLVED if solved else Status.CAPPED, seconds))
    assert scheduler.standing(0).mean == pytest.approx((TIMEOUT + 3 * 1.0) / 4)


def test_with_the_cutoff_as_first_cap_what_is_solved_counts_once():
    scheduler = Scheduler(1, 4, first_cap=CUTOFF, cutoff=CUTOFF, penalty=PENALTY)
    drive(scheduler, lambda _, pair: 1.0 if pair else 7.0, after=scheduler.check)
    assert scheduler.standing(0).mean == pytest.approx((TIMEOUT + 3 * CUTOFF) / 4)


def simulated(runtimes, penalty, **settings):
    table = make_table(runtimes, cutoff=CUTOFF)
    simulation = Simulation(table, first_cap=FIRST_CAP, penalty=penalty, **settings)
    result = simulation.run()
    simulation.check()
    return result


def preferences(random, pairs):
    """The first is fast, but times out on a tenth of the pairs; the second is slow and never does;
    others are worse by either mean."""
    fast = np.where(np.arange(pairs) % 10 == 3, CUTOFF, 0.6)
    rows = [np.full(pairs, 5.0), fast, np.full(pairs, 3.0), np.minimum(1.4 * fast, CUTOFF)]
    return np.maximum(FIRST_CAP, np.array(rows) * random.uniform(0.9, 1.0, (4, pairs))) * np.where(
        np.array(rows) == CUTOFF, 2.0, 1.0
    )


@pytest.mark.parametrize("profile", sorted(PROFILES))
@pytest.mark.parametrize("seed", range(3))
def test_each_mean_has_its_own_best(profile, seed):
    runtimes = preferences(np.random.default_rng(seed), 3000)
    once, ten = (simulated(runtimes, p, profile=profile, seed=seed) for p in (1, PENALTY))
    assert (once.incumbent, ten.incumbent) == (1, 2)
    counted = np.where(runtimes >= CUTOFF, TIMEOUT, runtimes)
    for result, values in ((once, np.minimum(runtimes, CUTOFF)), (ten, counted)):
        means = values.mean(axis=1)
        assert means.argmin() == result.incumbent
        assert result.standings[result.incumbent].mean == pytest.approx(means.min())


@pytest.mark.parametrize("penalty", [1.0, 10.0])
def test_certificates_are_of_the_mean_that_is_asked_for(penalty):
    """All is known, since there are too few pairs for bounds. Caps are times at which runs are cut
    off, whatever that counts."""
    pairs = np.arange(50)
    rows = [np.where(pairs % 10 == 3, 9.0, 1.0), np.where(pairs % 25 == 4, 9.0, 1.2)]
    scheduler = Scheduler(
        2, 50, profile="proved", first_cap=FIRST_CAP, cutoff=CUTOFF, penalty=penalty
    )
    drive(scheduler, of_table(np.array(rows)))
    certificate, answer = scheduler.certificate(), scheduler.recommend()
    counted = np.where(np.array(rows) >= CUTOFF, penalty * CUTOFF, rows).mean(axis=1)
    assert answer == counted.argmin() == 1 and all(scheduler.standing(i).exact for i in range(2))
    assert certificate.versus_default == pytest.approx((counted[0] / counted[1],) * 2)
    assert (certificate.cutoff, certificate.penalty) == (CUTOFF, penalty)
    assert [point.cap for point in certificate.points if point.delta == 0.0] == [CUTOFF]


def test_time_is_estimated_in_seconds_not_in_what_timeouts_count():
    """Shares of the time begin when so many runs could have been made: the charged time over what
    a run of the incumbent takes, which is the cutoff at most."""
    found = {}
    for penalty in (1.0, PENALTY):
        scheduler = Scheduler(4, None, first_cap=FIRST_CAP, cutoff=CUTOFF, penalty=penalty)
        drive(scheduler, lambda configuration, pair: 9.0 if pair % 2 else 1.0 + configuration, 400)
        state = scheduler.state
        assert state.now.incumbent_seconds <= CUTOFF
        seconds = scheduler.state.testers["charged"].sum() / (4 * state.now.incumbent_seconds)
        assert pairs_worth(state, 4) == pytest.approx(seconds)
        found[penalty] = float(state.now.incumbent_mean)
    assert found[PENALTY] > 4 * found[1.0]


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"cutoff": CUTOFF, "penalty": 0.5}, "penalty is 0.5; expected 1 to 1,000,000"),
        ({"cutoff": CUTOFF, "penalty": 2e6}, "penalty is 2000000.0; expected 1 to 1,000,000"),
        ({"cutoff": CUTOFF, "penalty": math.nan}, "penalty is nan"),
        ({"cutoff": CUTOFF, "penalty": math.inf}, "penalty is inf"),
        ({"penalty": 10}, "penalty is 10; .* there is none: give one"),
    ],
)
def test_penalties_that_make_no_sense(settings, complaint):
    with pytest.raises(InvalidSetting, match=complaint):
        Scheduler(2, None, **settings)
