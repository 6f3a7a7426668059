"""What (epsilon, delta)-optimal means, computed from the table itself."""

from __future__ import annotations

import numpy as np


def is_optimal(runtimes, index, epsilon, delta, best=None):
    """Whether some cap leaves out at most delta of the runs, and the mean under it is good.

    R_cap(index) <= (1 + epsilon) OPT; it is enough to look at caps that are runtimes.
    """
    row = runtimes[index]
    best = runtimes.mean(axis=1).min() if best is None else best
    caps = [cap for cap in np.unique(row) if (row > cap).mean() <= delta + 1e-12]
    return min(np.minimum(row, cap).mean() for cap in caps) <= (1 + epsilon) * best + 1e-12


def random_runtimes(seed, configurations=6, instances=60, spread=0.7):
    """Log-normal means and runtimes; every other table has a configuration with a heavy tail."""
    random = np.random.default_rng([seed, 99])
    means = np.exp(spread * random.standard_normal(configurations))
    sigma = random.uniform(0.3, 1.2, configurations)
    noise = random.standard_normal((configurations, instances))
    runtimes = means[:, None] * np.exp(sigma[:, None] * noise - sigma[:, None] ** 2 / 2)
    if seed % 2:
        runtimes[0] = np.where(random.random(instances) < 0.15, 40.0, 0.3 * means.min())
    return np.clip(runtimes, 0.05, 50.0)
