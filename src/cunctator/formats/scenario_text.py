"""Scenarios of ours as text: TOML that `load_scenario` reads back as the same thing.

Expressions are read back at once, because not everything that was read from another tool's file
can be said in our language: a name with a backtick in it cannot, nor the name -.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cunctator.base.errors import InvalidKey, one_line
from cunctator.formats.imported import ImportedScenario, ImportedSpace
from cunctator.scenario.toml_text import toml_key, toml_pair, toml_value
from cunctator.space.expressions import (
    Expression,
    ExpressionError,
    names_in,
    parse_expression,
    text_of_expression,
)
from cunctator.space.parameters import LISTED, Parameter, text_of
from cunctator.target.template import RawFormat

UNITS = ((3600, "h"), (60, "m"), (1, "s"))
TIMES = frozenset(["cutoff", "first_cap", "charged", "wall"])
LONGEST_LINE = 100

PLACEHOLDERS = """\
# Fill in these four tables, and remove the # before their lines. The file that `cunctator init`
# writes explains them. If there is a wrapper for another configurator, the command is the wrapper
# alone, and its protocol is given instead of the format.
# [target]
# command = ["./solver", "{parameters}", "{instance}"]
# format = "--{name}={value}"
# [instances]
# glob = "instances/*"
# [search]
# cutoff = "60s"
# [budget]
# charged = "10h"
"""
DEFAULTS_ARE_MISSING = """\
# The defaults below are placeholders, because the file that they come from has none: give what the
# target does when it is not told.
"""


def scenario_text(imported: ImportedScenario, source: str = "another tool's scenario") -> str:
    """A whole scenario; `source` says what it was made from."""
    parts = [
        [f"# A scenario of Cunctator, made from {one_line(source)}."],
        list(_forbidden(imported.space)),
        _table("target", imported.target),
        [] if imported.space.has_defaults else [DEFAULTS_ARE_MISSING.rstrip()],
        *_parameters(imported.space),
        *(["[[initial]]", *map(toml_pair, one, one.values())] for one in imported.initial),
        _table("instances", imported.instances),
        _table("test_instances", imported.test_instances or {}),
        _table("search", imported.search),
        _table("budget", imported.budget) or ["[budget]", '# charged = "10h"'],
    ]
    return _joined(parts)


def space_text(space: ImportedSpace, source: str = "another tool's parameter file") -> str:
    """A scenario of which only the parameters are known; the rest is there to be filled in."""
    parts = [
        [f"# Parameters for a scenario of Cunctator, made from {one_line(source)}."],
        list(_forbidden(space)),
        [PLACEHOLDERS.rstrip()],
        [] if space.has_defaults else [DEFAULTS_ARE_MISSING.rstrip()],
        *_parameters(space),
    ]
    return _joined(parts)


def _joined(parts: Sequence[Sequence[str]]) -> str:
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _table(name: str, content: Mapping[str, Any]) -> list[str]:
    """A table with its heading; nothing if it is empty."""
    lines = [
        f"{word} = {_time(value)}" if word in TIMES else _wrapped(toml_pair(word, value), value)
        for word, value in content.items()
    ]
    return [f"[{name}]", *lines] if lines else []


def _wrapped(line: str, value: object) -> str:
    """A list that is too long for a line, with an item on each."""
    if len(line) <= LONGEST_LINE or isinstance(value, str) or not isinstance(value, Sequence):
        return line
    head = line.partition(" = ")[0]
    return "\n".join([f"{head} = [", *(f"    {toml_value(one)}," for one in value), "]"])


def _time(value: Any) -> str:
    """A time with the largest unit that keeps it whole."""
    if isinstance(value, str):
        return toml_value(value)
    for seconds, unit in UNITS:
        if value % seconds == 0:
            return f'"{int(value) // seconds}{unit}"'
    return f'"{text_of(float(value))}s"'


def _forbidden(space: ImportedSpace) -> Iterator[str]:
    names = _names(space)
    texts = [
        _expression(one, names, ("forbidden", str(place)))
        for place, one in enumerate(space.forbidden)
    ]
    if texts:
        yield "forbidden = ["
        yield from (f"    {text}," for text in texts)
        yield "]"


def _parameters(space: ImportedSpace) -> Iterator[list[str]]:
    names = _names(space)
    for parameter in space.parameters:
        found = space.formats.get(parameter.name)
        yield list(_parameter(parameter, found, names))


def _parameter(parameter: Parameter, how: RawFormat | None, names: frozenset[str]) -> Iterator[str]:
    key = ("parameters", parameter.name)
    yield f"[parameters.{toml_key(parameter.name)}]"
    yield f'type = "{parameter.kind}"'
    if parameter.kind in LISTED:
        yield _wrapped(f"values = {toml_value(parameter.values)}", parameter.values)
    else:
        low, high = parameter.low_expression, parameter.high_expression
        yield f"low = {_expression(low, names, key) if low else toml_value(parameter.low)}"
        yield f"high = {_expression(high, names, key) if high else toml_value(parameter.high)}"
    if parameter.log:
        yield "log = true"
    yield f"default = {toml_value(parameter.default)}"
    if how is not None:
        yield f"format = {toml_value(how)}"
    when = parameter.when
    if not isinstance(when, Mapping):
        yield f"when = {_expression(when, names, key)}"
    elif when:
        yield f"when = {toml_value(when)}"


def _names(space: ImportedSpace) -> frozenset[str]:
    return frozenset(parameter.name for parameter in space.parameters)


def _expression(expression: Expression, names: frozenset[str], key: tuple[str, ...]) -> str:
    """An expression as a text in TOML, that can be read back."""
    text = text_of_expression(expression)
    try:
        again = parse_expression(text, names)
        # Names could be taken for something else, as that of a parameter called -.
        is_same = sorted(names_in(again)) == sorted(names_in(expression))
        problem = "a name in it means something else"
    except ExpressionError as error:
        is_same, problem = False, str(error)
    if not is_same or text_of_expression(again) != text:
        problem = f"the expression {one_line(text, 100)!r} cannot be written: {problem}"
        raise InvalidKey(key, problem, "simplify it, or rename the parameters in it")
    return toml_value(text)
