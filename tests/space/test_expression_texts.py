"""Expressions as texts: what is written is read again as what it was."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from cunctator.space.expressions import (
    Call,
    Constant,
    Member,
    Name,
    Operation,
    parse_expression,
    text_of_expression,
)

NAMES = ["a", "b", "b-c", "x.y", "_z", "and", "not", "true", "5", "1e3", "in c", "@1:S", "été", "c"]
NAMES += ["log", "1+1", "T", "b--"]
NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20), st.floats(allow_nan=False, allow_infinity=False)
)
CONSTANTS = st.one_of(NUMBERS, st.text(max_size=5), st.booleans()).map(Constant)


def negated(tree):
    """What a minus sign makes of it."""
    match tree:
        case Constant(value) if not isinstance(value, str | bool):
            return Constant(-value)
        case Operation("negative", (operand,)):
            return operand
    return Operation("negative", (tree,))


def wider(inner):
    pairs = st.tuples(inner, inner)
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    operators = ["==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "^"]
    values = st.lists(CONSTANTS, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Operation, st.sampled_from(operators), pairs),
        st.builds(Operation, st.sampled_from(["and", "or"]), several),
        st.builds(Operation, st.just("not"), st.tuples(inner)),
        inner.map(negated),
        st.builds(Member, inner, values),
        st.builds(Call, st.sampled_from(["abs", "sqrt", "number"]), st.tuples(inner)),
        st.builds(Call, st.sampled_from(["min", "max"]), several),
    )


TREES = st.recursive(st.one_of(CONSTANTS, st.sampled_from(NAMES).map(Name)), wider, max_leaves=12)


@settings(max_examples=500)
@given(TREES)
def test_what_is_written_is_read_again(tree):
    text = text_of_expression(tree)
    again = parse_expression(text, NAMES)
    assert repr(again) == repr(tree), text
