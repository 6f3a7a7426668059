"""Solvers replayed: answers of a model of real runtimes, at no cost, for choosing constants.

`measure.py` has measured real solvers for some minutes each, `replay_fit.py` has fitted models to
that, and this answers as they say: 100,000 runs a second, each the same whenever it is asked for.

    problem = load_problem("minisat", seed=3)
    seconds, solved = problem.run(values, instance=17, seed=17, cap=0.5)

The logarithm of a runtime is the sum of

- what the trees say for the configuration on a measured instance;
- how much harder this instance is than that: `JITTER`. Each instance of a replay is a variant of a
  measured one. Training instances are of measured ones drawn with replacement, other ones for each
  `seed`; test instances, the same for all, are of each in turn. So a training set is a sample of
  what test instances are about, as it is where instances are drawn from a distribution;
- smooth random functions of the configuration, one for all instances and one for each family, of
  the sizes that cross-validation has found: this is what the trees do not know of configurations.
  Neighbours have much of it in common, or the luckiest of many would be far too good. It is zero at
  the default, which is measured well;
- luck, of the size that smaller trees say for configuration and instance and with the tails of the
  errors that the model made. A part of it is the pair's, the rest the seed's, as found where pairs
  were run with several seeds. It is a function of a hash, of the configuration's values too.

So configurations differ as they do in truth on the whole, though no one is as it is in truth.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from cunctator.siblings.compiled import compiled
from cunctator.space.parameters import Value
from peers.replay_encoding import Encoding, shipped_space
from peers.replay_files import arrays_in, facts_of
from peers.replay_trees import Trees

Floats = NDArray[np.float64]
Values = Mapping[str, Value]

NAMES = ("minisat", "clasp", "highs")

TRAIN, TEST = 200, 400
CUTOFF = 5.0
"""Seconds. Longer than what was measured; the model says what would have been."""

JITTER = 0.2
"""Standard deviation of the logarithm of how hard a variant of an instance is."""

WAVES = 256
"""Of which a smooth random function is the sum."""

REACH = 2.5
"""The square of the distance over which it changes. Configurations that differ in a switch have
four fifths of it in common, those that have nothing in common at most half."""

LIMIT = 2.0
"""Of smooth functions, which have a variance of 1. Without one, the best of so many configurations
as some tens of parameters have would be as far off as five standard deviations, in each family."""

STRETCH = 1.31
"""Makes up for the variance that the limit costs."""

KEPT = 20_000
"""Configurations that are kept in mind."""

PARTS_OF_LUCK = 41
"""Quantiles of luck by which a mean is taken over all of it."""

THIRDS = np.array([-1.2247, 0.0, 1.2247])
"""Numbers with the mean and the variance of a normal one."""

TEST_SET, TRAINING_SET = 0, 1
"""Streams of random numbers."""


class Model:
    """What is known of a solver; the same for all seeds."""

    def __init__(self, name: str) -> None:
        self.space = shipped_space(name)
        self.encoding = Encoding(self.space)
        self.arrays = arrays_in(f"{name}.model")
        self.facts = facts_of(name)
        self.name = name
        self.count = len(self.arrays["base"])
        self.quantiles = self.arrays["quantiles"].astype(np.float64)
        self._mean, self._size = (self._trees(prefix) for prefix in ("mean_", "size_"))
        families = [str(text).partition("-")[2] for text in self.arrays["instances"]]
        kinds = sorted(set(families))
        self._family = np.array([kinds.index(family) for family in families])
        self._smooth = Smooth(self.encoding.row(self.space.default), 1 + len(kinds))
        self._rows = np.empty((self.count, self.encoding.width + self._features.shape[1]), "f4")
        self._rows[:, self.encoding.width :] = self._features

    @property
    def _features(self) -> NDArray[np.float32]:
        return self.arrays["features"]

    def _trees(self, prefix: str) -> Trees:
        parts = self.arrays.items()
        return Trees({key.removeprefix(prefix): part for key, part in parts if prefix in key})

    def on_measured(self, row: Floats) -> tuple[Floats, Floats]:
        """Logarithms of runtimes on the measured instances, and the sizes of luck."""
        self._rows[:, : self.encoding.width] = row
        whole, family = self.arrays["common"]
        smooth = self._smooth.at(row)
        centre: Floats = self.arrays["base"] + self._mean.predict(self._rows)
        centre += whole * smooth[0] + family * smooth[1:][self._family]
        size: Floats = self.arrays["unit"] * np.exp(self._size.predict(self._rows))
        return centre, size

    def seed_share(self, values: Values) -> float:
        """Which share of luck is the seed's."""
        return float(self.arrays["seed_shares"][int(takes_seed(self.name, values))])


