"""Formulas of circuits: factoring, equivalence of multipliers, an accumulator, random gates.

Gates become clauses in Tseitin's way: a new variable for the output of each gate, equivalent to
what the gate computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from cunctator.demo.clauses import Clause, Formula, parity_clauses
from cunctator.demo.combinatorial import random_clauses

Generator = np.random.Generator
Word = list[int]
"""Literals of the bits of a number, the lowest bit first."""

ABSENT = 0
"""Stands in a word for a bit that is false anyway: no literal is 0."""


class Circuit:
    """Clauses in the making: variables are drawn from it, gates are added to it."""

    def __init__(self) -> None:
        self.variables = 0
        self.clauses: list[Clause] = []

    def word(self, width: int) -> Word:
        """New variables: an input of the circuit."""
        self.variables += width
        return list(range(self.variables - width + 1, self.variables + 1))

    def all_of(self, inputs: Sequence[int]) -> int:
        """Output of an AND gate."""
        (output,) = self.word(1)
        self.clauses.extend([-output, literal] for literal in inputs)
        self.clauses.append([output, *(-literal for literal in inputs)])
        return output

    def any_of(self, inputs: Sequence[int]) -> int:
        """Output of an OR gate."""
        return -self.all_of([-literal for literal in inputs])

    def odd_of(self, inputs: Sequence[int]) -> int:
        """Output of an XOR gate."""
        (output,) = self.word(1)
        self.clauses.extend(parity_clauses([*inputs, output], odd=False))
        return output

    def majority_of(self, first: int, second: int, third: int) -> int:
        """Output of a gate that is true if two of its inputs are."""
        (output,) = self.word(1)
        for one, other in ((first, second), (first, third), (second, third)):
            self.clauses.append([-one, -other, output])
            self.clauses.append([one, other, -output])
        return output

    def sum_of(self, first: Word, second: Word) -> Word:
        """Sum of two numbers, with a carry that ripples."""
        total, carry = [], ABSENT
        for bits in zip_longest(first, second, fillvalue=ABSENT):
            present = [bit for bit in (*bits, carry) if bit != ABSENT]
            carry = ABSENT
            if len(present) < 2:
                total.append(present[0] if present else ABSENT)
                continue
            total.append(self.odd_of(present))
            carry = self.all_of(present) if len(present) == 2 else self.majority_of(*present)
        return total if carry == ABSENT else [*total, carry]

    def product_of(self, first: Word, second: Word, order: Sequence[int]) -> Word:
        """Product of two numbers: one addition for each bit of `second`, in the given order."""
        total: Word = []
        for place in order:
            row = [self.all_of([bit, second[place]]) for bit in first]
            total = self.sum_of(total, [ABSENT] * place + row)
        return total

    def fix(self, word: Word, number: int) -> None:
        """Say what number a word is."""
        assert number < 2 ** len(word)
        self.clauses.extend(
            [bit if number >> place & 1 else -bit] for place, bit in enumerate(word)
        )

    def formula(self, satisfiable: bool | None) -> Formula:
        """What has been said so far."""
        return Formula(self.variables, self.clauses, satisfiable)


def is_prime(number: int) -> bool:
    """Whether a small number is prime."""
    return number > 1 and all(number % d for d in range(2, int(number**0.5) + 1))


def random_prime(random: Generator, bits: int) -> int:
    """A prime of exactly so many bits."""
    while True:
        number = int(random.integers(2 ** (bits - 1), 2**bits))
        if is_prime(number):
            return number


def factoring(random: Generator, fewest: int = 12, most: int = 15) -> Formula:
    """Find two factors above 1: of a product of two primes, or of a prime, which has none."""
    bits = int(random.integers(fewest, most, endpoint=True))
    satisfiable = bool(random.random() < 0.6)
    if satisfiable:
        number = random_prime(random, bits) * random_prime(random, bits)
    else:
        number = random_prime(random, 2 * bits - 1)
    circuit = Circuit()
    first, second = circuit.word(bits), circuit.word(bits)
    circuit.clauses += [first[1:], second[1:]]
    circuit.fix(circuit.product_of(first, second, range(bits)), number)
    return circuit.formula(satisfiable)


def miter(random: Generator, fewest: int = 6, most: int = 7) -> Formula:
    """Ask for numbers on which two ways to multiply differ: there are none.

    One of the multipliers adds its rows from the lowest to the highest, the other one exchanges
    the factors and adds the rows in a random order.
    """
    circuit = Circuit()
    wide, narrow = random.integers(fewest, most, size=2, endpoint=True).tolist()
    first, second = circuit.word(wide), circuit.word(narrow)
    one = circuit.product_of(first, second, range(narrow))
    other = circuit.product_of(second, first, random.permutation(wide).tolist())
    pairs = zip_longest(one, other, fillvalue=ABSENT)
    present = ([bit for bit in pair if bit != ABSENT] for pair in pairs)
    circuit.clauses.append([circuit.odd_of(bits) for bits in present])
    return circuit.formula(False)


def accumulator(random: Generator, fewest: int = 15, most: int = 19) -> Formula:
    """Can an accumulator reach a bad state? Its input chooses at each step whether to add.

    This is a bounded model check unrolled. The bad state is one that some inputs lead to, or any
    state at all.
    """
    steps = int(random.integers(fewest, most, endpoint=True))
    width = int(random.integers(steps - 2, steps + 2))
    addends = random.integers(1, 2**width, size=steps)
    circuit = Circuit()
    inputs = circuit.word(steps)
    state: Word = circuit.word(width)
    circuit.fix(state, 0)
    for choice, addend in zip(inputs, addends.tolist(), strict=True):
        offered = circuit.word(width)
        for place, bit in enumerate(offered):
            circuit.clauses += [[-bit, choice], [bit, -choice]] if addend >> place & 1 else [[-bit]]
        state = circuit.sum_of(state, offered)[:width]
    reachable = bool(random.random() < 0.5)
    chosen = addends[random.random(steps) < 0.5]
    bad = int(chosen.sum()) % 2**width if reachable else int(random.integers(2**width))
    circuit.fix(state, bad)
    return circuit.formula(True if reachable else None)


def fuzz(random: Generator) -> Formula:
    """Layers of random gates over the layers before, under random clauses of several lengths.

    The clauses are counted by the inputs, which are all that can be chosen: three for each input
    can often be satisfied, five hardly ever.
    """
    circuit = Circuit()
    inputs = int(random.integers(120, 260))
    known = circuit.word(inputs)
    for _ in range(int(random.integers(1, 4))):
        layer = []
        for _ in range(int(random.integers(40, 100))):
            fan = int(random.choice([2, 2, 2, 3, 4]))
            picked = random.choice(known, size=fan, replace=False)
            signed: Word = (picked * random.choice([-1, 1], size=fan)).tolist()
            gate = (circuit.all_of, circuit.any_of, circuit.odd_of)[random.integers(3)]
            layer.append(abs(gate(signed)))
        known = [*known, *layer]
    for width, ratio in ((2, 0.1), (3, random.uniform(3.0, 4.0)), (5, random.uniform(0.0, 4.0))):
        count = round(ratio * inputs)
        circuit.clauses += random_clauses(random, count, width, circuit.variables)
    return circuit.formula(None)
