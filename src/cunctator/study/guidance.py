"""What the guide is told of a search, and when it is asked.

The core knows runs, the space knows configurations, and the guide (`propose/`) plans from both.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from threading import Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cunctator.base.errors import one_line
from cunctator.core.known import cap_at
from cunctator.core.rules import timeout_value
from cunctator.core.scheduler import Advice, Scheduler
from cunctator.core.search import AT_LEAST
from cunctator.core.sentinels import NONE
from cunctator.core.state import State
from cunctator.core.values import NOT_YET, values_of
from cunctator.propose.columns import Columns, Configuration
from cunctator.propose.evidence import Results
from cunctator.propose.guide import Plan, Rungs, Situation, plan
from cunctator.space.space import Space
from cunctator.study.journal.journal import Advised, Journal

logger = logging.getLogger("cunctator.study.loop.guide")

SHARE = 0.75
"""Of the search's time, what is for the guide's tasks."""

GROWTH = 1.05
"""How much the charged time must grow before the guide is asked again: a fit costs more, the more
there is to learn from. A plan is for as much time."""

MOST_COST = 0.02
"""Of the charged time, what plans may take: in spaces of hundreds of parameters one takes seconds,
and then there are fewer of them."""

FAILURES = 3
"""In a row, until the guide is given up."""

CRASH = 2.0
"""What a crash counts for the guide, in the longest time that there is."""


def spent_so_far(state: State) -> float:
    """Seconds of all runs that have ended: those in flight say nothing yet."""
    return float(state.testers["charged"].sum())


def is_plan_due(scheduler: Scheduler, slots: int, planned_at: float) -> bool:
    """Whether to ask the guide, who was last asked after so many charged seconds."""
    state = scheduler.state
    if state.ladder.made == 0 or state.now.entered < AT_LEAST or scheduler.is_closing:
        return False
    if spent_so_far(state) < planned_at * GROWTH:
        return False
    return scheduler.open_tasks < slots


def situation_of(
    state: State, configuration: Callable[[int], Configuration], number: int
) -> Situation:
    """What there is to go by for plan `number`."""
    testers, ladder, rules = state.testers, state.ladder, state.rules
    indices = np.flatnonzero(testers["started"] > 0)
    made = int(ladder.made)
    caps = np.array([cap_at(rules, level) for level in ladder.level[:made].tolist()])
    return Situation(
        number=number,
        seen=_seen(state, indices),
        configurations=[configuration(index) for index in indices.tolist()],
        indices=indices,
        reached=testers["rung"][indices].astype(np.int64),
        rungs=Rungs(ladder.pairs[:made].astype(np.int64), caps, int(ladder.entry)),
        pairs=int(testers["started"].max()),
        seconds=(GROWTH - 1.0) * SHARE * spent_so_far(state),
    )


def advice_of(found: Plan | Advised) -> Advice:
    """What the core is told of a plan, now or once more."""
    first = found.first if isinstance(found, Advised) else NONE
    return Advice(len(found.proposed), found.tasks, first)


def _seen(state: State, indices: NDArray[Any]) -> Results:
    """All that is known of pairs, but for those whose first run is in flight."""
    lists = [
        values_of(state.values, index, int(state.testers[index].started))
        for index in indices.tolist()
    ]
    sizes = [one.size for one in lists]
    values = np.concatenate(lists)
    configuration = np.repeat(np.arange(len(lists)), sizes)
    pair = np.concatenate([np.arange(size) for size in sizes])
    is_capped = (values < 0.0) | (values >= timeout_value(state.rules)) | np.isinf(values)
    seconds = np.minimum(np.abs(values), _longest(state, values))
    known = values != NOT_YET
    return Results(configuration[known], pair[known], seconds[known], is_capped[known])


def _longest(state: State, values: NDArray[Any]) -> float:
    """What a crash counts."""
    longest = state.rules.cutoff
    if math.isinf(longest):
        longest = float(np.abs(values[np.isfinite(values)]).max(initial=state.rules.first_cap))
    return CRASH * longest


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, and what it took to make it."""

    plan: Plan
    seconds: float
    """Of CPU time, so that no more of that is spent on plans than they are worth."""


Planner = Callable[[Callable[[], Plan]], "Future[Planned]"]
"""Who begins to make a plan: see `beside` and `at_once`."""


def at_once(work: Callable[[], Plan]) -> Future[Planned]:
    """While everybody waits: at the same moments always, for runtimes that are not real."""
    future: Future[Planned] = Future()
    try:
        future.set_result(Planned(work(), 0.0))
    except Exception as error:  # whatever it is, the search can do without
        future.set_exception(error)
    return future


def beside(work: Callable[[], Plan]) -> Future[Planned]:
    """In a thread beside the search, which goes on meanwhile and may end meanwhile."""
    future: Future[Planned] = Future()

    def make() -> None:
        try:
            begun = time.thread_time()
            future.set_result(Planned(work(), time.thread_time() - begun))
        except Exception as error:
            future.set_exception(error)

    Thread(target=make, name="guide", daemon=True).start()
    return future


class Guide:
    """Asks for plans when they are due, and hands them on when they are made."""

    def __init__(
        self, space: Space, planner: Planner, slots: int, advised: Sequence[Advised] = ()
    ) -> None:
        """`advised` is what it said in earlier sessions."""
        self._columns = Columns(space)
        self._planner = planner
        self._slots = slots
        self._number = len(advised)
        self._asked_at = advised[-1].charged if advised else 0.0
        self._not_before = 0.0
        self._plan: Future[Planned] | None = None
        self._failures = 0
        self._problem = ""
        """Why there are no plans any more."""

    def lead(self, scheduler: Scheduler, journal: Journal) -> str:
        """Hand a plan on, if there is one; nobody waits for it. Returns why there are no more."""
        # One at a time: an event holds one.
        if not journal.has_advice_to_write and (planned := self.plan(scheduler)) is not None:
            found, charged = planned
            first = scheduler.advise(advice_of(found))
            if found.proposed:
                self._columns.space.take_in(first, found.proposed)
            # Which event it comes before, the journal knows when it reads it.
            journal.note_advice(Advised(0, first, found.proposed, found.tasks, charged))
        return self._problem

    def plan(self, scheduler: Scheduler) -> tuple[Plan, float] | None:
        """The next plan, with the charged seconds at which it was asked for; None: not now."""
        if self._problem:
            return None
        if self._plan is None and self._is_due(scheduler):
            self._asked_at = spent_so_far(scheduler.state)
            space = self._columns.space
            situation = situation_of(scheduler.state, space.configuration, self._number)
            self._plan = self._planner(partial(plan, self._columns, situation))
        if self._plan is None or not self._plan.done():
            return None
        made, self._plan = self._plan, None
        try:
            found = made.result()
        except Exception as error:  # the search can do without
            self._failures += 1
            logger.info("the guide has failed", exc_info=error)
            if self._failures == FAILURES:
                self._problem = one_line(f"{type(error).__name__}: {error}")
            return None
        self._failures = 0
        self._number += 1
        self._not_before = self._asked_at + found.seconds / MOST_COST
        return found.plan, self._asked_at

    def _is_due(self, scheduler: Scheduler) -> bool:
        spent = spent_so_far(scheduler.state)
        return spent >= self._not_before and is_plan_due(scheduler, self._slots, self._asked_at)
