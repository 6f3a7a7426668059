"""A target that breaks in the middle of a study, after it has worked."""

from __future__ import annotations

LONG = 50
"""Crashes in a row that are many ..."""

FALLEN = 2
"""... and configurations among them that had worked before: then the target itself has broken. It
is no more than two, since a search that compares by pair may run the incumbent and its best rival
in turn for as long as both crash: crashes cost no time, so nobody else's turn comes."""


class Streak:
    """Runs that crashed one after the other, and who of them had worked before.

    Some configurations crash, and a search leaves them. But if nothing works any more, neither
    what is new nor what did before, then something else has broken: a licence has run out, a disk
    is gone. To go on would only record that everybody crashes.
    """

    def __init__(self) -> None:
        self.length = 0
        self._fallen: set[int] = set()

    def take(self, configuration: int, has_crashed: bool, has_worked: bool) -> None:
        """The next run, and whether its configuration had ended a run in good order before."""
        if not has_crashed:
            self.length = 0
            self._fallen.clear()
            return
        self.length += 1
        if has_worked:
            self._fallen.add(configuration)

    @property
    def is_alarming(self) -> bool:
        """Whether the study should end, so that somebody has a look."""
        return self.length >= LONG and len(self._fallen) >= FALLEN
