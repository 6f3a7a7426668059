"""A slot: makes runs, one at a time, on the machine that it is on.

A slot is made from `SlotSettings`, which can be pickled and sent to where the slot is to be; so can
the `Execution` that it is asked for and the `Report` that it gives. Nothing else passes between a
study and its slots. Paths mean the same on all machines: the instances, and the folder for those
that a generator makes, must be on a file system that they share.
"""

from __future__ import annotations

import math
import signal
import time
from dataclasses import dataclass, replace

from cunctator.base.errors import CunctatorError
from cunctator.base.records import Status
from cunctator.target.command import Command
from cunctator.target.execution import Details, Execution, Report
from cunctator.target.instances import CalledOff, InstanceSource, sweep_parts
from cunctator.target.measurement import Ending, FunctionCall, Measurement, Request
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
class SlotSettings:
    """What a slot must know of the scenario: small, plain, and fit to be pickled."""

    command: Command
    """How a run is called and judged; a function has no arguments but is judged all the same."""
    function: str | None
    """The target, as in "package.module:name", if it is a function."""
    objective: str
    """"cpu" or "wall"."""
    memory: int | None
    """Bytes that a run may use."""
    directory: str
    """Where runs are made."""
    source: InstanceSource

    def argv(self, execution: Execution) -> list[str]:
        """The command line of an execution, for people; empty if the target is a function.

        An instance that a generator has not made yet is shown by its index.
        """
        if self.function is not None:
            return []
        return self._argv(execution, self.source.located(execution.instance))

    def request(self, execution: Execution, instance: str) -> Request:
        """What a supervisor is asked for; `instance` is what the target is given."""
        target: tuple[str, ...] | FunctionCall
        cap = execution.cap
        if self.function is not None:
            settings = dict(execution.configuration)
            target = FunctionCall(self.function, settings, instance, execution.seed, cap)
        else:
            target = tuple(self._argv(execution, instance))
        is_cpu = self.objective == "cpu"
        return Request(
            target,
            cap,
            self.objective,
            wall_cap=WALL_FACTOR * cap + WALL_EXTRA if is_cpu else cap,
            idle_cap=IDLE_FACTOR * cap + IDLE_EXTRA if is_cpu else math.inf,
            memory=self.memory,
            directory=self.directory,
        )

    def report(self, execution: Execution, tries: list[Measurement]) -> Report:
        """What the tries of a run come to: the last one says what came of it, all are charged."""
        cpu, wall = (
            sum(each) for each in zip(*((one.cpu, one.wall) for one in tries), strict=True)
        )
        seconds = cpu if self.objective == "cpu" else wall
        total = replace(tries[-1], cpu=cpu, wall=wall)
        if total.ending is Ending.STOPPED:
            return Report(None, seconds, _details(total))
        verdict = self.command.judge(tries[-1], execution.cap)
        status = verdict.status
        if status is Status.SOLVED and seconds > execution.cap:
            status = Status.CAPPED
        reply = verdict.reply if status is Status.SOLVED else None
        details = _details(total, reply, verdict.reported, verdict.problem)
        warning = verdict.warning or (KILLED if len(tries) > 1 else "")
        if self.objective == "cpu":
            warning = total.doubt or warning
        return Report(
            status, seconds, details, warning, verdict.abort, verdict.output, verdict.measures
        )

    def _argv(self, execution: Execution, instance: str) -> list[str]:
        return self.command.argv(execution.configuration, instance, execution.seed, execution.cap)


class Slot:
    """Makes runs, one at a time, with a supervisor of its own. Close it in the end."""

    def __init__(self, settings: SlotSettings) -> None:
        self._settings = settings
        self._supervisor = Supervisor()
        if settings.source.generator is not None:
            sweep_parts(settings.source.folder)

    def run(self, execution: Execution) -> Report:
        """Make a run; blocks until it has ended, or has been called off."""
        settings, source = self._settings, self._settings.source
        try:
            instance = source.locate(execution.instance, lambda request: self._tries(request)[-1])
            report = settings.report(execution, self._tries(settings.request(execution, instance)))
            if report.status is Status.CRASHED and not report.abort:
                source.check(instance)
            return report
        except CalledOff:
            return Report(None, 0.0, Details(0.0, 0.0, Ending.STOPPED.value))
        except CunctatorError as error:
            # An instance that has vanished, a generator that fails: no fault of a configuration.
            details = Details(0.0, 0.0, Ending.FAILED_TO_START.value, problem=str(error))
            return Report(Status.CRASHED, 0.0, details, abort=True)

    def stop(self) -> None:
        """Call off what is running, now, and make no more runs. May come from another thread."""
        self._supervisor.stop()

    def close(self) -> None:
        """Stop, and leave nothing behind. Not while another thread is in `run`."""
        self._supervisor.close()

    def _tries(self, request: Request) -> list[Measurement]:
        """Make a run, again if it or its supervisor is killed, or starved; all that was measured.

        What a lost run has used is not known: time on the clock stands for it. If a supervisor has
        never answered anything, the machine is to blame, and SupervisorLost is raised.
        """
        tries: list[Measurement] = []
        starved = 0
        while len(tries) < TRIES:
            begun = time.monotonic()
            try:
                made = self._supervisor.run(request)
            except SupervisorLost:
                if len(tries) == TRIES - 1 and not self._supervisor.has_responded:
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
    reply: str | None = None,
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
        reply=reply,
        reported=reported,
        problem=problem,
    )
