"""What an expression says of a configuration: a value, or None where there is none.

Logic has three values, as in R and SQL: whatever is said of an inactive parameter is unknown
(None), unknown or true is true, unknown and false is false. `in` is the exception, also as in R:
an inactive parameter is not among any values. Arithmetic that fails (a division by zero, the
logarithm of -1) is unknown too.

Trees become closures over what is known beforehand, so that a draw costs little: which parameter
compares by number, which by its place in a list and which as text.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cunctator.space.expressions.syntax import (
    COMPARISONS,
    Call,
    Constant,
    Expression,
    Member,
    Name,
    Operation,
)
from cunctator.space.parameters import LISTED, Parameter, Value, text_of

Result = Value | None
Evaluator = Callable[[Mapping[str, Value]], Result]
Compare = Callable[[Any, Any], bool]


@dataclass(frozen=True, slots=True)
class Function:
    """A function of numbers."""

    compute: Callable[..., float]
    arguments: tuple[int, float] = (1, 1)
    """Fewest and most."""


def _rounded(number: float, digits: float = 0) -> float:
    return round(number, int(digits))


FUNCTIONS: dict[str, Function] = {
    **{
        name: Function(getattr(math, name))
        for name in (
            "acos",
            "asin",
            "atan",
            "cbrt",
            "ceil",
            "cos",
            "cosh",
            "exp",
            "floor",
            "log10",
            "log2",
            "sin",
            "sinh",
            "sqrt",
            "tan",
            "tanh",
            "trunc",
        )
    },
    "log": Function(math.log, (1, 2)),
    "abs": Function(abs),
    "min": Function(min, (2, math.inf)),
    "max": Function(max, (2, math.inf)),
    "round": Function(_rounded, (1, 2)),
    "number": Function(float),
}

ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": operator.mod,
    "^": math.pow,
}
COMPARE: dict[str, Compare] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
assert tuple(COMPARE) == COMPARISONS


def evaluator(expression: Expression, parameters: Mapping[str, Parameter]) -> Evaluator:
    """A function from the active parameters' values to what the expression says."""
    match expression:
        case Name(name):
            return lambda active: active.get(name)
        case Constant(value):
            return lambda active: value
        case Member(operand, values):
            return _member(operand, values, parameters)
        case Call(function, arguments):
            return _call(function, [evaluator(part, parameters) for part in arguments])
        case Operation("and" | "or" as word, operands):
            return _joined(word == "or", [evaluator(part, parameters) for part in operands])
        case Operation("not", (operand,)):
            inner = evaluator(operand, parameters)
            return lambda active: None if (known := truth(inner(active))) is None else not known
        case Operation("negative", (operand,)):
            return _call_numbers(operator.neg, [evaluator(operand, parameters)])
        case Operation(sign, (left, right)) if sign in COMPARE:
            return _comparison(sign, left, right, parameters)
        case Operation(sign, operands):
            return _call_numbers(ARITHMETIC[sign], [evaluator(o, parameters) for o in operands])


def truth(value: Result) -> bool | None:
    """A value as true, false or unknown: numbers other than 0 are true, texts neither."""
    if value is None or isinstance(value, str):
        return None
    return bool(value)


def _joined(stop: bool, parts: list[Evaluator]) -> Evaluator:
    """Whether one part is `stop`: then all is; if not, unknown if one part is."""

    def evaluate(active: Mapping[str, Value]) -> Result:
        unknown = False
        for part in parts:
            known = truth(part(active))
            if known is stop:
                return stop
            unknown |= known is None
        return None if unknown else not stop

    return evaluate


def _member(
    operand: Expression, values: tuple[Constant, ...], parameters: Mapping[str, Parameter]
) -> Evaluator:
    inner = evaluator(operand, parameters)
    if _is_text(operand, parameters):
        texts = frozenset(text_of(value.value) for value in values)
        return lambda active: False if (v := inner(active)) is None else text_of(v) in texts
    numbers = frozenset(number_of(value.value) for value in values) - {None}
    return lambda active: number_of(inner(active)) in numbers


def _comparison(
    sign: str, left: Expression, right: Expression, parameters: Mapping[str, Parameter]
) -> Evaluator:
    """By place in a list, as text, or by number, as the sides ask for."""
    compare = COMPARE[sign]
    convert: Callable[[Result], object]
    if sign not in ("==", "!=") and (order := _order(left, right, parameters)) is not None:
        convert = lambda value: None if value is None else order.get(text_of(value))  # noqa: E731
    elif _is_text(left, parameters) or _is_text(right, parameters):
        convert = lambda value: None if value is None else text_of(value)  # noqa: E731
    else:
        convert = number_of
    first, second = evaluator(left, parameters), evaluator(right, parameters)

    def evaluate(active: Mapping[str, Value]) -> Result:
        one, other = convert(first(active)), convert(second(active))
        return None if one is None or other is None else compare(one, other)

    return evaluate


def _order(
    left: Expression, right: Expression, parameters: Mapping[str, Parameter]
) -> dict[str, int] | None:
    """Places of an ordinal parameter's values, if one side is one."""
    for side in (left, right):
        if isinstance(side, Name) and (ordinal := parameters[side.name]).kind == "ordinal":
            return {text_of(value): place for place, value in enumerate(ordinal.values)}
    return None


def _is_text(side: Expression, parameters: Mapping[str, Parameter]) -> bool:
    if isinstance(side, Name):
        return parameters[side.name].kind in LISTED
    return False


def number_of(value: Result) -> float | None:
    """A value as a number, if it is one."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return None if value is None or math.isnan(value) else float(value)


def _call(function: str, arguments: list[Evaluator]) -> Evaluator:
    return _call_numbers(FUNCTIONS[function].compute, arguments)


def _call_numbers(compute: Callable[..., float], arguments: list[Evaluator]) -> Evaluator:
    def evaluate(active: Mapping[str, Value]) -> Result:
        numbers = [number_of(argument(active)) for argument in arguments]
        if None in numbers:
            return None
        try:
            result = compute(*numbers)
        except (ArithmeticError, ValueError):
            return None
        return result if math.isfinite(result) else None

    return evaluate