def takes_seed(name: str, values: Values) -> bool:
    """Whether the seed matters to a run, other than by when the clock is looked at."""
    if name == "minisat":
        return bool(values["rnd-init"]) or float(values["rnd-freq"]) > 0
    if name == "clasp":
        draws = (values["sign_def"], values["init_watches"])
        return "rnd" in draws or float(values["rand_freq"]) > 0
    return True


class Smooth:
    """Random functions of a configuration, of variance 1 far from an origin where they are 0.

    Sums of random waves (Rahimi and Recht 2007), less what is known of them from the origin.
    """

    def __init__(self, origin: Floats, count: int) -> None:
        random = np.random.default_rng([WAVES, len(origin)])
        self._directions = random.standard_normal((WAVES, len(origin))) / np.sqrt(REACH)
        self._phases = random.uniform(0, 2 * np.pi, WAVES)
        self._weights = random.standard_normal((count, WAVES))
        self._origin = self._waves(origin)
        self._at_origin = self._weights @ self._origin / (self._origin @ self._origin)

    def _waves(self, row: Floats) -> Floats:
        return math.sqrt(2 / WAVES) * np.asarray(np.cos(self._directions @ row + self._phases))

    def at(self, row: Floats) -> Floats:
        """All of them, for an encoded configuration."""
        waves = self._waves(row)
        sums = self._weights @ waves - (self._origin @ waves) * self._at_origin
        return LIMIT * np.asarray(np.tanh(STRETCH / LIMIT * sums))


class Variants:
    """Instances of a replay."""

    def __init__(self, measured: NDArray[np.int64], random: np.random.Generator, key: int) -> None:
        self.measured = measured
        self.harder = JITTER * random.standard_normal(len(measured))
        self.key = np.uint64(key)
        """Tells their luck from that of others."""


