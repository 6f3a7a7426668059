"""The space of configurations: configuration k is a function of (seed, k), and 0 is the default.

A study is replayed from its journal, so configurations are drawn by number and not from a stream
that somebody holds. Each draw takes one uniform number for every parameter, active or not; a
configuration names the active ones only. Draws that were seen before are skipped, so a small
space is used up without repeats, and a number says one thing for ever.

Values are told apart by how they look on a command line: `1` and `"1"` are the same value.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import islice

import numpy as np

from cunctator.conditions import Condition, both, make_condition
from cunctator.errors import InvalidKey, InvalidSetting
from cunctator.parameters import Parameter, Value, text_of

STREAM = 2
"""Keeps these draws apart from those of `instances.py`, which take streams 0, 1 and 3."""

LARGEST_COUNTED = 100_000
"""Configurations; a larger space is as good as infinite."""

VAIN_DRAWS = 20
"""Draws in a row that were all seen before, until the rest of a finite space is listed."""

MOST_VAIN_DRAWS = 1000
"""The same for an endless space, whose rest cannot be listed: then a repeat is put up with."""

Row = tuple[Value | None, ...]
"""Values in the order in which they are decided; None: not active."""


class Space:
    """All configurations of some parameters, numbered by a seed."""

    def __init__(self, parameters: Sequence[Parameter], seed: int = 0) -> None:
        if not parameters:
            raise InvalidKey(("parameters",), "there are none", "give at least one parameter")
        if seed < 0:
            raise InvalidSetting("seed", seed, "expected 0 or more")
        self.parameters = tuple(parameters)
        self.seed = seed
        self._by_name = {parameter.name: parameter for parameter in parameters}
        if len(self._by_name) < len(self.parameters):
            names = [parameter.name for parameter in parameters]
            twice = next(name for name in names if names.count(name) > 1)
            raise InvalidKey(("parameters", twice), "this name is given twice", "rename one")
        self._conditions = {p.name: tuple(self._resolve(p)) for p in parameters}
        self._order = tuple(self._by_name[name] for name in self._decision_order())
        self._check_reachable()
        self._lock = threading.Lock()  # numbers must not depend on who asks first
        self._draws = 0
        self._found: list[dict[str, Value]] = []
        self._seen: set[tuple[tuple[str, str], ...]] = set()
        self._add(self.default)

    def __repr__(self) -> str:
        count = "endless" if self.size is None else f"{self.size:,}"
        return f"<Space: {len(self.parameters)} parameters, {count} configurations>"

    @property
    def default(self) -> dict[str, Value]:
        """Configuration 0: what the target does by itself."""
        return self._active({p.name: p.default for p in self.parameters})

    @cached_property
    def size(self) -> int | None:
        """How many configurations there are; None if infinite, or more than can be counted."""
        rows = self._all_rows()
        return None if rows is None else len(rows)

    def configuration(self, number: int) -> dict[str, Value]:
        """The active parameters of a configuration and their values, in the order of the file."""
        if number < 0:
            raise InvalidSetting("configuration", number, "expected 0 or more")
        with self._lock:
            while len(self._found) <= number:
                self._extend()
            return dict(self._found[number])

    def _extend(self) -> None:
        """Find at least one more configuration."""
        for vain in range(MOST_VAIN_DRAWS):
            self._draws += 1
            drawn = self._draw(self._draws)
            if self._add(drawn):
                return
            if vain >= VAIN_DRAWS and self.size is not None:
                self._list_rest()
                return
        self._found.append(drawn)

    def _list_rest(self) -> None:
        """Number all of a finite space that has no number yet."""
        rows = self._all_rows() or []
        if len(self._found) == len(rows):
            expected = f"there are only {len(rows):,}, numbered from 0"
            raise InvalidSetting("configuration", len(rows), expected)
        random = np.random.default_rng([self.seed, STREAM, 0])
        for position in random.permutation(len(rows)):
            pairs = zip(self._order, rows[position], strict=True)
            self._add(self._active({p.name: v for p, v in pairs if v is not None}))

    def _add(self, configuration: dict[str, Value]) -> bool:
        """Number a configuration, unless it has a number."""
        key = tuple((name, text_of(value)) for name, value in configuration.items())
        if key in self._seen:
            return False
        self._seen.add(key)
        self._found.append(configuration)
        return True

    def _draw(self, draw: int) -> dict[str, Value]:
        uniforms = np.random.default_rng([self.seed, STREAM, draw]).random(len(self.parameters))
        pairs = zip(self.parameters, uniforms, strict=True)
        return self._active({p.name: p.at(float(uniform)) for p, uniform in pairs})

    def _active(self, values: Mapping[str, Value]) -> dict[str, Value]:
        """Only those parameters whose conditions hold, in the order of the file."""
        active: dict[str, Value] = {}
        for parameter in self._order:
            if self._is_active(parameter, active):
                active[parameter.name] = values[parameter.name]
        return {p.name: active[p.name] for p in self.parameters if p.name in active}

    def _is_active(self, parameter: Parameter, active: Mapping[str, Value]) -> bool:
        return all(
            condition.parent in active and condition.holds(active[condition.parent])
            for condition in self._conditions[parameter.name]
        )

    def _all_rows(self) -> list[Row] | None:
        """Every configuration once; None if there are too many.

        Each row extends to at least one configuration, so it may stop as soon as there are too
        many rows.
        """
        if any(parameter.kind == "real" for parameter in self.parameters):
            return None
        rows: list[Row] = [()]
        for parameter in self._order:
            rows = list(islice(self._one_longer(rows, parameter), LARGEST_COUNTED + 1))
            if len(rows) > LARGEST_COUNTED:
                return None
        return rows

    def _one_longer(self, rows: list[Row], parameter: Parameter) -> Iterable[Row]:
        place = {p.name: k for k, p in enumerate(self._order)}
        conditions = [(place[c.parent], c) for c in self._conditions[parameter.name]]
        for row in rows:
            values = ((row[k], condition) for k, condition in conditions)
            if all(value is not None and condition.holds(value) for value, condition in values):
                for member in parameter.members():
                    yield (*row, member)
            else:
                yield (*row, None)

    def _resolve(self, parameter: Parameter) -> Iterable[Condition]:
        for parent, wanted in parameter.when.items():
            key = ("parameters", parameter.name, "when", parent)
            if parent not in self._by_name:
                fix = "name a parameter of this file"
                raise InvalidKey(key, f"there is no parameter {parent!r}", fix)
            yield make_condition(self._by_name[parent], wanted, key)

    def _decision_order(self) -> list[str]:
        """Parents before their children."""
        graph = {p.name: [c.parent for c in self._conditions[p.name]] for p in self.parameters}
        try:
            return list(TopologicalSorter(graph).static_order())
        except CycleError as error:
            cycle: list[str] = error.args[1][::-1]  # as we say it: child, parent, its parent
            text = " depends on ".join(cycle)
            fix = "remove one of these conditions"
            raise InvalidKey(("parameters", cycle[0], "when"), text, fix) from None

    def _check_reachable(self) -> None:
        """Conditions are conjunctions, so what all ancestors ask for can be intersected."""
        needed: dict[str, dict[str, Condition]] = {}
        for parameter in self._order:
            mine: dict[str, Condition] = {}
            for condition in self._conditions[parameter.name]:
                for other in (condition, *needed[condition.parent].values()):
                    before = mine.get(other.parent)
                    joined = other if before is None else both(before, other)
                    if joined.is_empty:
                        problem = f"never active: no value of {other.parent} fits all conditions"
                        fix = "correct its conditions, or those of its parents"
                        raise InvalidKey(("parameters", parameter.name, "when"), problem, fix)
                    mine[other.parent] = joined
            needed[parameter.name] = mine
