"""What not knowing how many configurations to look at costs: pools that grow against fixed ones.

Endless spaces whose configurations have log-normal means, more or less spread out, and log-normal
runtimes with instances that are hard for all; in one of them configurations differ in how heavy
their tails are as well, so that who is best on easy instances is not best. For each share gamma of
the space: the charged time until the answer stays within 5% of all but the best gamma, for fixed
pools of several sizes and for pools that grow. The best fixed size is chosen in hindsight, for each
gamma anew. Deterministic and not timed; a few minutes.

    python benchmarks/ladder.py [STUDIES]
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cunctator.recorded.simulation import Simulation
from cunctator.recorded.table import make_table

SPACES = {
    "spread out": (0.9, 1.5, 1.5),
    "close together": (0.4, 1.5, 1.5),
    "tails of their own": (0.4, 0.8, 2.0),
}
"""Of the logarithms: the standard deviation of the means; least and most of the runtimes'."""
SHARES = (1 / 4, 1 / 16, 1 / 64, 1 / 256)
FIXED = (9, 25, 65, 161, 385, 897, 2500)
DRAWS, INSTANCES = 2500, 1500
FIRST_CAP, CUTOFF, BUDGET = 0.02, 100.0, 9000.0
CLOSE = 1.05
RESULTS = Path(__file__).parent / "results" / "ladder.md"


def runtimes_of(space: str, seed: int) -> NDArray[np.float64]:
    """A table whose rows are draws from the space."""
    spread, least, most = SPACES[space]
    random = np.random.default_rng([seed, 7])
    means = np.exp(spread * random.standard_normal(DRAWS))
    hardness = 0.7 * random.standard_normal(INSTANCES)
    own = 0.71 * random.standard_normal((DRAWS, INSTANCES))
    sigma = random.uniform(least, most, (DRAWS, 1))
    runtimes: NDArray[np.float64] = means[:, None] * np.exp(sigma * (hardness + own) - sigma**2 / 2)
    return np.clip(runtimes, FIRST_CAP / 2, CUTOFF)


def settled(runtimes: NDArray[np.float64], truth: NDArray[np.float64], ladder: bool) -> list[float]:
    """For each share, when the answer has become good for good; infinity if it never does."""
    table = make_table(runtimes, cutoff=CUTOFF)
    result = Simulation(table, first_cap=FIRST_CAP, budget=BUDGET, seed=1, ladder=ladder).run()
    times = []
    for share in SHARES:
        limit, since = CLOSE * float(np.quantile(truth, share)), math.inf
        for charged, _, index in result.trajectory:
            since = math.inf if truth[index] > limit else min(since, charged)
        times.append(since)
    return times


def _words(seconds: float) -> str:
    return f"{seconds:,.0f} s" if math.isfinite(seconds) else f"over {BUDGET:,.0f} s"


def main() -> None:
    """Measure, print and save."""
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    lines = [
        "| space | gamma | best fixed pool | its time | pools that grow | ratio | log2²(1/gamma) |"
    ]
    lines.append("|---|---:|---:|---:|---:|---:|---:|")
    for name in SPACES:
        fixed: dict[int, list[list[float]]] = {size: [] for size in FIXED}
        growing = []
        for seed in range(studies):
            runtimes = runtimes_of(name, seed)
            truth = runtimes.mean(axis=1)
            for size in FIXED:
                fixed[size].append(settled(runtimes[:size], truth, False))
            growing.append(settled(runtimes, truth, True))
        for place, share in enumerate(SHARES):
            medians = {size: float(np.median([t[place] for t in fixed[size]])) for size in FIXED}
            best = min(medians, key=lambda size: medians[size])
            own = float(np.median([times[place] for times in growing]))
            ratio = f"{own / medians[best]:.1f}" if math.isfinite(own) else "-"
            lines.append(
                f"| {name} | 1/{1 / share:.0f} | {best:,} | {_words(medians[best])} |"
                f" {_words(own)} | {ratio} | {math.log2(1 / share) ** 2:.0f} |"
            )
            print(lines[-1], flush=True)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
