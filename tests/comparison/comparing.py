"""Small comparisons for tests."""

from __future__ import annotations

import numpy as np

from cunctator.comparison.running import make_conditions, run_comparison
from cunctator.recorded.table import make_table

PAIR = {"epsilon": (0.5,), "delta": (0.5,)}


def table_of(configurations=4, instances=40, cutoff=10.0):
    random = np.random.default_rng(3)
    means = np.linspace(0.2, 2.0, configurations)[:, None]
    runtimes = means * random.lognormal(-0.5, 1.0, (configurations, instances))
    return make_table(np.clip(runtimes, 0.01, cutoff), cutoff=cutoff)


def compare(folder, methods=("spc", "sp"), table=None, grid=PAIR, **more):
    table = table or table_of()
    conditions = make_conditions(table, 0.05, resample=True)
    return run_comparison(
        table, conditions, list(methods), folder, **{"seeds": 2, "workers": 1, "grid": grid} | more
    )
