"""What the processes of a run have used, also those that nobody reaps.

When a process has been reaped, the kernel adds its time to what its parent has reaped, and so up to
us. But if its parent ignores SIGCHLD (or has set SA_NOCLDWAIT), its time is added nowhere. So there
is an account of each process that was ever seen, with its clock at the last look. When it is gone,
that much is due from its parent; if the parent's own account does not grow by it, it was lost, and
is kept here. If the parent is gone at the same look, it is due from the next one above.

So all that is missed is what comes after the last look at a process, and processes that come and go
between two looks. It is never too much: what is due has been used, and is counted only once it is
certain that nobody else counts it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

UNCERTAIN = 2 / os.sysconf("SC_CLK_TCK")
"""Seconds: what a process has reaped is known in whole ticks, of user and of system time."""


class Seen(NamedTuple):
    """A living process at one look. Times are CPU seconds."""

    process: int
    start: bytes
    """When it was started: numbers come up again."""
    parent: int
    clock: float | None
    """None: it has just gone."""
    reaped: float
    """Of its children, as the kernel says."""
    ignores: bool
    """Whether it ignores SIGCHLD now."""


@dataclass(slots=True)
class Account:
    """Seconds of one process."""

    start: bytes
    parent: int = 0
    clock: float = 0.0
    reaped: float = 0.0
    due: float = 0.0
    """Of children that are gone, as we have seen them last."""
    lost: float = 0.0
    """Of that, what nobody has counted, for certain."""


class RunAccounts:
    """The accounts of one run."""

    def __init__(self) -> None:
        self.has_gaps = False
        """Whether there are, or were, processes whose time the kernel does not add up."""
        self._accounts: dict[int, Account] = {}
        """Of the living, parents before their children."""
        self._due = 0.0
        """From us."""
        self._lost = 0.0
        """Of parents that are gone."""

    def look(
        self, found: Iterable[Seen], reaped: float, is_gone: Callable[[int, bytes], bool]
    ) -> float:
        """CPU seconds so far, given the living, parents first, and what we have reaped before.

        Who is handed on to a new parent just now may not be among them: `is_gone` tells, given a
        process and its start.
        """
        present = set()
        for seen in found:
            self._read(seen)
            present.add(seen.process)
        gone = [
            process
            for process, account in self._accounts.items()
            if process not in present and is_gone(process, account.start)
        ]
        for process in reversed(gone):
            self._close(self._accounts[process])
        for process in gone:
            del self._accounts[process]
        living = (each.clock + each.reaped + each.lost for each in self._accounts.values())
        return max(reaped, self._due) + self._lost + sum(living)

    def final(self, reaped: float) -> float:
        """CPU seconds in all, once nobody is left."""
        for account in reversed(self._accounts.values()):
            self._close(account)
        self._accounts.clear()
        self.has_gaps |= self._due > reaped + UNCERTAIN
        return max(reaped, self._due) + self._lost

    def _read(self, seen: Seen) -> None:
        """Whatever was due before this look has been added to what it has reaped, or never will."""
        account = self._accounts.get(seen.process)
        if account is not None and account.start != seen.start:
            self._close(account)
            account = None
        if account is None:
            account = self._accounts[seen.process] = Account(seen.start)
        account.parent, account.reaped = seen.parent, seen.reaped
        if seen.clock is not None:
            account.clock = seen.clock
        missing = account.due - account.reaped
        account.lost = missing if missing > (0.0 if seen.ignores else UNCERTAIN) else 0.0
        self.has_gaps |= seen.ignores or account.lost > 0

    def _close(self, account: Account) -> None:
        """Its time is due from its parent now; that of its children too, but for what is lost."""
        self._lost += account.lost
        due = account.clock + max(account.reaped, account.due - account.lost)
        if (parent := self._accounts.get(account.parent)) is None:
            self._due += due
        else:
            parent.due += due
