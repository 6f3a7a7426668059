"""Finds the best configurations of the replays: a long search on the truth itself.

    cd benchmarks; python -m peers.replay_best NAME ...

Drawn configurations, then changes to one of the best so far, by `expected_mean`, which is free of
luck. The best is written to `data/NAME.json`, with how much there is to be found.
"""

from __future__ import annotations

import sys

import numpy as np

from cunctator.space.parameters import Value
from peers.replay import Replay, load_problem
from peers.replay_encoding import shipped_space
from peers.replay_files import note
from peers.replay_moves import near

SEARCHES = 5
"""Each has a seed of its own: they end in different places."""

DRAWN, CHANGED, LEADERS = 600, 3_000, 8
"""Of a search: configurations that are drawn, changes, and how many are changed further."""

KEPT = 3
"""Of each search, for `replay_check.py`."""

Scored = list[tuple[float, dict[str, Value]]]


def found(problem: Replay, seed: int) -> tuple[Scored, list[float]]:
    """The best, best first, and the means of all that were drawn."""
    random = np.random.default_rng(seed)
    space = shipped_space(problem.name, seed)
    start = [space.configuration(number) for number in range(DRAWN + 1)]
    drawn = [(problem.expected_mean(values), values) for values in start]
    leaders = sorted(drawn, key=_mean)[:LEADERS]
    for _ in range(CHANGED):
        values = near(space, leaders[random.integers(len(leaders))][1], random)
        mean = problem.expected_mean(values)
        if mean < leaders[-1][0] and all(values != other for _, other in leaders):
            leaders = sorted([*leaders[:-1], (mean, values)], key=_mean)
    return leaders, [mean for mean, _ in drawn[1:]]


def _mean(scored: tuple[float, dict[str, Value]]) -> float:
    return scored[0]


def main() -> None:
    """Search, and write down what was found."""
    for name in sys.argv[1:]:
        problem = load_problem(name)
        default = problem.expected_mean(problem.space.default)
        leaders: Scored = []
        means: list[float] = []
        for seed in range(SEARCHES):
            best, drawn = found(problem, seed)
            leaders += best[:KEPT]
            means += drawn
        leaders.sort(key=_mean)
        shares = (0.01, 0.1, 0.5, 0.9, 0.99)
        best_of_all = {
            "values": leaders[0][1],
            "expected_mean": round(leaders[0][0], 5),
            "expected_mean_of_default": round(default, 5),
            "test_mean": round(problem.test_mean(leaders[0][1]), 5),
            "test_mean_of_default": round(problem.test_mean(problem.space.default), 5),
            "drawn_over_default": {
                str(share): round(float(np.quantile(means, share)) / default, 3) for share in shares
            },
        }
        kept = [
            {"over_default": round(mean / default, 3), "values": values} for mean, values in leaders
        ]
        note(name, {"best": best_of_all, "leaders": kept})


if __name__ == "__main__":
    main()
