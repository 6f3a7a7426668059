"""A solver that was made up: runtimes from a formula, so that a run costs nothing."""

from __future__ import annotations

import numpy as np

from cunctator.space.parameters import make_parameter
from cunctator.space.space import Space

TESTS = 1000


class MadeUp:
    """One parameter of each kind, one of them conditional; the default is four times the best."""

    name = "made-up"
    cutoff = 1.0
    train = 50

    def __init__(self, seed: int = 0) -> None:
        self.space = Space(
            [
                make_parameter("mode", "categorical", "plain", values=["plain", "clever", "slow"]),
                make_parameter("share", "real", 0.9, low=0.0, high=1.0),
                make_parameter("size", "integer", 100, low=1, high=1000, log=True),
                make_parameter("level", "ordinal", 0, values=[0, 1, 2]),
                make_parameter("deep", "categorical", False, values=[True, False]),
                make_parameter(
                    "depth", "integer", 9, low=0, high=9, when={"deep": True, "level": [1, 2]}
                ),
            ],
            seed=seed,
        )
        self.asked: list[tuple[int, int, float]] = []
        hardness = np.random.default_rng([seed, 5])
        self._train = hardness.lognormal(0.0, 1.0, self.train)
        self._tests = hardness.lognormal(0.0, 1.0, TESTS)

    def factor(self, values) -> float:
        """Seconds on an instance of hardness 1."""
        slow = {"plain": 1.5, "clever": 1.0, "slow": 30.0}[values["mode"]]
        slow *= 1 + 2 * (values["share"] - 0.3) ** 2 + 0.2 * abs(np.log10(values["size"] / 20))
        slow *= 1 + 0.1 * values["level"] + 0.05 * values.get("depth", 3)
        return 0.02 * slow

    def run(self, values, instance, seed, cap):
        self.asked.append((instance, seed, cap))
        assert self.space.checked(values) == dict(values)
        seconds = self.factor(values) * self._train[instance]
        return min(seconds, cap), seconds < cap

    def test_mean(self, values):
        return float(np.minimum(self.factor(values) * self._tests, self.cutoff).mean())
