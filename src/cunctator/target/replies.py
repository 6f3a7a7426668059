"""What targets reply, such as SAT and UNSAT, and whether two of them contradict each other.

Users read "answer", as in their scenarios and in the journal; in code that word is left to nobody,
since the answer of a study is another thing, its incumbent.

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
    """A reply, and the command line that gave it."""

    reply: str
    command: tuple[str, ...]

    def __str__(self) -> str:
        command = one_line(shlex.join(self.command), 10_000)
        return f"{one_line(self.reply)} was the answer of: {command}"

    def contradicts(self, other: Given) -> bool:
        """Letter case does not matter, and SAT and SATISFIABLE are the same."""
        return _meaning(self.reply) != _meaning(other.reply)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two runs with different replies."""

    instance: str
    first: Given
    second: Given

    def __str__(self) -> str:
        both = f"{self.first} but {self.second}"
        return f"{one_line(self.instance, 1000)}: {both} (of `answer`, the first match counts)"


class ContradictingReplies(CunctatorError):
    """Two runs answered the same instance differently, so one of them is wrong."""

    def __init__(self, contradiction: Contradiction, fix: str) -> None:
        self.contradiction = contradiction
        super().__init__(f"{contradiction}; {fix}")


class Replies:
    """The first reply for each instance."""

    def __init__(self, first: Mapping[str, Given]) -> None:
        self._first = dict(first)

    def is_new(self, instance: str) -> bool:
        """Whether nobody has answered an instance yet."""
        return instance not in self._first

    def tell(self, instance: str, given: Given) -> Contradiction | None:
        """Take the answer of a run that was solved; returns the contradiction it makes, if any."""
        first = self._first.setdefault(instance, given)
        return Contradiction(instance, first, given) if first.contradicts(given) else None


def _meaning(reply: str) -> str:
    word = reply.strip().upper()
    return SAME.get(word, word)
