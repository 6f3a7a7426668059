"""What came of a run: from how it ended, its exit code and its output to solved, capped, crashed.

Our own measured time rules. What a wrapper reports is kept, and a difference is warned about.

When a wrapper says TIMEOUT before we stopped it, it met a limit of its own. At the cap (within
5%, by its clock or ours) that is the limit it was given: the run is capped, and may be tried
again under a longer one. Well before the cap it gave up for another reason; some wrappers say so
when memory runs out. A longer cap would not help, so the run has crashed.
"""

from __future__ import annotations

import math
import re
import signal as signals
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from cunctator.base.errors import one_line
from cunctator.base.records import Status
from cunctator.target.measurement import Ending, Measurement
from cunctator.target.protocols import Protocol, Said, WrapperReport, number_of

AT_THE_CAP = 0.95
"""Share of the cap from which a wrapper's timeout is that of the cap."""

FAR_FROM_THE_CAP = 0.5
"""Share of the cap: a timeout before that, by our clocks, is odd whatever the wrapper's says."""

STARVED = 0.5
"""Share of a run's time: if it was idle for less of it, the machine is to blame for its end."""

OVERLOADED = (
    "the machine is overloaded: a run was ended at its wall-clock limit although it was ready to"
    " run most of the time; use fewer workers, then resume"
)

DIFFERENT_SECONDS, DIFFERENT_SHARE = 0.25, 0.1
"""A reported time may differ from ours by this much: a wrapper does not count its own start."""

FAR_OFF = 2.0
"""Times that differ by this factor are not those of the same run."""

