"""Which values of a parameter the words of a PCS file stand for.

The words of a condition may be wrong: values that the parent does not have. So every comparison
is known by the values that fulfil it, and those that nothing fulfils are found.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from cunctator.formats.pcs_lines import ParentComparison, PcsLine, number_in
from cunctator.space.expressions import Constant, Expression, Member, Name, Operation, all_of
from cunctator.space.parameters import LISTED, Parameter, Value, text_of

ORDERED = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@dataclass(frozen=True)
class Domain:
    """A parameter, and what texts mean to it; without slots, so that it can remember."""

    line: PcsLine
    parameter: Parameter
    fixed: float | None = None
    """Its only value, if it was declared as a number."""

    @property
    def name(self) -> str:
        """Of the parameter."""
        return self.parameter.name

    @property
    def is_listed(self) -> bool:
        """Whether its values are texts, also if there is only a number among them."""
        return self.parameter.kind in LISTED

    @property
    def is_ordered(self) -> bool:
        """Whether its values can be less and greater."""
        return self.parameter.kind != "categorical" or self.fixed is not None

    @cached_property
    def places(self) -> dict[Value, int]:
        """Of listed values."""
        return {value: place for place, value in enumerate(self.parameter.values)}

    @cached_property
    def numbers(self) -> frozenset[float] | None:
        """Listed values, if all are numbers and the order of an ordinal one is theirs."""
        found = [number_in(str(value)) for value in self.parameter.values]
        numbers = [number for number in found if number is not None]
        is_ordinal = self.parameter.kind == "ordinal"
        if not numbers or len(numbers) < len(found) or (is_ordinal and numbers != sorted(numbers)):
            return None
        return frozenset(numbers)

    def member(self, text: str) -> Value | None:
        """The value that a text stands for."""
        parameter = self.parameter
        if self.is_listed and self.fixed is None:
            return text if text in self.places else None
        number = number_in(text)
        if self.fixed is not None:
            return parameter.values[0] if number == self.fixed else None
        if number is None or not parameter.low <= number <= parameter.high:
            return None
        if parameter.kind == "real":
            return float(number)
        return int(number) if number == int(number) else None

    def can_equal(self, value: Value) -> bool:
        """Whether it ever equals this value of an expression, in which numbers are numbers."""
        if self.numbers is not None:
            return number_in(text_of(value)) in self.numbers
        return self.member(text_of(value)) is not None

    def listed(self, sign: str, text: str) -> tuple[Value, ...]:
        """The listed values that are less, greater or other than one."""
        values = self.parameter.values
        if sign == "!=":
            return tuple(value for value in values if value != self.member(text))
        compare = ORDERED[sign]
        if self.fixed is not None:
            number = number_in(text)
            return values if number is not None and compare(self.fixed, number) else ()
        if text not in self.places:
            return ()
        return tuple(v for v in values if compare(self.places[v], self.places[text]))


@dataclass(frozen=True, slots=True)
class Part:
    """A comparison with a parent, understood."""

    parent: Parameter
    expression: Expression
    among: tuple[Value, ...] | None = None
    """The values that fulfil it, if they can be listed."""
    low: float = -math.inf
    high: float = math.inf
    """The numbers that fulfil it, if those cannot."""
    is_plain: bool = False
    """Whether a table of values can say it as the file does."""


def understood(said: ParentComparison, domain: Domain, line: PcsLine) -> Part:
    """A comparison that makes sense for its parent; values that it does not have are left out."""
    name = Name(domain.name)
    if said.sign in ORDERED and not domain.is_ordered:
        problem = f"{domain.name!r} is categorical: its values have no order"
        raise line.wrong(problem, "compare with ==, != or in")
    if said.sign in ("in", "=="):
        found = (domain.member(text) for text in said.values)
        among = tuple(dict.fromkeys(value for value in found if value is not None))
        is_plain = domain.parameter.kind != "real"
        return Part(domain.parameter, _one_of(name, among), among, is_plain=is_plain)
    if domain.is_listed:
        among = domain.listed(said.sign, said.values[0])
        return Part(domain.parameter, _one_of(name, among), among)
    number = number_in(said.values[0])
    if number is None or not abs(number) < math.inf:
        problem = f"{domain.name!r} is a number and cannot be compared with {said.values[0]!r}"
        raise line.wrong(problem, "give a finite number")
    low, high = _range(said.sign, float(number))
    return Part(domain.parameter, Operation(said.sign, (name, Constant(number))), None, low, high)


def unknown_values(said: ParentComparison, domain: Domain) -> Iterator[str]:
    """The values of a comparison that its parent does not have."""
    is_about_numbers = not domain.is_listed or domain.fixed is not None
    if said.sign not in ORDERED or not is_about_numbers:
        yield from (text for text in said.values if domain.member(text) is None)


def is_possible(parts: Sequence[Part]) -> bool:
    """Whether some values fulfil all these parts."""
    among: dict[str, set[Value]] = {}
    ranges: dict[str, tuple[float, float]] = {}
    for part in parts:
        parent = part.parent
        if part.among is not None:
            values = set(part.among)
            among[parent.name] = among.get(parent.name, values) & values
        low, high = ranges.get(parent.name, (parent.low, parent.high))
        ranges[parent.name] = (max(low, part.low), min(high, part.high))
    for parent in {part.parent.name: part.parent for part in parts}.values():
        low, high = ranges[parent.name]
        if parent.name not in among:
            is_whole = parent.kind == "integer"
            some = math.ceil(low) <= math.floor(high) if is_whole else low <= high
        elif parent.kind in LISTED:
            some = bool(among[parent.name])
        else:
            some = any(low <= float(value) <= high for value in among[parent.name])
        if not some:
            return False
    return True


def table_of(parts: Sequence[Part]) -> dict[str, list[Value]]:
    """The values of each parent that fulfil all these parts."""
    table: dict[str, list[Value]] = {}
    for part in parts:
        values = part.among or ()
        wanted = set(values)
        before = table.get(part.parent.name, values)
        table[part.parent.name] = [value for value in before if value in wanted]
    return table


def joined(parts: Sequence[Part]) -> Expression:
    """All these parts."""
    return all_of([part.expression for part in parts])


def _one_of(name: Name, values: tuple[Value, ...]) -> Expression:
    if len(values) == 1:
        return Operation("==", (name, Constant(values[0])))
    return Member(name, tuple(Constant(value) for value in values))


def _range(sign: str, number: float) -> tuple[float, float]:
    """The numbers that a comparison allows; an open end becomes the next number."""
    return {
        "<": (-math.inf, math.nextafter(number, -math.inf)),
        "<=": (-math.inf, number),
        ">": (math.nextafter(number, math.inf), math.inf),
        ">=": (number, math.inf),
        "!=": (-math.inf, math.inf),
    }[sign]
