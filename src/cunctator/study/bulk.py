"""Many runs whose order does not matter: results are taken as they come in.

A slot must not wait for the slowest of the others, nor a result for its turn to be kept. Only so
many runs are submitted ahead, so that whoever ends early leaves little to call off. Whatever is odd
about a run is logged, each kind once: there is no study to keep it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from cunctator.base.records import Status
from cunctator.study.flights import Flights
from cunctator.study.workers import Workers
from cunctator.target.execution import Execution, Report
from cunctator.target.replies import ContradictingReplies, Given, Replies

log = logging.getLogger("cunctator")

AHEAD = 4
"""Runs submitted for each slot, so that none waits for us."""

GLANCE = 0.25
"""Seconds between looks at runs that may have been lost."""


def completed(
    workers: Workers, executions: Iterable[Execution]
) -> Iterator[tuple[Execution, Report]]:
    """Make all these runs; each is yielded as soon as it is done."""
    warned: set[str] = set()
    for execution, report in _in_flight(workers, executions):
        if report.warning and report.warning not in warned:
            warned.add(report.warning)
            log.warning("%s", report.warning)
        yield execution, report


def _in_flight(
    workers: Workers, executions: Iterable[Execution]
) -> Iterator[tuple[Execution, Report]]:
    flights = Flights(workers)
    for execution in executions:
        flights.submit(execution)
        while len(flights) >= AHEAD * workers.slots:
            if (taken := flights.take(GLANCE)) is not None:
                yield taken
    while flights:
        if (taken := flights.take(GLANCE)) is not None:
            yield taken


def new_reply(
    replies: Replies, workers: Workers, execution: Execution, report: Report, fix: str
) -> Given | None:
    """Compare a run's answer with those before; returns it if its instance had none yet.

    Raises ContradictingAnswers, which ends in `fix`, if another run has answered otherwise.
    """
    if report.status is not Status.SOLVED or not report.details.reply:
        return None
    given = Given(report.details.reply, tuple(workers.argv(execution)))
    is_new = replies.is_new(execution.instance)
    contradiction = replies.tell(execution.instance, given)
    if contradiction is not None:
        raise ContradictingReplies(contradiction, fix)
    return given if is_new else None
