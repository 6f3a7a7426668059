"""Cunctator as a study makes it, one slot, but in the account's time.

The scheduler is built as in `study/folder.py`, and told and closed as in `study/loop.py`. Real
problems go through real studies instead: see `real.py`.
"""

from __future__ import annotations

from pathlib import Path

from cunctator.base.records import Outcome, Run, Status
from cunctator.core.recorded import CONFIGURATIONS_PER_STEP, INCUMBENT_GROWTH
from cunctator.core.scheduler import Scheduler
from cunctator.space.space import Space
from cunctator.study.guidance import SHARE, Guide, advice_of, at_once
from cunctator.target.instances import shuffled
from peers.problem import NEARLY, Account, BudgetSpent

FIRST_CAP = 0.01
"""The default of scenarios."""


class Study:
    """A search, what it has spent, and its answer."""

    def __init__(self, account: Account, space: Space, seed: int, share: float = SHARE) -> None:
        """`share` is the guide's part of the search's time; with 0 there is no guide."""
        self.account = account
        self.scheduler = new_scheduler(account, space, share)
        self._space = space
        self._guide = Guide(space, at_once, slots=1) if share else None
        self._order = shuffled(account.train, seed)
        self._look_charged = self._look_runs = 0.0
        self._has_solved = False

    def run(self) -> None:
        """Until the budget is spent or nothing is left to ask."""
        try:
            self._close()
            while (run := self._ask()) is not None:
                self._make(run)
                self._note_incumbent()
                self._close()
        except BudgetSpent:
            pass
        self._look_charged = self._look_runs = 0.0
        self._note_incumbent()

    def _ask(self) -> Run | None:
        """The next run, after what the guide has to say, at once: its time is not the account's."""
        planned = self._guide.plan(self.scheduler) if self._guide else None
        if planned is not None:
            first = self.scheduler.advise(advice_of(planned[0]))
            if planned[0].proposed:
                self._space.take_in(first, planned[0].proposed)
        return self.scheduler.ask()

    def _make(self, run: Run) -> None:
        values = self._space.configuration(run.configuration)
        made = self.account.run(values, int(self._order[run.pair]), run.cap)
        status = Status.SOLVED if made.solved else Status.CAPPED
        if not made.solved and made.seconds < NEARLY * run.cap:
            status = Status.CRASHED
        self.scheduler.tell(run, Outcome(status, made.seconds))
        self._has_solved = self._has_solved or made.solved

    def _close(self) -> None:
        """Bring what was put off to an end if the budget is about to."""
        account = self.account
        if not self.scheduler.is_closing:
            until = self.scheduler.seconds_until_closing(account.left, account.budget)
            self.scheduler.close(until <= 0.0)

    def _note_incumbent(self) -> None:
        """As often as studies do: to look costs as much as a choice."""
        account = self.account
        is_early = account.charged < self._look_charged or account.runs < self._look_runs
        if is_early or not self._has_solved:
            return
        size = self.scheduler.state.testers.size
        self._look_charged = account.charged * INCUMBENT_GROWTH
        self._look_runs = account.runs + size // CONFIGURATIONS_PER_STEP
        account.note(self._space.configuration(self.scheduler.recommend()))


def new_scheduler(account: Account, space: Space, share: float) -> Scheduler:
    """The search of a study whose set of pairs and whose budget have an end."""
    return Scheduler(
        None,
        account.train,
        first_cap=min(FIRST_CAP, account.cutoff),
        cutoff=account.cutoff,
        fixed=space.fixed,
        limit=space.size,
        draws=space.draws,
        will_close=True,
        guided=share,
    )


def search(account: Account, seed: int, folder: Path) -> None:
    """A whole study."""
    Study(account, account.seeded_space(seed), seed).run()
