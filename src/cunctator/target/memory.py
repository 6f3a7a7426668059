"""How much memory a tree of processes uses, where pages that they share count once.

Resident sizes are cheap to read, and their sum is never too low: forks share pages, which count for
each of them. Proportional sizes divide a shared page among those who share it; the kernel walks all
pages to tell them, 10 ms a GB or so. They are read only when the cheap sum is above a limit, and
then seldom enough to leave the CPU to the target.

Files in memory count too, but for those parts that are mapped and so counted already; see
`shared_memory.py`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

from cunctator.target.shared_memory import SharedMemory, exact_with, resident_of, resident_with
from cunctator.target.tree import read_kernel_file

PROPORTIONAL = re.compile(rb"^Pss:\s+([0-9]+) kB", re.MULTILINE)

RESTRAINT = 5.0
"""So many times as long as such a look took, none is made, unless the cheap sum grows."""

GROWTH = 1.02
"""Growth of the cheap sum after which a look is made nevertheless."""


class MemoryWatch:
    """Sizes of one run's tree, over time."""

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._shared = SharedMemory()
        self._known = 0
        """The last exact size."""
        self._known_most = 0
        self._next = 0.0

    def size(self, resident: int, processes: Sequence[int]) -> int:
        """Bytes in use, given the sum of resident sizes: exact enough to decide about the limit."""
        files = self._shared.look(processes)
        most = resident + sum(files.values())
        if self._limit is None or most <= self._limit:
            return min(most, resident_with(files, processes)) if files else resident
        begun = time.monotonic()
        if begun >= self._next or most > GROWTH * self._known_most:
            if files:
                self._known = min(most, exact_with(files, processes))
            else:
                self._known = min(most, sum(map(proportional_size, processes)))
            self._known_most = most
            now = time.monotonic()
            self._next = now + RESTRAINT * (now - begun)
        return self._known


def proportional_size(process: int) -> int:
    """Bytes of a process, shared pages divided; its resident size where the kernel is silent."""
    try:
        found = PROPORTIONAL.search(read_kernel_file(f"/proc/{process}/smaps_rollup"))
    except ProcessLookupError:
        return 0
    except OSError:
        found = None
    return resident_of(process) if found is None else int(found[1]) * 1024