TAIL_LINES, TAIL_WIDTH, TAIL_BYTES = 5, 200, 4000


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a run."""

    status: Status
    reply: str | None = None
    """What it found out, if it says so; two that differ are a bug of the target."""
    reported: float | None = None
    """Seconds that a wrapper reports."""
    problem: str = ""
    """Why it crashed, in one line."""
    warning: str = ""
    """What is odd about it, in one line; it counts nevertheless."""
    output: str = ""
    """The last lines of output of a run that crashed."""
    abort: bool = False
    """Whether the study should stop: nothing can be run."""
    measures: Mapping[str, float] = field(default_factory=dict)
    """Other numbers that the target prints of a run that is solved."""


@dataclass(frozen=True, slots=True)
class Judge:
    """How a target says what came of a run."""

    protocol: Protocol | None = None
    """None: by exit code and patterns."""
    success: frozenset[int] = frozenset([0])
    success_pattern: re.Pattern[str] | None = None
    failure_pattern: re.Pattern[str] | None = None
    reply_pattern: re.Pattern[str] | None = None
    objective: str = "cpu"
    measures: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    """Other numbers that it prints, by name; the first group is the number."""

    def verdict(self, measurement: Measurement, cap: float) -> Verdict:
        """What came of a run that was not called off."""
        ending = measurement.ending
        assert ending is not Ending.STOPPED, "a run that was called off says nothing"
        if ending is Ending.FAILED_TO_START:
            problem = one_line(f"it could not be started: {measurement.problem}")
            return Verdict(Status.CRASHED, problem=problem, abort=True)
        if ending is Ending.LOST:
            return Verdict(Status.CRASHED, problem=one_line(measurement.problem))
        if ending is Ending.MEMORY:
            return Verdict(Status.CRASHED, problem="memory limit", output=tail(measurement))
        if is_starved(measurement, cap):
            # It has not reached its cap, and nothing else is known of it either.
            return Verdict(Status.CRASHED, problem=OVERLOADED, abort=True)
        if ending in (Ending.CAP, Ending.WALL) or self._seconds(measurement) > cap:
            return Verdict(Status.CAPPED)
        if self.protocol is None:
            judged = self._by_exit(measurement)
        elif self.protocol.needs_exit_code and measurement.exit_code != 0:
            judged = Verdict(Status.CRASHED, problem=f"{how_it_ended(measurement)}; success is 0")
        else:
            report = self.protocol.read(decoded(measurement.stdout))
            judged = self._by_report(report, measurement, cap)
        if judged.status is Status.SOLVED:
            return self._with_findings(judged, measurement)
        if judged.status is Status.CRASHED:
            return replace(judged, problem=one_line(judged.problem), output=tail(measurement))
        return judged

    def _with_findings(self, judged: Verdict, measurement: Measurement) -> Verdict:
        """The answer and other numbers that a solved run has printed."""
        reply = judged.reply
        if self.reply_pattern is not None:
            found = self.reply_pattern.search(decoded(measurement.stdout))
            said = None if found is None else found[1 if found.re.groups else 0]
            reply = said or reply
        measures = {}
        for name, pattern in self.measures.items():
            found = pattern.search(decoded(measurement.stdout))
            number = None if found is None else number_of(found[1])
            if number is not None and math.isfinite(number):
                measures[name] = number
        return replace(judged, reply=reply, measures=measures)

    def _seconds(self, measurement: Measurement) -> float:
        return measurement.cpu if self.objective == "cpu" else measurement.wall

    def _by_exit(self, measurement: Measurement) -> Verdict:
        how = how_it_ended(measurement)
        if measurement.exit_code not in self.success:
            expected = ", ".join(str(code) for code in sorted(self.success))
            return Verdict(Status.CRASHED, problem=f"{how}; success is {expected}")
        text = f"{decoded(measurement.stdout)}\n{decoded(measurement.stderr)}"
        if self.failure_pattern is not None and (found := self.failure_pattern.search(text)):
            problem = f"{how}, but the output says {found[0][:TAIL_WIDTH]!r}"
            return Verdict(Status.CRASHED, problem=problem)
        if self.success_pattern is not None and not self.success_pattern.search(text):
            problem = f"{how}, but success_pattern is not in the output"
            return Verdict(Status.CRASHED, problem=problem)
        return Verdict(Status.SOLVED)

    def _by_report(self, report: WrapperReport, measurement: Measurement, cap: float) -> Verdict:
        seconds, reported = self._seconds(measurement), report.seconds
        assert self.protocol is not None
        says_timeout = report.said is Said.TIMEOUT
        measured = max(measurement.cpu, measurement.wall)
        if self.protocol.time_at_cap_is_timeout and report.said is Said.SOLVED:
            # A cost as large as that is no time, unless it took about as long.
            is_time = not report.may_be_cost or measured >= FAR_FROM_THE_CAP * cap
            says_timeout = reported is not None and reported >= cap and is_time
        if says_timeout:
            longest = max(reported or 0.0, measured)
            if longest >= AT_THE_CAP * cap:
                warning = report.warning
                if measured < FAR_FROM_THE_CAP * cap:
                    warning = (
                        f"the wrapper says TIMEOUT after {longest:g} s, but {measured:g} s were"
                        f" measured under a cap of {cap:g} s; it counts as capped"
                    )
                return Verdict(Status.CAPPED, reported=reported, warning=warning)
            problem = f"the wrapper says TIMEOUT after {longest:g} s under a cap of {cap:g} s"
            return Verdict(Status.CRASHED, reported=reported, problem=problem)
        if report.said is Said.SOLVED:
            warning = report.warning or different_times(reported, seconds)
            return Verdict(Status.SOLVED, report.reply, reported, warning=warning)
        problem = report.problem or report.said.value
        if measurement.exit_code != 0:
            problem = f"{problem} ({how_it_ended(measurement)})"
        abort = report.said is Said.ABORT
        return Verdict(Status.CRASHED, None, reported, problem, report.warning, abort=abort)


def is_starved(measurement: Measurement, cap: float) -> bool:
    """Whether a run was ended before its cap because the machine has no time for it."""
    is_early = measurement.ending is Ending.WALL and measurement.cpu < cap
    return is_early and measurement.idle < STARVED * measurement.wall


def different_times(reported: float | None, measured: float) -> str:
    """A warning if a wrapper's clock and ours disagree."""
    allowed = DIFFERENT_SECONDS + DIFFERENT_SHARE * measured
    if reported is None or abs(reported - measured) <= allowed:
        return ""
    if is_far_off(reported, measured):
        return (
            f"the wrapper reports {reported:g} s for a run of {measured:g} s: that is no time of"
            " this run; the measured one counts"
        )
    return f"the wrapper reports {reported:g} s; the {measured:g} s that were measured count"


def is_far_off(reported: float | None, measured: float) -> bool:
    """Whether a wrapper reports something else than the time of its run."""
    if reported is None or abs(reported - measured) <= DIFFERENT_SECONDS:
        return False
    return not measured / FAR_OFF <= reported <= measured * FAR_OFF


def how_it_ended(measurement: Measurement) -> str:
    """Exit code or signal, in words."""
    if measurement.signal is None:
        return f"it ended with exit code {measurement.exit_code}"
    try:
        name = signals.Signals(measurement.signal).name
    except ValueError:
        name = "unknown"
    return f"it was ended by signal {measurement.signal} ({name})"


def decoded(output: bytes) -> str:
    """Output as text, whatever the target printed; lines end as they do here."""
    return output.decode(errors="replace").replace("\r\n", "\n")


def tail(measurement: Measurement) -> str:
    """The last lines of the error output, or else of the standard output, fit to be shown."""
    for output in (measurement.stderr, measurement.stdout):
        lines = decoded(output[-TAIL_BYTES:]).strip().splitlines()[-TAIL_LINES:]
        if lines:
            return "\n".join(one_line(line, TAIL_WIDTH) for line in lines)
    return ""
