"""The space of configurations: configuration k is a function of (seed, k), and 0 is the default.

A study is replayed from its journal, so configurations are drawn by number and not from a stream
that somebody holds. The default comes first, then the user's own, then draws. Each draw takes one
uniform number for every parameter, active or not; a configuration names the active ones only.
Forbidden draws are rejected, so the rest are as likely among each other as they were. Draws that
were seen before are skipped, so a small space is used up without repeats, and a number says one
thing for ever.

Values are told apart by how they look on a command line: `1` and `"1"` are the same value.

A study may have a guide that proposes configurations because of results. They are numbered when
they are taken in, and the draws that a study has not come to by then are numbered after them. So
which draw a number stands for depends on the study, but the draws and their order do not.
"""

from __future__ import annotations

import math
import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import islice

import numpy as np

from cunctator.base.errors import InvalidKey, InvalidSetting
from cunctator.base.units import counted
from cunctator.space.conditions import Condition, check_reachable, conditions_of, parents_of
from cunctator.space.expressions import Expression, evaluator, names_in
from cunctator.space.expressions.checks import Texts, check_expression
from cunctator.space.expressions.evaluation import number_of, truth
from cunctator.space.parameters import LISTED, Parameter, Value, check_value, text_of

STREAM = 2
"""Keeps these draws apart from those of `instances.py`, which take streams 0, 1 and 3."""

BLOCK = 64
"""Draws that are made at a time."""

LARGEST_COUNTED = 100_000
"""Configurations; a larger space is as good as infinite."""

VAIN_DRAWS = 20
"""Draws in a row that were seen before or forbidden, until the rest of a finite space is listed."""

MOST_VAIN_DRAWS = 5_000
"""The same for an endless space, whose rest cannot be listed: then a repeat is put up with."""

MOST_FORBIDDEN_DRAWS = 200_000
"""Draws in a row that are all forbidden, until it is taken that nothing else is allowed."""

MOST_CELLS = 5_000_000
"""Values in a list of all configurations; a longer one would take seconds, and much memory."""

Active = Mapping[str, Value]
Rule = Callable[[Active], bool]
Bounds = Callable[[Active], tuple[float, float] | None]


