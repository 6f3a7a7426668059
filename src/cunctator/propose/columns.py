"""Configurations as numbers that a model can work with.

Each parameter has a few columns of its own: a categorical one for each value, a number or an
ordinal the first waves across its range (so the model is smooth, and the higher the wave the less
is believed of it at first). What is not active is zero in all of them. Two parameters together have
the products of their columns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cunctator.space.parameters import LISTED, Parameter, Value, text_of
from cunctator.space.space import Space

Numbers = NDArray[np.float64]
Configuration = Mapping[str, Value]

WAVES = 3
"""Of a number: one for a trend, one for an optimum within the range, one more."""

PRODUCT_WAVES, PRODUCT_VALUES = 2, 4
"""Of these, so many take part in products."""


@dataclass(frozen=True, slots=True)
class Block:
    """The columns of one parameter, or of two together."""

    parameters: tuple[int, ...]
    columns: slice
    scales: Numbers
    """How much the weight of each column may vary, relative to the first."""


class Columns:
    """What the parameters of a space are in numbers."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.parameters = space.parameters
        self._scales = [_scales(parameter) for parameter in self.parameters]
        # To Python, 1, 1.0 and True are the same; on a command line they are not.
        self._places = {
            one.name: {text_of(value): place for place, value in enumerate(one.values)}
            for one in self.parameters
            if one.kind in LISTED
        }

    def positions(self, configurations: Sequence[Configuration]) -> Numbers:
        """Where each value is in the range of its parameter, 0 to 1; not a number if not active."""
        found = np.full((len(configurations), len(self.parameters)), np.nan)
        for row, configuration in enumerate(configurations):
            for column, parameter in enumerate(self.parameters):
                if parameter.name in configuration:
                    found[row, column] = self.position(parameter, configuration)
        return found

    def position(self, parameter: Parameter, configuration: Configuration) -> float:
        """The same of one parameter that is active."""
        value = configuration[parameter.name]
        if parameter.kind in LISTED:
            return (self._places[parameter.name][text_of(value)] + 0.5) / len(parameter.values)
        low, high = self.space.range_of(parameter, configuration) or (0.0, 0.0)
        return parameter.quantile_of(low, high, float(value))

    def value(self, column: int, position: float, configuration: Configuration) -> Value:
        """The value at a position, with the ranges that another configuration has."""
        parameter = self.parameters[column]
        position = min(position, 1.0 - 1e-9)
        if parameter.kind in LISTED:
            return parameter.at(position)
        found = self.space.range_of(parameter, configuration)
        if found is None:
            return parameter.default
        return parameter.number_between(*found, position)

    def blocks(self, products: Sequence[tuple[int, int]] = ()) -> list[Block]:
        """Which columns belong to which parameters, after the first one, which is constant."""
        found, begin = [], 1
        for column, scales in enumerate(self._scales):
            found.append(Block((column,), slice(begin, begin + scales.size), scales))
            begin += scales.size
        for one, other in products:
            mixed = np.outer(self._short(one), self._short(other)).ravel()
            found.append(Block((one, other), slice(begin, begin + mixed.size), mixed))
            begin += mixed.size
        return found

    def matrix(self, positions: Numbers, products: Sequence[tuple[int, int]] = ()) -> Numbers:
        """A row for each configuration."""
        single = [
            self.columns_of(column, positions[:, column]) for column in range(len(self._scales))
        ]
        parts = [np.ones((len(positions), 1)), *single]
        for one, other in products:
            parts.append(self.product(one, other, single[one], single[other]))
        return np.concatenate(parts, axis=1)

    def product(self, one: int, other: int, left: Numbers, right: Numbers) -> Numbers:
        """The columns of two parameters together, from those of each."""
        left, right = left[:, : self._short(one).size], right[:, : self._short(other).size]
        return (left[:, :, None] * right[:, None, :]).reshape(max(len(left), len(right)), -1)

    def columns_of(self, column: int, positions: Numbers) -> Numbers:
        """The columns of one parameter."""
        parameter, scales = self.parameters[column], self._scales[column]
        if parameter.kind == "categorical":
            places = np.floor(np.nan_to_num(positions) * scales.size)
            found = (places[:, None] == np.arange(scales.size)) - 1.0 / scales.size
        else:
            waves = np.arange(1, scales.size + 1)
            found = math.sqrt(2.0) * np.cos(math.pi * positions[:, None] * waves)
        found[np.isnan(positions)] = 0.0
        return np.asarray(found, dtype=np.float64)

    def _short(self, column: int) -> Numbers:
        is_listed = self.parameters[column].kind == "categorical"
        return self._scales[column][: PRODUCT_VALUES if is_listed else PRODUCT_WAVES]


def _scales(parameter: Parameter) -> Numbers:
    if parameter.kind == "categorical":
        return np.ones(len(parameter.values))
    size = WAVES
    if parameter.kind == "ordinal":
        size = max(1, min(WAVES, len(parameter.values) - 1))
    return 1.0 / np.arange(1.0, size + 1.0) ** 2
