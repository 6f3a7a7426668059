"""Slots that make runs: anything with `submit` that returns a future.

A study asks for as many runs as there are slots and goes on whenever one of them is done; no slot
waits for another. What is submitted and what comes back are small plain records, so that slots
may be elsewhere. Here they are supervisors on this machine, one process for each slot; the threads
do nothing but wait for them.
"""

from __future__ import annotations

import math
import os
import queue
import signal
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from cunctator.base.errors import CunctatorError
from cunctator.base.records import Status
from cunctator.scenario import Scenario
from cunctator.space.parameters import Value
from cunctator.study.journal.journal import Details
from cunctator.target.instances import CalledOff, Instances, sweep_parts
from cunctator.target.measurement import Call, Ending, Measurement, Request
from cunctator.target.supervisor import Supervisor, SupervisorLost
from cunctator.target.verdict import is_starved

IDLE_FACTOR, IDLE_EXTRA = 10.0, 1.0
"""With the objective cpu, a run may be idle for so many times its cap on the clock, and a little
more: a target that sleeps or waits uses no CPU time, and must end all the same."""

WALL_FACTOR, WALL_EXTRA = 100.0, 10.0
"""The same for a target that is ready to run but hardly ever gets a CPU."""

TRIES = 3
"""How often a run is begun if something else kills it, or its supervisor. Who that was cannot be
known; a machine short of memory is likelier than a target that kills itself. All tries are charged,
or else a target that kills itself would get them for nothing."""

KILLED = "something killed a run (SIGKILL) or its supervisor; it was made again, all tries count"

LOST = (
    f"the process that supervised it was lost in each of {TRIES} tries: the target kills or hangs"
    " its parent, or the machine is short of memory"
)


@dataclass(frozen=True, slots=True)
class Execution:
    """One run, with all that a slot must know."""

    number: int
    configuration: Mapping[str, Value]
    instance: str
    seed: int
    cap: float


@dataclass(frozen=True, slots=True)
class Report:
    """What came of an execution."""

    status: Status | None
    """None: it was called off, and says nothing."""
    seconds: float
    """Of the objective; what is charged."""
    details: Details
    warning: str = ""
    abort: bool = False
    """Nothing can be run: the study should end."""
    output: str = ""
    """The last lines of a run that crashed."""
    measures: Mapping[str, float] = field(default_factory=dict)
    """Other numbers that the target prints of a run that is solved."""


class Workers(Protocol):
    """Whoever makes runs."""

    slots: int
    busy_seconds: float
    """Time on the clock that slots spent on runs, all together."""

    def submit(self, execution: Execution) -> Future[Report]:
        """Begin an execution as soon as a slot is free."""

    def argv(self, execution: Execution) -> list[str]:
        """The command line of an execution, for people; empty if there is none."""

    def stop(self) -> None:
        """Call off whatever is running, now."""

    def close(self) -> None:
        """Leave nothing behind."""


