"""What a study writes down for people: how far it is, and how its answer changed.

Neither is needed to go on with it, except for the time on the clock.
"""

from __future__ import annotations

import math
import time

from cunctator.core.recorded import CONFIGURATIONS_PER_STEP, INCUMBENT_GROWTH
from cunctator.core.scheduler import Scheduler
from cunctator.study.journal.journal import Change, Journal
from cunctator.study.snapshot import Snapshot

STOPPED_CLOCKS = {"wall": 0.0, "own_seconds": 0.0, "busy": 0.0, "forecast": None}
"""What changes of a study while nothing happens; a forecast goes by the clock."""

CLOCKS_EVERY = 5.0
"""Seconds between writing down how late it is."""


class ProgressRows:
    """The journal's `progress` and `incumbents`, as the study goes on."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.trajectory = journal.changes()
        """How the answer changed, earlier sessions included."""
        self._next_charged = 0.0
        self._next_runs = 0
        self._last: Snapshot | None = None
        self._last_at = -math.inf

    def keep(self, snapshot: Snapshot) -> None:
        """Write what people see, unless nothing has happened; it counts after a commit.

        If time has passed and nothing else, the last row is replaced now and then: a study that
        waits for long runs does not grow by that.
        """
        without_clocks = snapshot.model_copy(update=STOPPED_CLOCKS)
        is_same = without_clocks == self._last
        if is_same and time.monotonic() < self._last_at + CLOCKS_EVERY:
            return
        self._journal.add_progress(time.time(), snapshot, instead=is_same)
        self._last, self._last_at = without_clocks, time.monotonic()

    def note_incumbent(self, scheduler: Scheduler, charged: float, runs: int, now: bool) -> None:
        """Write down the answer if it has changed, unless it is too early to look and not `now`.

        Looking at many configurations costs as much as a choice, so it is done as often as in
        a simulation: when 1% more has been charged and enough runs have been made.
        """
        if not now and (charged < self._next_charged or runs < self._next_runs):
            return
        self._next_charged = charged * INCUMBENT_GROWTH
        self._next_runs = runs + scheduler.state.testers.size // CONFIGURATIONS_PER_STEP
        incumbent = scheduler.recommend()
        if not self.trajectory or self.trajectory[-1].configuration != incumbent:
            change = Change(charged, runs, incumbent)
            self.trajectory.append(change)
            self._journal.add_change(time.time(), change)
