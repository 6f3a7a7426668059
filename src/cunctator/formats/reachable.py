"""Parameters of other tools' files that are never active: found, and taken out.

Such files are in use: two conditions on one parent exclude each other, or a parent never has the
value that is asked for. The other tools take them, since a parameter that is never active does no
harm; here it would be refused as a mistake, which it mostly is in a scenario of one's own.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from cunctator.space.conditions import conditions_of, never_active, parents_of
from cunctator.space.expressions import (
    Constant,
    Expression,
    Member,
    Name,
    Operation,
    evaluator,
    names_in,
)
from cunctator.space.expressions.evaluation import truth
from cunctator.space.expressions.reduction import NEVER, without
from cunctator.space.expressions.syntax import COMPARISONS, children_of
from cunctator.space.parameters import LISTED, Parameter, Value

MOST_ROWS = 500
"""Combinations of an expression's parents that are looked at; with more, it is taken to hold."""

MOST_STEPS = 100_000
"""The same for a whole file: hostile ones must not take for ever."""


@dataclass(frozen=True, slots=True)
class Reached:
    """What is left of a space."""

    parameters: tuple[Parameter, ...]
    forbidden: tuple[Expression | None, ...]
    """By place; None where a clause never applies any more."""
    gone: Mapping[str, str]
    """Parameters that are never active, with the reason."""


def reachable(parameters: Sequence[Parameter], forbidden: Sequence[Expression]) -> Reached:
    """A space without what is never active; where it makes no sense, whoever makes it says so."""
    by_name = {parameter.name: parameter for parameter in parameters}
    order = _parents_first(by_name)
    tables = never_active({name: conditions_of(by_name[name], by_name) for name in order})
    gone: dict[str, str] = {}
    search = _Search(by_name)
    for name in order:
        parameter = by_name[name]
        lost = [parent for parent in _needed(parameter) if parent in gone]
        if lost:
            gone[name] = f"{lost[0]} is never active"
        elif name in tables:
            gone[name] = f"no value of {tables[name]} fits all conditions"
        elif not isinstance(parameter.when, Mapping):
            when = without(parameter.when, gone.keys())
            by_name[name] = dataclasses.replace(parameter, when=when)
            if when == NEVER or not search.can_hold(name, when):
                gone[name] = "its condition never holds"
    if not gone:
        return Reached(tuple(parameters), tuple(forbidden), {})
    rules = (without(rule, gone.keys()) for rule in forbidden)
    return Reached(
        tuple(by_name[p.name] for p in parameters if p.name not in gone),
        tuple(None if rule == NEVER else rule for rule in rules),
        gone,
    )


def _parents_first(by_name: Mapping[str, Parameter]) -> list[str]:
    """Empty if some parents are unknown, or depend on each other."""
    graph = {parameter.name: parents_of(parameter) for parameter in by_name.values()}
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError:
        return []
    return order if all(name in by_name for name in order) else []


def _needed(parameter: Parameter) -> Iterator[str]:
    """Parents without which it is not active, or has no range."""
    if isinstance(parameter.when, Mapping):
        yield from parameter.when
    for bound in (parameter.low_expression, parameter.high_expression):
        if bound is not None:
            yield from names_in(bound)


class _Search:
    """Looks for values of its parents that make a parameter active.

    Of a number, only as many values are tried as the comparisons with it can tell apart.
    """

    def __init__(self, by_name: Mapping[str, Parameter]) -> None:
        self._by_name = by_name
        self._in_tables = {
            parent
            for parameter in by_name.values()
            if isinstance(parameter.when, Mapping)
            for parent in parameter.when
        }
        self._steps = 0

    def can_hold(self, name: str, when: Expression) -> bool:
        """Whether a condition is ever true; also if that is not found out."""
        ancestors = self._ancestors(name)
        others = (self._expression(ancestor) for ancestor in ancestors)
        expressions = [when, *(other for other in others if other is not None)]
        rows: list[dict[str, Value]] = [{}]
        for ancestor in ancestors:
            values = self._values(ancestor, expressions)
            if values is None or len(rows) * len(values) > MOST_ROWS:
                return True
            rows = self._longer(rows, ancestor, values)
            self._steps += len(rows)
        if self._steps > MOST_STEPS:
            return True
        holds = evaluator(when, self._by_name)
        return any(truth(holds(row)) is True for row in rows)

    def _ancestors(self, name: str) -> list[str]:
        """Parents before their children."""
        found: dict[str, None] = {}
        waiting = list(parents_of(self._by_name[name]))
        while waiting:
            one = waiting.pop()
            found[one] = None
            if len(found) > MOST_ROWS:
                break
            waiting.extend(p for p in parents_of(self._by_name[one]) if p not in found)
        graph = {
            one: [p for p in parents_of(self._by_name[one]) if p in found] for one in sorted(found)
        }
        return list(TopologicalSorter(graph).static_order())

    def _expression(self, name: str) -> Expression | None:
        when = self._by_name[name].when
        return None if isinstance(when, Mapping) else when

    def _longer(
        self, rows: list[dict[str, Value]], name: str, values: Sequence[Value]
    ) -> list[dict[str, Value]]:
        """Each row with each value, where the parameter is active."""
        parameter = self._by_name[name]
        conditions = conditions_of(parameter, self._by_name)
        when = self._expression(name)
        decide = None if when is None else evaluator(when, self._by_name)
        found: list[dict[str, Value]] = []
        for row in rows:
            is_active = all(c.parent in row and c.holds(row[c.parent]) for c in conditions)
            if is_active and (decide is None or truth(decide(row)) is True):
                found.extend({**row, name: value} for value in values)
            else:
                found.append(row)
        return found

    def _values(self, name: str, expressions: Sequence[Expression]) -> Sequence[Value] | None:
        """Values of a parameter; None if too much depends on it to choose some."""
        parameter = self._by_name[name]
        if parameter.kind in LISTED:
            return parameter.values
        if not parameter.has_fixed_bounds or name in self._in_tables:
            return None
        points: list[float] = [parameter.low, parameter.high]
        for expression in expressions:
            found = _compared_with(name, expression)
            if found is None:
                return None
            points.extend(found)
        inside = [point for point in points if parameter.low - 1 <= point <= parameter.high + 1]
        near: set[float]
        if parameter.kind == "integer":
            near = {math.floor(point) + step for point in inside for step in (-1, 0, 1, 2)}
        else:
            ends = (-math.inf, math.inf)
            near = {*inside, *(math.nextafter(point, end) for point in inside for end in ends)}
        return sorted(point for point in near if parameter.low <= point <= parameter.high)


def _compared_with(name: str, expression: Expression) -> list[float] | None:
    """The numbers that a parameter is compared with; None if it is used otherwise."""
    found: list[float] = []
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        match part:
            case Operation(sign, (Name(one), Constant(value)) | (Constant(value), Name(one))) if (
                sign in COMPARISONS and one == name
            ):
                constants = [value]
            case Member(Name(one), values) if one == name:
                constants = [value.value for value in values]
            case Operation("==", (Name(one), Name(other))) if one == other == name:
                constants = []  # whether it is active
            case Name(one) if one == name:
                return None
            case _:
                waiting.extend(children_of(part))
                continue
        if any(isinstance(value, str) for value in constants):
            return None
        found.extend(float(value) for value in constants)
    return found
