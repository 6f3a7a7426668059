"""The answer at any moment, and what depends on it: nothing."""

from __future__ import annotations

import numpy as np

from cunctator.base.records import Outcome, Status
from cunctator.core.scheduler import Scheduler

CUTOFF, FIRST_CAP = 300.0, 0.1


def test_what_is_asked_for_does_not_depend_on_who_asks_for_the_answer():
    random = np.random.default_rng(77)
    runtimes = np.minimum(random.weibull(0.3, (30, 300)), CUTOFF)
    curious, other = (Scheduler(30, 300, first_cap=FIRST_CAP, cutoff=CUTOFF) for _ in range(2))
    for _ in range(1500):
        run = curious.ask()
        assert run == other.ask()
        runtime = runtimes[run.configuration, run.pair]
        status = Status.SOLVED if runtime <= run.cap and runtime < CUTOFF else Status.CAPPED
        for scheduler in (curious, other):
            scheduler.tell(run, Outcome(status, min(runtime, run.cap)))
        curious.recommend()
