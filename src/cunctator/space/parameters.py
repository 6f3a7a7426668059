"""One parameter: its domain, its default, and the value at a quantile of the domain.

The bounds of a number may depend on other parameters. Then they are expressions, and known only
when those are; see `space.py`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from cunctator.base.errors import InvalidKey

if TYPE_CHECKING:
    from cunctator.space.expressions.syntax import Expression

Value = str | int | float | bool
Kind = Literal["categorical", "ordinal", "integer", "real"]
Wanted = Value | Sequence[Value]
"""What a condition asks of a parent: a value, some values, or a comparison such as `"> 5"`."""

LISTED: tuple[Kind, ...] = ("categorical", "ordinal")
LARGEST_INTEGER = 2**53
"""Up to here a float holds integers exactly."""

DIGITS = 6
"""Significant digits of sampled reals: enough to search with, and fit to be read and typed. A
range that is narrow beside its numbers needs more: one for each tenth part that it is of them."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the target; make it with `make_parameter`, which checks it."""

    name: str
    kind: Kind
    default: Value
    values: tuple[Value, ...] = ()
    """Of a categorical or ordinal parameter; the order is that of an ordinal one."""
    low: int | float = -math.inf
    high: int | float = math.inf
    """Of a number, both included; infinite if there is an expression for it."""
    low_expression: Expression | None = None
    high_expression: Expression | None = None
    log: bool = False
    """Whether a number is drawn uniformly on a logarithmic scale."""
    when: Mapping[str, Wanted] | Expression = field(default_factory=dict)
    """Conditions by parent, all of which must hold, or an expression; else it is not active."""

    @property
    def has_fixed_bounds(self) -> bool:
        """Whether its domain depends on nothing."""
        return self.low_expression is None and self.high_expression is None

    def at(self, quantile: float) -> Value:
        """The value at a quantile, 0 <= quantile < 1, of the uniform distribution."""
        if self.kind in LISTED:
            return self.values[int(quantile * len(self.values))]
        return self.number_between(self.low, self.high, quantile)

    def column(self, quantiles: NDArray[np.float64]) -> list[Value]:
        """The values at several quantiles, the same as `at` gives one by one, but sooner."""
        if self.kind in LISTED:
            places = (quantiles * len(self.values)).astype(np.int64)
            return [self.values[place] for place in places.tolist()]
        if self.kind == "integer" and not self.log:
            drawn = self.low * (1 - quantiles) + (self.high + 1) * quantiles
            whole: list[Value] = np.clip(np.floor(drawn), self.low, self.high).astype(int).tolist()
            return whole
        # Logarithms of arrays are not the same on all machines, to the last digit.
        if self.kind == "integer":
            start, end = math.log(self.low), math.log(self.high + 1)
            exponents = (start * (1 - quantiles) + end * quantiles).tolist()
            low, high = int(self.low), int(self.high)
            return [min(max(math.floor(math.exp(x)), low), high) for x in exponents]
        return [self.at(quantile) for quantile in quantiles.tolist()]

    def number_between(self, low: float, high: float, quantile: float) -> int | float:
        """The value at a quantile of a range, both ends included."""
        if self.kind == "integer":
            whole = math.floor(between(low, high + 1, quantile, self.log))
            return int(min(max(whole, low), high))
        drawn = between(low, high, quantile, self.log)
        if high > low:
            share = min(1.0, (high - low) / max(abs(low), abs(high)))
            digits = DIGITS - math.ceil(math.log10(share))
            drawn = float(f"{drawn:.{digits}g}")
        return float(min(max(drawn, low), high))

    def quantile_of(self, low: float, high: float, value: float) -> float:
        """Where a number is in a range, on its scale: the inverse of `number_between`."""
        if self.kind == "integer":
            high, value = high + 1, value + 0.5
        if self.log and 0.0 < low < high:
            low, high, value = math.log(low), math.log(high), math.log(value)
        if not 0.0 < high - low < math.inf:  # to the last digit, for logarithms; or too wide
            return 0.5
        return min(max((value - low) / (high - low), 0.0), 1.0)

    def members(self, low: float, high: float) -> Sequence[Value]:
        """All values, numbers within this range; of real numbers there are too many."""
        assert self.kind != "real"
        return self.values if self.kind in LISTED else range(math.ceil(low), math.floor(high) + 1)


def between(low: float, high: float, share: float, log: bool) -> float:
    """The number at a share of the way from `low` to `high`."""
    if log:
        return math.exp(math.log(low) * (1 - share) + math.log(high) * share)
    return low * (1 - share) + high * share


