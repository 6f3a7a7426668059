"""Runs that are with the workers, each until it has been reported once.

Workers may be elsewhere: their reports come in any order, late, twice or never. A run whose future
fails, is cancelled or falls silent is submitted again as it was; nothing else changes by that,
since nobody has seen anything of it. The first report of a run counts, of whichever attempt, and
all others are dropped. If a run fails again and again, or nothing but failures comes, the workers
are given up.
"""

from __future__ import annotations

import logging
import math
import queue
import time
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from functools import partial

from cunctator.base.errors import CunctatorError, one_line
from cunctator.base.records import Status
from cunctator.study.workers import Workers
from cunctator.target.execution import Details, Execution, Report

logger = logging.getLogger("cunctator.study.loop.flights")

ATTEMPTS = 3
"""How often a run is submitted if every attempt fails."""

FAILURES = 10
"""So many failures, and one for each run in flight, without any report between them: nothing works.
All that are in flight may fail at once, if a connection is lost."""

LOOK_EVERY, LONGEST_LOOK = 0.25, 1.0
"""Seconds between looks for runs that have fallen silent, and how many of them count. If there were
more, somebody has stopped this process, and the reports of that time have yet to come in."""


class WorkersFailed(CunctatorError):
    """Runs cannot be made, whatever they are: it is the workers that fail."""

    def __init__(self, problem: str) -> None:
        fix = "see to the workers, then go on: nothing recorded is lost"
        super().__init__(f"{one_line(problem)}; {fix}")


@dataclass(slots=True, eq=False)
class _Flight:
    """A run that has not been reported."""

    execution: Execution
    attempt: Future[Report] = field(init=False)
    """The last one."""
    patience: float = field(init=False)
    """Seconds for which it may be silent yet."""
    silent: list[Future[Report]] = field(default_factory=list)
    """Attempts before it that were given up; their reports may yet come."""
    failures: int = 0


class Flights:
    """Runs that are with the workers. For one thread, but `wake` may come from anywhere."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._flights: dict[Future[Report], _Flight] = {}
        """By each attempt of which a report would count."""
        self._done: queue.SimpleQueue[tuple[Execution, Future[Report]] | None]
        self._done = queue.SimpleQueue()
        self._count = 0
        self._failures = 0
        """In a row, of any runs."""
        self._looked_at = time.monotonic()
        self._is_ending = False

    def __len__(self) -> int:
        """How many runs have not been reported."""
        return self._count

    def submit(self, execution: Execution) -> None:
        """Give a run to the workers."""
        self._count += 1
        self._attempt(_Flight(execution))

    def wake(self) -> None:
        """Let `take` return at once; it may be called by a signal handler."""
        self._done.put(None)

    def end(self) -> None:
        """Submit nothing again from now on: whatever fails, or was called off, is left at that."""
        self._is_ending = True

    def take(self, seconds: float) -> tuple[Execution, Report] | None:
        """The next report that counts; None if none comes so soon, or there is none to wait for.

        Raises WorkersFailed once there is no point in going on.
        """
        while self._count:
            try:
                item = self._done.get(timeout=seconds) if seconds else self._done.get_nowait()
            except queue.Empty:
                self._look()  # not before: a report that has come in is no silence
                return None
            if item is not None:
                execution, future = item
                report = self._report(execution, future)
                if report is not None:
                    return execution, report
            elif not self._is_ending:
                return None
        return None

    def _attempt(self, flight: _Flight) -> None:
        try:
            future = self._workers.submit(flight.execution)
        except Exception as error:  # whatever it is, the run was not begun
            future = Future()
            future.set_exception(error)
        flight.attempt = future
        flight.patience = self._workers.patience(flight.execution)
        self._flights[future] = flight
        future.add_done_callback(partial(self._note, flight.execution))

    def _note(self, execution: Execution, future: Future[Report]) -> None:
        """Called from a thread of the workers."""
        self._done.put((execution, future))

    def _report(self, execution: Execution, future: Future[Report]) -> Report | None:
        """What came of an attempt, if it is a report and counts."""
        flight = self._flights.pop(future, None)
        found = _what_came_of(future)
        if flight is None:
            if isinstance(found, Report):
                logger.info("run %d: a report came late, or twice; dropped", execution.number)
            return None
        if isinstance(found, Report):
            self._failures = 0
            self._forget(flight)
            return found
        if future is flight.attempt:
            self._fail(flight, found)
        return None

    def _forget(self, flight: _Flight) -> None:
        """It is done with: what else comes of it will be dropped."""
        self._count -= 1
        for future in (flight.attempt, *flight.silent):
            if self._flights.pop(future, None) is not None:
                future.cancel()

    def _fail(self, flight: _Flight, error: BaseException) -> None:
        """The last attempt has failed; make another one."""
        if self._is_ending:
            self._forget(flight)
            return
        number = flight.execution.number
        flight.failures += 1
        self._failures += 1
        logger.info("run %d: attempt %d failed", number, flight.failures, exc_info=error)
        if flight.failures == ATTEMPTS:
            failed = f"run {number} failed {ATTEMPTS} times in a row"
        elif self._failures >= FAILURES + self._count:
            failed = f"{self._failures} attempts to make runs failed in a row"
        else:
            self._attempt(flight)
            return
        self._forget(flight)
        raise WorkersFailed(f"{failed}, the last one with {type(error).__name__}: {error}")

    def _look(self) -> None:
        """Give attempts up that have been silent for too long."""
        now = time.monotonic()
        passed = now - self._looked_at
        if passed < LOOK_EVERY or self._is_ending:
            return
        self._looked_at = now
        last = [flight for future, flight in self._flights.items() if future is flight.attempt]
        for flight in last:
            flight.patience -= min(passed, LONGEST_LOOK)
            if flight.patience < 0:
                flight.silent.append(flight.attempt)
                self._fail(flight, TimeoutError("there is no report of it"))


def _what_came_of(future: Future[Report]) -> Report | BaseException:
    """A report, or why there is none."""
    try:
        if future.cancelled():
            return CancelledError("it was cancelled")
        error = future.exception()
        if error is not None:
            return error
        report = future.result()
    except Exception as problem:  # it is no future that we know, and may do anything
        return problem
    if not _is_report(report):
        return TypeError(one_line(f"{report!r} is no report"))
    return CancelledError("it was called off") if report.status is None else report


def _is_report(found: object) -> bool:
    """Whether this can be believed, and written down: it may come from another machine."""
    return (
        isinstance(found, Report)
        and (found.status is None or isinstance(found.status, Status))
        and isinstance(found.seconds, float | int)
        and 0 <= found.seconds < math.inf
        and isinstance(found.details, Details)
        and isinstance(found.details.problem, str)
    )
