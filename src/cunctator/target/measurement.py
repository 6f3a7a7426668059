"""The small frozen records that pass between a driver and its supervisors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Ending(Enum):
    """How a run came to its end, in words for the user."""

    EXITED = "ended by itself"
    CAP = "reached its cap"
    """Also if it ended by itself after its cap, before it could be stopped."""
    WALL = "reached its wall-clock limit"
    MEMORY = "reached its memory limit"
    STOPPED = "was stopped"
    FAILED_TO_START = "could not be started"
    LOST = "was lost with its supervisor"


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A Python function as a target, and what it is called with; see `function.py`."""

    function: str
    """As in "package.module:name"."""
    configuration: dict[str, Any]
    """Plain values only: whatever JSON can hold."""
    instance: str
    seed: int
    cap: float


@dataclass(frozen=True, slots=True)
class Request:
    """One run to make. Times are seconds, sizes bytes."""

    target: tuple[str, ...] | FunctionCall
    """A command's arguments, the program first; or a function."""
    cap: float
    """Of the objective."""
    objective: str = "cpu"
    """"cpu" (user and system time of the whole tree) or "wall"."""
    wall_cap: float = math.inf
    """On the clock, whatever the objective."""
    idle_cap: float = math.inf
    """On the clock too, but only time in which none of its processes ran or waited for a CPU: a
    target that sleeps uses no CPU time and must end, but one on a busy machine need not."""
    memory: int | None = None
    """Limit for the whole tree."""
    output: int = 1 << 20
    """How much is kept of each of stdout and stderr: the first and the last half of it."""
    grace: float = 0.1
    """Time between SIGTERM and SIGKILL at the cap."""
    directory: str | None = None
    """Where it runs; None: where the driver does."""
    environment: dict[str, str] | None = None
    """Variables added to the driver's own."""
    printed: str | None = None
    """File that takes the standard output, all of it; None: it is kept as said above."""
    largest_file: int | None = None
    """Limit on each file that it writes."""

    def __post_init__(self) -> None:
        assert self.target
        assert self.cap > 0 and self.wall_cap > 0 and self.grace >= 0 and self.output >= 0
        assert self.objective in ("cpu", "wall")
        assert self.idle_cap > 0
        assert self.memory is None or self.memory > 0

    @property
    def longest_wall(self) -> float:
        """Seconds on the clock after which it is ended at the latest."""
        return min(self.wall_cap, self.cap if self.objective == "wall" else math.inf)


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one run did. Times are seconds, unrounded; sizes bytes."""

    ending: Ending
    cpu: float = 0.0
    """User and system time of all its processes."""
    wall: float = 0.0
    """Until the first process ended by itself, or all were ended by us."""
    idle: float = 0.0
    """Of the wall time, in which nothing ran; only if an idle cap was given."""
    exit_code: int | None = None
    signal: int | None = None
    """The one that ended the first process, whoever sent it."""
    peak_memory: int = 0
    """Of the tree, as well as could be seen: the largest sum of resident sizes at any look (of
    proportional ones where that sum is above the limit), or the largest size of any one process
    that has ended. The first process begins with the supervisor's memory, so it is never less than
    the supervisor's own size, 15 MB or so."""
    overshoot: float = 0.0
    """Of the objective, beyond the cap."""
    method: str = ""
    """How it was watched: "cgroup" or "processes"."""
    doubt: str = ""
    """Why the CPU time may be too low, in a line; empty: it is not."""
    stdout: bytes = b""
    stderr: bytes = b""
    stdout_left_out: int = 0
    """Bytes left out between the first and the last half of what is kept."""
    stderr_left_out: int = 0
    host: str = ""
    problem: str = ""
    """E.g. why it could not be started; a short line."""
