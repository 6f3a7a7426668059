"""Whom each step runs: against a scan of all configurations, one run at a time and several."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cunctator.base.records import Outcome, Status
from cunctator.core.bounds import lower_bound
from cunctator.core.check import caps_up_to
from cunctator.core.profiles import PROFILES
from cunctator.core.scheduler import Scheduler
from cunctator.core.sentinels import FINISHED, NONE
from cunctator.core.state import BOUND, HONEST, NEWCOMER, RATIO, SEEKING
from cunctator.core.tester import NOTHING, next_kind
from cunctator.core.turns import choose
from cunctator.core.values import NOT_YET, values_of
from cunctator.recorded.simulation import Simulation
from cunctator.recorded.table import make_table

HONEST_SHARE = PROFILES["tight"].full_share


def least_lower_bound(state, size):
    log_step = math.log(state.now.step + 1)
    keys = [(lower_bound(state, i, log_step), state.testers[i].started, i) for i in range(size)]
    return min(keys)[2]


@pytest.mark.parametrize("profile", ["paper", "proved", "tight"])
@pytest.mark.parametrize("size", [1, 7, 64, 127])
def test_choice_is_the_argmin_at_every_step(profile, size):
    """Bit for bit against a full scan, from the first step and where bounds are positive."""
    random = np.random.default_rng(size)
    means = random.normal(0.5, 0.5, (size, 1))
    table = make_table(np.exp(means + random.normal(0, 1.0, (size, 6000))))
    simulation = Simulation(table, profile=profile, first_cap=0.3)
    honest = 0
    for warm_up in (0, 500 * size, 500 * size, 500 * size, 1000 * size, 2000 * size):
        simulation.advance(warm_up)
        simulation.check()
        for _ in range(300):
            choice = choose(simulation.state)
            expected = least_lower_bound(simulation.state, size)
            if choice == FINISHED:
                assert next_kind(simulation.state, expected) == NOTHING
                return
            if simulation.state.now.turn == HONEST:
                assert choice == expected
                honest += 1
            simulation.advance(1)
    assert honest > 30


class Scan:
    """What the search by pair should know, from values by pair alone, in plain NumPy."""

    def __init__(self, state):
        self.state = state
        self.cutoff, self.penalty = state.rules.cutoff, state.rules.penalty
        self.incumbent = int(state.now.incumbent)
        self.rungs = state.testers["rung"].tolist()

    def cap(self, rung):
        return caps_up_to(self.state, int(self.state.ladder.level[rung]))[-1]

    def worths(self, index, rung):
        """What pairs count on a rung: a timeout if that is known, and else some caps more."""
        cap, timeout = self.cap(rung), self.penalty * self.cutoff
        unsolved = timeout if cap == self.cutoff else min((1 + self.penalty) * cap, timeout)
        return np.where(self._is_solved(index, rung), self._on(index, rung), unsolved)

    def seconds(self, index, rung):
        """What they take, or would."""
        unsolved = min(2 * self.cap(rung), self.cutoff)
        return np.where(self._is_solved(index, rung), self._on(index, rung), unsolved)

    def _on(self, index, rung):
        return self._values(index)[: int(self.state.ladder.pairs[rung])]

    def _is_solved(self, index, rung):
        values = self._on(index, rung)
        return (values > 0) & (values <= self.cap(rung)) & (values < self.penalty * self.cutoff)

    def _values(self, index):
        return values_of(self.state.values, index, int(self.state.testers[index].started))

    def common_rung(self, index):
        return min(self.rungs[index], self.rungs[self.incumbent])

    def gaps(self, index):
        """Relative to the incumbent's mean, over the highest rung that both have reached."""
        rung = self.common_rung(index)
        ours, theirs = self.worths(index, rung), self.worths(self.incumbent, rung)
        return (ours - theirs) / theirs.mean()

    def deviation(self, index):
        ladder, rung, gaps = self.state.ladder, self.common_rung(index), self.gaps(index)
        usual = (1 + ladder.variances[rung]) / (1 + ladder.measured[rung])
        squares = ((gaps - gaps.mean()) ** 2).sum()
        return math.sqrt((8 * usual + squares) / (8 + gaps.size - 1) / gaps.size)

    def missing(self, index):
        """The pairs that the next rung lacks and that are not in flight; the next new one last."""
        ladder, rung = self.state.ladder, self.rungs[index]
        rung = int(ladder.entry) if rung == NONE else rung + 1
        values, pairs = self._values(index), int(ladder.pairs[rung])
        flights = self.state.flights
        flying = set(flights["pair"][flights["configuration"] == index].tolist())
        known = (values > 0) | ((values != NOT_YET) & (values <= -self.cap(rung)))
        lacking = [pair for pair in np.flatnonzero(~known[:pairs]) if pair not in flying]
        return rung, lacking + ([values.size] if values.size < pairs else [])

    def may_climb(self, index):
        is_below = self.rungs[index] != NONE and self.rungs[index] < self.state.ladder.top
        return is_below and bool(self.missing(index)[1])

    def climbers(self):
        numbers = range(len(self.rungs))
        crashed = self.state.testers["crashed"]
        hopeless = math.isinf(self.cutoff) * (crashed > crashed[self.incumbent])
        others = (i for i in numbers if i != self.incumbent and not hopeless[i])
        return [index for index in others if self.may_climb(index)]


