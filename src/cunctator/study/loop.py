"""The study: the one loop that joins the scheduler, the journal and the workers.

Whatever happens is written to the journal before it has consequences: an ask before the run
begins, an outcome before the next ask. So a study that is killed at any moment can be resumed: its
events go through a fresh scheduler, and runs that were asked for and have no outcome are made
again. The scheduler is told results in the order of the journal, whatever the number of slots.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace

from cunctator.base.errors import StudyProblem, one_line
from cunctator.base.records import Outcome, Run, Status, StopReason
from cunctator.base.units import counted, format_duration
from cunctator.core.certificate import Point
from cunctator.core.scheduler import Scheduler
from cunctator.scenario import Scenario
from cunctator.study.crash_streak import Streak
from cunctator.study.default_check import Doubts, advice, default_check
from cunctator.study.flights import Flights, WorkersFailed
from cunctator.study.guidance import Guide
from cunctator.study.journal.journal import FILE, Change, Crash, Journal
from cunctator.study.progress import ProgressRows
from cunctator.study.view import Budget, Spent, View, rests_of
from cunctator.study.workers import Workers
from cunctator.target.execution import Details, Execution, Report
from cunctator.target.replies import Given, Replies

logger = logging.getLogger("cunctator.study.loop")
logger.setLevel(logging.INFO)
logger.propagate = False  # it is for the study's folder; see `folder.py`

GLANCE = 0.25
"""Seconds between looks at the clock, at Ctrl-C and at the display."""

PROGRESS_EVERY = 1.0
"""Seconds between looks at whether there is something to write down for people."""

CERTIFICATE_GROWTH = 1.02
"""How much the charged time must grow before the certificate is compared with its target again."""

LAST_WORDS = 60.0
"""Seconds without a report, after everything has been called off, until the rest is given up. Slots
of ours take half of that at most, if a run resists its end."""

WARNINGS_KEPT = 5
"""What is odd about runs tends to be odd about all of them."""


class Study:
    """A study in progress. `run` it; `interrupt` may come from a signal handler."""

    def __init__(
        self,
        scenario: Scenario,
        scheduler: Scheduler,
        journal: Journal,
        workers: Workers,
        budget: Budget,
        spent: Spent,
        unfinished: Iterable[Run] = (),
        is_extended: bool = False,
        guide: Guide | None = None,
    ) -> None:
        """`is_extended`: the budget is larger than when the study began to close."""
        self.scenario = scenario
        self.scheduler = scheduler
        self.stop: StopReason | None = None
        self.problem = ""
        self.warnings: list[str] = []
        self.more_warnings = 0
        self._journal = journal
        self._workers = workers
        self.budget = budget
        self._spent = spent
        self._unfinished = list(unfinished)
        self._is_extended = is_extended
        self._guide = guide
        self._default = default_check(scenario)
        self._streak = Streak()
        self._last_crash = Details(0.0, 0.0, "", problem="as before")
        self._asked: dict[int, Run] = {}
        """Runs that this process has asked for and that have no outcome yet, by number."""
        self._flights = Flights(workers)
        self._replies = Replies(journal.replies())
        self._progress = ProgressRows(journal)
        self._begun = time.monotonic()
        self._wall_before = spent.wall
        # Of all sessions, like what is charged: the share of one in the other is shown.
        earlier = journal.last_progress()
        own = earlier[1].own_seconds if earlier else 0.0
        self._own_before = time.process_time() - own
        self._progress_at = 0.0
        self._certify_at = 0.0
        self._file = journal.directory / FILE
        self._file_number = self._file.stat().st_ino

    def interrupt(self) -> None:
        """Stop asking, call off what runs, keep everything."""
        self.stop = self.stop or StopReason.INTERRUPTED
        self._flights.wake()

    def run(self, progress: Callable[[View], None] | None = None) -> View:
        """Go on until it stops; `progress` is called now and then."""
        spent = self._spent
        logger.info("begun after %d runs, %.6g s charged", spent.runs, spent.charged)
        try:
            self._check_budget()
            self._check_default()
            self._close(self._is_extended)
            if self.stop is None:
                self._submit(self._unfinished)
            while self.stop is None:
                self._ask()
                if not self._flights:
                    self.stop = self.scheduler.stop
                    break
                self._show(progress)  # while they run, and no slot waits for it
                self._take()
                self._look()
        finally:
            self._workers.stop()
        self._take_what_is_left()
        view = self.view()
        self._keep(view)
        reason = view.stop.value if view.stop else ""
        logger.info(
            "stopped after %d runs, %.6g s charged: %s %s",
            spent.runs,
            spent.charged,
            reason,
            self.problem,
        )
        return view

    def view(self) -> View:
        """What there is to see at this moment."""
        certificate = self.scheduler.certificate()
        seeds = self.scenario.instances.seeds
        certificate = replace(certificate, seeds=seeds, measured=True)
        incumbent, target = certificate.incumbent, self.scenario.search.stop_at
        standing = self.scheduler.standing
        testers = self.scheduler.state.testers
        return View(
            stop=self.stop,
            problem=self.problem,
            spent=replace(self._spent),
            budget=self.budget,
            in_flight=len(self._flights),
            closing=self.scheduler.is_closing,
            crashed=int(testers["crashed"].sum()),
            incumbent=standing(incumbent),
            default=standing(0),
            compared=self.scheduler.compared(incumbent, 0),
            configuration=self.scenario.space.configuration(incumbent),
            is_proposed=self.scenario.space.is_proposed(incumbent),
            certificate=certificate,
            asked_delta=target.delta if target else None,
            forecast=self.scheduler.forecast(
                certificate,
                Point(target.delta, target.epsilon, math.inf) if target else None,
                target.gamma if target else 0.0,
                self._closing_in(),
            ),
            own_seconds=time.process_time() - self._own_before,
            busy=self._workers.busy_seconds / self._workers.slots / self._elapsed,
        )

    @property
    def _elapsed(self) -> float:
        return max(time.monotonic() - self._begun, 1e-9)

    @property
    def trajectory(self) -> list[Change]:
        """How the answer changed, earlier sessions included."""
        return self._progress.trajectory

    def execution(self, run: Run) -> Execution:
        """A run, with all that a slot must know."""
        instance, seed = self.scenario.instances.pair(run.pair)
        configuration = self.scenario.space.configuration(run.configuration)
        return Execution(run.number, configuration, instance, seed, run.cap)

    def crashes(self, most: int) -> list[tuple[Crash, list[str]]]:
        """Crashed runs, the default's first, each with the command line that does it again."""
        found = []
        for crash in self._journal.crashes(most):
            run = Run(crash.number, crash.configuration, crash.pair, crash.cap, 0.0)
            found.append((crash, self._workers.argv(self.execution(run))))
        return found

    def _ask(self) -> None:
        """Fill the free slots; the asks are on disk before anything begins.

        So are the outcomes that were taken before, by the same commit: slots are waiting for it.
        """
        if self._guide is not None and (problem := self._guide.lead(self.scheduler, self._journal)):
            self._guide = None
            self._warn(f"the guide has failed, and the search goes on alone: {problem}")
        runs: list[Run] = []
        while len(self._flights) + len(runs) < self._workers.slots and self._may_ask(len(runs)):
            run = self.scheduler.ask()
            if run is None:
                break
            self._journal.add_ask(run, time.time())
            runs.append(run)
        self._journal.commit()
        self._submit(runs)

    def _warn(self, warning: str) -> None:
        """Say something odd once."""
        if warning not in self.warnings:
            if len(self.warnings) < WARNINGS_KEPT:
                self.warnings.append(warning)
            else:
                self.more_warnings += 1
            logger.info("warning: %s", warning)

    def _may_ask(self, waiting: int) -> bool:
        pending = len(self._flights) + waiting
        return self.stop is None and self._spent.runs + pending < self.budget.runs

    def _submit(self, runs: Iterable[Run]) -> None:
        for run in runs:
            self._asked[run.number] = run
            self._flights.submit(self.execution(run))

    def _take(self) -> None:
        """Wait for a result, or for the next look at the clock; take all that have come.

        They count once `_ask` has committed them, or whoever ends the study.
        """
        seconds = GLANCE
        try:
            while (taken := self._flights.take(seconds)) is not None:
                self._take_report(*taken)
                seconds = 0.0
        except WorkersFailed as error:
            self._stop(StopReason.ABORTED, str(error))

    def _take_what_is_left(self) -> None:
        """Keep the results that came in before, and while everything was called off.

        Runs that were called off were asked for, and will be made again.
        """
        self._journal.commit()
        self._flights.end()
        while (taken := self._flights.take(LAST_WORDS)) is not None:
            self._take_report(*taken)
            self._journal.commit()
        if self._flights:
            logger.info("%s left without a word", counted(len(self._flights), "run"))

    def _take_report(self, execution: Execution, report: Report) -> None:
        run = self._asked.pop(execution.number)
        assert report.status is not None, "what was called off is no report"
        if report.abort:
            self._stop(StopReason.ABORTED, report.details.problem)
            return  # no fault of the configuration: made again when the cause is mended
        details = _with_output(report)
        self._journal.add_outcome(run, time.time(), report.status, report.seconds, details)
        has_worked = bool(self.scheduler.state.testers[run.configuration].completed)
        self.scheduler.tell(run, Outcome(report.status, report.seconds))
        self._streak.take(run.configuration, report.status is Status.CRASHED, has_worked)
        self._spent.charged += report.seconds
        self._spent.runs += 1
        if report.status is Status.SOLVED:
            self._spent.solved += 1
            self._spent.default_solved += run.configuration == 0
        self._note_incumbent()
        if report.warning:
            self._warn(report.warning)
        if report.status is Status.SOLVED and details.reply:
            self._check_reply(run, details.reply)
        if report.status is Status.CRASHED:
            logger.info(
                "run %d of configuration %d on pair %d crashed: %s",
                run.number,
                run.configuration,
                run.pair,
                details.problem,
            )
            self._last_crash = details
            if self._streak.is_alarming:
                last = (
                    f"the last {self._streak.length} runs crashed, also of what had worked before"
                )
                self._stop(StopReason.ABORTED, f"{last}: {details.problem}")

    def _check_reply(self, run: Run, reply: str) -> None:
        execution = self.execution(run)
        given = Given(reply, tuple(self._workers.argv(execution)))
        if self._replies.is_new(execution.instance):
            self._journal.add_reply(execution.instance, given)
        contradiction = self._replies.tell(execution.instance, given)
        if contradiction is not None:
            self._stop(StopReason.CONTRADICTION, str(contradiction))
            # With the outcome, or not at all: nobody may go on as if nothing had been found.
            self._progress.keep(self.view().snapshot())

    def _check_default(self) -> None:
        """Try the default for its own sake if there is reason to: see `default_check.py`."""
        crashed, spent = self.scheduler.state.testers["crashed"], self._spent
        if self.stop is not None or spent.default_solved:
            return
        doubts = Doubts(spent.runs, spent.solved, int(crashed.sum()), int(crashed[0]))
        if not doubts.are_serious:
            return
        while runs := self._default.due(spent.charged):
            reports = self._tried([self.execution(run) for run in runs])
            for report in reports:
                if report.abort:
                    self._stop(StopReason.ABORTED, report.details.problem)
                elif report.status is Status.CRASHED:
                    self._last_crash = _with_output(report)
            if self.stop is not None:
                return
            statuses = [report.status for report in reports]
            pairs = [run.pair for run in runs]
            self._default.take(dict(zip(pairs, statuses, strict=True)))
        ending = doubts.ending(self._default)
        if ending is not None:
            why = [self._last_crash.problem, advice(self.scenario, self._last_crash)]
            self._stop(ending[0], f"{ending[1]}: {'; '.join(filter(None, why))}")

    def _tried(self, executions: list[Execution]) -> list[Report]:
        """Runs apart from the search; none if the study is to stop meanwhile."""
        self._journal.commit()
        flights = Flights(self._workers)
        for place, execution in enumerate(executions):
            flights.submit(replace(execution, number=place))
        reports: dict[int, Report] = {}
        while flights and self.stop is None:
            try:
                taken = flights.take(GLANCE)
            except WorkersFailed as error:
                self._stop(StopReason.ABORTED, str(error))
                break
            if taken is not None:
                reports[taken[0].number] = taken[1]
            self._spent.wall = self._wall_before + self._elapsed
            self._check_budget()
        return [] if flights else [reports[place] for place in range(len(executions))]

    def _stop(self, reason: StopReason, problem: str = "") -> None:
        if self.stop is None:
            self.stop, self.problem = reason, problem

    def _check_budget(self) -> None:
        spent, budget = self._spent, self.budget
        if spent.charged >= budget.charged:
            self._stop(StopReason.BUDGET, f"{format_duration(budget.charged)} charged")
        elif spent.wall >= budget.wall:
            self._stop(StopReason.BUDGET, f"{format_duration(budget.wall)} on the clock")
        elif spent.runs >= budget.runs:
            self._stop(StopReason.BUDGET, counted(int(budget.runs), "run"))

    def _close(self, is_extended: bool = False) -> None:
        """Bring what was put off to an end if the budget is about to: see `core/closing.py`.

        Once begun it goes on to the end of the budget, unless that is put off.
        """
        if self.stop is not None or (self.scheduler.is_closing and not is_extended):
            return
        is_due = self._until_closing() <= 0.0
        if is_due != self.scheduler.is_closing:
            self.scheduler.close(is_due)
            self._journal.note_closing(is_due, self.budget.limits)
            logger.info("closing" if is_due else "no longer closing")

    def _until_closing(self) -> float:
        """Seconds that are charged before it is time to close, by whichever limit comes first."""
        rests = rests_of(self.budget, self._spent)
        until = self.scheduler.seconds_until_closing
        return min((until(left, whole) for left, whole in rests), default=math.inf)

    def _closing_in(self) -> float:
        """The same for a forecast: one whose budget is spent would go on with a search."""
        if self.stop is StopReason.BUDGET:
            return math.inf
        return 0.0 if self.scheduler.is_closing else self._until_closing()

    def _look(self) -> None:
        """At the clock, the budget and the certificate."""
        self._spent.wall = self._wall_before + self._elapsed
        self._check_budget()
        self._check_default()
        self._close()
        target = self.scenario.search.stop_at
        if target is not None and self._spent.charged >= self._certify_at:
            self._certify_at = self._spent.charged * CERTIFICATE_GROWTH
            certificate = self.scheduler.certificate()
            if certificate.epsilon_at(target.delta, target.gamma) <= target.epsilon:
                self._stop(StopReason.CERTIFIED)

    def _show(self, progress: Callable[[View], None] | None) -> None:
        """What there is to see, now and then."""
        now = time.monotonic()
        if now >= self._progress_at:
            self._progress_at = now + PROGRESS_EVERY
            self._check_file()
            view = self.view()
            self._keep(view)
            if progress is not None:
                with suppress(OSError):  # nobody reads it any more, which is no reason to end
                    progress(view)

    def _keep(self, view: View) -> None:
        """Write down what people see."""
        self._note_incumbent(now=True)
        self._progress.keep(view.snapshot())
        self._journal.commit()

    def _note_incumbent(self, now: bool = False) -> None:
        if self._spent.solved:
            self._progress.note_incumbent(
                self.scheduler, self._spent.charged, self._spent.runs, now
            )

    def _check_file(self) -> None:
        """A file that was deleted takes rows as before, and they are lost."""
        try:
            is_there = self._file.stat().st_ino == self._file_number
        except OSError:
            is_there = False
        if not is_there:
            problem = "the study's journal has vanished"
            raise StudyProblem(self._file, problem, "restore the folder, then resume")


def _with_output(report: Report) -> Details:
    """What is kept of a run, with what it printed if it crashed."""
    details = report.details
    if not report.output:
        return details
    said = " / ".join(report.output.strip().splitlines())
    return replace(details, problem=one_line(f"{details.problem}; it printed: {said}"))
