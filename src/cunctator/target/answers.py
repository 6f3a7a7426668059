"""A detector of wrong answers: two runs that contradict each other on the same instance.

A configuration that is fast because it is wrong would win the search. Which of the two runs is
wrong is not ours to say, so both command lines are shown.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from cunctator.errors import one_line

SAME = {"SATISFIABLE": "SAT", "UNSATISFIABLE": "UNSAT"}


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two runs that answered differently."""

    instance: str
    answers: tuple[str, str]
    commands: tuple[tuple[str, ...], tuple[str, ...]]

    def __str__(self) -> str:
        told = " but ".join(
            f"{one_line(answer)} was the answer of: {one_line(shlex.join(command), 10_000)}"
            for answer, command in zip(self.answers, self.commands, strict=True)
        )
        return f"{one_line(self.instance, 1000)}: {told}"


class Answers:
    """What each instance was answered first, and by which command line."""

    def __init__(self) -> None:
        self._first: dict[str, tuple[str, tuple[str, ...]]] = {}
        self.contradiction: Contradiction | None = None
        """The first one that was seen."""

    def tell(self, instance: str, answer: str | None, argv: Sequence[str]) -> Contradiction | None:
        """Take the answer of a run that was solved; returns the contradiction it makes, if any.

        Runs that say nothing contradict nothing. Letter case does not matter, and SAT and
        SATISFIABLE are the same.
        """
        if not answer:
            return None
        first, command = self._first.setdefault(instance, (answer, tuple(argv)))
        if _meaning(first) == _meaning(answer):
            return None
        found = Contradiction(instance, (first, answer), (command, tuple(argv)))
        self.contradiction = self.contradiction or found
        return found


def _meaning(answer: str) -> str:
    word = answer.strip().upper()
    return SAME.get(word, word)
