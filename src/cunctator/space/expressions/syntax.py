"""The trees that expressions are read into, and how they are written.

Operators by name: `or`, `and`, `not`, the six comparisons, `+ - * / % ^`, and `negative`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
BINDING = {
    "or": 1,
    "and": 2,
    "not": 3,
    **dict.fromkeys(COMPARISONS, 4),
    "+": 5,
    "-": 5,
    "*": 6,
    "/": 6,
    "%": 6,
    "negative": 7,
    "^": 8,
}
"""How tightly operators bind; `in` binds like a comparison."""

PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
RESERVED = frozenset(["or", "and", "not", "in", "true", "false"])
"""Parameters of these names must be written in backticks."""


@dataclass(frozen=True, slots=True)
class Name:
    """A parameter."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A text, a number, or true or false."""

    value: str | int | float | bool


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator with its one or two operands; `and` and `or` take two or more."""

    operator: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """Whether something is among some values."""

    operand: Expression
    values: tuple[Constant, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A function of numbers; `number` reads a text as one."""

    function: str
    arguments: tuple[Expression, ...]


Expression = Name | Constant | Operation | Member | Call


def all_of(parts: Sequence[Expression]) -> Expression:
    """True if all parts are."""
    return parts[0] if len(parts) == 1 else Operation("and", tuple(parts))


def any_of(parts: Sequence[Expression]) -> Expression:
    """True if one of the parts is."""
    return parts[0] if len(parts) == 1 else Operation("or", tuple(parts))


def children_of(expression: Expression) -> tuple[Expression, ...]:
    """The parts of an expression."""
    match expression:
        case Operation(operands=parts) | Call(arguments=parts):
            return parts
        case Member(operand=operand):
            return (operand,)
    return ()


def depth_of(expression: Expression) -> int:
    """How many parts are within each other."""
    depth, level = 0, [expression]
    while level:
        depth += 1
        level = [child for part in level for child in children_of(part)]
    return depth


def names_in(expression: Expression) -> Iterator[str]:
    """The parameters of an expression, as often as they occur."""
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Name):
            yield part.name
        waiting.extend(children_of(part))


def text_of_expression(expression: Expression) -> str:
    """As it can be read back."""
    return _text(expression, 0)


def _text(expression: Expression, around: int) -> str:
    """`around`: how tightly the operator around it binds."""
    match expression:
        case Name(name):
            is_plain = PLAIN_NAME.fullmatch(name) and name not in RESERVED
            return name if is_plain else f"`{name}`"
        case Constant(value):
            text = _literal(value)
            return f"({text})" if text[0] == "-" and around > BINDING["negative"] else text
        case Call(function, arguments):
            return f"{function}({', '.join(_text(part, 0) for part in arguments)})"
        case Member(operand, values):
            inside = ", ".join(_literal(value.value) for value in values)
            text, own = f"{_text(operand, 5)} in {{{inside}}}", BINDING["=="]
        case Operation(operator, operands):
            text, own = _operation(operator, operands), BINDING[operator]
    return f"({text})" if own < around else text


def _operation(operator: str, operands: tuple[Expression, ...]) -> str:
    own = BINDING[operator]
    if operator == "not":
        return f"not {_text(operands[0], own)}"
    if operator == "negative":
        return f"-{_text(operands[0], own)}"
    # The left operand of `-` may be another `-`, the right one must be in parentheses; the power
    # is the other way round; comparisons do not chain.
    first, rest = own, own + 1
    if operator == "^":
        first, rest = own + 1, own
    elif operator in COMPARISONS or operator in ("and", "or"):
        first = own + 1
    words = [_text(operands[0], first), *(_text(part, rest) for part in operands[1:])]
    return f" {operator} ".join(words)


def _literal(value: str | int | float | bool) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return "true" if value else "false"
    assert math.isfinite(value)
    return repr(value)
