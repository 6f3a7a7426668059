"""Files in memory that a run holds: they use memory, but are no part of any process.

These are files of memfd_create(2), files in file systems such as /dev/shm and, often, /tmp, and the
segments of shmget(2). Only what is mapped into a process, and has been touched there, is a part of
its resident size.

A file without a name is the run's own. Of a file with a name, e.g. an instance in /dev/shm, what it
has grown since it was first seen open for writing is; it counts for as long as it has that name.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from cunctator.target.cgroup import mounts_of
from cunctator.target.tree import PAGE, RESIDENT, read_kernel_file, status_fields

IN_MEMORY = ("tmpfs", "ramfs", "devtmpfs", "hugetlbfs")

NAMELESS = "/memfd:"
"""What the link to such a file begins with."""

BLOCK = 512
"""Bytes, in which the kernel says what a file takes."""

OPEN_FOR_WRITING = 0o200

RESTRAINT = 5.0
"""So many times as long as a look took, none is made."""

HEADER = re.compile(
    rb"^[0-9a-f]+-[0-9a-f]+ .{4} [0-9a-f]+ ([0-9a-f]+):([0-9a-f]+) ([0-9]+)", re.ASCII
)
PROPORTIONAL = re.compile(rb"^Pss:\s+([0-9]+) kB")
SIZES = re.compile(rb"^(VmRSS|RssShmem):\s+([0-9]+) kB", re.MULTILINE)

File = tuple[int, int]
"""Device and number: one file, however often it is open."""


class MemoryPlaces(NamedTuple):
    """Where files in memory are."""

    folders: tuple[str, ...]
    devices: frozenset[int]
    nameless: int
    """The device of files that have no name, and of segments."""


@cache
def places() -> MemoryPlaces:
    """As things were when this was first asked."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    folders = tuple(place for kind in IN_MEMORY for _, place in mounts_of(kind, lines))
    descriptor = os.memfd_create("cunctator")
    nameless = os.fstat(descriptor).st_dev
    os.close(descriptor)
    devices = set()
    for folder in folders:
        with suppress(OSError):
            devices.add(Path(folder).stat().st_dev)
    return MemoryPlaces(folders, frozenset(devices), nameless)


class SharedMemory:
    """The files of one run."""

    def __init__(self) -> None:
        self._begun = time.time() - 1.0
        self._processes: set[int] = set()
        """All that were ever seen."""
        self._named: dict[File, tuple[str, int]] = {}
        """Path and size of those with a name, when first seen."""
        self._known: dict[File, int] = {}
        self._next = 0.0

    def look(self, processes: Iterable[int]) -> dict[File, int]:
        """Bytes that each file takes now, or took at the last look if that was just now."""
        begun = time.monotonic()
        if begun >= self._next:
            self._known = {}
            for process in processes:
                self._processes.add(process)
                self._look_at_files(process)
            self._look_at_names()
            self._look_at_segments()
            now = time.monotonic()
            self._next = now + RESTRAINT * (now - begun)
        return self._known

    def _look_at_files(self, process: int) -> None:
        """Links are read before files are asked: a file elsewhere may take for ever to answer."""
        folder = f"/proc/{process}/fd"
        where = places()
        try:
            names = os.listdir(folder)  # noqa: PTH208 (at every look)
        except OSError:
            return
        for name in names:
            link = f"{folder}/{name}"
            with suppress(OSError):
                target = os.readlink(link)  # noqa: PTH115
                if not target.startswith((NAMELESS, *where.folders)):
                    continue
                found = os.stat(link)  # noqa: PTH116
                file = found.st_dev, found.st_ino
                if not stat.S_ISREG(found.st_mode):
                    continue
                if found.st_nlink == 0 and found.st_dev in (*where.devices, where.nameless):
                    self._known[file] = found.st_blocks * BLOCK
                elif found.st_dev in where.devices and _is_written(link):
                    self._named.setdefault(file, (target, found.st_blocks * BLOCK))

    def _look_at_names(self) -> None:
        for file, (path, before) in self._named.items():
            with suppress(OSError):
                found = os.stat(path)  # noqa: PTH116
                if (found.st_dev, found.st_ino) == file:
                    self._known[file] = max(found.st_blocks * BLOCK - before, 0)

    def _look_at_segments(self) -> None:
        """Those that were made by a process of the run, since it began."""
        with suppress(OSError):
            heading, *rows = read_kernel_file("/proc/sysvipc/shm").splitlines()
            columns = heading.split()
            for row in rows:
                segment = dict(zip(columns, map(int, row.split()), strict=True))
                maker, made = segment[b"cpid"], segment[b"ctime"]
                if maker in self._processes and made >= self._begun:
                    self._known[places().nameless, segment[b"shmid"]] = segment[b"rss"]


def resident_with(files: dict[File, int], processes: Iterable[int]) -> int:
    """Bytes of resident sizes and of files, if all shared memory of processes is in these files.

    Both sizes of a process are read at once: what it lets go of in between would count twice.
    """
    resident, mapped = 0, 0
    for process in processes:
        with suppress(OSError):
            sizes = dict(SIZES.findall(read_kernel_file(f"/proc/{process}/status")))
            resident += int(sizes.get(b"VmRSS", 0)) * 1024
            mapped += int(sizes.get(b"RssShmem", 0)) * 1024
    return resident + max(sum(files.values()) - mapped, 0)


def exact_with(files: dict[File, int], processes: Iterable[int]) -> int:
    """Bytes of proportional sizes and of files, but for what of these is mapped.

    Both are read at once, as before; a process that the kernel is silent about has its resident
    size.
    """
    rest, size = dict(files), 0
    for process in processes:
        try:
            lines = read_kernel_file(f"/proc/{process}/smaps").splitlines()
        except OSError:
            size += resident_of(process)
            continue
        file = None
        for line in lines:
            if header := HEADER.match(line):
                device = os.makedev(int(header[1], 16), int(header[2], 16))
                file = device, int(header[3])
            elif found := PROPORTIONAL.match(line):
                size += int(found[1]) * 1024
                if file in rest:
                    rest[file] -= int(found[1]) * 1024
    return size + sum(max(each, 0) for each in rest.values())


def resident_of(process: int) -> int:
    """Bytes of a process, shared pages in full; 0 if it is gone."""
    fields = status_fields(process)
    return int(fields[RESIDENT]) * PAGE if fields else 0


def _is_written(link: str) -> bool:
    """The link to an open file says how it may be used."""
    return bool(os.lstat(link).st_mode & OPEN_FOR_WRITING)
