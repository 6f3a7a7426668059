"""Schedulers driven by made-up runtimes, with runs in flight and results in any order."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from cunctator.base.records import Outcome, Run, Status
from cunctator.core.replay import AS_BEFORE, Events
from cunctator.core.scheduler import STATUS_CODE, Scheduler
from cunctator.core.sentinels import ASKED

RuntimeOf = Callable[[int, int], float]
"""Of a configuration on a pair; negative: it crashes after so many seconds."""


def outcome(scheduler: Scheduler, run: Run, runtime_of: RuntimeOf) -> Outcome:
    """What a run comes to."""
    runtime = runtime_of(run.configuration, run.pair)
    if runtime < 0:
        return Outcome(Status.CRASHED, min(-runtime, run.cap))
    solved = runtime <= run.cap and runtime < scheduler.state.rules.cutoff
    return Outcome(Status.SOLVED if solved else Status.CAPPED, min(runtime, run.cap))


def drive(
    scheduler: Scheduler,
    runtime_of: RuntimeOf,
    steps: int = 10**6,
    slots: int = 1,
    after: Callable[[], None] | None = None,
) -> list[Run]:
    """Make so many runs, or all there are; returns them. `after` is called after every result."""
    random, flying, asked = np.random.default_rng(7), [], []
    while len(asked) < steps or flying:
        while len(flying) < slots and len(asked) < steps and (run := scheduler.ask()) is not None:
            flying.append(run)
            asked.append(run)
        if not flying:
            break
        run = flying.pop(int(random.integers(len(flying))))
        scheduler.tell(run, outcome(scheduler, run, runtime_of))
        if after is not None:
            after()
    return asked


def runs_for(
    scheduler: Scheduler, turn: int, runtime_of: RuntimeOf, steps: int = 10**6
) -> Iterator[Run]:
    """Make so many runs, one at a time, checking the state; yields those for one sake, before
    their results are told.
    """
    for _ in range(steps):
        run = scheduler.ask()
        if run is None:
            break
        if scheduler.state.now.turn == turn:
            yield run
        scheduler.tell(run, outcome(scheduler, run, runtime_of))
        scheduler.check()


def made_up(
    seed: int, factors: list[float], pairs: int = 60, spread: float = 0.3
) -> NDArray[np.float64]:
    """Hard and easy pairs; each configuration is so many times as slow, give or take a bit."""
    random = np.random.default_rng(seed)
    hardness = random.lognormal(1.0, 1.0, (1, pairs))
    noise = random.lognormal(0.0, spread, (len(factors), pairs))
    table: NDArray[np.float64] = hardness * noise * np.array(factors)[:, None]
    return table


def of_table(table: NDArray[np.float64], crashed: NDArray[np.bool_] | None = None) -> RuntimeOf:
    """Runtimes of a table, whose columns are repeated without end; crashes take 0.1 s."""
    runtimes = table if crashed is None else np.where(crashed, -0.1, table)
    return lambda configuration, pair: float(runtimes[configuration, pair % table.shape[1]])


def asked_row(run: Run) -> tuple[int, int, int, int, float]:
    """A row of a journal: a run is asked for."""
    return run.number, run.configuration, run.pair, ASKED, 0.0


def told_row(run: Run, outcome: Outcome) -> tuple[int, int, int, int, float]:
    """A row of a journal: its outcome has come in."""
    return run.number, run.configuration, run.pair, STATUS_CODE[outcome.status], outcome.seconds


def events_of(
    rows: list[tuple[int, int, int, int, float]], closing: dict[int, int] | None = None
) -> Events:
    """Rows of a journal as columns; before which of them closing was begun or ended."""
    table = np.array(rows, dtype=np.float64).reshape(-1, 5)
    number, configuration, pair, status = table[:, :4].astype(np.int64).T.copy()
    flips = np.full(len(rows), AS_BEFORE, dtype=np.int64)
    for at, what in (closing or {}).items():
        flips[at] = what
    return Events(number, configuration, pair, status, table[:, 4].copy(), closing=flips)
