"""Log-normal runtimes for benchmarks: own medians, the same spread."""

from __future__ import annotations

import numpy as np

from cunctator import Table, make_table

FIRST_CAP, CUTOFF = 0.1, 900.0


def lognormal_table(configurations: int, instances: int, seed: int = 0) -> Table:
    """Medians exp(N(1, 1)), the logarithm of a run spread by 1.5 around it, cutoff 900 s."""
    random = np.random.default_rng(seed)
    medians = random.normal(1.0, 1.0, size=configurations)
    runtimes = np.empty((configurations, instances))
    for row, median in zip(runtimes, medians, strict=True):
        row[:] = np.minimum(np.exp(median + 1.5 * random.standard_normal(instances)), CUTOFF)
    return make_table(runtimes, cutoff=CUTOFF)