class Followed:
    """A scheduler whose choices are compared with those of a scan, step by step.

    Deviations are those of the moment when somebody was compared, so they are noted then.
    """

    def __init__(self, scheduler):
        self.scheduler = scheduler
        self.compared, self.deviations = {}, {}
        self.seen = dict.fromkeys((SEEKING, NEWCOMER, RATIO, BOUND, HONEST), 0)
        self.note()

    def note(self):
        """Compare what is kept with the scan; call it after every result."""
        scan = Scan(self.scheduler.state)
        testers, is_first = self.scheduler.state.testers, not self.compared
        for index in range(testers.size):
            if index == scan.incumbent or scan.common_rung(index) == NONE:
                continue
            crashed = math.isinf(scan.cutoff) and int(testers[scan.incumbent].crashed)
            moment = (scan.rungs[index], scan.common_rung(index), scan.incumbent, crashed)
            if self.compared.get(index) != moment:
                self.compared[index] = moment
                # Those who enter together, when the first cap is found, are compared in turn.
                kept = float(testers[index].deviation)
                self.deviations[index] = kept if is_first else scan.deviation(index)
            assert testers[index].difference == pytest.approx(scan.gaps(index).mean(), abs=1e-9)
            assert testers[index].deviation == pytest.approx(self.deviations[index])

    def ask(self):
        """The next run, if it is what a scan would choose."""
        state, turns = self.scheduler.state, self.scheduler.state.turns.copy()
        run = self.scheduler.ask()
        if run is None:
            return None
        turn = min(int(state.now.turn), HONEST)
        if turn in self.seen:
            self.seen[turn] += 1
        return run, turn, turns

    def expected(self, selector, scan):
        """Whom a selector chooses."""
        testers = self.scheduler.state.testers

        def key(index):
            difference, deviation = testers[index].difference, self.deviations[index]
            if selector == RATIO:
                return difference / deviation
            return difference - 3 * deviation

        least = min(((key(i), i) for i in scan.climbers()), default=None)
        is_ahead = least is not None and scan.rungs[least[1]] < scan.rungs[scan.incumbent]
        if not is_ahead and scan.may_climb(scan.incumbent):
            return scan.incumbent
        return least and least[1]

    def newcomer(self, scan):
        found = (i for i, rung in enumerate(scan.rungs) if rung == NONE and scan.missing(i)[1])
        return next(found, None)


def due_turn(turns, has_newcomer, entered):
    """Who has had least of its share of the time; of climbers, also the other one."""
    if has_newcomer and entered < 8:
        return [NEWCOMER]
    first = RATIO if turns[RATIO] / 2 <= turns[BOUND] else BOUND
    parts = 2 if first == RATIO else 1
    climbers = [first, RATIO + BOUND - first]
    if not has_newcomer:
        return climbers
    if turns[first] / parts < turns[NEWCOMER] / 2:
        return [*climbers, NEWCOMER]
    return [NEWCOMER]


def follow(scheduler, steps, slots, runtime_of, crashes=lambda run: False):
    """Make runs, and compare each choice with that of a scan."""
    followed, random, flying = Followed(scheduler), np.random.default_rng(3), []
    for _ in range(steps):
        scan = Scan(scheduler.state)
        newcomer = followed.newcomer(scan) if scheduler.state.ladder.made else None
        plans = {turn: followed.expected(turn, scan) for turn in (RATIO, BOUND)}
        plans[NEWCOMER] = newcomer
        missing = {i: scan.missing(i) for i in plans.values() if i is not None}
        entered = next((i for i, rung in enumerate(scan.rungs) if rung == NONE), len(scan.rungs))
        asked = followed.ask() if len(flying) < slots else None
        if asked is not None:
            run, turn, turns = asked
            flying.append(run)
            if turn in plans:
                due = due_turn(turns, newcomer is not None, entered)
                possible = [which for which in due if plans[which] is not None]
                assert turn == possible[0]
                assert run.configuration == plans[turn]
                rung, pairs = missing[run.configuration]
                assert run.pair == pairs[0] and run.cap == scan.cap(rung)
                assert turns[HONEST:].sum() >= PROFILES["tight"].full_share * turns.sum() * (
                    1 - 1e-12
                )
            elif turn == HONEST:
                is_due = turns[HONEST:].sum() < PROFILES["tight"].full_share * turns.sum()
                has_work = any(index is not None for index in plans.values())
                assert is_due or not has_work
        if len(flying) == slots or asked is None:
            run = flying.pop(random.integers(len(flying)))
            runtime = runtime_of(run)
            solved = runtime <= run.cap and runtime < scheduler.state.rules.cutoff
            status = Status.SOLVED if solved else Status.CAPPED
            status = Status.CRASHED if crashes(run) else status
            scheduler.tell(run, Outcome(status, min(runtime, run.cap)))
            followed.note()
    scheduler.check()
    return followed.seen


def runtime_of(run):
    """Configurations differ by half at most, and pairs a lot; the same for all."""
    speed = 1.0 + 0.5 * np.random.default_rng([run.configuration, 4]).random()
    own = np.random.default_rng([run.configuration, run.pair, 6]).lognormal(0.0, 0.3)
    return speed * own * np.random.default_rng([run.pair, 5]).lognormal(0.0, 1.0)


@pytest.mark.parametrize(
    ("slots", "cutoff", "crash_share", "penalty"),
    [
        (1, 20.0, 0, 1),
        (1, None, 5, 1),
        (2, 20.0, 5, 1),
        (2, None, 0, 1),
        (7, 20.0, 0, 1),
        (7, None, 5, 1),
        (1, 3.0, 1, 10),
        (7, 3.0, 1, 2.5),
    ],
)
def test_each_selector_chooses_by_pair(slots, cutoff, crash_share, penalty):
    scheduler = Scheduler(60, None, first_cap=0.1, cutoff=cutoff, penalty=penalty)

    def crashes(run):
        return crash_share > 0 and (run.configuration * 7 + run.pair) % 23 < crash_share

    seen = follow(scheduler, 900, slots, runtime_of, crashes)
    assert min(seen.values()) > 15
