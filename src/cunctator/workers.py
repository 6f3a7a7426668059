"""Slots that make runs: anything with `submit` that returns a future.

A study asks for as many runs as there are slots and goes on whenever one of them is done; no slot
waits for another. What is submitted and what comes back are small plain records, so that slots
may be elsewhere. Here they are supervisors on this machine, one process for each slot; the threads
do nothing but wait for them.
"""

from __future__ import annotations

import os
import queue
import signal
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from cunctator.errors import CunctatorError
from cunctator.instances import Instances
from cunctator.journal import Details
from cunctator.parameters import Value
from cunctator.records import Status
from cunctator.scenario import Scenario
from cunctator.target.command import Command
from cunctator.target.measurement import Call, Ending, Measurement, Request
from cunctator.target.supervisor import Supervisor, SupervisorLost

WALL_FACTOR, WALL_EXTRA = 10.0, 1.0
"""With the objective cpu, a run may take so many times its cap on the clock, and a little more: a
target that sleeps or waits uses no CPU time, and must end all the same."""

TRIES = 3
"""How often a run is begun if something else kills it, or its supervisor. Who that was cannot be
known; a machine short of memory is likelier than a target that kills itself."""


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
        self._command = Command.from_scenario(scenario)
        self._instances = instances or scenario.instances
        self._instance_folder = instance_folder
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
        for supervisor in self._supervisors:
            supervisor.close()

    def argv(self, execution: Execution) -> list[str]:
        """The command line of an execution, for people; empty if the target is a function."""
        if self._scenario.target.function is not None:
            return []
        return self._command.argv(
            execution.configuration, execution.instance, execution.seed, execution.cap
        )

    def _run(self, execution: Execution) -> Report:
        supervisor = self._idle.get()
        begun = time.monotonic()
        try:
            request = self._request(execution)
            return self._report(execution, self._measure(supervisor, request))
        except CunctatorError as error:
            # An instance that has vanished, a generator that fails: no fault of a configuration.
            details = Details(0.0, 0.0, Ending.FAILED_TO_START.value, problem=str(error))
            return Report(Status.CRASHED, 0.0, details, abort=True)
        finally:
            self.busy_seconds += time.monotonic() - begun
            self._idle.put(supervisor)

    def _measure(self, supervisor: Supervisor, request: Request) -> Measurement:
        for _ in range(TRIES - 1):
            try:
                measurement = supervisor.run(request)
            except SupervisorLost:
                continue
            if measurement.ending is not Ending.EXITED or measurement.signal != signal.SIGKILL:
                return measurement
        return supervisor.run(request)

    def _request(self, execution: Execution) -> Request:
        scenario = self._scenario
        instance = self._instances.locate(execution.instance, self._instance_folder)
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
        wall_cap = WALL_FACTOR * execution.cap + WALL_EXTRA if is_cpu else execution.cap
        return Request(
            target,
            execution.cap,
            scenario.search.objective,
            wall_cap,
            memory=scenario.target.memory,
            directory=os.fspath(scenario.directory),
        )

    def _report(self, execution: Execution, measurement: Measurement) -> Report:
        is_cpu = self._scenario.search.objective == "cpu"
        seconds = measurement.cpu if is_cpu else measurement.wall
        if measurement.ending is Ending.STOPPED:
            return Report(None, seconds, _details(measurement))
        verdict = self._command.judge(measurement, execution.cap)
        details = _details(measurement, verdict.answer, verdict.reported, verdict.problem)
        return Report(
            verdict.status, seconds, details, verdict.warning, verdict.abort, verdict.output
        )


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
