"""What parallelism costs in quality: searches with several runs in flight on recorded runtimes.

Runs last as long as recorded, on a virtual clock; a slot that falls free asks for its next run at
once, with what is known by then. The charged time until the answer stays within 5% of the best is
compared with that of one run at a time. From ASlib's scenarios (see `efficiency.py`) and the
log-normal table.
"""

from __future__ import annotations

import heapq
import math
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from rich.console import Console
from rich.table import Table as Grid

from cunctator import Outcome, Scheduler, Status
from efficiency import CLOSE, FIRST_CAPS, SYNTHETIC, geometric_mean, scenarios, table_of

SLOTS = (1, 2, 4, 8, 16, 32)
SHUFFLES = {SYNTHETIC: 2}
MANY_SHUFFLES = 10
LOOK_GROWTH = 1.02
"""How much the charged time grows between two looks at the answer."""


def close_at(scenario: str, slots: int, shuffle: int) -> tuple[float, float]:
    """Charged seconds until the answer stays close, and the virtual wall time then."""
    table = table_of(scenario)
    random = np.random.default_rng(shuffle)
    rows, columns = (random.permutation(size) for size in table.runtimes.shape)
    means = table.runtimes.mean(axis=1)[rows]
    excess = means / means.min() - 1
    first_cap = FIRST_CAPS.get(scenario, 0.1)
    scheduler = Scheduler(len(rows), len(columns), first_cap=first_cap, cutoff=table.cutoff)
    now = charged = look_at = 0.0
    since: tuple[float, float] = (0.0, 0.0)
    is_close = False
    flying: list[tuple[float, int, object, Outcome]] = []
    while True:
        while len(flying) < slots and (run := scheduler.ask()) is not None:
            runtime = float(table.runtimes[rows[run.configuration], columns[run.pair]])
            solved = runtime <= run.cap and runtime < (table.cutoff or math.inf)
            outcome = Outcome(Status.SOLVED if solved else Status.CAPPED, min(runtime, run.cap))
            heapq.heappush(flying, (now + outcome.seconds, run.number, run, outcome))
        if not flying:
            return since if is_close else (math.inf, math.inf)
        now, _, done, outcome = heapq.heappop(flying)
        scheduler.tell(done, outcome)  # type: ignore[arg-type]
        charged += outcome.seconds
        if charged >= look_at:
            look_at = charged * LOOK_GROWTH
            was, is_close = is_close, bool(excess[scheduler.recommend()] <= CLOSE)
            if is_close and not was:
                since = (charged, now)


def main() -> None:
    """Measure and show."""
    console = Console()
    names = scenarios()
    grid = Grid("table", *(f"{slots} slots" for slots in SLOTS), title="times the charge of 1 slot")
    with ProcessPoolExecutor() as pool:
        for name in names:
            shuffles = range(SHUFFLES.get(name, MANY_SHUFFLES))
            means = []
            for slots in SLOTS:
                args = zip(*((name, slots, shuffle) for shuffle in shuffles), strict=True)
                charges = [charge for charge, _ in pool.map(close_at, *args)]
                means.append(geometric_mean(charges))
            grid.add_row(name, *(f"{mean / means[0]:.2f}" for mean in means))
            console.print(name, *(f"{mean / means[0]:.2f}" for mean in means))
    console.print(grid)


if __name__ == "__main__":
    main()