def text_of(value: Value) -> str:
    """A value as it appears on a command line: no `True`, and no exponent that bc cannot read."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return format(Decimal(repr(value)), "f")
    return str(value)


def make_parameter(
    name: str,
    kind: Kind,
    default: Value,
    *,
    values: Sequence[Value] | None = None,
    low: float | Expression | None = None,
    high: float | Expression | None = None,
    log: bool = False,
    when: Mapping[str, Wanted] | Expression | None = None,
) -> Parameter:
    """A parameter, after checking it; conditions are checked by the space, which knows the rest."""
    key = ("parameters", name)
    if not name or not name.isprintable() or set(name) & set("{}"):
        fix = "use printable characters other than { and }"
        raise InvalidKey(key, f"{name!r} cannot be a parameter's name", fix)
    conditions = dict(when or {}) if when is None or isinstance(when, Mapping) else when
    if kind in LISTED:
        for word, given in (("low", low), ("high", high), ("log", log or None)):
            if given is not None:
                problem = f"does not apply to a {kind} parameter"
                raise InvalidKey((*key, word), problem, "remove it, or give another type")
        members = _check_values(values, (*key, "values"))
        chosen = member_like(default, members, (*key, "default"))
        return Parameter(name, kind, chosen, values=members, when=conditions)
    if values is not None:
        problem = f"does not apply to {kind} parameters"
        raise InvalidKey((*key, "values"), problem, "give low and high, or type = 'ordinal'")
    low, low_expression = _split(low)
    high, high_expression = _split(high)
    least = -math.inf if low_expression else _check_number(low, kind, (*key, "low"))
    most = math.inf if high_expression else _check_number(high, kind, (*key, "high"))
    if not least < most:
        problem = f"low is {least} and high is {most}"
        raise InvalidKey((*key, "low"), problem, "give a low below the high")
    if log and not low_expression and least <= 0:
        problem = f"low is {least} on a logarithmic scale"
        raise InvalidKey((*key, "low"), problem, "give a positive low, or remove log = true")
    return Parameter(
        name,
        kind,
        _check_within(default, kind, least, most, (*key, "default")),
        low=least,
        high=most,
        low_expression=low_expression,
        high_expression=high_expression,
        log=log,
        when=conditions,
    )


def _split(bound: float | Expression | None) -> tuple[float | None, Expression | None]:
    """A bound as a number, or as an expression."""
    if bound is None or isinstance(bound, int | float | str):
        return bound, None
    return None, bound


def member_like(value: Value, members: Sequence[Value], key: tuple[str, ...]) -> Value:
    """The member that looks like this value."""
    for member in members:
        if text_of(member) == text_of(value):
            return member
    shown = ", ".join(text_of(member) for member in members[:20])
    raise InvalidKey(key, f"{text_of(value)!r} is not a value of it", f"expected one of {shown}")


def check_value(
    parameter: Parameter, value: Value, low: float, high: float, key: tuple[str, ...]
) -> Value:
    """A value that somebody wrote, as one of the parameter's own; numbers within this range."""
    if parameter.kind in LISTED:
        return member_like(value, parameter.values, key)
    return _check_within(value, parameter.kind, low, high, key)


def _check_within(
    given: Any, kind: Kind, low: float, high: float, key: tuple[str, ...]
) -> int | float:
    number = _check_number(given, kind, key)
    if not low <= number <= high:
        problem = f"{number} is outside {low} to {high}"
        raise InvalidKey(key, problem, f"give a {key[-1]} within the range")
    return number


def _check_values(values: Sequence[Value] | None, key: tuple[str, ...]) -> tuple[Value, ...]:
    if not values:
        raise InvalidKey(key, "there are no values", 'give some, e.g. values = ["a", "b"]')
    seen: set[str] = set()
    for value in values:
        text = text_of(value)
        if "\0" in text:
            raise InvalidKey(key, f"{text!r} holds a NUL", "no program can be given that")
        if text in seen:
            problem = f"{text!r} is given twice"
            raise InvalidKey(key, problem, "keep one; 1 and '1' are the same on a command line")
        seen.add(text)
    return tuple(values)


def _check_number(given: Any, kind: Kind, key: tuple[str, ...]) -> int | float:
    if given is None:
        raise InvalidKey(key, "is missing", f"give the {key[-1]} of the range")
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if not is_number or not abs(given) <= sys.float_info.max:
        raise InvalidKey(key, f"{given!r} is not a finite number", "give a number")
    if kind == "real":
        return float(given)
    if given != int(given) or abs(given) > LARGEST_INTEGER:
        problem = f"{given!r} is not a whole number up to 2^53"
        raise InvalidKey(key, problem, "give a whole number, or type = 'real'")
    return int(given)
