"""What the journal's rows are to the rest of the program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from cunctator.space.parameters import Value


@dataclass(frozen=True, slots=True)
class Crash:
    """A run that crashed, for the list at the end."""

    number: int
    configuration: int
    pair: int
    cap: float
    problem: str


class Change(NamedTuple):
    """The study's answer became this one, after so many seconds charged and so many runs."""

    charged: float
    runs: int
    configuration: int


class Advised(NamedTuple):
    """What a guide said, and when."""

    event: int
    """Before which event, from 0."""
    first: int
    """The number of the first configuration that it proposed."""
    proposed: tuple[dict[str, Value], ...]
    tasks: tuple[tuple[int, int], ...]
    """As in `core.scheduler.Advice`."""
    charged: float
    """Seconds that had been charged when it was asked."""


class FileState(NamedTuple):
    """What a file was like that runs depend on."""

    role: str
    """What it is to them, for people: `program`, `instance`."""
    name: str
    """As the scenario writes it: where that leads may change."""
    size: int
    modified: int
    """In nanoseconds, as the file system says."""
    digest: str
    """Of its content; empty if that was too much to read."""
