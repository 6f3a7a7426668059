"""Many runs whose order does not matter: results are taken as they come in.

A slot must not wait for the slowest of the others, nor a result for its turn to be kept. Only so
many runs are submitted ahead, so that whoever ends early leaves little to call off. Whatever is odd
about a run is logged, each kind once: there is no study to keep it.
"""

from __future__ import annotations

import logging
import queue
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from functools import partial

from cunctator.base.records import Status
from cunctator.study.workers import Execution, Report, Workers
from cunctator.target.answers import Answers, ContradictingAnswers, Given

log = logging.getLogger("cunctator")

AHEAD = 4
"""Runs submitted for each slot, so that none waits for us."""

Item = tuple[Execution, "Future[Report]"]


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
    done: queue.SimpleQueue[Item] = queue.SimpleQueue()
    flying = 0
    for execution in executions:
        future = workers.submit(execution)
        future.add_done_callback(partial(_note, done, execution))
        flying += 1
        if flying == AHEAD * workers.slots:
            yield _next(done)
            flying -= 1
    for _ in range(flying):
        yield _next(done)


def _note(done: queue.SimpleQueue[Item], execution: Execution, future: Future[Report]) -> None:
    """Called from a slot's thread."""
    done.put((execution, future))


def _next(done: queue.SimpleQueue[Item]) -> tuple[Execution, Report]:
    execution, future = done.get()
    return execution, future.result()


def new_answer(
    answers: Answers, workers: Workers, execution: Execution, report: Report, fix: str
) -> Given | None:
    """Compare a run's answer with those before; returns it if its instance had none yet.

    Raises ContradictingAnswers, which ends in `fix`, if another run has answered otherwise.
    """
    if report.status is not Status.SOLVED or not report.details.answer:
        return None
    given = Given(report.details.answer, tuple(workers.argv(execution)))
    is_new = answers.is_new(execution.instance)
    contradiction = answers.tell(execution.instance, given)
    if contradiction is not None:
        raise ContradictingAnswers(contradiction, fix)
    return given if is_new else None
