"""Random search with successive halving over instances.

A bracket takes the incumbent and random configurations, runs all of them on a few instances, keeps
the better half, runs these on twice as many, and so on. All brackets go through the instances in
the same order, so whoever has been run on as many as the incumbent is compared with it on the same
ones. The default is run on some first, so that nobody replaces it by luck on a few.

Nobody is run longer than matters: whoever needs more in all than the worst of those that go on, or
than so many times the incumbent on the same instances, is out.
"""

from __future__ import annotations

import math
from pathlib import Path

from cunctator.space.space import Space
from cunctator.target.instances import shuffled
from peers.problem import Account, BudgetSpent

SIZE = 32
"""Configurations of a bracket. This and the other constants were the best of some on other seeds of
the replay of MiniSat."""

FIRST_PLACES = 4
"""Instances that a bracket begins with."""

SUPPORT = 32
"""Instances that the default is run on first: whoever is to replace it must be better on them."""

SLACK = 1.5
"""Of the incumbent's time: who needs more on the same instances is out."""


class Halving:
    """The search, with all that has been measured: nothing is run twice."""

    def __init__(self, account: Account, space: Space, seed: int) -> None:
        self.account = account
        self.incumbent = 0
        self._space = space
        self._order = [int(instance) for instance in shuffled(account.train, seed)]
        self._seconds: dict[int, list[float]] = {}
        """What each configuration needed on the first instances of the order."""
        self._drawn = 1
        """Configurations that have been in a bracket; 0 is the default."""

    def begin(self) -> None:
        """Run the default on enough instances."""
        self._run(self.incumbent, min(SUPPORT, self.account.train), math.inf)

    def bracket(self, size: int) -> bool:
        """One bracket of so many configurations; False if there are no others."""
        fresh = range(self._drawn, min(self._drawn + size - 1, self._space.size or 10**9))
        self._drawn += len(fresh)
        if not fresh:
            return False
        places, numbers = FIRST_PLACES, [self.incumbent, *fresh]
        while len(numbers) > 1:
            places = min(places, self.account.train)
            numbers = self._rung(numbers, places)
            if places == self.account.train:
                break
            places *= 2
        self._final(numbers[0], FIRST_PLACES * size // 2)
        return True

    def _final(self, winner: int, places: int) -> None:
        """The winner against the incumbent, on as many instances as a bracket may lead to."""
        places = min(max(places, len(self._seconds[self.incumbent])), self.account.train)
        self._run(self.incumbent, places, math.inf)
        if winner != self.incumbent and self._run(
            winner, places, sum(self._seconds[self.incumbent])
        ):
            self._compare(winner)

    def _rung(self, numbers: list[int], places: int) -> list[int]:
        """The better half of these by their time on so many instances, the best first."""
        keep = math.ceil(len(numbers) / 2)
        totals: dict[int, float] = {}
        for number in numbers:
            ranked = sorted(totals.values())
            bound = ranked[keep - 1] if len(ranked) >= keep else math.inf
            if self.incumbent in totals:
                bound = min(bound, SLACK * totals[self.incumbent])
            if self._run(number, places, bound):
                totals[number] = sum(self._seconds[number][:places])
                self._compare(number)
        return sorted(totals, key=lambda number: totals[number])[:keep]

    def _run(self, number: int, places: int, bound: float) -> bool:
        """Run one on so many instances; False as soon as it needs more than the bound in all."""
        seconds = self._seconds.setdefault(number, [])
        values = self._space.configuration(number)
        while len(seconds) < places and (left := bound - sum(seconds)) > 0.0:
            made = self.account.run(values, self._order[len(seconds)], left)
            if not made.solved and made.counts < self.account.cutoff:
                return False
            seconds.append(made.counts)
        return len(seconds) >= places and sum(seconds[:places]) <= bound

    def _compare(self, number: int) -> None:
        """Make it the incumbent if it is better on all instances that the incumbent has run."""
        known = self._seconds[self.incumbent]
        mine = self._seconds[number]
        if len(mine) >= len(known) and sum(mine[: len(known)]) < sum(known):
            self.incumbent = number
            self.account.note(self._space.configuration(number))


def search(account: Account, seed: int, folder: Path) -> None:
    """Brackets until the budget is spent, or there is nothing left to draw."""
    space = account.seeded_space(seed)
    halving = Halving(account, space, seed)
    try:
        halving.begin()
        while halving.bracket(SIZE):
            pass
    except BudgetSpent:
        return
