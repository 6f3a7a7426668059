"""From `[target]` to the command: how it is filled in, called and judged.

Whatever would keep a parameter from reaching the target is found here, before anything is run, not
after a night of runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from cunctator.base.errors import InvalidKey
from cunctator.scenario.models import TargetTable
from cunctator.space.conditions import parents_of
from cunctator.space.parameters import Parameter
from cunctator.target.command import RUN_PLACEHOLDERS, Command
from cunctator.target.protocols import PROTOCOLS
from cunctator.target.template import (
    DEFAULT_FORMAT,
    Format,
    Item,
    RawFormat,
    names_in,
    parse_format,
    parse_item,
)
from cunctator.target.verdict import Judge


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
        reply_pattern=_compiled(target.answer),
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
