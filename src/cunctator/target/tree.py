"""The tree of processes below this one: who is in it, what they have used, how to end them all.

The supervisor is a child subreaper: a process of its run whose parent is gone becomes its own
child, whatever session or process group it put itself into. So the tree below the supervisor is
the run, and when the supervisor has no child left, nothing of the run is.

What is read of living processes is a lower bound, so that no run is ended before its cap: the
clock of each process is exact, but the times of children that a living parent has already reaped
are known in whole ticks of the kernel (1/100 s, rounded down). They are exact in the end, when all
have been reaped. One case is lost on us, as it is on the kernel's own account: children whose
parent ignores SIGCHLD. A cgroup (`cgroup.py`) counts these too.
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

TICK = 1 / os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")

STATE, PARENT, REAPED_USER, REAPED_SYSTEM, THREADS, START, RESIDENT = 0, 1, 13, 14, 17, 19, 21
"""Fields of /proc/<pid>/stat, counted after the name."""

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


class Tree(Protocol):
    """The processes of one run; `ProcessTree` or `cgroup.GroupTree`."""

    method: str

    def begin(self, used: float) -> None:
        """Told the CPU time that the first process had used when it became the target."""

    def look(self) -> Sight:
        """What can be seen of the living now."""

    def members(self) -> list[int]:
        """Who is there now, ended ones perhaps among them."""

    def kill(self) -> None:
        """Send SIGKILL to all of them."""

    def final_cpu(self) -> float:
        """Seconds used in all, once none is left."""


class ProcessTree:
    """All descendants of this process, found in /proc. Make it before the run starts."""

    method = "processes"

    def __init__(self) -> None:
        self._before = reaped_cpu()

    def begin(self, used: float) -> None:
        """All that was used since the fork is counted here; this much is not the target's."""
        self._before += used

    def look(self) -> Sight:
        """Parents come before their children: no one is counted both as living and as reaped."""
        cpu = self.final_cpu()
        memory = threads = 0
        for process, fields in descendants():
            with suppress(OSError):
                cpu += process_clock(process)
            cpu += (int(fields[REAPED_USER]) + int(fields[REAPED_SYSTEM])) * TICK
            memory += int(fields[RESIDENT]) * PAGE
            threads += int(fields[THREADS])
        return Sight(cpu, memory, threads)

    def members(self) -> list[int]:
        """All below us."""
        return [process for process, _ in descendants()]

    def kill(self) -> None:
        """Freeze them, then kill them: see `freeze_and_kill`."""
        freeze_and_kill(self.members)

    def final_cpu(self) -> float:
        """What this process has reaped since the start."""
        return reaped_cpu() - self._before


def process_clock(process: int) -> float:
    """CPU seconds of all threads of a process, dead ones too, but not of its children."""
    return time.clock_gettime_ns((~process << 3) | 2) / 1e9


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
