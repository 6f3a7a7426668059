"""One parameter: its domain, its default, and the value at a quantile of the domain."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from cunctator.errors import InvalidKey

Value = str | int | float | bool
Kind = Literal["categorical", "ordinal", "integer", "real"]
Wanted = Value | Sequence[Value]
"""What a condition asks of a parent: a value, some values, or a comparison such as `"> 5"`."""

LISTED: tuple[Kind, ...] = ("categorical", "ordinal")
LARGEST_INTEGER = 2**53
"""Up to here a float holds integers exactly."""

DIGITS = 6
"""Significant digits of sampled reals: enough to search with, and fit to be read and typed."""

NARROW = 1e-4
"""Share of its numbers' size below which a range needs more digits than that."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the target; make it with `make_parameter`, which checks it."""

    name: str
    kind: Kind
    default: Value
    values: tuple[Value, ...] = ()
    """Of a categorical or ordinal parameter; the order is that of an ordinal one."""
    low: int | float = 0
    high: int | float = 0
    """Of a number, both included."""
    log: bool = False
    """Whether a number is drawn uniformly on a logarithmic scale."""
    when: Mapping[str, Wanted] = field(default_factory=dict)
    """Conditions by parent; all must hold, or the parameter is not active."""

    def at(self, quantile: float) -> Value:
        """The value at a quantile, 0 <= quantile < 1, of the uniform distribution."""
        if self.kind in LISTED:
            return self.values[int(quantile * len(self.values))]
        if self.kind == "integer":
            beyond = self.high + 1
            whole = math.floor(between(self.low, beyond, quantile, self.log))
            return int(min(max(whole, self.low), self.high))
        drawn = between(self.low, self.high, quantile, self.log)
        if self.high - self.low > NARROW * max(abs(self.low), abs(self.high)):
            drawn = float(f"{drawn:.{DIGITS}g}")
        return float(min(max(drawn, self.low), self.high))

    def members(self) -> Iterable[Value]:
        """All values; of a real number there are too many."""
        assert self.kind != "real"
        return self.values if self.kind in LISTED else range(int(self.low), int(self.high) + 1)


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
    low: float | None = None,
    high: float | None = None,
    log: bool = False,
    when: Mapping[str, Wanted] | None = None,
) -> Parameter:
    """A parameter, after checking it; conditions are checked by the space, which knows the rest."""
    key = ("parameters", name)
    if not name or not name.isprintable() or set(name) & set("{}"):
        fix = "use printable characters other than { and }"
        raise InvalidKey(key, f"{name!r} cannot be a parameter's name", fix)
    conditions = dict(when or {})
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
    least = _check_number(low, kind, (*key, "low"))
    most = _check_number(high, kind, (*key, "high"))
    if not least < most:
        problem = f"low is {least} and high is {most}"
        raise InvalidKey((*key, "low"), problem, "give a low below the high")
    if log and least <= 0:
        problem = f"low is {least} on a logarithmic scale"
        raise InvalidKey((*key, "low"), problem, "give a positive low, or remove log = true")
    chosen_number = _check_number(default, kind, (*key, "default"))
    if not least <= chosen_number <= most:
        problem = f"{chosen_number} is outside {least} to {most}"
        raise InvalidKey((*key, "default"), problem, "give a default within the range")
    return Parameter(name, kind, chosen_number, low=least, high=most, log=log, when=conditions)


def member_like(value: Value, members: Sequence[Value], key: tuple[str, ...]) -> Value:
    """The member that looks like this value."""
    for member in members:
        if text_of(member) == text_of(value):
            return member
    shown = ", ".join(text_of(member) for member in members[:20])
    raise InvalidKey(key, f"{text_of(value)!r} is not a value of it", f"expected one of {shown}")


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