class LocalWorkers:
    """Slots on this machine."""

    def __init__(
        self,
        scenario: Scenario,
        slots: int,
        instance_folder: Path,
        instances: Instances | None = None,
    ) -> None:
        """`instance_folder` is for generated ones; `instances` are the scenario's by default."""
        self.slots = slots
        self.busy_seconds = 0.0
        self._scenario = scenario
        self._command = scenario.command
        self._instances = instances or scenario.instances
        self._instance_folder = instance_folder
        self._making: dict[str, threading.Lock] = {}
        """One for each instance that a generator is to make: one slot does, the others wait."""
        if self._instances.generator is not None:
            sweep_parts(instance_folder)
        self._threads = ThreadPoolExecutor(slots, thread_name_prefix="slot")
        self._supervisors = [Supervisor() for _ in range(slots)]
        self._idle: queue.SimpleQueue[Supervisor] = queue.SimpleQueue()
        for supervisor in self._supervisors:
            self._idle.put(supervisor)

    def submit(self, execution: Execution) -> Future[Report]:
        """Begin an execution as soon as a slot is free."""
        return self._threads.submit(self._run, execution)

    def stop(self) -> None:
        """Call off whatever is running, now; nothing can be run any more."""
        for supervisor in self._supervisors:
            supervisor.stop()

    def close(self) -> None:
        """Leave nothing behind."""
        self.stop()
        self._threads.shutdown(wait=True, cancel_futures=True)
        with ThreadPoolExecutor(self.slots) as closing:  # each may take its time
            list(closing.map(Supervisor.close, self._supervisors))

    def argv(self, execution: Execution) -> list[str]:
        """The command line of an execution, for people; empty if the target is a function."""
        if self._scenario.target.function is not None:
            return []
        instance = self._instances.located(execution.instance, self._instance_folder)
        return self._command.argv(execution.configuration, instance, execution.seed, execution.cap)

    def _run(self, execution: Execution) -> Report:
        supervisor = self._idle.get()
        begun = time.monotonic()
        try:
            instance = self._locate(supervisor, execution.instance)
            tries = _tries(supervisor, self._request(execution, instance))
            report = self._report(execution, tries)
            if report.status is Status.CRASHED and not report.abort:
                self._instances.check(instance)
            return report
        except CalledOff:
            return Report(None, 0.0, Details(0.0, 0.0, Ending.STOPPED.value))
        except CunctatorError as error:
            # An instance that has vanished, a generator that fails: no fault of a configuration.
            details = Details(0.0, 0.0, Ending.FAILED_TO_START.value, problem=str(error))
            return Report(Status.CRASHED, 0.0, details, abort=True)
        finally:
            self.busy_seconds += time.monotonic() - begun
            self._idle.put(supervisor)

    def _locate(self, supervisor: Supervisor, instance: str) -> str:
        """What the target is given; a generator is run by this supervisor, once at a time."""
        if self._instances.generator is None:
            return self._instances.locate(instance, self._instance_folder)
        with self._making.setdefault(instance, threading.Lock()):
            return self._instances.locate(
                instance, self._instance_folder, lambda request: _tries(supervisor, request)[-1]
            )

    def _request(self, execution: Execution, instance: str) -> Request:
        scenario = self._scenario
        target: tuple[str, ...] | Call
        if scenario.target.function is not None:
            settings = dict(execution.configuration)
            name = scenario.target.function
            target = Call(name, settings, instance, execution.seed, execution.cap)
        else:
            target = tuple(
                self._command.argv(execution.configuration, instance, execution.seed, execution.cap)
            )
        is_cpu = scenario.search.objective == "cpu"
        cap = execution.cap
        return Request(
            target,
            cap,
            scenario.search.objective,
            wall_cap=WALL_FACTOR * cap + WALL_EXTRA if is_cpu else cap,
            idle_cap=IDLE_FACTOR * cap + IDLE_EXTRA if is_cpu else math.inf,
            memory=scenario.target.memory,
            directory=os.fspath(scenario.directory),
        )

    def _report(self, execution: Execution, tries: list[Measurement]) -> Report:
        """The last try says what came of it; all of them are charged."""
        cpu, wall = (
            sum(each) for each in zip(*((one.cpu, one.wall) for one in tries), strict=True)
        )
        seconds = cpu if self._scenario.search.objective == "cpu" else wall
        total = replace(tries[-1], cpu=cpu, wall=wall)
        if total.ending is Ending.STOPPED:
            return Report(None, seconds, _details(total))
        verdict = self._command.judge(tries[-1], execution.cap)
        status = verdict.status
        if status is Status.SOLVED and seconds > execution.cap:
            status = Status.CAPPED
        answer = verdict.answer if status is Status.SOLVED else None
        details = _details(total, answer, verdict.reported, verdict.problem)
        warning = verdict.warning or (KILLED if len(tries) > 1 else "")
        if self._scenario.search.objective == "cpu":
            warning = total.doubt or warning
        return Report(
            status, seconds, details, warning, verdict.abort, verdict.output, verdict.measures
        )


def _tries(supervisor: Supervisor, request: Request) -> list[Measurement]:
    """Make a run, again if it or its supervisor is killed, or starved; all that was measured.

    What a lost run has used is not known: time on the clock stands for it. If a supervisor has
    never answered anything, the machine is to blame, and SupervisorLost is raised.
    """
    tries: list[Measurement] = []
    starved = 0
    while len(tries) < TRIES:
        begun = time.monotonic()
        try:
            made = supervisor.run(request)
        except SupervisorLost:
            if len(tries) == TRIES - 1 and not supervisor.has_answered:
                raise
            took = min(time.monotonic() - begun, request.longest_wall)
            made = Measurement(Ending.LOST, cpu=min(took, request.cap), wall=took, problem=LOST)
        tries.append(made)
        is_killed = made.ending is Ending.EXITED and made.signal == signal.SIGKILL
        if is_starved(made, request.cap) and starved + 1 < TRIES:
            starved += 1
            tries.pop()  # it is no fault of the target, and says nothing
        elif not is_killed and made.ending is not Ending.LOST:
            break
    return tries


def _details(
    measurement: Measurement,
    answer: str | None = None,
    reported: float | None = None,
    problem: str = "",
) -> Details:
    return Details(
        cpu=measurement.cpu,
        wall=measurement.wall,
        ending=measurement.ending.value,
        exit_code=measurement.exit_code,
        signal=measurement.signal,
        memory=measurement.peak_memory,
        overshoot=measurement.overshoot,
        method=measurement.method,
        host=measurement.host,
        answer=answer,
        reported=reported,
        problem=problem,
    )
