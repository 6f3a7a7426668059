"""What can be said of an expression before any configuration is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cunctator.base.errors import InvalidKey
from cunctator.space.expressions.syntax import (
    COMPARISONS,
    Constant,
    Expression,
    Member,
    Name,
    Operation,
    children_of,
    names_in,
)
from cunctator.space.parameters import LISTED, Parameter, member_like, text_of

Texts = dict[str, frozenset[str]]


def check_expression(
    expression: Expression,
    parameters: Mapping[str, Parameter],
    key: tuple[str, ...],
    texts: Texts | None = None,
) -> None:
    """Complain about unknown parameters, and about values that a parameter cannot have.

    `texts` remembers the listed values from one expression to the next.
    """
    for name in names_in(expression):
        if name not in parameters:
            fix = "name a parameter of this file"
            raise InvalidKey(key, f"there is no parameter {name!r}", fix)
    known = {} if texts is None else texts
    for name, constant in _compared(expression):
        parameter = parameters[name]
        if parameter.kind in LISTED:
            if name not in known:
                known[name] = frozenset(map(text_of, parameter.values))
            if text_of(constant.value) not in known[name]:
                member_like(constant.value, parameter.values, key)  # says what it might be


def _compared(expression: Expression) -> Iterator[tuple[str, Constant]]:
    """Parameters and what they are compared with."""
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        match part:
            case Member(Name(name), values):
                yield from ((name, value) for value in values)
            case Operation(sign, (Name(name), Constant() as value)) if sign in COMPARISONS:
                yield name, value
            case Operation(sign, (Constant() as value, Name(name))) if sign in COMPARISONS:
                yield name, value
        waiting.extend(children_of(part))