class Replay:
    """A problem for `peers`, answered by a model."""

    def __init__(self, name: str, seed: int = 0) -> None:
        self._model = Model(name)
        self.name = name
        self.space = self._model.space
        self.cutoff = CUTOFF
        self.train = TRAIN
        count = self._model.count
        random = np.random.default_rng([TRAINING_SET, seed])
        self._training = Variants(random.integers(count, size=TRAIN), random, 1 + seed)
        random = np.random.default_rng(TEST_SET)
        self._test = Variants(np.arange(TEST) % count, random, 0)
        self._names = [parameter.name for parameter in self.space.parameters]
        self._known: dict[tuple[object, ...], tuple[Floats, Floats, np.uint64, float]] = {}

    def run(self, values: Values, instance: int, seed: int, cap: float) -> tuple[float, bool]:
        """(seconds charged <= cap, solved)."""
        centre, size, key, share = self._on_training(values)
        quantiles = self._model.quantiles
        seconds = runtime(centre[instance], size[instance], key, instance, seed, share, quantiles)
        limit = min(cap, self.cutoff)
        return (seconds, True) if seconds < limit else (limit, False)

    def runtimes_of(self, values: Values) -> Floats:
        """Of all training instances, each with its number as its seed; at most the cutoff."""
        return self._runtimes(*self._on_training(values))

    def test_mean(self, values: Values) -> float:
        """Mean runtime on test instances; a timeout counts the cutoff."""
        return float(self._runtimes(*self._on(values, self._test)).mean())

    def expected_mean(self, values: Values) -> float:
        """Mean over all luck, and all variants of the measured instances.

        What `test_mean` would be with ever more test instances: a comparison of two
        configurations by it is free of what is chance in that.
        """
        return float(self.expected_runtimes(values).mean())

    def expected_runtimes(self, values: Values, jitter: float = JITTER) -> Floats:
        """The same on each measured instance."""
        centre, size = self._model.on_measured(self._model.encoding.row(values))
        parts = (np.arange(PARTS_OF_LUCK) + 0.5) / PARTS_OF_LUCK
        places = np.linspace(0, 1, len(self._model.quantiles))
        luck = np.interp(parts, places, self._model.quantiles)
        harder = jitter * THIRDS
        logarithms = centre[:, None, None] + size[:, None, None] * luck[:, None] + harder
        return np.asarray(np.minimum(np.exp(logarithms), self.cutoff).mean((1, 2)))

    def default_seconds(self) -> float:
        """Mean runtime of the default on the training instances."""
        return float(self.runtimes_of(self.space.default).mean())

    def best_known(self) -> float:
        """The test mean of the best configuration that a long search has found."""
        return self.test_mean(self.best_values())

    def best_values(self) -> dict[str, Value]:
        """The configuration with the least expected mean that `replay_best.py` has found."""
        return self.space.checked(self._model.facts["best"]["values"])

    def _on_training(self, values: Values) -> tuple[Floats, Floats, np.uint64, float]:
        name = tuple(map(values.get, self._names))
        found = self._known.get(name)
        if found is None:
            if len(self._known) >= KEPT:
                self._known.pop(next(iter(self._known)))
            found = self._known[name] = self._on(values, self._training)
        return found

    def _on(self, values: Values, variants: Variants) -> tuple[Floats, Floats, np.uint64, float]:
        """Centres and sizes on these instances, the key of all luck, and the seed's share of it."""
        row = self._model.encoding.row(values)
        centre, size = self._model.on_measured(row)
        digest = hashlib.blake2b(row.tobytes() + variants.key.tobytes(), digest_size=8).digest()
        key = np.uint64(int.from_bytes(digest, "little"))
        centre = centre[variants.measured] + variants.harder
        return centre, size[variants.measured], key, self._model.seed_share(values)

    def _runtimes(self, centre: Floats, size: Floats, key: np.uint64, share: float) -> Floats:
        found = np.empty(len(centre))
        all_runtimes(centre, size, key, share, self._model.quantiles, found)
        return np.minimum(found, self.cutoff)


@compiled
def mixed(number: np.uint64) -> np.uint64:
    """A hash of 64 bits: SplitMix64's."""
    number = number + np.uint64(0x9E3779B97F4A7C15)
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


@compiled
def normal(key: np.uint64) -> float:
    """A normal number from a hash."""
    one, other = mixed(key), mixed(key ^ np.uint64(0x5851F42D4C957F2D))
    radius = np.sqrt(-2.0 * np.log((float(one >> np.uint64(11)) + 0.5) * 2.0**-53))
    return float(radius * np.cos(2.0 * np.pi * float(other >> np.uint64(11)) * 2.0**-53))


@compiled
def runtime(
    centre: float,
    size: float,
    key: np.uint64,
    instance: int,
    seed: int,
    share: float,
    quantiles: Floats,
) -> float:
    """Seconds to the end. Luck is drawn normal, then takes the shape of the errors."""
    pair = mixed(key ^ mixed(np.uint64(instance)))
    luck = np.sqrt(1.0 - share) * normal(pair)
    luck += np.sqrt(share) * normal(pair ^ mixed(np.uint64(seed) + np.uint64(1 << 32)))
    place = 0.5 * math.erfc(-luck / math.sqrt(2.0)) * (len(quantiles) - 1)
    below = min(int(place), len(quantiles) - 2)
    shaped = quantiles[below] + (place - below) * (quantiles[below + 1] - quantiles[below])
    return float(np.exp(centre + size * shaped))


@compiled
def all_runtimes(
    centre: Floats,
    size: Floats,
    key: np.uint64,
    share: float,
    quantiles: Floats,
    found: Floats,
) -> None:
    """Of each instance, with its number as its seed."""
    for place in range(len(centre)):
        found[place] = runtime(centre[place], size[place], key, place, place, share, quantiles)


def load_problem(name: str, seed: int = 0) -> Replay:
    """One of `NAMES`; `seed` tells sets of training instances apart, test instances stay."""
    return Replay(name, seed)
