"""Slots that make no runs but know what would come of them, and a scenario to go with them."""

from __future__ import annotations

import hashlib
import math
from concurrent.futures import Future

from cunctator.base.records import Status
from cunctator.target.execution import Details, Execution, Report

SCENARIO = """
[target]
command = ["{python}", "{speed}", "{instance}", "{seed}"]
[parameters.speed]
type = "real"
low = 0.2
high = 5.0
log = true
default = 1.0
[instances]
names = ["a", "b", "c"]
seeds = "endless"
[search]
first_cap = "10ms"
cutoff = "5s"
configurations = 12
workers = 1
[budget]
"""

SEEDLESS = SCENARIO.replace(', "{seed}"]', "]").replace('seeds = "endless"\n', "")
"""The same with a target that takes no seed: a finite set of pairs, one for each instance."""


def runtime_of(execution: Execution) -> float:
    """Between 1 ms and some seconds, the same each time."""
    words = f"{execution.instance} {execution.seed}".encode()
    share = int.from_bytes(hashlib.sha256(words).digest()[:8], "big") / 2**64
    return float(execution.configuration["speed"]) * 0.02 / (share + 1e-3)


def report_of(execution: Execution) -> Report:
    """What comes of a run."""
    runtime = runtime_of(execution)
    solved = runtime <= execution.cap
    seconds = min(runtime, execution.cap)
    details = Details(cpu=seconds, wall=seconds, ending="recorded")
    return Report(Status.SOLVED if solved else Status.CAPPED, seconds, details)


class RecordedWorkers:
    """Every run is done as soon as it is submitted."""

    def __init__(self, slots: int = 1, report=report_of) -> None:
        self.slots = slots
        self.busy_seconds = 0.0
        self.executions: list[Execution] = []
        self.is_closed = False
        self._report = report

    def submit(self, execution: Execution) -> Future[Report]:
        self.executions.append(execution)
        future: Future[Report] = Future()
        future.set_result(self._report(execution))
        return future

    def patience(self, execution: Execution) -> float:
        return math.inf

    def argv(self, execution: Execution) -> list[str]:
        return ["solver", str(execution.configuration["speed"]), execution.instance]

    def stop(self) -> None:
        pass

    def close(self) -> None:
        self.is_closed = True
