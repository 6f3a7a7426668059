"""A command line as the target: which arguments a run has, and what came of it.

Nothing here starts a process; see `process.py` for that.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cunctator.space.parameters import Value, text_of
from cunctator.target.protocols import Protocol, WrapperCall
from cunctator.target.template import (
    Format,
    Item,
    fill,
    names_in,
)
from cunctator.target.verdict import Judge, Verdict

if TYPE_CHECKING:
    from cunctator.target.measurement import Measurement

RUN_PLACEHOLDERS = ("instance", "seed", "cap", "parameters", "python")


@dataclass(frozen=True, slots=True)
class Command:
    """A command line, and how its outcome is told; `scenario/commands.py` makes it."""

    items: tuple[Item, ...]
    """Without any, the target is a function."""
    formats: Mapping[str, Format]
    """Of the parameters that are in `{parameters}`."""
    protocol: Protocol | None
    """None: our own way, where the command says everything."""
    judging: Judge
    takes_seed: bool
    """Whether runs differ by their seed."""
    has_cutoff: bool

    def argv(
        self, configuration: Mapping[str, Value], instance: str, seed: int | str, cap: float
    ) -> list[str]:
        """The arguments of a run; items that mention a parameter that is not active disappear."""
        assert self.items, "a function has no command line"
        values = {name: text_of(value) for name, value in configuration.items()}
        values |= {"instance": instance, "seed": str(seed), "cap": text_of(float(cap))}
        values["python"] = sys.executable
        formatted = [
            argument
            for name, value in configuration.items()
            if name in self.formats
            for argument in self.formats[name].arguments(name, value)
        ]
        arguments: list[str] = []
        for item in self.items:
            if "parameters" in names_in(item):
                arguments.extend(formatted)
            elif (argument := fill(item, values)) is not None:
                arguments.append(argument)
        if self.protocol is not None:
            deterministic = not self.takes_seed
            call = WrapperCall(
                instance, seed, cap, configuration, formatted, deterministic, self.has_cutoff
            )
            arguments.extend(self.protocol.arguments(call))
        return arguments

    def judge(self, measurement: Measurement, cap: float) -> Verdict:
        """What came of a run that was not called off."""
        return self.judging.verdict(measurement, cap)
