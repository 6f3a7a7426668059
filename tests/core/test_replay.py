"""A journal put through a fresh scheduler gives the same scheduler, or is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cunctator.base.errors import DifferentReplay
from cunctator.base.records import Outcome, Run, Status
from cunctator.core.replay import BEGUN, ENDED, replay
from cunctator.core.scheduler import STATUS_CODE, Scheduler
from cunctator.core.sentinels import ASKED
from tests.core.driving import events_of

SIZE = 6


def new_scheduler(instances, size=SIZE):
    return Scheduler(size, instances, first_cap=0.5, cutoff=40.0)


def history(seed, steps, workers, instances, size=SIZE, flips=0.0):
    """A scheduler after random asks and tells, the events, and what is still in flight.

    `flips`: how often closing begins or ends before an event.
    """
    random = np.random.default_rng(seed)
    scheduler = new_scheduler(instances, size)
    flying: list[Run] = []
    rows = []
    closing = {}
    for _ in range(steps):
        is_flip = len(flying) > 0 and random.random() < flips
        if is_flip:  # and a result next, for a journal keeps it with the event that follows
            scheduler.close(not scheduler.is_closing)
            closing[len(rows)] = BEGUN if scheduler.is_closing else ENDED
        is_ask = not is_flip and len(flying) < workers and random.random() < 0.6
        run = scheduler.ask() if is_ask else None
        if run is not None:
            flying.append(run)
            rows.append((run.number, run.configuration, run.pair, ASKED, 0.0))
        elif flying:
            run = flying.pop(random.integers(len(flying)))
            runtime = np.random.default_rng([run.configuration, run.pair]).exponential(5.0)
            status = Status.SOLVED if runtime <= run.cap else Status.CAPPED
            if random.random() < 0.02:
                status = Status.CRASHED
            outcome = Outcome(status, min(runtime, run.cap))
            scheduler.tell(run, outcome)
            code = STATUS_CODE[status]
            rows.append((run.number, run.configuration, run.pair, code, outcome.seconds))
    return scheduler, events_of(rows, closing), flying


@given(
    seed=st.integers(0, 2**32 - 1),
    steps=st.integers(0, 900),
    workers=st.integers(1, 40),
    instances=st.sampled_from([None, 25]),
    size=st.sampled_from([SIZE, None]),
    flips=st.sampled_from([0.0, 0.01]),
)
@settings(max_examples=60)
def test_replay_gives_the_same_scheduler(seed, steps, workers, instances, size, flips):
    """Also where many ask in vain: with more workers than a small pool has runs for."""
    before, events, flying = history(seed, steps, workers, instances, size, flips)
    after = new_scheduler(instances, size)
    unfinished = replay(after, events)
    after.check()
    assert sorted(unfinished, key=lambda run: run.number) == sorted(
        flying, key=lambda run: run.number
    )
    assert after.step == before.step and after.recommend() == before.recommend()
    for name in ("opened", "last_entered", "incumbent", "compared_pairs"):
        assert after.state.now[name] == before.state.now[name]
    assert after.state.ladder == before.state.ladder
    np.testing.assert_array_equal(after.state.turns, before.state.turns)
    np.testing.assert_array_equal(after.state.now.nominated, before.state.now.nominated)
    np.testing.assert_array_equal(after.state.pools, before.state.pools)
    ours, theirs = after.state.testers, before.state.testers
    same = min(ours.size, theirs.size)  # room made for an ask in vain stays empty
    for name in ours.dtype.names:
        np.testing.assert_array_equal(ours[name][:same], theirs[name][:same])
    # Both go on alike, results coming in for what was in flight.
    for run in sorted(flying, key=lambda run: run.number):
        for scheduler in (before, after):
            scheduler.tell(run, Outcome(Status.CAPPED, run.cap))
    for _ in range(20):
        runs = before.ask(), after.ask()
        assert runs[0] == runs[1]


@pytest.mark.parametrize("column", ["number", "configuration", "pair"])
def test_a_changed_journal_is_noticed(column):
    _, events, _ = history(3, 400, 3, None)
    at = 200
    changed = getattr(events, column).copy()
    changed[at] += 1
    with pytest.raises(DifferentReplay):
        replay(new_scheduler(None), events._replace(**{column: changed}))


def test_another_result_leads_to_other_asks():
    _, events, _ = history(3, 900, 1, None)
    seconds = np.where(events.status == STATUS_CODE[Status.SOLVED], 0.5, events.seconds)
    with pytest.raises(DifferentReplay) as caught:
        replay(new_scheduler(None), events._replace(seconds=seconds))
    assert caught.value.number > 1
