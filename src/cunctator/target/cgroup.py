"""A control group for each supervisor, where the kernel lets us make one (cgroup v2, delegated).

It counts the CPU time of everything that ever ran in it: also what no parent reaps, which the
processes' own accounts miss (`tree.py`). It shows all its processes at once, and if the supervisor
is lost, the driver kills all of them at once. Nothing has to be set up: if our own group accepts a
sub-group that has `cgroup.kill`, and lets us in, it is used; if not, `tree.ProcessTree` does the
work.

The supervisor itself moves in, once, and its targets are born there. A group for each run would be
cleaner, but a process that moves between groups waits for a grace period of the kernel, 10 ms and
more on a busy machine: too long before each run of 50 ms. So what the supervisor uses is
subtracted, and it cannot use `cgroup.kill` itself. Nor is memory limited by the group: the kernel
allows that only below groups without processes, and ours has some.

A target that may (as root) can leave its group, or make one of its own below. It does not leave our
descendants by that: who belongs to a run is the union of both, and what it has used is the larger
of the two accounts.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from cunctator.target import tree
from cunctator.target.tree import ProcessTree, Sight

OWN_GROUP = "0::"
"""What the line of cgroup v2 begins with in /proc/<pid>/cgroup."""


LINKS_OF_AN_EMPTY_FOLDER = 2


class GroupTree:
    """All processes of this one's group but itself, and its descendants; one for each run.

    Make it before the run starts.
    """

    method = "cgroup"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._below = ProcessTree()
        self.patience = self._relaxed()
        self._before = self._counted()
        self._has_deserters = False

    def discount(self, used: float) -> None:
        """All that was used since the fork is counted here; this much is not the target's."""
        self._below.discount(used)
        self._before += used

    def look(self) -> Sight:
        """The kernel's account of a running process is up to a tick old: its clock renews it."""
        found = dict(tree.descendants())
        inside = self._inside()
        for process in inside:
            if process not in found and (fields := tree.status_fields(process)):
                found[process] = fields
        sight = self._below.sight(list(found.items()))
        if not self._has_deserters and not found.keys() <= set(inside):
            self._has_deserters = any(self._is_outside(each) for each in found.keys() - set(inside))
        self.patience = self._below.patience if self._has_deserters else self._relaxed()
        return sight._replace(cpu=max(sight.cpu, self._counted() - self._before))

    def members(self) -> list[int]:
        """All who are in the group, but for us, or below us."""
        return list({*self._below.members(), *self._inside()})

    def kill(self) -> None:
        """Freeze them, then kill them (`freeze_and_kill`); the group shows its members at once."""
        if self._inside():
            tree.freeze_and_kill(self._inside)
        if self._has_deserters or not self._inside():
            self._below.kill()

    def final_cpu(self) -> float:
        """What the group counts is some microseconds less, on account of our own share."""
        return max(self._below.final_cpu(), self._counted() - self._before)

    def doubt(self) -> str:
        """The group counts whatever is in it; there may be doubt about those who left."""
        return self._below.doubt() if self._has_deserters else ""

    def _relaxed(self) -> float:
        """Nothing in the group is missed; we look in order to see who leaves it."""
        return max(tree.LONGEST_PATIENCE, 5 * self._below.patience)

    def _inside(self) -> list[int]:
        words = tree.read_kernel_file(f"{self._folder}/cgroup.procs").split()
        own = os.getpid()
        return [process for word in words if (process := int(word)) != own]

    def _is_outside(self, process: int) -> bool:
        """Whether it is neither in the group nor in one below; new ones may just be missing."""
        try:
            lines = tree.read_kernel_file(f"/proc/{process}/cgroup").decode().splitlines()
        except OSError:
            return False
        groups = [line.removeprefix(OWN_GROUP) for line in lines if line.startswith(OWN_GROUP)]
        return any(self._folder.name not in group.split("/") for group in groups)

    def _counted(self) -> float:
        """Seconds used in the group, but for our own.

        Our clock is read before, to bring the kernel's account of us up to date, and after, so
        that no part of what we use in between is taken for the target's.
        """
        time.process_time_ns()
        words = tree.read_kernel_file(f"{self._folder}/cpu.stat").split()
        return int(words[words.index(b"usage_usec") + 1]) / 1e6 - time.process_time()


def enter_group(name: str) -> Path | None:
    """Move this process into a new sub-group of its own, if that is possible; its folder."""
    above = own_folder()
    if above is None:
        return None
    folder = above / name
    try:
        folder.mkdir()
    except OSError:
        return None
    try:
        if (folder / "cgroup.kill").exists() and (folder / "cpu.stat").exists():
            _move_to(folder)
            return folder
    except OSError:
        pass
    remove_group(folder)
    return None


def leave_group(folder: Path) -> None:
    """Move this process back to where it came from, and remove the group if it is empty."""
    with suppress(OSError):
        _move_to(folder.parent)
    remove_group(folder)


def kill_group(folder: Path, patience: float) -> None:
    """End whoever is left in a group whose supervisor is gone, and remove it."""
    until = time.monotonic() + patience
    while folder.exists() and time.monotonic() < until:
        signal_group(folder)
        remove_group(folder)
        time.sleep(0.001)


def signal_group(folder: Path) -> None:
    """Have the kernel kill whoever is in a group, or below it, without waiting for their end."""
    with suppress(OSError):
        (folder / "cgroup.kill").write_text("1")


def find_group(name: str) -> Path | None:
    """Where a group of this name is, wherever in the mounted tree; None: nowhere."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return None
    for _, place in group_mounts(mounts):
        for path, names, _ in os.walk(place):
            if name in names:
                return Path(path) / name
    return None


def remove_groups_below(folder: Path) -> None:
    """Remove those that a target has made in a group; the kernel counts them as links to it."""
    if folder.stat().st_nlink > LINKS_OF_AN_EMPTY_FOLDER:
        for inner in folder.iterdir():
            if inner.is_dir():
                remove_group(inner)


def remove_group(folder: Path) -> None:
    """Remove a group, and those that a target may have made in it, if they are empty."""
    for path, _, _ in os.walk(folder, topdown=False):
        with suppress(OSError):
            Path(path).rmdir()


def own_folder() -> Path | None:
    """The folder of the group that this process is in, if cgroup v2 is mounted."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return None
    own = next((line.removeprefix(OWN_GROUP) for line in lines if line.startswith(OWN_GROUP)), None)
    return None if own is None else folder_of(own, mounts)


def folder_of(own: str, mounts: Iterable[str]) -> Path | None:
    """Where a group is found, given the lines of /proc/self/mountinfo."""
    for root, place in group_mounts(mounts):
        if own == root or own.startswith(root.rstrip("/") + "/"):
            return Path(place + own[len(root.rstrip("/")) :])
    return None


def group_mounts(mounts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """(root, place) of each mount of cgroup v2, given the lines of /proc/self/mountinfo."""
    return mounts_of("cgroup2", mounts)


def mounts_of(kind: str, mounts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """(root, place) of each mount of a kind, given the lines of /proc/self/mountinfo."""
    for line in mounts:
        before, _, after = line.partition(" - ")
        if after.split(" ")[0] == kind:
            root, place = (_unescaped(field) for field in before.split(" ")[3:5])
            yield root, place


def _move_to(folder: Path) -> None:
    (folder / "cgroup.procs").write_text("0")


def _unescaped(field: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), field)
