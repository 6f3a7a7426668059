"""Conditions: what a parent's value must be for a parameter to be active.

Every condition becomes a set of the parent's values: texts if they are listed, closed ranges if
they are numbers. So two conditions can be intersected, and one that nothing fulfils is found when
the file is read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cunctator.base.errors import InvalidKey
from cunctator.space.expressions import names_in
from cunctator.space.parameters import LISTED, Parameter, Value, Wanted, member_like, text_of

Range = tuple[float, float]
Key = tuple[str, ...]

MOST_ANCESTORS = 100
"""Whose conditions are looked at together; a parameter with more is checked less far."""

COMPARISON = re.compile(r"\s*(<=|>=|<|>)\s*(.*?)\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Condition:
    """Holds if the parent is active and its value is one of these."""

    parent: str
    among: frozenset[str] = frozenset()
    """Values as text, of a parent with listed values."""
    ranges: tuple[Range, ...] = ()
    """Both ends included, of a parent that is a number; ascending, and apart from each other."""

    @property
    def is_empty(self) -> bool:
        """Whether no value fulfils it."""
        return not self.among and not self.ranges

    def holds(self, value: Value) -> bool:
        """Whether this value of the parent fulfils it."""
        if self.among:
            return text_of(value) in self.among
        return any(low <= float(value) <= high for low, high in self.ranges)


def both(one: Condition, other: Condition) -> Condition:
    """What fulfils two conditions on the same parent."""
    ranges: list[Range] = []
    first, second = 0, 0
    while first < len(one.ranges) and second < len(other.ranges):
        (low, high), (bottom, top) = one.ranges[first], other.ranges[second]
        if max(low, bottom) <= min(high, top):
            ranges.append((max(low, bottom), min(high, top)))
        first, second = (first + 1, second) if high < top else (first, second + 1)
    return Condition(one.parent, one.among & other.among, tuple(ranges))


def conditions_of(parameter: Parameter, parameters: Mapping[str, Parameter]) -> list[Condition]:
    """The conditions of a parameter, one for each parent; none if an expression says when."""
    if not isinstance(parameter.when, Mapping):
        return []
    found = []
    for parent, wanted in parameter.when.items():
        key = ("parameters", parameter.name, "when", parent)
        if parent not in parameters:
            fix = "name a parameter of this file"
            raise InvalidKey(key, f"there is no parameter {parent!r}", fix)
        found.append(make_condition(parameters[parent], wanted, key))
    return found


def parents_of(parameter: Parameter) -> list[str]:
    """The parameters that decide whether it is active, and within which bounds."""
    expressions = [parameter.low_expression, parameter.high_expression]
    names: list[str] = []
    if isinstance(parameter.when, Mapping):
        names.extend(parameter.when)
    else:
        expressions.append(parameter.when)
    for expression in expressions:
        names.extend(names_in(expression) if expression is not None else ())
    return list(dict.fromkeys(names))


def check_reachable(conditions: Mapping[str, Sequence[Condition]]) -> None:
    """Complain about a parameter that is never active; parents come before their children."""
    for name, parent in never_active(conditions).items():
        problem = f"never active: no value of {parent} fits all conditions"
        fix = "correct its conditions, or those of its parents"
        raise InvalidKey(("parameters", name, "when"), problem, fix)


def never_active(conditions: Mapping[str, Sequence[Condition]]) -> dict[str, str]:
    """Parameters that are never active, each with the parent of which no value fits.

    All conditions must hold, so what all ancestors ask for can be intersected; parents come before
    their children. What expressions say is left out of it.
    """
    needed: dict[str, dict[str, Condition]] = {}
    found: dict[str, str] = {}
    for name, own in conditions.items():
        mine: dict[str, Condition] = {}
        for condition in own:
            for other in (condition, *needed[condition.parent].values()):
                before = mine.get(other.parent)
                joined = other if before is None else both(before, other)
                if joined.is_empty:
                    found.setdefault(name, other.parent)
                mine[other.parent] = joined
        # The ancestors of a long chain are not carried along: that would take for ever.
        direct = {condition.parent for condition in own}
        is_long = len(mine) > MOST_ANCESTORS
        needed[name] = {p: c for p, c in mine.items() if p in direct} if is_long else mine
    return found


def make_condition(parent: Parameter, wanted: Wanted, key: Key) -> Condition:
    """The condition that a file states as a value, a list of values or a comparison."""
    is_list = isinstance(wanted, Sequence) and not isinstance(wanted, str)
    choices: list[Value] = list(wanted) if is_list else [wanted]  # type: ignore[arg-type, list-item]
    if not choices:
        raise InvalidKey(key, "an empty list never holds", "give a value of the parent")
    if parent.kind in LISTED:
        texts = {text_of(value): place for place, value in enumerate(parent.values)}
        parts = [_listed(parent, texts, choice, key) for choice in choices]
        return Condition(parent.name, among=frozenset().union(*parts))
    if is_list and any(isinstance(choice, str) for choice in choices):
        fix = 'give one comparison, e.g. "> 5", or a list of numbers'
        raise InvalidKey(key, "a comparison cannot be in a list", fix)
    domain = Condition(parent.name, ranges=((parent.low, parent.high),))
    asked = Condition(parent.name, ranges=tuple(sorted({_range(parent, c, key) for c in choices})))
    condition = both(domain, asked)
    if parent.kind == "integer":
        # Ends that depend on other parameters are infinite as far as this is concerned.
        whole = [
            (
                low if math.isinf(low) else math.ceil(low),
                high if math.isinf(high) else math.floor(high),
            )
            for low, high in condition.ranges
        ]
        condition = Condition(parent.name, ranges=tuple((a, b) for a, b in whole if a <= b))
    if condition.is_empty:
        problem = f"{parent.name} is never that: it goes from {parent.low} to {parent.high}"
        raise InvalidKey(key, problem, "give a condition that can hold")
    return condition


def _listed(parent: Parameter, texts: Mapping[str, int], choice: Value, key: Key) -> frozenset[str]:
    """Texts of the listed values that a choice stands for; `texts` are all, with their places."""
    if text_of(choice) in texts:
        return frozenset([text_of(choice)])
    comparison = COMPARISON.fullmatch(choice) if isinstance(choice, str) else None
    if comparison is None or parent.kind != "ordinal":
        return frozenset([text_of(member_like(choice, parent.values, key))])
    place = texts[text_of(member_like(comparison[2], parent.values, key))]
    ordered = list(texts)
    chosen = {
        "<": ordered[:place],
        "<=": ordered[: place + 1],
        ">": ordered[place + 1 :],
        ">=": ordered[place:],
    }[comparison[1]]
    if not chosen:
        problem = f"no value of {parent.name} is {choice}"
        raise InvalidKey(key, problem, "give a condition that can hold")
    return frozenset(chosen)


def _range(parent: Parameter, choice: Value, key: Key) -> Range:
    """Numbers that a choice stands for; an open end becomes the next number."""
    fix = 'give a number, a list of numbers, or a comparison, e.g. "> 5"'
    if isinstance(choice, str):
        comparison = COMPARISON.fullmatch(choice)
        try:
            number = float(comparison[2]) if comparison else math.nan
        except ValueError:
            number = math.nan
        if comparison is None or not math.isfinite(number):
            problem = f"{parent.name} is a number; {choice!r} says nothing about one"
            raise InvalidKey(key, problem, fix)
        return {
            "<": (-math.inf, math.nextafter(number, -math.inf)),
            "<=": (-math.inf, number),
            ">": (math.nextafter(number, math.inf), math.inf),
            ">=": (number, math.inf),
        }[comparison[1]]
    if isinstance(choice, bool) or not abs(choice) < math.inf:
        raise InvalidKey(key, f"{parent.name} is a number, not {text_of(choice)!r}", fix)
    if parent.kind == "real":
        problem = f"{parent.name} is real and never exactly {text_of(choice)}"
        raise InvalidKey(key, problem, 'give a comparison, e.g. "> 5"')
    return (choice, choice)
