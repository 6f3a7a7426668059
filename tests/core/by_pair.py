"""The capital of claims by the letter of docs/algorithm.md, in plain NumPy, for tests to compare.

Nothing is shared with the kernels but the values by pair that they read.
"""

from __future__ import annotations

import math

import numpy as np

from cunctator.core.values import values_of

SHARES = {"faster": 0.25, "slower": 0.05, "mean": 0.1, "beyond": 0.1, "rivals": 0.5}
BETS = 2.0 ** -np.arange(8)
WEIGHTS = 1 / ((np.arange(8) + 1) * (np.arange(8) + 2))
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def wealths(values, price, instances, begins=0):
    """Wealth after 0, 1, 2, ... pairs, of a game on the pairs from `begins` on; a stake of 1.

    Where what is left of a finite set is not trusted, 0.
    """
    wealth, found, before = WEIGHTS.copy(), [1.0], 0.0
    for pair, value in enumerate(values):
        left = price if instances is None else instances * price - before
        whole = price if instances is None else instances * price
        if left > 1e-9 * whole:
            if pair >= begins:
                fair = price if instances is None else left / (instances - pair)
                wealth = wealth * (1 - BETS + BETS * value / fair)
            found.append(wealth.sum())
        else:
            found.append(0.0)
        before += value
        if instances is not None and instances * price - before < -1e-9 * whole:
            found[-1] = math.inf
    return np.array(found)


def share_of(index, initial):
    block = math.floor(math.log2(index + 1))
    own = 0.5 / (2**block * (block + 1) * (block + 2))
    return own + (0.5 / initial if index < initial else 0.0)


class Reference:
    """All capital, from what is known (`values`) of each configuration: NaN where nothing is."""

    def __init__(self, state):
        self.rules = state.rules
        self.instances = None if state.rules.instances == 2**31 - 1 else state.rules.instances
        self.initial = int(state.pools[0].members)
        self.nominated = [int(index) for index in state.now.nominated if index != -2]
        self.octaves = 0
        while (
            math.isfinite(self.rules.cutoff)
            and self.rules.first_cap * 2**self.octaves < self.rules.cutoff
        ):
            self.octaves += 1
        self.timeout = self.rules.penalty * self.rules.cutoff
        self.lower, self.upper = [], []
        for index in range(state.testers.size):
            values = values_of(state.values, index, int(state.testers[index].started))
            known = (values > 0) & np.isfinite(values)
            first = self.rules.first_cap
            least = np.where(values < 0, -values, np.where(values == 0, first, values))
            self.lower.append(np.minimum(least, self.timeout))
            self.upper.append(np.where(known, values, math.inf))

    def cap(self, octave):
        return self.timeout if octave is None else self.rules.first_cap * 2.0**octave

    def cap_weight(self, octave):
        if math.isinf(self.rules.cutoff):
            return 1 / ((octave + 1) * (octave + 2))
        return 0.5 if octave is None else 0.5 / self.octaves

    def answer_capital(self, answer, values, price, weight, alone=0.0):
        total = 0.5 * share_of(answer, self.initial) * wealths(values, price, self.instances)
        for number, index in enumerate(self.nominated):
            begins = 8 * 2**number
            if index == answer and begins < len(values):
                part = 0.5 / ((number + 1) * (number + 2))
                won = wealths(values, price, self.instances, begins)
                total = total + np.where(np.arange(won.size) > begins, part * won, 0.0)
        return (weight * total + alone).max()

    def room(self, index, cap, size):
        room = np.maximum(0.0, cap - self.upper[index][:size])
        return np.append(room, np.zeros(size - room.size))

    def faster_capital(self, answer, ratio, upper):
        values = ratio * self.lower[0] + self.room(answer, self.timeout, self.lower[0].size)
        alone = 0.2 * wealths(self.lower[0], upper / ratio, self.instances)
        return self.answer_capital(answer, values, self.timeout, 0.8, alone)

    def slower_capital(self, answer, ratio):
        least = self.lower[answer]
        values = ratio * least + self.room(0, self.timeout, least.size)
        return self.answer_capital(answer, values, self.timeout, 1.0)

    def mean_capital(self, answer, octave, bound):
        cap = self.cap(octave)
        values = self.room(answer, cap, self.upper[answer].size)
        return self.answer_capital(answer, values, cap - bound, self.cap_weight(octave))

    def beyond_capital(self, answer, octave, bound):
        values = (self.upper[answer] <= self.cap(octave)).astype(float)
        weight = self.cap_weight(octave) * (2 if math.isfinite(self.rules.cutoff) else 1)
        return self.answer_capital(answer, values, 1 - bound, weight)

    def rival_capital(self, answer, rival, octave, ratio, upper):
        size, cap = self.lower[rival].size, self.cap(octave)
        alone = wealths(self.lower[rival], upper / ratio, self.instances)
        values = ratio * self.lower[rival] + self.room(answer, cap, size)
        both = wealths(values, cap, self.instances)
        weight = 0.6 * self.cap_weight(octave) * share_of(answer, self.initial)
        return (0.4 * alone + weight * both).max()
