"""Defaults for spaces that come without any: some configuration that is allowed.

A space checks its default when it is made, so it cannot be asked for a draw before it has one. It
can if every parameter depends on one more, which is off in the default: that has nothing else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from cunctator.base.errors import InvalidKey, InvalidSetting
from cunctator.space.expressions import Constant, Expression, Name, Operation, all_of
from cunctator.space.parameters import Parameter, Value, make_parameter
from cunctator.space.space import Space

SWITCH = "drawn?"
"""No file of another tool has a parameter of this name."""

OFF, ON = "no", "yes"


def allowed_draw(
    parameters: Sequence[Parameter], forbidden: Sequence[Expression]
) -> dict[str, Value] | None:
    """A configuration that is allowed; None if there is none, or it is too rare to be found."""
    is_on = Operation("==", (Name(SWITCH), Constant(ON)))
    switch = make_parameter(SWITCH, "categorical", OFF, values=[OFF, ON])
    switched = [_with_condition(parameter, is_on) for parameter in parameters]
    rules = [all_of([is_on, expression]) for expression in forbidden]
    try:
        found = Space([switch, *switched], forbidden=rules).configuration(1)
    except (InvalidKey, InvalidSetting):
        return None
    return found if found.pop(SWITCH) == ON else None


def _with_condition(parameter: Parameter, is_on: Expression) -> Parameter:
    when = parameter.when
    if isinstance(when, Mapping):
        return dataclasses.replace(parameter, when={**when, SWITCH: ON})
    return dataclasses.replace(parameter, when=all_of([is_on, when]))
