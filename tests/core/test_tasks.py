"""A guide's tasks and proposals in the core: what they change, and what they do not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cunctator.base.errors import InvalidSetting
from cunctator.core.claims import answer_share
from cunctator.core.proposals import capital_begins, is_proposal
from cunctator.core.race import is_unbeaten
from cunctator.core.recommend import LUCK
from cunctator.core.replay import replay
from cunctator.core.scheduler import Advice, Scheduler
from cunctator.core.state import BOUND, GUIDED, HONEST, NEWCOMER, RATIO
from tests.core.driving import asked_row, drive, events_of, made_up, of_table, outcome, told_row

FACTORS = [1.0, 0.9, 1.3, 1.1, 0.8, 1.5, 1.2, 2.0]


def guided(configurations=8, instances=None, **settings):
    settings = {"first_cap": 0.05, "cutoff": 100.0, "guided": 0.75} | settings
    return Scheduler(configurations, instances, **settings)


def runtimes(size=400, seed=3):
    """The first eight are as FACTORS say, the others better and worse."""
    random = np.random.default_rng(seed)
    return of_table(made_up(seed, [*FACTORS, *random.uniform(0.5, 2.0, size - 8)], 64))


def advise(scheduler, proposed=2):
    """New ones to the entry of the ladder, and the first ones a rung further."""
    testers = scheduler.state.testers[:4]
    tasks = [(-1 - place, int(scheduler.state.ladder.entry)) for place in range(proposed)]
    tasks += [(place, int(one.rung) + 1) for place, one in enumerate(testers) if one.rung >= 0]
    return scheduler.advise(Advice(proposed, tuple(tasks)))


def played(scheduler, steps, slots=1, every=10, seed=5):
    """A search with advice now and then; its journal, and the advice by place in it."""
    random, rows, flying, said, turns = np.random.default_rng(seed), [], [], {}, []
    runtime_of = runtimes()
    while len(rows) < steps:
        due = len(rows) % every == every - 1 and scheduler.state.ladder.made > 0
        if due and len(rows) not in said:
            advice = Advice(1, ((-1, int(scheduler.state.ladder.entry)), (0, 9)))
            scheduler.advise(advice)
            said[len(rows)] = advice
        run = scheduler.ask() if len(flying) < slots else None
        if run is not None:
            flying.append(run)
            rows.append(asked_row(run))
            turns.append(int(scheduler.state.now.turn))
            continue
        if not flying:
            break
        run = flying.pop(int(random.integers(len(flying))))
        result = outcome(scheduler, run, runtime_of)
        scheduler.tell(run, result)
        scheduler.check()
        rows.append(told_row(run, result))
    return events_of(rows), said, turns


@pytest.mark.parametrize("slots", [1, 3])
@pytest.mark.parametrize("pools", [False, True])
def test_replay_with_advice_gives_the_same_search(slots, pools):
    def new():
        return guided(None if pools else 8)

    scheduler = new()
    events, said, turns = played(scheduler, 600, slots)
    assert len(said) > 20 and turns.count(GUIDED) > 50
    again = new()
    replay(again, events, said)
    assert again.state.testers.tobytes() == scheduler.state.testers.tobytes()
    assert again.state.turns.tolist() == scheduler.state.turns.tolist()
    runtime_of = runtimes()
    one, other = (drive(each, runtime_of, 50) for each in (scheduler, again))
    assert [run.configuration for run in one[10:]] == [run.configuration for run in other[10:]]


def test_asking_in_vain_numbers_nothing():
    one, other = guided(None), guided(None)
    flying = []
    for _ in range(3000):
        run = one.ask()
        if run is None:
            break
        flying.append(run)
    for _ in range(len(flying)):
        assert other.ask() is not None
    for _ in range(5):
        assert one.ask() is None
    assert one.state.testers.size == other.state.testers.size


def test_tasks_have_their_share_in_the_order_of_the_list():
    scheduler = guided()
    runtime_of = runtimes()
    drive(scheduler, runtime_of, 120)
    for _ in range(400):
        if scheduler.open_tasks < 1:
            advise(scheduler)
        run = scheduler.ask()
        scheduler.tell(run, outcome(scheduler, run, runtime_of))
    turns = scheduler.state.turns
    search = turns[[GUIDED, NEWCOMER, RATIO, BOUND]].sum()
    assert turns[GUIDED] / search == pytest.approx(0.75, abs=0.1)


def test_a_task_is_done_when_its_rung_is_reached():
    scheduler = guided()
    drive(scheduler, runtimes(), 250)
    first = scheduler.advise(Advice(1, ((-1, 4),)))
    while scheduler.open_tasks:
        run = scheduler.ask()
        if scheduler.state.now.turn == GUIDED:
            assert run.configuration == first
        scheduler.tell(run, outcome(scheduler, run, runtimes()))
    assert scheduler.state.testers[first].rung == 4
    for _ in range(50):
        run = scheduler.ask()
        assert scheduler.state.now.turn != GUIDED, "nothing is left of the list"
        scheduler.tell(run, outcome(scheduler, run, runtimes()))


def test_proposals_are_in_no_pool_and_nobodys_rivals():
    scheduler = guided(None)
    before = scheduler.state.pools["count"].tolist()
    runtime_of = runtimes()
    for _ in range(60):
        drive(scheduler, runtime_of, 25)
        advise(scheduler)
    state = scheduler.state
    proposals = [index for index in range(state.testers.size) if is_proposal(state, index)]
    assert len(proposals) == 120 == state.now.proposals
    assert state.pools["count"].tolist() == before
    drawn = np.flatnonzero(state.testers["proposed_at"] < 0)
    assert state.testers["rank"][drawn].tolist() == list(range(drawn.size))
    assert state.testers["rank"][proposals].tolist() == list(range(120))
    for pool in state.pools[: state.now.opened]:
        inside = drawn < pool["members"]
        assert inside.sum() == min(pool["count"], drawn.size)
    assert not any(is_unbeaten(state, index) for index in proposals)
    size = scheduler.certificate().pools[-1].size
    assert size in before, "what is certified is about draws"


def test_no_honest_turn_and_no_newcomers_run_is_of_a_proposal():
    scheduler, runtime_of = guided(None), runtimes()
    for _ in range(800):
        if scheduler.state.ladder.made and scheduler.open_tasks < 1:
            advise(scheduler, 3)
        run = scheduler.ask()
        turn = scheduler.state.now.turn
        if is_proposal(scheduler.state, run.configuration):
            assert turn != NEWCOMER and turn < HONEST
        scheduler.tell(run, outcome(scheduler, run, runtime_of))


def test_no_honest_turn_is_of_a_proposal_if_all_crash_without_a_cutoff():
    scheduler = guided(cutoff=None)
    for _ in range(400):
        if scheduler.state.ladder.made and scheduler.open_tasks < 1:
            advise(scheduler)
        run = scheduler.ask()
        if is_proposal(scheduler.state, run.configuration):
            assert scheduler.state.now.turn < HONEST
        scheduler.tell(run, outcome(scheduler, run, lambda *_: -0.1))


def test_capital_adds_up_to_one_and_begins_after_what_was_seen():
    scheduler = guided()
    runtime_of = runtimes()
    drive(scheduler, runtime_of, 100)
    for _ in range(200):
        drive(scheduler, runtime_of, 5)
        started = int(scheduler.state.testers["started"].max())
        first = advise(scheduler, 1)
        assert capital_begins(scheduler.state, first) == started
    state = scheduler.state
    shares = [answer_share(state, index) for index in range(state.testers.size)]
    assert 0.75 < sum(shares) <= 1.0
    assert capital_begins(state, 0) == 0
    alone = Scheduler(8, None, first_cap=0.05, cutoff=100.0)
    assert 0.75 < sum(answer_share(alone.state, index) for index in range(8)) <= 1.0


def test_a_proposal_may_be_the_answer():
    scheduler = guided()
    table = made_up(3, [*FACTORS, *([0.3] * 40)], 64)
    runtime_of = of_table(table)
    drive(scheduler, runtime_of, 60)
    scheduler.advise(Advice(1, ((-1, 12),)))
    drive(scheduler, runtime_of, 400)
    assert is_proposal(scheduler.state, scheduler.recommend())
    assert not scheduler.certificate().optimal


def test_the_default_is_the_answer_until_another_one_is_clearly_ahead():
    """By the rule of the docs, on configurations that are all as fast as the default."""
    seen = {True: 0, False: 0}
    for seed in range(5):
        scheduler, table = guided(40), made_up(seed, [1.0] * 40, 64, spread=1.0)
        for _ in range(60):
            drive(scheduler, of_table(table), 10)
            now, default = scheduler.state.now, scheduler.state.testers[0]
            if now.incumbent != 0:
                luck = LUCK * math.sqrt(2 * math.log(now.last_entered + 1))
                is_ahead = bool(default.difference >= luck * default.deviation)
                assert scheduler.recommend() == (now.incumbent if is_ahead else 0)
                seen[is_ahead] += 1
    assert min(seen.values()) >= 40


def test_without_a_guide_the_incumbent_is_the_answer():
    scheduler = Scheduler(40, None, first_cap=0.05, cutoff=100.0)
    table = made_up(1, [1.0] * 40, 64, spread=1.0)
    for _ in range(60):
        drive(scheduler, of_table(table), 10)
        assert scheduler.recommend() == scheduler.state.now.incumbent


@pytest.mark.parametrize("task", [(8, 1), (-2, 1), (0, -1)])
def test_tasks_that_make_no_sense_are_refused(task):
    scheduler = guided()
    with pytest.raises(InvalidSetting, match="expected configurations below"):
        scheduler.advise(Advice(0, (task,)))


def test_only_a_search_with_a_guide_takes_advice():
    with pytest.raises(InvalidSetting, match="no guide"):
        Scheduler(8, None).advise(Advice(0, ()))
    with pytest.raises(InvalidSetting, match="tight"):
        Scheduler(8, None, profile="paper", guided=0.5)
