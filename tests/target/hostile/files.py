# ruff: noqa: PTH108, PTH123, SIM115
"""Takes memory, MB by MB, that is no part of any process, and keeps it until it has been seen.

Arguments: the kind of memory, how many MB, a path for a file in memory.
"""

import ctypes
import mmap
import os
import sys

from looks import await_looks

kind, size, path = sys.argv[1], int(sys.argv[2]) << 20, sys.argv[3]
PIECE = b"x" * (1 << 20)


def fill(file):
    await_looks()  # of a file with a name, what it has grown since it was first seen counts
    for _ in range(size >> 20):
        file.write(PIECE)
        file.flush()


def segment():
    """Attached only while it is written to."""
    libc = ctypes.CDLL(None)
    libc.shmat.restype = ctypes.c_void_p
    number = libc.shmget(0, size, 0o1600)
    place = libc.shmat(number, None, 0)
    open(path, "w").write(str(number))
    if kind == "attached segment":
        libc.shmctl(number, 0, None)
    for start in range(0, size, 1 << 20):
        ctypes.memmove(place + start, PIECE, len(PIECE))
    if kind == "segment":
        libc.shmdt(ctypes.c_void_p(place))


files = []
if kind in ("memfd", "mapped", "inherited"):
    files.append(os.fdopen(os.memfd_create("hidden"), "w+b"))
    fill(files[0])
if kind == "mapped":
    view = mmap.mmap(files[0].fileno(), size)
    sum(view[start] for start in range(0, size, 4096))
if kind == "inherited":
    for _ in range(3):
        if os.fork() == 0:
            break
if kind in ("closed", "unlinked"):
    files.append(open(path, "wb"))
    if kind == "unlinked":
        os.unlink(path)
    fill(files[0])
    if kind == "closed":
        files.pop().close()
if kind == "read":
    files.append(open(path, "rb"))
    while files[0].read(1 << 20):
        pass
if "segment" in kind:
    segment()
await_looks()
