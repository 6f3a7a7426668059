"""Configurations as rows of numbers, for the models of `replay.py`."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from cunctator.space.parameters import Parameter, Value, make_parameter
from cunctator.space.space import Space
from cunctator.spaces import solver_text

Floats = NDArray[np.float64]

ABSENT = -0.5
"""A number that is not active: below its range, so that one question tells it from all others."""


def shipped_space(solver: str, seed: int = 0) -> Space:
    """The space that ships for a solver, without the configurations that are to be looked at first.

    Other tools would have to be given these, too; and the solver need not be installed.
    """
    tables = tomllib.loads(solver_text(solver))["parameters"]
    words = ("values", "low", "high", "log", "when")
    parameters = []
    for name, table in tables.items():
        given = {word: table[word] for word in words if word in table}
        parameters.append(make_parameter(name, table["type"], table["default"], **given))
    return Space(parameters, seed)


class Encoding:
    """A column for each number, ordinal or switch, and one for each value of the others."""

    def __init__(self, space: Space) -> None:
        self._parts = [(p, _values_of(p)) for p in space.parameters]
        self.width = sum(len(values) if is_split(p) else 1 for p, values in self._parts)

    def row(self, values: Mapping[str, Value]) -> Floats:
        """The numbers of a configuration, in [0, 1] where it is active."""
        row: list[float] = []
        for parameter, places in self._parts:
            value = values.get(parameter.name)
            if is_split(parameter):
                row.extend(float(value == other) for other in places)
            elif value is None:
                row.append(ABSENT)
            elif places:
                row.append(places[value])
            else:
                row.append(place_of(parameter, float(value)))
        return np.array(row)


def is_split(parameter: Parameter) -> bool:
    """Whether values have no order, and are more than two."""
    return parameter.kind == "categorical" and len(parameter.values) > 2


def place_of(parameter: Parameter, number: float) -> float:
    """Where a number is in its range, from 0 to 1."""
    low, high = parameter.low, parameter.high
    if parameter.log:
        return math.log(number / low) / math.log(high / low)
    return (number - low) / (high - low)


def _values_of(parameter: Parameter) -> dict[Value, float]:
    last = max(1, len(parameter.values) - 1)
    return {value: place / last for place, value in enumerate(parameter.values)}
