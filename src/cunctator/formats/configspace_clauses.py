"""Conditions and forbidden clauses of ConfigSpace, as expressions.

Values keep their types, because a Python function is given them as they are. Only None has no place
in a scenario, and becomes a text.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from cunctator.space.expressions import (
    Call,
    Constant,
    Expression,
    Member,
    Name,
    Operation,
    all_of,
    any_of,
)
from cunctator.space.parameters import LISTED, Parameter, Value

DEEPEST = 50
CONDITIONS = {"EQ": "==", "NEQ": "!=", "LT": "<", "GT": ">"}
CLAUSES = {
    "EQUALS": "==",
    "CLAUSE_LT": "<",
    "CLAUSE_LE": "<=",
    "CLAUSE_GT": ">",
    "CLAUSE_GE": ">=",
}
RELATIONS = {"LT": "<", "LE": "<=", "EQ": "==", "GT": ">", "GE": ">="}
COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
}


class NoSense(ValueError):
    """What is wrong with a part of the file."""

    def __init__(self, key: str, problem: str) -> None:
        self.key = key
        self.problem = problem
        super().__init__(f"{key}: {problem}")


def value_of(given: Any, key: str) -> Value:
    """A value as ours; numbers and truth values of numpy become Python's."""
    given = given.item() if hasattr(given, "item") else given
    if given is None:
        return str(given)
    is_float = isinstance(given, float)
    if (is_float and not math.isfinite(given)) or (isinstance(given, int) and abs(given) >= 2**63):
        raise NoSense(key, f"{given} is not a finite number of at most 64 bits")
    if isinstance(given, str | int | float):
        return given
    raise NoSense(key, f"{given!r} is not a text or a number")


class Clauses:
    """Reads what is said about some parameters."""

    def __init__(self, parameters: Mapping[str, Parameter], warnings: list[str]) -> None:
        self._parameters = parameters
        self._warnings = warnings
        self._unequal: set[str] = set()
        """Parents that are asked not to be something."""

    def condition(self, item: Any) -> tuple[str, Expression]:
        """The child of a condition, and when it is active."""
        child = self._name(item, "child")
        return child, self._condition(item, child, 0)

    def forbidden(self, item: Any) -> Expression | None:
        """What must not be; None if it never is."""
        return self._forbidden(item, 0)

    def warn_of_inactive(self, conditions: Mapping[str, object]) -> None:
        """Say where ConfigSpace may decide otherwise."""
        for parent in sorted(self._unequal & conditions.keys()):
            self._warnings.append(
                f"where {parent} is not active, conditions such as {parent} != ... do not hold;"
                " ConfigSpace is not of one mind about that"
            )

    def _condition(self, item: Any, child: str, depth: int) -> Expression:
        kind = _kind(item, "conditions", depth)
        if kind in ("AND", "OR"):
            inside = _some(item, "conditions", child)
            parts = [self._condition(part, child, depth + 1) for part in inside]
            return all_of(parts) if kind == "AND" else any_of(parts)
        parent = self._name(item, "parent")
        if kind == "IN":
            return self._among(parent, _some(item, "values", child))
        if kind not in CONDITIONS:
            raise NoSense("conditions", f"the type {kind} is unknown")
        if kind == "NEQ":
            self._unequal.add(parent)
        return self._compared(parent, CONDITIONS[kind], item)

    def _forbidden(self, item: Any, depth: int) -> Expression | None:
        kind = _kind(item, "forbiddens", depth)
        if kind in ("AND", "OR"):
            inside = [self._forbidden(p, depth + 1) for p in _some(item, "clauses", "forbiddens")]
            kept = [part for part in inside if part is not None]
            if not kept or (kind == "AND" and len(kept) < len(inside)):
                return None
            return all_of(kept) if kind == "AND" else any_of(kept)
        if kind.startswith("RELATION"):
            word = str(item.get("lambda")) if kind == "RELATION" else kind.removeprefix("RELATION_")
            return self._relation(item, word)
        name = self._name(item, "name")
        if kind == "IN":
            return self._among(name, _some(item, "values", name))
        if kind not in CLAUSES:
            raise NoSense("forbiddens", f"the type {kind} is unknown")
        return self._compared(name, CLAUSES[kind], item)

    def _relation(self, item: Any, word: str) -> Expression | None:
        """Two parameters compared by their values, also where these are in an order of their own.

        No configuration has an unlisted value, so listed ones can be compared here and now.
        """
        if word not in RELATIONS:
            raise NoSense("forbiddens", f"the relation {word} is unknown")
        sign = RELATIONS[word]
        left, right = (self._parameters[self._name(item, side)] for side in ("left", "right"))
        key = f"{left.name} {sign} {right.name}"
        if left.kind not in LISTED or right.kind not in LISTED:
            return Operation(sign, (_as_number(left, key), _as_number(right, key)))
        try:
            pairs = list(_pairs(left, right, COMPARE[sign]))
        except TypeError:
            raise NoSense(key, "texts and numbers have no order") from None
        if not pairs:
            self._warnings.append(f"forbidden {key}: that is never so, and left out")
            return None
        return any_of(pairs)

    def _compared(self, name: str, sign: str, item: Any) -> Expression:
        if "value" not in item:
            raise NoSense(name, f"a condition or clause with {sign} has no value")
        return Operation(sign, (Name(name), self._constant(name, item["value"])))

    def _among(self, name: str, values: list[Any]) -> Expression:
        return Member(Name(name), tuple(self._constant(name, value) for value in values))

    def _constant(self, name: str, given: Any) -> Constant:
        value, parameter = value_of(given, name), self._parameters[name]
        if parameter.kind in LISTED:  # 1 and 1.0 are the same to Python, but not as texts
            return Constant(next((one for one in parameter.values if one == value), value))
        if isinstance(value, str | bool):
            raise NoSense(name, f"it is a number, and cannot be compared with {value!r}")
        return Constant(value)

    def _name(self, item: Any, key: str) -> str:
        name = item.get(key) if isinstance(item, dict) else None
        if not isinstance(name, str) or name not in self._parameters:
            raise NoSense(key, f"{name!r} is not one of the hyperparameters")
        return name


def _kind(item: Any, key: str, depth: int) -> str:
    if not isinstance(item, dict):
        raise NoSense(key, f"{item!r} makes no sense")
    if depth > DEEPEST:
        raise NoSense(key, "nested too deeply")
    return str(item.get("type"))


def _some(item: Any, word: str, key: str) -> list[Any]:
    found = item.get(word)
    if not isinstance(found, list | tuple) or not found:
        raise NoSense(key, f"{word} must be a list that is not empty")
    return list(found)


def _as_number(parameter: Parameter, key: str) -> Expression:
    if parameter.kind not in LISTED:
        return Name(parameter.name)
    if any(isinstance(value, str) for value in parameter.values):
        raise NoSense(key, f"{parameter.name} has values that are no numbers")
    return Call("number", (Name(parameter.name),))


def _pairs(
    left: Parameter, right: Parameter, compare: Callable[[Any, Any], bool]
) -> Iterator[Expression]:
    for value in left.values:
        others = tuple(Constant(other) for other in right.values if compare(value, other))
        if others:
            is_value = Operation("==", (Name(left.name), Constant(value)))
            yield all_of([is_value, Member(Name(right.name), others)])