class Space:
    """All configurations of some parameters, numbered by a seed."""

    def __init__(
        self,
        parameters: Sequence[Parameter],
        seed: int = 0,
        forbidden: Sequence[Expression] = (),
        initial: Sequence[Mapping[str, Value]] = (),
    ) -> None:
        """`initial` are configurations to be numbered first, after the default."""
        if not parameters:
            raise InvalidKey(("parameters",), "there are none", "give at least one parameter")
        if seed < 0:
            raise InvalidSetting("seed", seed, "expected 0 or more")
        self.parameters = tuple(parameters)
        self.seed = seed
        self.forbidden = tuple(forbidden)
        self._by_name = {parameter.name: parameter for parameter in parameters}
        if len(self._by_name) < len(self.parameters):
            count = Counter(parameter.name for parameter in parameters)
            twice = count.most_common(1)[0][0]
            raise InvalidKey(("parameters", twice), "this name is given twice", "rename one")
        conditions = {p.name: conditions_of(p, self._by_name) for p in self.parameters}
        self._check_expressions()
        self._order = tuple(self._by_name[name] for name in self._decision_order())
        check_reachable({p.name: conditions[p.name] for p in self._order})
        self._rules = {
            p.name: rule for p in self._order if (rule := self._rule(p, conditions[p.name]))
        }
        self._bounds = {p.name: self._bound(p) for p in self._order if not p.has_fixed_bounds}
        # What depends on nothing needs no decision: most parameters of most spaces.
        self._plain = [
            p.name for p in self._order if p.name not in self._rules and p.name not in self._bounds
        ]
        plain = frozenset(self._plain)
        self._decided_later = [p for p in self._order if p.name not in plain]
        self._constraints = [self._constraint(place) for place in range(len(self.forbidden))]
        self._has_look_alikes = any(len(set(p.values)) < len(p.values) for p in parameters)
        self._lock = threading.Lock()  # numbers must not depend on who asks first
        self._draws = 0
        self._allowed = 0
        """Draws that were not forbidden, repeats included ..."""
        self._allowed_at: list[int] = []
        """... when each configuration was numbered."""
        self._block: tuple[int, list[tuple[Value, ...]]] = (0, [])
        self._found: list[dict[str, Value]] = []
        self._seen: set[tuple[object, ...]] = set()
        self._proposed: dict[int, dict[str, Value]] = {}
        self._proposed_numbers: list[int] = []
        self._add(self._given({p.name: p.default for p in self.parameters}, None))
        for place, values in enumerate(initial):
            self._add(self._given(values, place))
        self.fixed = len(self._found)
        """How many configurations, the first ones, are no draws."""

    def __repr__(self) -> str:
        count = "endless configurations"
        if self.size is not None:
            count = counted(self.size, "configuration")
        return f"<Space: {counted(len(self.parameters), 'parameter')}, {count}>"

    @property
    def default(self) -> dict[str, Value]:
        """Configuration 0: what the target does by itself."""
        return dict(self._found[0])

    @cached_property
    def size(self) -> int | None:
        """How many configurations there are; None if infinite, or more than can be counted."""
        rows = self._all()
        return None if rows is None else len(rows)

    def configuration(self, number: int) -> dict[str, Value]:
        """The active parameters of a configuration and their values, in the order of the file."""
        if number < 0:
            raise InvalidSetting("configuration", number, "expected 0 or more")
        if number in self._proposed:
            return dict(self._proposed[number])
        return self._drawn(number - bisect_left(self._proposed_numbers, number))

    def take_in(self, first: int, proposed: Sequence[Mapping[str, Value]]) -> None:
        """Number configurations that are no draws, from a number on that no study has come to."""
        last = self._proposed_numbers[-1] if self._proposed_numbers else self.fixed - 1
        if first <= last:
            raise InvalidSetting("configuration", first, f"expected more than {last}")
        given = [self._given(values, 0) for values in proposed]  # all of them, or none
        for number, values in enumerate(given, first):
            self._proposed[number] = values
            self._proposed_numbers.append(number)

    def is_proposed(self, number: int) -> bool:
        """Whether a configuration was proposed because of results."""
        return number in self._proposed

    def anew(self) -> Space:
        """The same space, as it is before anything is proposed."""
        initial = self._found[1 : self.fixed]
        return Space(self.parameters, self.seed, self.forbidden, initial)

    def _drawn(self, rank: int) -> dict[str, Value]:
        """A configuration that nobody has proposed because of results, by its place among those."""
        with self._lock:
            while len(self._found) <= rank:
                self._extend()
            return dict(self._found[rank])

    def checked(self, values: Mapping[str, Value]) -> dict[str, Value]:
        """A configuration that somebody wrote, as one of this space; raises InvalidKey."""
        return self._given(values, 0)

    def fitted(self, values: Mapping[str, Value]) -> dict[str, Value] | None:
        """A configuration with these values where they are active; defaults where none is given.

        Numbers are brought into their range. None if it is forbidden, or there is no range.
        """
        active: dict[str, Value] = {}
        for p in self._order:
            rule = self._rules.get(p.name)
            if rule is not None and not rule(active):
                continue
            value = values.get(p.name, p.default)
            if p.kind not in LISTED:
                found = self.range_of(p, active)
                if found is None:
                    return None
                number = min(max(float(value), found[0]), found[1])
                value = round(number) if p.kind == "integer" else number
            active[p.name] = value
        return None if self._is_forbidden(active) else self._sorted(active)

    def range_of(self, p: Parameter, active: Active) -> tuple[float, float] | None:
        """The range of a number, given what it may depend on; None if it is empty."""
        bounds = self._bounds.get(p.name)
        return bounds(active) if bounds else (p.low, p.high)

    def draws(self, size: int) -> int:
        """How many random draws are among the first `size` that nobody has proposed, for sure.

        Those that are there for another reason do not count: the default, the user's own, and what
        was listed because draws were in vain. Of repeats, which depend on what was drawn before,
        no more than there are others.
        """
        self._drawn(size - 1)
        with self._lock:
            return min(size - self.fixed, self._allowed_at[size - 1])

    def _extend(self) -> None:
        """Find at least one more configuration.

        A study that has begun must be able to go on: if nothing else seems to be allowed, the last
        draw that was is taken again.
        """
        repeated: dict[str, Value] | None = None
        for vain in range(MOST_FORBIDDEN_DRAWS):
            drawn = self._draw(self._draws)
            self._draws += 1
            self._allowed += drawn is not None
            if drawn is not None and self._add(drawn):
                return
            repeated = repeated or drawn
            if vain >= VAIN_DRAWS and self.size is not None:
                self._list_rest()
                return
            if vain >= MOST_VAIN_DRAWS and repeated is not None:
                break
        if repeated is None and len(self._found) > self.fixed:
            repeated = self._found[-1]
        if repeated is None:
            problem = f"{MOST_FORBIDDEN_DRAWS:,} draws in a row were all forbidden"
            raise InvalidKey(("forbidden",), problem, "forbid less, or narrow the domains")
        self._found.append(repeated)
        self._allowed_at.append(self._allowed)

    def _list_rest(self) -> None:
        """Number all of a finite space that has no number yet."""
        rows = self._all() or []
        if len(self._found) >= len(rows):
            expected = f"there are only {len(rows):,}, numbered from 0"
            raise InvalidSetting("configuration", len(rows), expected)
        random = np.random.default_rng([self.seed, STREAM, 0])
        for position in random.permutation(len(rows)):
            self._add(rows[position])

    def _add(self, configuration: dict[str, Value]) -> bool:
        """Number a configuration, unless it has a number."""
        key: tuple[object, ...] = tuple(configuration.items())
        if self._has_look_alikes:  # to Python, 1, 1.0 and True are the same
            key = tuple((name, text_of(value)) for name, value in configuration.items())
        if key in self._seen:
            return False
        self._seen.add(key)
        self._found.append(configuration)
        self._allowed_at.append(self._allowed)
        return True

    def _draw(self, draw: int) -> dict[str, Value] | None:
        """None if it is forbidden."""
        block, place = divmod(draw, BLOCK)
        if self._block[0] != block + 1:  # block 0 is for `_list_rest`
            random = np.random.default_rng([self.seed, STREAM, block + 1])
            uniforms = random.random((BLOCK, len(self.parameters)))
            columns = [
                p.column(column) if p.has_fixed_bounds else column.tolist()
                for p, column in zip(self.parameters, uniforms.T, strict=True)
            ]
            self._block = (block + 1, list(zip(*columns, strict=True)))
        row = self._block[1][place]
        values = dict(zip(self._by_name, row, strict=True))
        if not self._decided_later:
            return None if self._is_forbidden(values) else values
        return self._decided(values)

    def _decided(self, values: dict[str, Value]) -> dict[str, Value] | None:
        """A draw without what is not active; None if it is forbidden.

        Where bounds depend on others, the value is a quantile until those are known.
        """
        active = {name: values[name] for name in self._plain}
        for parameter in self._decided_later:
            name = parameter.name
            if (rule := self._rules.get(name)) is not None and not rule(active):
                continue
            if (bounds := self._bounds.get(name)) is None:
                active[name] = values[name]
            elif (found := bounds(active)) is not None:
                active[name] = parameter.number_between(*found, float(values[name]))
            else:
                return None
        return None if self._is_forbidden(active) else self._sorted(active)

    def _is_forbidden(self, active: Active) -> bool:
        return any(constraint(active) for constraint in self._constraints)

    def _sorted(self, active: dict[str, Value]) -> dict[str, Value]:
        """In the order of the file."""
        return {name: active[name] for name in self._by_name if name in active}

    def _given(self, values: Mapping[str, Value], place: int | None) -> dict[str, Value]:
        """A configuration that somebody wrote, checked; `place` among those, None: the default."""
        is_default = place is None
        for name in values:
            if name not in self._by_name:
                fix = "name parameters of this file"
                raise InvalidKey(("initial", str(place), name), "there is no such parameter", fix)
        active: dict[str, Value] = {}
        for p in self._order:
            key: tuple[str, ...] = ("initial", str(place), p.name)
            if is_default:
                key = ("parameters", p.name, "default")
            rule = self._rules.get(p.name)
            if rule is not None and not rule(active):
                continue
            value = values.get(p.name, p.values[0] if len(p.values) == 1 else None)
            if value is None:
                raise InvalidKey(key, "is missing", "give a value: the parameter is active")
            low, high = self._range(p, active, key)
            active[p.name] = check_value(p, value, low, high, key)
        for number, constraint in enumerate(self._constraints):
            if constraint(active):
                key = ("forbidden",) if is_default else ("initial", str(place))
                name = "the default configuration" if is_default else "it"
                problem = f"{name} is forbidden, by number {number + 1} of those"
                raise InvalidKey(key, problem, "change the one or the other")
        return self._sorted(active)

    def _range(self, p: Parameter, active: Active, key: tuple[str, ...]) -> tuple[float, float]:
        """The range of a parameter of a configuration that somebody wrote."""
        found = self.range_of(p, active)
        if found is None:
            problem = "it has no range here: low is above high, or depends on what is not active"
            raise InvalidKey(key, problem, "change these bounds, or when the parameter is active")
        return found

    def _all(self) -> list[dict[str, Value]] | None:
        """Every configuration once; None if there are too many."""
        if any(parameter.kind == "real" for parameter in self.parameters):
            return None
        count = 1
        for name in self._plain:
            parameter = self._by_name[name]
            count *= len(parameter.members(parameter.low, parameter.high))
            if count > LARGEST_COUNTED:
                return None
        rows: list[dict[str, Value]] = [{}]
        for parameter in self._order:
            rows = list(islice(self._one_longer(rows, parameter), LARGEST_COUNTED + 1))
            if len(rows) > LARGEST_COUNTED or len(rows) * len(self.parameters) > MOST_CELLS:
                return None
        return [self._sorted(row) for row in rows if not self._is_forbidden(row)]

    def _one_longer(
        self, rows: list[dict[str, Value]], parameter: Parameter
    ) -> Iterator[dict[str, Value]]:
        rule, bounds = self._rules.get(parameter.name), self._bounds.get(parameter.name)
        for row in rows:
            if rule is not None and not rule(row):
                yield row
                continue
            found = bounds(row) if bounds else (parameter.low, parameter.high)
            for member in parameter.members(*found) if found else ():
                yield {**row, parameter.name: member}

    def _rule(self, parameter: Parameter, conditions: Sequence[Condition]) -> Rule | None:
        """Whether a parameter is active; None: always."""
        if isinstance(parameter.when, Mapping):
            return _all_hold(conditions) if conditions else None
        decide = evaluator(parameter.when, self._by_name)
        return lambda active: truth(decide(active)) is True

    def _check_expressions(self) -> None:
        texts: Texts = {}
        for parameter in self.parameters:
            for word, expression in (
                ("when", parameter.when),
                ("low", parameter.low_expression),
                ("high", parameter.high_expression),
            ):
                if expression is not None and not isinstance(expression, Mapping):
                    key = ("parameters", parameter.name, word)
                    check_expression(expression, self._by_name, key, texts)
        for place, expression in enumerate(self.forbidden):
            check_expression(expression, self._by_name, ("forbidden", str(place)), texts)

    def _constraint(self, place: int) -> Rule:
        decide = evaluator(self.forbidden[place], self._by_name)
        return lambda active: truth(decide(active)) is True

    def _bound(self, parameter: Parameter) -> Bounds:
        """The range of a number, from the parameters that it depends on; None if it is empty."""
        sides = (parameter.low_expression, parameter.high_expression)
        low, high = (None if e is None else evaluator(e, self._by_name) for e in sides)

        def range_of(active: Active) -> tuple[float, float] | None:
            least = number_of(low(active)) if low else parameter.low
            most = number_of(high(active)) if high else parameter.high
            if least is None or most is None or (parameter.log and least <= 0):
                return None
            if parameter.kind == "integer":
                least, most = math.ceil(least), math.floor(most)
            return (least, most) if least <= most else None

        return range_of

    def _decision_order(self) -> list[str]:
        """Parents before their children."""
        graph = {p.name: parents_of(p) for p in self.parameters}
        try:
            return list(TopologicalSorter(graph).static_order())
        except CycleError as error:
            cycle: list[str] = error.args[1][::-1]  # as we say it: child, parent, its parent
            text = " depends on ".join(cycle)
            fix = "remove one of these conditions, or make a bound a number"
            child, parent = self._by_name[cycle[0]], cycle[1]
            bounds = {"low": child.low_expression, "high": child.high_expression}
            by_bound = [w for w, e in bounds.items() if e is not None and parent in names_in(e)]
            key = ("parameters", child.name, by_bound[0] if by_bound else "when")
            raise InvalidKey(key, text, fix) from None


def _all_hold(conditions: Sequence[Condition]) -> Rule:
    def rule(active: Active) -> bool:
        for condition in conditions:
            value = active.get(condition.parent)
            if value is None or not condition.holds(value):
                return False
        return True

    return rule
