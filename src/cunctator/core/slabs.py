"""Many growing lists in one array.

A study has a queue and a sorted store for each of up to 100,000 configurations. Python lists
would cost too much memory and cannot be used from compiled code, so each list is a slab of a
shared array of cells: capacities are powers of two, an outgrown slab goes on a free list of its
size and is used again by the next list that grows. The array itself is enlarged between steps,
from Python (`state.grow`); kernels ask `has_room` first and never allocate beyond it.
"""

from __future__ import annotations

from typing import Annotated, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from cunctator.core.compiled import compiled
from cunctator.core.rows import Rows, new_record
from cunctator.core.sentinels import NONE

SMALLEST = 4
SIZE_CLASSES = 29


class Arena:
    """Which parts of an array of cells are free."""

    top: int
    """Everything from here on has never been used."""
    free: Annotated[NDArray[np.int64], SIZE_CLASSES]
    """Start of the first free slab of each size class, or NONE."""


class Linked(Protocol):
    """A cell: whatever it holds, one of its numbers is used to link free slabs."""

    link: int
    """In the first cell of a free slab: the start of the next free one of its size."""


Cell = TypeVar("Cell", bound=Linked)


def new_arena() -> Arena:
    """An array of cells of which nothing is used."""
    arena = new_record(Arena)
    arena.free[:] = NONE
    return arena


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
def has_room(arena: Arena, cells: Rows[Cell], capacity: int) -> bool:
    """Whether `allocate` would succeed."""
    return bool(arena.free[size_class(capacity)] != NONE or arena.top + capacity <= cells.size)


@compiled
def allocate(arena: Arena, cells: Rows[Cell], capacity: int) -> int:
    """Start of a slab of `capacity` cells; the caller has made sure that there is room."""
    number = size_class(capacity)
    start = arena.free[number]
    if start != NONE:
        arena.free[number] = cells[start].link
        return int(start)
    start = arena.top
    arena.top += capacity
    return int(start)


@compiled
def release(arena: Arena, cells: Rows[Cell], start: int, capacity: int) -> None:
    """Hand a slab back."""
    number = size_class(capacity)
    cells[start].link = arena.free[number]
    arena.free[number] = start
