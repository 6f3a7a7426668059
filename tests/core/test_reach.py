"""What can be certified at all."""

from __future__ import annotations

import pytest

from cunctator.base.records import Outcome, Status
from cunctator.core.claims import FASTER, PRECISION, most_mean, ratio_bound, share_beyond
from cunctator.core.reach import is_out_of_reach, least_runs
from cunctator.core.scheduler import Scheduler
from tests.core.by_pair import Reference


@pytest.mark.parametrize("delta", [0.3, 0.1, 0.05])
@pytest.mark.parametrize("instances", [None, 120])
def test_least_runs_is_where_the_share_is_certified(delta, instances):
    """One run fewer would not do, had none exceeded the shortest cap."""
    scheduler = Scheduler(1, instances, first_cap=1.0)
    runs, shares = least_runs(scheduler.state, delta), [1.0]
    while len(shares) <= runs:
        scheduler.tell(scheduler.ask(), Outcome(Status.SOLVED, 0.5))
        shares.append(share_beyond(scheduler.state, 0, 0))
    assert shares[runs] <= delta * (1 + PRECISION) and shares[runs - 1] > delta


def test_with_a_cutoff_nothing_exceeds_no_run_is_needed():
    assert least_runs(Scheduler(1, None, first_cap=1.0, cutoff=1.0).state, 0.0) == 1


def is_ever_shown(instances, confidence):
    """Whether the fastest answer is shown to beat the slowest default before it is certain."""
    scheduler = Scheduler(2, instances, first_cap=1e-3, cutoff=1.0, confidence=confidence)
    while (run := scheduler.ask()) is not None:
        is_default = run.configuration == 0
        status = Status.CAPPED if is_default else Status.SOLVED
        scheduler.tell(run, Outcome(status, run.cap if is_default else 1e-3))
        state = scheduler.state
        known = Reference(state).lower[0]
        least = (known.sum() + (instances - known.size) * 1e-3) / instances
        if most_mean(state, 1) >= least and ratio_bound(state, FASTER, 1) < 1 - 1e-9:
            return True
    return False


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_a_set_that_is_too_small_for_the_confidence_shows_only_what_is_certain(confidence):
    sizes = range(1, 40)
    too_small = [
        is_out_of_reach(Scheduler(2, size, first_cap=1e-3, cutoff=1.0, confidence=confidence).state)
        for size in sizes
    ]
    # They are the smallest ones, and there are some.
    assert too_small == sorted(too_small, reverse=True) and True in too_small
    for size in range(1, too_small.count(True) + 1):
        assert not is_ever_shown(size, confidence)


def test_more_confidence_takes_a_larger_set():
    def smallest(confidence):
        return next(
            size
            for size in range(1, 200)
            if not is_out_of_reach(Scheduler(9, size, cutoff=9.0, confidence=confidence).state)
        )

    sizes = [smallest(confidence) for confidence in (0.5, 0.95, 0.999, 1 - 1e-9)]
    assert sizes == sorted(set(sizes))
    assert not is_out_of_reach(Scheduler(9, None, cutoff=9.0, confidence=1 - 1e-9).state)
    assert not is_out_of_reach(Scheduler(9, 5, confidence=0.95).state)
