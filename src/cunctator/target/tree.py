"""The tree of processes below this one: who is in it, what they have used, how to end them all.

The supervisor is a child subreaper: a process of its run whose parent is gone becomes its own
child, whatever session or process group it put itself into. So the tree below the supervisor is
the run, and when the supervisor has no child left, nothing of the run is.

What is read of living processes is a lower bound, so that no run is ended before its cap: the
clock of each process is exact, but the times of children that a living parent has already reaped
are known in whole ticks of the kernel (1/100 s, rounded down). They are exact in the end, when all
have been reaped. Children whose parent ignores SIGCHLD are not on the kernel's own account: what we
have seen of them is on ours (`ledger.py`), and there is doubt about it. A cgroup (`cgroup.py`)
counts these too.
"""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol

from cunctator.target.ledger import RunAccounts, Seen

TICK = 1 / os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")

STATE, PARENT, REAPED_USER, REAPED_SYSTEM, THREADS, START, RESIDENT = 0, 1, 13, 14, 17, 19, 21
IGNORED = 30
"""Fields of /proc/<pid>/stat, counted after the name."""

CHILD_BIT = 1 << (signal.SIGCHLD - 1)
"""In the set of signals that a process ignores."""

FIRST_PATIENCE, LONGEST_PATIENCE, BUSY_PATIENCE = 0.005, 0.05, 0.01
"""Seconds between looks, as long as there is one process that might start others, and if there are
several: what comes and goes between two looks, and is reaped by nobody, is missed."""

RESTRAINT = 4.0
"""So many times as long as a look took, none is needed: many processes take long to look at."""

DOUBT = (
    "the CPU time of a run may be too low: a process of it ignores SIGCHLD, so that nobody reaps"
    " its children; without a control group the kernel does not tell their time, and what counts is"
    " what was seen of them every 10 ms"
)

RUNNING = b"R"
"""The state of a thread that runs, or would if there were a CPU for it."""

STOPPED = b"T"
"""The state of a process that somebody has stopped (SIGSTOP), debuggers apart."""

ENDED = (b"Z", b"X")
"""The states of a process that waits for nothing but its parent."""

SMALL = 2048
"""Bytes. The kernel hands longer files out in pieces of up to 4096."""

LISTS_CHILDREN = Path("/proc/thread-self/children").exists()

FREEZES = 1000
"""Rounds of SIGSTOP before those found so far are killed."""


class Sight(NamedTuple):
    """What one look at the processes of a run has shown."""

    cpu: float
    """Seconds, all that can be seen of it."""
    memory: int
    """Bytes: the sum of resident sizes. Pages shared by several processes count for each; see
    `memory.py`."""
    threads: int
    processes: list[int]
    """Who was there."""


class Tree(Protocol):
    """The processes of one run; `ProcessTree` or `cgroup.GroupTree`."""

    method: str
    patience: float
    """Seconds until the next look at most."""

    def discount(self, used: float) -> None:
        """Told CPU time of the first process that is not the target's: before it, or after it."""

    def look(self) -> Sight:
        """What can be seen of the living now."""

    def members(self) -> list[int]:
        """Who is there now, ended ones perhaps among them."""

    def kill(self) -> None:
        """Send SIGKILL to all of them."""

    def final_cpu(self) -> float:
        """Seconds used in all, once none is left."""

    def doubt(self) -> str:
        """Why that may be too low; empty: it is not."""


class ProcessTree:
    """All descendants of this process, found in /proc. Make it before the run starts."""

    method = "processes"

    def __init__(self) -> None:
        self.patience = FIRST_PATIENCE
        self._before = reaped_cpu()
        self._not_ours = 0.0
        self._ledger = RunAccounts()

    def discount(self, used: float) -> None:
        """All that was used since the fork is counted here; this much is not the target's."""
        self._not_ours += used

    def look(self) -> Sight:
        """Parents come before their children: no one is counted both as living and as reaped."""
        return self.sight(descendants())

    def sight(self, found: list[tuple[int, list[bytes]]]) -> Sight:
        """What has been found, and when to look again."""
        begun = time.monotonic()
        reaped = reaped_cpu() - self._before
        cpu = self._ledger.look((_seen(*each) for each in found), reaped, is_gone)
        memory = sum(int(fields[RESIDENT]) for _, fields in found) * PAGE
        threads = sum(int(fields[THREADS]) for _, fields in found)
        if len(found) > 1 or self._ledger.has_gaps:
            took = time.monotonic() - begun
            self.patience = max(BUSY_PATIENCE, RESTRAINT * took)
        else:
            self.patience = min(2 * self.patience, LONGEST_PATIENCE)
        return Sight(cpu - self._not_ours, memory, threads, [process for process, _ in found])

    def members(self) -> list[int]:
        """All below us."""
        return [process for process, _ in descendants()]

    def kill(self) -> None:
        """Freeze them, then kill them: see `freeze_and_kill`."""
        freeze_and_kill(self.members)

    def final_cpu(self) -> float:
        """What this process has reaped since the start, and what nobody has."""
        return self._ledger.final(reaped_cpu() - self._before) - self._not_ours

    def doubt(self) -> str:
        """There is some about children that nobody reaps."""
        return DOUBT if self._ledger.has_gaps else ""


