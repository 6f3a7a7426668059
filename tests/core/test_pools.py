"""Pools that grow: nested, with their shares of the time, and the same runs however they grow."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cunctator.base.errors import InvalidSetting
from cunctator.base.records import Outcome, Status, StopReason
from cunctator.core.certificate import certify
from cunctator.core.pools import choose_from_pools, missed_share, pool_error, pool_sizes
from cunctator.core.profiles import PROFILES
from cunctator.core.replay import replay
from cunctator.core.scheduler import (
    STATUS_CODE,
    Scheduler,
    begin_flight,
    finish_flight,
    rekey_all,
)
from cunctator.core.sentinels import ASKED, WIDEN
from cunctator.core.state import HONEST, with_more_configurations
from cunctator.core.statement import headline
from cunctator.core.tester import SOLVED, choose_next
from cunctator.core.tournament import new_tournament, set_key, winner_between
from cunctator.recorded.simulation import Simulation
from cunctator.recorded.table import make_table
from tests.core.driving import events_of

FIRST_CAP, CUTOFF = 0.01, 5.0


def runtime(configuration: int, pair: int) -> float:
    """Of an endless space on an endless stream: a function of both numbers."""
    speed = np.random.default_rng([configuration, 5]).lognormal(-2, 0.6)
    return float(speed * np.random.default_rng([configuration, pair, 6]).exponential())


def outcome_of(run):
    seconds = runtime(run.configuration, run.pair)
    if run.configuration % 17 == 16 and run.pair % 3 == 2:
        return Outcome(Status.CRASHED, min(seconds, run.cap))
    solved = seconds <= run.cap
    return Outcome(Status.SOLVED if solved else Status.CAPPED, min(seconds, run.cap))


def conduct(scheduler, runs, slots=1, check_every=0):
    """Make runs, results in a random order; returns (configuration, pair, cap) of all asks."""
    random = np.random.default_rng(3)
    flying, asked = [], []
    while len(asked) < runs:
        while len(flying) < slots and (run := scheduler.ask()) is not None:
            flying.append(run)
            asked.append((run.configuration, run.pair, run.cap))
        run = flying.pop(int(random.integers(len(flying))))
        scheduler.tell(run, outcome_of(run))
        if check_every and len(asked) % check_every == 0:
            scheduler.check()
    return asked


def endless(**more):
    return Scheduler(None, None, first_cap=FIRST_CAP, cutoff=CUTOFF, **more)


def test_sizes():
    assert pool_sizes(1, None)[:5].tolist() == [3, 9, 25, 65, 161]
    assert pool_sizes(4, None)[:3].tolist() == [6, 12, 28]
    assert pool_sizes(1, 30).tolist() == [3, 9, 25, 30]
    assert pool_sizes(1, 25).tolist() == [3, 9, 25]
    assert pool_sizes(1, 2).tolist() == [2]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=40), st.data()
)
def test_the_winner_of_a_part(keys, data):
    tree = new_tournament(len(keys))
    for index, (first, second) in enumerate(keys):
        set_key(tree, index, float(first), float(second))
    low = data.draw(st.integers(0, len(keys) - 1))
    high = data.draw(st.integers(low + 1, len(keys)))
    expected = min(range(low, high), key=lambda index: (*keys[index], index))
    assert winner_between(tree, low, high) == expected


@pytest.mark.parametrize("slots", [1, 5])
def test_invariants_and_shares_hold_while_pools_grow(slots):
    scheduler = endless()
    conduct(scheduler, 6000, slots, check_every=211)
    state = scheduler.state
    sizes, opened = state.pools["members"], int(state.now.opened)
    started = state.testers["started"]
    assert opened >= 4
    assert started[sizes[opened - 2]] > 0, "a pool is opened when its first one is run"
    assert not started[sizes[opened - 1] :].any(), "a pool is looked at before it is open"
    honest, longest = state.turns[HONEST:], slots * CUTOFF
    assert abs(honest.sum() - PROFILES["tight"].full_share * state.turns.sum()) <= longest
    assert not honest[opened:].any()
    # Whoever has least k^2 time has the next honest run: no claim is far behind the others'.
    for number in range(1, opened):
        share = honest.sum() / (math.pi**2 / 6)
        assert number**2 * (honest[number - 1] + longest) >= share - longest


def test_a_pool_is_open_from_the_first_run_of_one_of_its_own():
    scheduler = endless()
    sizes, opened = scheduler.state.pools["members"], [1]
    furthest = 0
    for _ in range(4000):
        run = scheduler.ask()
        furthest = max(furthest, run.configuration)
        opened.append(int(scheduler.state.now.opened))
        # It is opened for its honest share, too, when that could pay for a look at all of it.
        assert furthest < sizes[opened[-1] - 1]
        scheduler.tell(run, outcome_of(run))
    assert opened == sorted(opened) and opened[-1] >= 4


def test_honest_shares_alone_open_pools():
    """As if the search found nothing to do: each pool waits until one look at all is paid for."""
    scheduler = endless()
    state = scheduler.state
    sizes = state.pools["members"]
    for opened in range(1, 6):
        needed = (opened + 1) ** 2 * int(sizes[opened]) * FIRST_CAP
        state.turns[HONEST] = needed * (1 - 1e-9)
        choose_from_pools(state)
        assert state.now.opened == opened
        state.turns[HONEST] = needed * (1 + 1e-9)
        if choose_from_pools(state) == WIDEN:
            scheduler.widen()
            state = scheduler.state
            choose_from_pools(state)
        assert state.now.opened == opened + 1


def test_room_that_grows_changes_nothing():
    grown, roomy = endless(), endless()
    roomy.state = with_more_configurations(roomy.state, 3000)
    rekey_all(roomy.state)
    assert conduct(grown, 3000, 3) == conduct(roomy, 3000, 3)
    assert grown.state.testers.size < 3000
    assert grown.recommend() == roomy.recommend()
    assert grown.certificate() == roomy.certificate()


def test_keys_of_climbers_do_not_depend_on_when_there_is_more_room():
    """They tell what was known when they were set; later, others are known better."""
    scheduler = endless()
    conduct(scheduler, 2000)
    trees = scheduler.state.by_ratio, scheduler.state.by_bound
    size = scheduler.state.testers.size
    scheduler.state.now.compared_pairs *= 1000
    scheduler.widen()
    state = scheduler.state
    for before, after in zip(trees, (state.by_ratio, state.by_bound), strict=True):
        keys = [tree["first"][tree.size // 2 :][:size] for tree in (before, after)]
        assert np.isfinite(keys[0]).sum() > 10
        np.testing.assert_array_equal(*keys)
    scheduler.check()


def test_replay_of_pools_that_grow():
    scheduler = endless()
    rows = []
    for _ in range(1500):
        run = scheduler.ask()
        rows.append((run.number, run.configuration, run.pair, ASKED, 0.0))
        result = outcome_of(run)
        scheduler.tell(run, result)
        code = STATUS_CODE[result.status]
        rows.append((run.number, run.configuration, run.pair, code, result.seconds))
    events = events_of(rows)
    again = endless()
    assert replay(again, events) == []
    assert again.certificate() == scheduler.certificate()
    assert again.ask() == scheduler.ask()


def test_the_answer_is_not_the_best_of_the_smallest_pool():
    """Small pools are worked on all the time; whoever is started most may be one of three."""
    scheduler = endless()
    conduct(scheduler, 8000)
    size = int(scheduler.state.now.last_entered) + 1
    assert size > 100
    speeds = np.array([np.random.default_rng([k, 5]).lognormal(-2, 0.6) for k in range(size)])
    speeds[16::17] = np.inf  # these crash
    answer = scheduler.recommend()
    assert np.sum(speeds < speeds[answer]) <= size / 20
    assert speeds[answer] < 0.6 * speeds[:3].min()


def test_a_finite_space_is_used_up():
    scheduler = Scheduler(None, 6, first_cap=FIRST_CAP, cutoff=CUTOFF, limit=20)
    while (run := scheduler.ask()) is not None:
        scheduler.tell(run, outcome_of(run))
    assert scheduler.stop is not None
    certificate = scheduler.certificate()
    assert certificate.gamma == 0 and certificate.epsilon_at(0.0, 0.0) == 0
    means = []
    for k in range(20):
        runs = [
            CUTOFF if k == 16 and p % 3 == 2 else min(max(runtime(k, p), FIRST_CAP), CUTOFF)
            for p in range(6)
        ]
        means.append(np.mean(runs))
    assert scheduler.recommend() == scheduler.state.now.proved == int(np.argmin(means))


def test_gamma():
    assert missed_share(0, 0.05) == 1.0
    for draws in (1, 10, 1000):
        assert (1 - missed_share(draws, 0.01)) ** draws == pytest.approx(0.01)
    assert sum(pool_error(0.05, k) for k in range(1, 10_000)) == pytest.approx(0.05, rel=1e-3)
    scheduler = endless(fixed=3)
    conduct(scheduler, 2000)
    certificate = scheduler.certificate()
    gammas = [pool.gamma for pool in certificate.pools]
    assert gammas == sorted(gammas, reverse=True)
    draws = certificate.pools[1].size - 3
    assert draws == 8
    assert (1 - gammas[1]) ** draws == pytest.approx(pool_error(0.1 * 0.05, 2))
    assert certificate.confidence == pytest.approx(0.95)
    shares = [pool.time_share for pool in certificate.pools]
    assert shares == sorted(shares) and shares[-1] == pytest.approx(1.0)
    charged = scheduler.state.testers["charged"]
    assert shares[0] == pytest.approx(charged[: certificate.pools[0].size].sum() / charged.sum())
    # Against a larger pool no more is certified than against a smaller one.
    epsilons = [certificate.epsilon_at(0.3, gamma) for gamma in gammas]
    assert epsilons == sorted(epsilons)


def test_a_fixed_pool_of_draws_is_not_the_space():
    """Its certificate is about those looked at, and its gamma is what so many draws earn."""
    whole = Scheduler(4, None, first_cap=FIRST_CAP, cutoff=CUTOFF)
    drawn = Scheduler(4, None, first_cap=FIRST_CAP, cutoff=CUTOFF, draws=lambda size: size - 1)
    for scheduler in (whole, drawn):
        conduct(scheduler, 3000)
    assert whole.state.testers["started"].tolist() == drawn.state.testers["started"].tolist()
    certificate = drawn.certificate()
    assert whole.certificate().gamma == 0 and whole.certificate().looked_at is None
    assert certificate.looked_at == 4 and certificate.confidence == pytest.approx(0.95)
    assert (1 - certificate.gamma) ** 3 == pytest.approx(0.1 * 0.05)
    assert not certificate.optimal and not certificate.pools
    assert "no other of the 4 configurations looked at is" in headline(certificate)
    # Part of the error is for what the draws miss, so no more is certified than of a whole space.
    assert whole.certificate().epsilon_at(0.3) <= certificate.epsilon_at(0.3) < math.inf


def test_a_fixed_pool_that_is_known_exactly_is_not_called_optimal():
    scheduler = Scheduler(2, 3, first_cap=1.0, cutoff=9.0, draws=lambda size: size - 1)
    while (run := scheduler.ask()) is not None:
        scheduler.tell(run, Outcome(Status.SOLVED, 1.5 + run.configuration))
    assert scheduler.stop is StopReason.BEST_OF_POOL
    certificate = scheduler.certificate()
    assert not certificate.optimal and "of the 2 configurations looked at" in headline(certificate)


def test_optimal_is_against_all_pools():
    """The best of the smallest pool is not the best of all."""
    runtimes = np.full((12, 4), 3.0)
    runtimes[0], runtimes[9] = 2.0, 1.0
    simulation = Simulation(make_table(runtimes, cutoff=9.0), first_cap=0.5, ladder=True)
    while simulation.stop is None:
        simulation.advance()
    state, draws = simulation.state, lambda size: size - 1
    while not (state.testers["completed"] == 4).all():  # run everything to its end
        index = int(np.flatnonzero(state.testers["completed"] < 4)[0])
        choose_next(state, index)
        begin_flight(state, index, 0)
        finish_flight(state, 0, SOLVED, float(runtimes[index, 0]))
    assert certify(state, 9, draws).optimal and not certify(state, 0, draws).optimal


def test_other_profiles_need_a_number():
    with pytest.raises(InvalidSetting, match="tight"):
        endless(profile="proved")


def test_simulation_with_pools():
    random = np.random.default_rng(0)
    runtimes = random.lognormal(-2, 0.6, (200, 1)) * random.exponential(size=(200, 100))
    table = make_table(np.clip(runtimes, FIRST_CAP, CUTOFF), cutoff=CUTOFF)
    result = Simulation(table, first_cap=FIRST_CAP, ladder=True).run()
    assert result.incumbent == int(table.runtimes.mean(axis=1).argmin())
