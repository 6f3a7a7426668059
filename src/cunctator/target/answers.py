"""A detector of wrong answers: two runs that contradict each other on the same instance.

A configuration that is fast because it is wrong would win the search. Which of the two runs is
wrong is not ours to say, so both command lines are shown.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from cunctator.base.errors import CunctatorError, one_line

SAME = {"SATISFIABLE": "SAT", "UNSATISFIABLE": "UNSAT"}


@dataclass(frozen=True, slots=True)
class Given:
    """An answer, and the command line that gave it."""

    answer: str
    command: tuple[str, ...]

    def __str__(self) -> str:
        command = one_line(shlex.join(self.command), 10_000)
        return f"{one_line(self.answer)} was the answer of: {command}"

    def contradicts(self, other: Given) -> bool:
        """Letter case does not matter, and SAT and SATISFIABLE are the same."""
        return _meaning(self.answer) != _meaning(other.answer)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two runs that answered differently."""

    instance: str
    first: Given
    second: Given

    def __str__(self) -> str:
        both = f"{self.first} but {self.second}"
        return f"{one_line(self.instance, 1000)}: {both} (of `answer`, the first match counts)"


class ContradictingAnswers(CunctatorError):
    """Two runs answered the same instance differently, so one of them is wrong."""

    def __init__(self, contradiction: Contradiction, fix: str) -> None:
        self.contradiction = contradiction
        super().__init__(f"{contradiction}; {fix}")


class Answers:
    """What each instance was answered first."""

    def __init__(self, first: Mapping[str, Given]) -> None:
        self._first = dict(first)

    def is_new(self, instance: str) -> bool:
        """Whether nobody has answered an instance yet."""
        return instance not in self._first

    def tell(self, instance: str, given: Given) -> Contradiction | None:
        """Take the answer of a run that was solved; returns the contradiction it makes, if any."""
        first = self._first.setdefault(instance, given)
        return Contradiction(instance, first, given) if first.contradicts(given) else None


def _meaning(answer: str) -> str:
    word = answer.strip().upper()
    return SAME.get(word, word)