def process_clock(process: int) -> float:
    """CPU seconds of all threads of a process, dead ones too, but not of its children."""
    return time.clock_gettime_ns((~process << 3) | 2) / 1e9


def _seen(process: int, fields: list[bytes]) -> Seen:
    try:
        clock = process_clock(process)
    except OSError:
        clock = None
    ticks = int(fields[REAPED_USER]) + int(fields[REAPED_SYSTEM])
    ignores = bool(int(fields[IGNORED]) & CHILD_BIT)
    return Seen(process, fields[START], int(fields[PARENT]), clock, ticks * TICK, ignores)


def is_gone(process: int, start: bytes) -> bool:
    """Whether a process that was started then has ended and been reaped."""
    fields = status_fields(process)
    return not fields or fields[START] != start


def reaped_cpu() -> float:
    """CPU seconds of all children that this process has reaped, and of all that they reaped."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def status_fields(process: int | str) -> list[bytes]:
    """The fields of /proc/<pid>/stat after the name; none if the process is gone."""
    try:
        # The name may hold anything, brackets and blanks too; what follows it may not.
        return read_kernel_file(f"/proc/{process}/stat").rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def any_running(processes: Iterable[int]) -> bool:
    """Whether any thread of these runs, or waits for nothing but a CPU."""
    for process in processes:
        fields = status_fields(process)
        if fields and fields[STATE] == RUNNING:
            return True
        if fields and int(fields[THREADS]) > 1:
            with suppress(FileNotFoundError, ProcessLookupError):
                for task in Path(f"/proc/{process}/task").iterdir():
                    fields = status_fields(f"{process}/task/{task.name}")
                    if fields and fields[STATE] == RUNNING:
                        return True
    return False


def descendants() -> list[tuple[int, list[bytes]]]:
    """All processes below this one, parents first, each with its `status_fields`.

    This one is taken to start its children from its first thread, who also gets the orphans.
    """
    children = children_listed if LISTS_CHILDREN else scanned()
    found: dict[int, list[bytes]] = {}
    waiting = children(os.getpid(), 1)
    while waiting:
        below: list[int] = []
        for process in waiting:
            fields = status_fields(process)
            if fields and process not in found:
                found[process] = fields
                below += children(process, int(fields[THREADS]))
        waiting = below
    return list(found.items())


def children_listed(process: int, threads: int) -> list[int]:
    """The children of a process, as the kernel lists them for each of its threads."""
    folder = f"/proc/{process}/task"
    try:
        names = [str(process)] if threads == 1 else [task.name for task in os.scandir(folder)]
    except (FileNotFoundError, ProcessLookupError):
        return []
    children: list[int] = []
    for name in names:
        with suppress(FileNotFoundError, ProcessLookupError):
            children += map(int, read_kernel_file(f"{folder}/{name}/children").split())
    return children


def scanned() -> Callable[[int, int], list[int]]:
    """The same from one scan of all processes, for kernels that do not list children."""
    children: dict[int, list[int]] = {}
    for process in all_processes():
        if fields := status_fields(process):
            children.setdefault(int(fields[PARENT]), []).append(process)
    return lambda process, threads: children.get(process, [])


def all_processes() -> list[int]:
    """Every process that can be seen."""
    with os.scandir("/proc") as entries:
        return [int(entry.name) for entry in entries if entry.name.isdecimal()]


def send(processes: Iterable[int], number: signal.Signals) -> None:
    """Send a signal to all that are still there and may be signalled."""
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def freeze_and_kill(find: Callable[[], Iterable[int]]) -> None:
    """Stop all until no new ones appear, then kill them.

    A fork bomb outruns whoever kills its processes one by one; a stopped one forks no more.
    """
    frozen: set[int] = set()
    for _ in range(FREEZES):
        fresh = set(find()) - frozen
        if not fresh:
            break
        send(fresh, signal.SIGSTOP)
        frozen |= fresh
    send(frozen, signal.SIGKILL)


def read_kernel_file(path: str) -> bytes:
    """The whole of a file in /proc or of a control group, with as few calls as possible."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        content = os.read(descriptor, 1 << 16)
        if len(content) < SMALL:
            return content
        while more := os.read(descriptor, 1 << 16):
            content += more
        return content
    finally:
        os.close(descriptor)
