"""The small plain records that pass between a study and its slots, wherever these are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cunctator.base.records import Status
from cunctator.space.parameters import Value


@dataclass(frozen=True, slots=True)
class Execution:
    """One run, with all that a slot must know of it."""

    number: int
    configuration: Mapping[str, Value]
    instance: str
    seed: int
    cap: float


@dataclass(frozen=True, slots=True)
class Details:
    """What is kept of an execution, apart from how it ended and the time it is charged."""

    cpu: float
    wall: float
    ending: str
    exit_code: int | None = None
    signal: int | None = None
    memory: int = 0
    overshoot: float = 0.0
    method: str = ""
    host: str = ""
    reply: str | None = None
    reported: float | None = None
    problem: str = ""


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
