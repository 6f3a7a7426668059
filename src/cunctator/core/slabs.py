"""Many growing lists in one array.

A study has a queue and a sorted store for each of up to 100,000 configurations. Python lists
would cost too much memory and cannot be used from compiled code, so each list is a slab of a
shared arena: capacities are powers of two, an outgrown slab goes on a free list of its size and
is used again by the next list that grows. The arena itself is enlarged between steps, from
Python (`state.grow`); kernels ask `has_room` first and never allocate beyond it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cunctator.core.compiled import compiled

SMALLEST = 4
SIZE_CLASSES = 29
NONE = -1


class Slabs(NamedTuple):
    """Bookkeeping of one arena; `links[start]` of a free slab is the next free one of its size."""

    links: NDArray[np.int32]
    free: NDArray[np.int64]
    """Start of the first free slab of each size class, or NONE."""
    top: NDArray[np.int64]
    """One number: everything from here on has never been used."""


def new_slabs(links: NDArray[np.int32]) -> Slabs:
    """An empty arena as large as `links`, which the owner may use freely in allocated slabs."""
    return Slabs(links, np.full(SIZE_CLASSES, NONE, dtype=np.int64), np.zeros(1, dtype=np.int64))


@compiled
def size_class(capacity: int) -> int:
    """The class whose slabs hold exactly `capacity` (a power of two, at least SMALLEST)."""
    number = 0
    while (SMALLEST << number) < capacity:
        number += 1
    return number


@compiled
def grown(capacity: int) -> int:
    """The next capacity after `capacity`."""
    return SMALLEST if capacity == 0 else 2 * capacity


@compiled
def has_room(slabs: Slabs, capacity: int) -> bool:
    """Whether `allocate` would succeed."""
    return bool(
        slabs.free[size_class(capacity)] != NONE or slabs.top[0] + capacity <= slabs.links.size
    )


@compiled
def allocate(slabs: Slabs, capacity: int) -> int:
    """Start of a slab of `capacity` cells; the caller has made sure that there is room."""
    number = size_class(capacity)
    start = slabs.free[number]
    if start != NONE:
        slabs.free[number] = slabs.links[start]
        return int(start)
    start = slabs.top[0]
    slabs.top[0] += capacity
    return int(start)


@compiled
def release(slabs: Slabs, start: int, capacity: int) -> None:
    """Hand a slab back."""
    number = size_class(capacity)
    slabs.links[start] = slabs.free[number]
    slabs.free[number] = start
