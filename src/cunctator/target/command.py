"""A command line as the target: which arguments a run has, and what came of it.

Nothing here starts a process; see `process.py` for that. Whatever would keep a parameter from
reaching the target is found when the command is made, not after a night of runs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cunctator.conditions import parents_of
from cunctator.errors import InvalidKey
from cunctator.parameters import Parameter, Value, text_of
from cunctator.target.protocols import PROTOCOLS, Call, Protocol
from cunctator.target.template import (
    DEFAULT_FORMAT,
    Format,
    Item,
    RawFormat,
    fill,
    names_in,
    parse_format,
    parse_item,
)
from cunctator.target.verdict import Judge, Verdict

if TYPE_CHECKING:
    from cunctator.scenario import Scenario
    from cunctator.scenario.models import TargetTable
    from cunctator.target.measurement import Measurement

RUN_PLACEHOLDERS = ("instance", "seed", "cap", "parameters", "python")


@dataclass(frozen=True, slots=True)
class Command:
    """A command line, and how its outcome is told; make it with `from_scenario`."""

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

    @classmethod
    def from_scenario(cls, scenario: Scenario) -> Command:
        """The command of a scenario; a function has no arguments but is judged all the same."""
        return make_command(
            scenario.target,
            scenario.space.parameters,
            scenario.formats,
            objective=scenario.search.objective,
            has_cutoff=scenario.search.cutoff is not None,
        )

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
            call = Call(
                instance, seed, cap, configuration, formatted, deterministic, self.has_cutoff
            )
            arguments.extend(self.protocol.arguments(call))
        return arguments

    def judge(self, measurement: Measurement, cap: float) -> Verdict:
        """What came of a run that was not called off."""
        return self.judging.verdict(measurement, cap)


def make_command(
    target: TargetTable,
    parameters: Sequence[Parameter],
    formats: Mapping[str, RawFormat],
    *,
    objective: str,
    has_cutoff: bool,
) -> Command:
    """A command, after checking that every parameter reaches the target."""
    protocol = PROTOCOLS.get(target.protocol)
    is_native = protocol is None and target.function is None
    names = [parameter.name for parameter in parameters]
    known = (*RUN_PLACEHOLDERS, *names) if is_native else ("python",)
    items = tuple(parse_item(text, ("target", "command"), known) for text in target.command or ())
    mentioned = {name for item in items for name in names_in(item)}
    _check_names(names, target.protocol, RUN_PLACEHOLDERS if is_native else ())
    if is_native:
        _check_placement(items, mentioned, names)
    if is_native or (protocol is not None and protocol.takes_formats):
        general = DEFAULT_FORMAT if target.format is None else target.format
        parsed = _parse_formats(parameters, mentioned, formats, general)
    else:
        _refuse_formats(target, formats)
        parsed = {}
    judge = Judge(
        protocol=protocol,
        success=frozenset(target.success or [0]),
        success_pattern=_compiled(target.success_pattern),
        failure_pattern=_compiled(target.failure_pattern),
        answer_pattern=_compiled(target.answer),
        measures={name: re.compile(text, re.MULTILINE) for name, text in target.measures.items()},
        objective=objective,
    )
    takes_seed = not is_native or "seed" in mentioned
    if target.deterministic is not None:
        if is_native:
            fix = "remove it: a command takes a seed if it mentions {seed}"
            raise InvalidKey(("target", "deterministic"), "is for wrappers and functions", fix)
        takes_seed = not target.deterministic
    return Command(items, parsed, protocol, judge, takes_seed, has_cutoff)


def _check_names(names: Sequence[str], protocol: str, placeholders: Sequence[str]) -> None:
    reserved = PROTOCOLS[protocol].reserved if protocol in PROTOCOLS else placeholders
    for name in names:
        if name in reserved:
            fix = "give it another name; its format may still write this one"
            raise InvalidKey(("parameters", name), f"{name} means something else already", fix)


def _check_placement(items: tuple[Item, ...], mentioned: set[str], names: Sequence[str]) -> None:
    """Everything that differs between runs must be somewhere in the command."""
    key = ("target", "command")
    if any("parameters" in names_in(item) and len(item) > 1 for item in items):
        fix = "make it an item of its own"
        raise InvalidKey(key, "{parameters} is several arguments", fix)
    if "instance" not in mentioned:
        raise InvalidKey(key, "{instance} is not in it", 'add "{instance}" where the file goes')
    lost = [name for name in names if name not in mentioned]
    if lost and "parameters" not in mentioned:
        fix = 'add "{parameters}" where they go'
        raise InvalidKey(key, f"parameter {lost[0]} is not in it", fix)


def _parse_formats(
    parameters: Sequence[Parameter],
    mentioned: set[str],
    formats: Mapping[str, RawFormat],
    general: RawFormat,
) -> dict[str, Format]:
    parents = {parent for parameter in parameters for parent in parents_of(parameter)}
    parsed: dict[str, Format] = {}
    for parameter in parameters:
        name = parameter.name
        is_own = name in formats
        key = ("parameters", name, "format") if is_own else ("target", "format")
        if name in mentioned:
            if is_own:
                problem = f"the command names {{{name}}} itself, so this is not used"
                raise InvalidKey(key, problem, "remove one of the two")
            continue
        raw = formats[name] if is_own else general
        parsed[name] = parse_format(raw, parameter, key)
        if not raw and name not in parents:
            fix = "write {value} where it goes, or make other parameters depend on it"
            raise InvalidKey(key, f"parameter {name} never reaches the target", fix)
    return parsed


def _refuse_formats(target: TargetTable, formats: Mapping[str, RawFormat]) -> None:
    what = "a function" if target.function else f"the protocol {target.protocol}"
    problem = f"{what} is given parameters in a way of its own"
    if target.format is not None:
        raise InvalidKey(("target", "format"), problem, "remove the format")
    for name in formats:
        raise InvalidKey(("parameters", name, "format"), problem, "remove the format")


def _compiled(pattern: str | None) -> re.Pattern[str] | None:
    return None if pattern is None else re.compile(pattern, re.MULTILINE)
