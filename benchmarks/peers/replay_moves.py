"""Changes to configurations, small and large."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cunctator.space.parameters import Parameter, Value
from cunctator.space.space import Space
from peers.replay_encoding import place_of

MOST_CHANGES = 5
STEP = 0.15
"""Of a number, as a share of its range."""


def near(
    space: Space, values: Mapping[str, Value], random: np.random.Generator
) -> dict[str, Value]:
    """A configuration that differs in one parameter, or as often in a few."""
    whole = {p.name: p.default for p in space.parameters} | dict(values)
    count = 1 if random.random() < 0.5 else int(random.integers(2, MOST_CHANGES + 1))
    active = [p for p in space.parameters if p.name in values]
    for place in random.choice(len(active), min(count, len(active)), replace=False):
        whole[active[place].name] = changed(active[place], whole[active[place].name], random)
    return space.checked(whole)


def changed(parameter: Parameter, value: Value, random: np.random.Generator) -> Value:
    """Another value: near by or anywhere, if it is a number."""
    if parameter.values:
        others = [other for other in parameter.values if other != value]
        return others[random.integers(len(others))]
    place = random.random()
    if random.random() < 0.5:
        place = place_of(parameter, float(value)) + STEP * random.standard_normal()
    return parameter.at(float(np.clip(place, 0, 1 - 1e-9)))
