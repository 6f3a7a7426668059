"""A method of the comparison: how it is called, what it needs, charges and guarantees.

`run` takes a problem and the method's settings by name. Settings that form a grid (epsilon, delta)
are tried one pair after the other by `compare`; all others have defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from cunctator.siblings.problem import Found, Problem

Settings = Mapping[str, float | str]

CHARGES = {
    "restart": "a run that is tried again is charged from its start",
    "resume": "a run that is tried again goes on where it was",
    "once": "no run is tried again",
}


@dataclass(frozen=True)
class Method:
    """A way to find a good configuration on recorded runtimes."""

    name: str
    """As on the command line."""
    title: str
    """As in figures and tables."""
    run: Callable[..., Found]
    """Called with a Problem, and with settings by name."""
    charges: Literal["restart", "resume", "once"]
    """What is charged when a run that was capped is tried again; see CHARGES."""
    guarantee: str
    """What its answer is, with which probability; or that there is none."""
    stops: str
    """When it ends by itself."""
    defaults: Settings = field(default_factory=dict)
    """Settings that may be given, and what they are otherwise."""
    grid: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """The paper's values of those settings that a user has to choose; all combinations are run."""
    anytime: bool = False
    """Whether it has an answer before it ends."""
    ends: bool = True
    """Whether it ends by itself, whatever the stream; else it needs a budget."""
    needs_parameters: bool = False
    """Whether configurations must be named by their parameters' values."""

    def solve(self, problem: Problem, **settings: float | str) -> Found:
        """Run it, with defaults for what is not given."""
        unknown = settings.keys() - self.defaults.keys()
        assert not unknown, f"{self.name} has no setting {unknown}"
        return self.run(problem, **{**self.defaults, **settings})
