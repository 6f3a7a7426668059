"""A made-up solver for the demonstration: 200 configurations on 1,000 instances.

Four parameters multiply the runtime, each in its own way and a little differently on each
instance; instances differ in hardness, and luck does the rest. The runtimes are heavy-tailed, as
those of real solvers are: most runs are short, and a few take most of the time.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from cunctator.base.errors import InvalidSetting
from cunctator.recorded.table import Table, make_table

PARAMETERS: dict[str, dict[str, float]] = {
    "restarts": {"luby": 0.0, "geometric": 0.35, "glucose": -0.25, "fixed": 0.9, "none": 1.5},
    "decay": {"0.75": 1.1, "0.85": 0.5, "0.92": 0.1, "0.95": 0.0, "0.999": 0.7},
    "phase": {"saved": 0.0, "false": 0.3, "true": 0.6, "random": 1.2},
    "preprocess": {"yes": 0.0, "no": 0.45},
}
"""What each value adds to the logarithm of the runtime, on average."""

INSTANCES, SEEDS = 1000, 20
CUTOFF = 300.0


def synthetic_table(seed: int = 0) -> Table:
    """The table of recorded runtimes: one column for each instance and each of its seeds."""
    if seed < 0:
        raise InvalidSetting("seed", seed, "expected 0 or more")
    random = np.random.default_rng([seed, 2])

    def per_instance(spread: float) -> NDArray[np.float64]:
        return np.repeat(random.normal(0.0, spread, size=INSTANCES), SEEDS)

    hardness = per_instance(1.2)
    # How each instance responds to each parameter value, around the average above.
    effects = {
        (name, value): shift + per_instance(0.3)
        for name, values in PARAMETERS.items()
        for value, shift in values.items()
    }
    names, rows = [], []
    for choice in itertools.product(*PARAMETERS.values()):
        settings = list(zip(PARAMETERS, choice, strict=True))
        luck = random.normal(0.0, 0.6, size=INSTANCES * SEEDS)
        logarithm = hardness + luck + sum(effects[setting] for setting in settings)
        rows.append(np.minimum(np.exp(logarithm), CUTOFF))
        names.append(" ".join(f"{name}={value}" for name, value in settings))
    pairs = [f"i{instance}#{run}" for instance in range(INSTANCES) for run in range(SEEDS)]
    return make_table(np.array(rows), names, pairs, CUTOFF, "the demonstration's table")
