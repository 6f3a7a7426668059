"""Several runs at a time: where the next one goes before the first results are in."""

from __future__ import annotations

from cunctator.base.records import Outcome, Status
from cunctator.core.scheduler import Scheduler
from cunctator.core.tester import rekey
from cunctator.core.tournament import ROOT


def test_a_run_in_flight_makes_room_for_others():
    """Thinking the worst of it raises the index, for choosing only: nothing known has changed."""
    scheduler = Scheduler(4, None, first_cap=0.1)
    for _ in range(60):
        run = scheduler.ask()
        runtime = 0.2 if run.pair % 2 else 0.39
        solved = run.cap >= runtime
        seconds = runtime if solved else run.cap
        scheduler.tell(run, Outcome(Status.SOLVED if solved else Status.CAPPED, seconds))
    state = scheduler.state
    leader = int(state.by_sharp[ROOT].winner)
    tester = state.testers[leader]
    known = float(tester.sharp)
    tester.new_in_flight += 3
    tester.started += 3
    rekey(state, leader)
    leaves = state.by_sharp.size // 2
    assert state.by_sharp[leaves + leader].first > known
    assert state.by_sharp[ROOT].winner != leader
    assert tester.sharp == known
