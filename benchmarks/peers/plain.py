"""Spaces as other tools can be told of them: parameters, parents first, with plain conditions."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import TopologicalSorter
from typing import NamedTuple

from cunctator.base.errors import CunctatorError
from cunctator.space.conditions import Condition, conditions_of, parents_of
from cunctator.space.parameters import Parameter, Value
from cunctator.space.space import Space


class Conditional(NamedTuple):
    """A parameter, and when it is active: if all conditions hold."""

    parameter: Parameter
    conditions: list[Condition]

    def is_active(self, values: Mapping[str, Value]) -> bool:
        """Whether it is, with these parents."""
        return all(
            condition.parent in values and condition.holds(values[condition.parent])
            for condition in self.conditions
        )


def plain(space: Space) -> list[Conditional]:
    """All parameters; an error if there is more to say than that.

    No problem here forbids combinations or has expressions, so there is no translation of them.
    """
    by_name = {parameter.name: parameter for parameter in space.parameters}
    for parameter in space.parameters:
        if not isinstance(parameter.when, Mapping) or not parameter.has_fixed_bounds:
            raise CunctatorError(f"{parameter.name}: expressions are not translated for peers")
    if space.forbidden:
        raise CunctatorError("what a space forbids is not translated for peers")
    order = TopologicalSorter({name: parents_of(one) for name, one in by_name.items()})
    return [
        Conditional(by_name[name], conditions_of(by_name[name], by_name))
        for name in order.static_order()
    ]
