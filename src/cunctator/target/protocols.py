"""The dialects of existing wrappers: how they are called, and what they say of a run.

    smac    SMAC 1 and 2, ParamILS, GPS, AClib: positions, then `-name value`
    aclib2  GenericWrapper4AC: flags, then `--config -name value`
    irace   a target runner: positions, then the parameters by their formats
    smac3   scripts of SMAC3 2.x: `--name=value`

Arguments are never quoted, since no shell takes quotes away. Wrappers pass on what the solver
prints, which may look like a result. They print their own result after it, so the last line that
looks like one counts, well-formed or not: falling back to an earlier one could believe a fake.
"""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from cunctator.space.parameters import Value, text_of

RESULT_LINE = re.compile(
    r"^[ \t]*(?:Final[ \t]+)?[Rr]esult[ \t]+(?:[Ff]or|[Oo]f)[ \t]+"
    r"(HAL|ParamILS|SMAC|GPS|[Tt]his[ \t]+[Ww]rapper|(?:[Tt]his[ \t]+)?[Aa]lgorithm[ \t]+[Rr]un)"
    r"[ \t]*:[ \t]*(.*)$",
    re.MULTILINE,
)

LONGEST_RUN = 2147483647
"""No limit on the length of a run, as SMAC and ParamILS write it."""

DETERMINISTIC_SEED = -1
"""What SMAC and ParamILS give to wrappers of targets that take no seed."""


class Said(Enum):
    """What a wrapper says of its run."""

    SOLVED = "solved"
    TIMEOUT = "timeout"
    MEMORY = "memory limit"
    CRASHED = "crashed"
    ABORT = "abort"


@dataclass(frozen=True, slots=True)
class WrapperReport:
    """What a wrapper's output says."""

    said: Said
    seconds: float | None = None
    reply: str | None = None
    problem: str = ""
    warning: str = ""
    may_be_cost: bool = False
    """Whether `seconds` may be something else than a time."""


@dataclass(frozen=True, slots=True)
class WrapperCall:
    """What a run is, for a wrapper to be told."""

    instance: str
    seed: int | str
    cap: float
    configuration: Mapping[str, Value]
    formatted: Sequence[str]
    """The parameters by their formats."""
    deterministic: bool
    has_cutoff: bool


@dataclass(frozen=True, slots=True)
class Protocol:
    """A dialect."""

    arguments: Callable[[WrapperCall], list[str]]
    """What follows the command."""
    read: Callable[[str], WrapperReport]
    """What the standard output says."""
    takes_formats: bool = False
    """Whether parameters appear by their formats; else the dialect says how."""
    needs_exit_code: bool = False
    """Whether a run that ends with a code other than 0 has failed, whatever it says."""
    time_at_cap_is_timeout: bool = False
    """Whether it has no other word for a timeout."""
    reserved: frozenset[str] = field(default_factory=frozenset)
    """Names that no parameter may have."""


WORDS = {
    "SUCCESS": (Said.SOLVED, None),
    "OK": (Said.SOLVED, None),
    "SAT": (Said.SOLVED, "SAT"),
    "SATISFIABLE": (Said.SOLVED, "SAT"),
    "UNSAT": (Said.SOLVED, "UNSAT"),
    "UNSATISFIABLE": (Said.SOLVED, "UNSAT"),
    "TIMEOUT": (Said.TIMEOUT, None),
    "MEMOUT": (Said.MEMORY, None),
    "MEMORYOUT": (Said.MEMORY, None),
    "CRASHED": (Said.CRASHED, None),
    "ABORT": (Said.ABORT, None),
}


def smac_arguments(call: WrapperCall) -> list[str]:
    """`instance specifics cutoff length seed -name value ...`."""
    seed = DETERMINISTIC_SEED if call.deterministic else call.seed
    fixed = [call.instance, "0", text_of(float(call.cap)), str(LONGEST_RUN), str(seed)]
    return fixed + _dashed(call.configuration)


def aclib2_arguments(call: WrapperCall) -> list[str]:
    """`--instance i --cutoff s --seed n --config -name value ...`."""
    flags = ["--instance", call.instance, "--cutoff", text_of(float(call.cap))]
    return [*flags, "--seed", str(call.seed), "--config", *_dashed(call.configuration)]


def irace_arguments(call: WrapperCall) -> list[str]:
    """`configuration-id instance-id seed instance [bound] parameters...`.

    irace gives a bound only to scenarios that have a longest one, so a runner reads five
    positions or four; ours is there if the scenario has a cutoff. irace numbers configurations
    and instances as it meets them; checksums serve as well, and are the same in every call.
    """
    named = json.dumps({name: text_of(value) for name, value in call.configuration.items()})
    ids = [str(_checksum(named)), str(_checksum(call.instance))]
    bound = [text_of(float(call.cap))] if call.has_cutoff else []
    return [*ids, str(call.seed), call.instance, *bound, *call.formatted]


def smac3_arguments(call: WrapperCall) -> list[str]:
    """`--instance=i --instance_features=[] --seed=n --cutoff=s --name=value ...`."""
    fixed = [f"--instance={call.instance}", "--instance_features=[]", f"--seed={call.seed}"]
    values = [f"--{name}={_as_smac(value)}" for name, value in call.configuration.items()]
    return [*fixed, f"--cutoff={text_of(float(call.cap))}", *values]


