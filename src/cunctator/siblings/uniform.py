"""Uniform allocation: everything is run on everything, one instance after the other.

The baseline that any other method has to beat. Nothing is capped below the cutoff and nothing is
left out, so that when all instances of a table have been run, the best of the table is known.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cunctator.siblings.compiled import compiled
from cunctator.siblings.method import Method
from cunctator.siblings.problem import SPENT, Found, Problem


@compiled
def _run_all(
    runtimes: NDArray[np.float64],
    stream: NDArray[np.int64],
    budget: float,
    spent: NDArray[np.float64],
    times: NDArray[np.float64],
    incumbents: NDArray[np.int64],
) -> tuple[int, int, int, float]:
    """The whole method; returns positions that all have finished, runs, answers and seconds.

    The run that the budget ends in the middle of is charged up to there and tells nothing.
    """
    charged, left, steps, used = 0.0, budget, 0, 0
    for position in range(stream.size):
        for index in range(runtimes.shape[0]):
            if left <= 0.0:
                return position, steps, used, charged
            runtime = runtimes[index, stream[position]]
            seconds = min(runtime, left)
            spent[index] += seconds
            charged += seconds
            left -= seconds
            steps += 1
            if seconds < runtime:
                return position, steps, used, charged
        best = np.argmin(spent)  # all have run the same instances, so the least sum: first of ties
        if used == 0 or incumbents[used - 1] != best:
            times[used], incumbents[used] = charged, best
            used += 1
    return stream.size, steps, used, charged


def solve(problem: Problem) -> Found:
    """Run it until the stream ends."""
    positions, count = problem.stream.size, problem.configurations
    spent, times = np.zeros(count), np.zeros(positions)
    incumbents = np.zeros(positions, dtype=np.int64)
    done, steps, used, charged = _run_all(
        problem.runtimes, problem.stream, problem.budget, spent, times, incumbents
    )
    facts, claim = {"instances": float(done)}, ""
    if done == positions and not problem.resample:
        facts["mean"] = float(spent.min()) / positions
        claim = (
            f"Of all {count:,} configurations it has the least mean over all {positions:,}"
            f" instances of the table, {facts['mean']:.4g} s."
        )
    return Found(
        trajectory=tuple(zip(times[:used].tolist(), incumbents[:used].tolist(), strict=True)),
        charged=charged,
        steps=steps,
        spent=spent,
        stop="all instances have been run" if done == positions else SPENT,
        claim=claim,
        facts=facts,
    )


UNIFORM = Method(
    name="uniform",
    title="Uniform allocation",
    run=solve,
    charges="once",
    guarantee="the best of the table once all its instances have been run, none before",
    stops="when all instances have been run",
    anytime=True,
    ends=False,
)
