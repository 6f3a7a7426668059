"""What every method is given, and what it gives back: a table in, a trajectory and a claim out.

All methods see one stream of instances: position j is the same instance for all configurations.
Without `resample` that is a shuffle of the table's instances, each of which comes up once: a method
that needs more of them than there are is told so. With it, instances are drawn from the table with
replacement, as often as a method likes: the table is then the distribution itself. Published code
begins again from the first instance instead, which is neither.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cunctator.base.errors import CunctatorError, InvalidSetting
from cunctator.recorded.table import Table
from cunctator.target.instances import CHUNK, CHUNKS, resampled, shuffled

SPENT = "the budget is spent"
"""Why a method ended that was not done."""


class TooFewInstances(CunctatorError):
    """A method needs more instances than the table has."""

    def __init__(
        self, method: str, needed: int, found: int, fits: str = "", resample: bool = False
    ) -> None:
        """`fits` are settings that need fewer, in words, if there are any."""
        self.method = method
        self.needed = needed
        self.found = found
        self.fits = fits
        whose = "the stream" if resample else "the table"
        ways = [f"give {fits}"] if fits else []
        if not resample and needed <= CHUNK * CHUNKS:
            ways.append("draw them with replacement (without --once)")
        fix = ", or ".join(ways) or "leave it out: no settings that it is tried with would do"
        super().__init__(f"{method} needs {needed:,} instances and {whose} has {found:,}; {fix}")


@dataclass(frozen=True, eq=False)
class Problem:
    """Recorded runtimes, as a method sees them."""

    table: Table
    first_cap: float
    """kappa_0: the shortest cap. Runs that end sooner are charged what they take."""
    cutoff: float
    """kappa-bar: no run is longer, and what is not solved by then counts as this long."""
    budget: float = math.inf
    """Seconds to charge; a method that has not answered by then has no answer. The run that reaches
    it is finished by some methods, as they are written, and cut off by others."""
    seed: int = 0
    resample: bool = False

    def __post_init__(self) -> None:
        """Check what does not depend on the method."""
        if not 0 < self.first_cap <= self.cutoff < math.inf:
            expected = f"expected more than 0 and at most the cutoff of {self.cutoff:g} s"
            raise InvalidSetting("first_cap", self.first_cap, expected)

    @cached_property
    def runtimes(self) -> NDArray[np.float64]:
        """One row a configuration, no runtime above the cutoff; not in the order of the stream."""
        if float(self.table.runtimes.max()) <= self.cutoff:
            return self.table.runtimes
        return np.minimum(self.table.runtimes, self.cutoff)

    @cached_property
    def stream(self) -> NDArray[np.int64]:
        """Position j of the stream is column `stream[j]` of the table."""
        columns = len(self.table.instances)
        if not self.resample:
            return shuffled(columns, self.seed)
        chunks = [resampled(columns, self.seed, chunk) for chunk in range(CHUNKS)]
        return np.concatenate(chunks)

    @property
    def floor_note(self) -> str:
        """What has to be added to claims that suppose that no run is shorter than first_cap."""
        if float(self.table.runtimes.min()) >= self.first_cap:
            return ""
        return f" Runs shorter than {self.first_cap:g} s count as that long."

    @property
    def configurations(self) -> int:
        """n: how many there are."""
        return len(self.table.configurations)

    def need(self, method: str, instances: float, fits: Callable[[], str] = str) -> None:
        """Raise TooFewInstances unless the stream has so many; `fits` says what would need less."""
        if instances > self.stream.size:
            needed = math.ceil(min(instances, 2**62))
            raise TooFewInstances(method, needed, self.stream.size, fits(), self.resample)


@dataclass(frozen=True, eq=False)
class Found:
    """What a method found, what it cost, and what it claims."""

    trajectory: tuple[tuple[float, int], ...]
    """(charged seconds, configuration) whenever the answer changed; empty without an answer. A
    method that answers only when it returns has one entry."""
    charged: float
    """Seconds of target time: restarted or resumed, as the method's `charges` says."""
    steps: int
    """Runs begun."""
    spent: NDArray[np.float64]
    """Of the charged seconds, those for each configuration."""
    stop: str
    """Why it ended, in words."""
    claim: str = ""
    """What it says of its answer, in one sentence; empty if it claims nothing."""
    facts: Mapping[str, float] = field(default_factory=dict)
    """Numbers of the claim, such as delta, by name."""

    @property
    def incumbent(self) -> int | None:
        """The last answer."""
        return self.trajectory[-1][1] if self.trajectory else None
