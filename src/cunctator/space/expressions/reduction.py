"""Expressions without parameters that are never active."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from cunctator.space.expressions.syntax import (
    Constant,
    Expression,
    Member,
    Operation,
    all_of,
    any_of,
    names_in,
)

ALWAYS, NEVER = Constant(True), Constant(False)


def without(expression: Expression, gone: AbstractSet[str]) -> Expression:
    """What is true just where the expression is, if these parameters are never active.

    Whatever is said of them is unknown, and `in` is false; see `evaluation.py`.
    """
    return _where(expression, gone, True)


def _where(expression: Expression, gone: AbstractSet[str], wanted: bool) -> Expression:
    """What is true just where the expression is true, or just where it is false."""
    if gone.isdisjoint(names_in(expression)):
        return expression if wanted else Operation("not", (expression,))
    match expression:
        case Operation("not", (operand,)):
            return _where(operand, gone, not wanted)
        case Operation("and" | "or" as word, operands):
            parts = [_where(operand, gone, wanted) for operand in operands]
            return _joined(parts, needs_all=(word == "and") == wanted)
        case Member():
            return NEVER if wanted else ALWAYS
    return NEVER


def _joined(parts: Sequence[Expression], needs_all: bool) -> Expression:
    deciding, idle = (NEVER, ALWAYS) if needs_all else (ALWAYS, NEVER)
    kept = [part for part in parts if part != idle]
    if deciding in kept:
        return deciding
    if not kept:
        return idle
    return all_of(kept) if needs_all else any_of(kept)