def read_result_line(output: str) -> WrapperReport:
    """The last `Result for ...:` line, with fields between commas or as JSON."""
    lines = RESULT_LINE.findall(output)
    if not lines:
        return WrapperReport(Said.CRASHED, problem="no result line")
    by, rest = lines[-1]
    different = {line for _, line in lines}
    warning = "several result lines that differ; the last one counts" if different != {rest} else ""
    if rest.startswith("{"):
        return _read_json(rest, warning)
    fields = [part.strip() for part in rest.split(",")]
    if len(fields) < (4 if by == "GPS" else 5):
        return WrapperReport(Said.CRASHED, problem=f"too few fields in the result line {rest!r}")
    return _report(fields[0], fields[1], warning)


def read_numbers(output: str) -> WrapperReport:
    """A target runner of irace: `cost`, or `cost time`, and nothing else."""
    words = output.split()
    numbers = [number_of(word) for word in words[:3]]
    if len(words) not in (1, 2) or None in numbers:
        problem = f"expected one or two numbers on standard output, not {output[:100]!r}"
        return WrapperReport(Said.CRASHED, problem=problem)
    cost, seconds = numbers[0], numbers[-1]
    assert cost is not None and seconds is not None
    if math.isnan(cost):
        return WrapperReport(
            Said.CRASHED, problem="the runner says that the cost is no number (NaN)"
        )
    if cost == math.inf:
        return WrapperReport(
            Said.CRASHED, problem="the runner rejects this configuration (cost Inf)"
        )
    if not 0 <= seconds < math.inf:
        return WrapperReport(Said.CRASHED, problem=f"a time of {seconds:g} s was reported")
    return WrapperReport(Said.SOLVED, seconds, may_be_cost=len(words) == 1)


def read_pairs(output: str) -> WrapperReport:
    """A script of SMAC3 2.x: `key=value` between semicolons; of each key, the last one counts."""
    pairs: dict[str, str] = {}
    for part in re.split(r"[;\n]", output):
        name, equals, value = re.sub(r"\s", "", part).partition("=")
        if equals:
            pairs[name.lower()] = value
    said = pairs.get("status", "SUCCESS")
    if "cost" not in pairs and said.upper() == "SUCCESS":
        return WrapperReport(Said.CRASHED, problem="no cost= on standard output")
    cost = number_of(pairs.get("cost"))
    if cost is not None and math.isnan(cost) and said.upper() == "SUCCESS":
        return WrapperReport(
            Said.CRASHED, problem="the script says that the cost is no number (NaN)"
        )
    return _report(said, pairs.get("cpu_time", pairs.get("runtime")))


PROTOCOLS: dict[str, Protocol] = {
    "smac": Protocol(smac_arguments, read_result_line),
    "aclib2": Protocol(aclib2_arguments, read_result_line),
    "irace": Protocol(
        irace_arguments,
        read_numbers,
        takes_formats=True,
        needs_exit_code=True,
        time_at_cap_is_timeout=True,
    ),
    "smac3": Protocol(
        smac3_arguments,
        read_pairs,
        reserved=frozenset(["instance", "instance_features", "seed", "budget", "cutoff"]),
    ),
}


def _dashed(configuration: Mapping[str, Value]) -> list[str]:
    pairs = ((f"-{name}", _as_smac(value)) for name, value in configuration.items())
    return [argument for pair in pairs for argument in pair]


def _as_smac(value: Value) -> str:
    """A value as SMAC writes it: truth values come from ConfigSpace, and look as in Python."""
    return str(value) if isinstance(value, bool) else text_of(value)


def _checksum(text: str) -> int:
    """A positive number that a runner may put into file names."""
    return zlib.crc32(text.encode(errors="surrogateescape")) + 1


def _read_json(text: str, warning: str) -> WrapperReport:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or "status" not in data:
        return WrapperReport(Said.CRASHED, problem=f"not a result as JSON: {text[:100]!r}")
    report = _report(str(data["status"]), data.get("runtime"), warning)
    _, reply = WORDS.get(str(data.get("satisfiability")).upper(), (None, None))
    if report.said is Said.SOLVED and report.reply is None and reply is not None:
        return WrapperReport(report.said, report.seconds, reply, warning=warning)
    return report


def _report(status: str, runtime: object, warning: str = "") -> WrapperReport:
    """From a status word and a time that may be lacking."""
    said, reply = WORDS.get(status.upper(), (None, None))
    if said is None:
        return WrapperReport(
            Said.CRASHED, problem=f"unknown status {status[:100]!r}", warning=warning
        )
    if said is Said.ABORT:
        return WrapperReport(said, problem="the wrapper says ABORT: its environment is broken")
    seconds = None if runtime is None else number_of(runtime)
    if runtime is not None and (seconds is None or not 0 <= seconds < math.inf):
        problem = f"{str(runtime)[:100]!r} was reported as the time"
        return WrapperReport(Said.CRASHED, problem=problem, warning=warning)
    problem = "the wrapper says CRASHED" if said is Said.CRASHED else ""
    return WrapperReport(said, seconds, reply, problem, warning)


def number_of(given: object) -> float | None:
    """A number, also as text; None if it is none."""
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        return None
    try:
        return float(given)
    except (ValueError, OverflowError):
        return None
