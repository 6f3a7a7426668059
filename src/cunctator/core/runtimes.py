"""The completed runtimes of each configuration, in sorted order.

The lower bound of the paper needs exact order statistics and prefix sums of all runtimes seen
(its Equation 1 integrates a step function of them). Each configuration owns a list of sorted
chunks; a small directory says how many values each chunk holds, their sum and the least of them.
Inserting moves a few dozen numbers; a prefix sum walks the directory and part of one chunk.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.rows import Medium, Rows, new_record, new_rows
from cunctator.core.slabs import Arena, allocate, grown, has_room, new_arena, release

CHUNK = 128


class Directory:
    """Where the chunks of one configuration are listed: a slab of the cells."""

    start: int
    capacity: int
    chunks: int
    """Cells in use, one a chunk."""


class Chunk:
    """A cell of a directory: one sorted chunk of values."""

    link: Medium
    """The row of `Runtimes.values`."""
    count: Medium
    total: float
    """Of its values."""
    least: float


class Used:
    """How much of the values has been handed out."""

    rows: int


class Runtimes(NamedTuple):
    """Chunks of values, and for each configuration a directory of its chunks."""

    headers: Rows[Directory]
    cells: Rows[Chunk]
    arena: Arena
    values: NDArray[np.float64]
    """One row a chunk; the values in use are sorted and come first."""
    used: Used


def new_runtimes(size: int, chunks: int, room: int) -> Runtimes:
    """An empty store for `size` configurations."""
    return Runtimes(
        headers=new_rows(Directory, size),
        cells=new_rows(Chunk, room),
        arena=new_arena(),
        values=np.zeros((chunks, CHUNK)),
        used=new_record(Used),
    )


@compiled
def runtimes_have_room(store: Runtimes, index: int) -> bool:
    """Whether one more value fits without larger arrays."""
    directory = store.headers[index]
    return bool(
        store.used.rows < store.values.shape[0]
        and (
            directory.chunks < directory.capacity
            or has_room(store.arena, store.cells, grown(directory.capacity))
        )
    )


@compiled_apart
def _open_chunk(store: Runtimes, index: int, position: int) -> int:
    """Make place in the directory for a new, empty chunk at `position`; returns its cell."""
    directory = store.headers[index]
    old, start, chunks = directory.capacity, directory.start, directory.chunks
    if chunks == old:
        capacity = grown(old)
        fresh = allocate(store.arena, store.cells, capacity)
        for offset in range(chunks):
            _copy_cell(store, start + offset, fresh + offset)
        if old > 0:
            release(store.arena, store.cells, start, old)
        directory.start, directory.capacity = fresh, capacity
        start = fresh
    for offset in range(chunks, position, -1):
        _copy_cell(store, start + offset - 1, start + offset)
    chunk = store.cells[start + position]
    chunk.link, chunk.count, chunk.total, chunk.least = store.used.rows, 0, 0.0, 0.0
    store.used.rows += 1
    directory.chunks += 1
    return int(start + position)


@compiled
def _copy_cell(store: Runtimes, source: int, destination: int) -> None:
    old, new = store.cells[source], store.cells[destination]
    new.link, new.count, new.total, new.least = old.link, old.count, old.total, old.least


@compiled_apart
def _split(store: Runtimes, index: int, position: int) -> None:
    """Move the upper half of a full chunk into a new one behind it."""
    cell = _open_chunk(store, index, position + 1)
    lower, upper = store.cells[cell - 1], store.cells[cell]
    half = CHUNK // 2
    full, fresh = lower.link, upper.link
    moved = 0.0
    for offset in range(half):
        value = store.values[full, half + offset]
        store.values[fresh, offset] = value
        moved += value
    kept = 0.0
    for offset in range(half):
        kept += store.values[full, offset]
    lower.count, upper.count = half, half
    lower.total, upper.total = kept, moved
    upper.least = store.values[fresh, 0]


@compiled
def _find(store: Runtimes, index: int, value: float) -> int:
    """Position of the last chunk whose least value is at most `value` (or the first chunk)."""
    start = store.headers[index].start
    low, high = 0, store.headers[index].chunks - 1
    while low < high:
        middle = (low + high + 1) >> 1
        if store.cells[start + middle].least <= value:
            low = middle
        else:
            high = middle - 1
    return int(low)


@compiled
def insert(store: Runtimes, index: int, value: float) -> None:
    """Add one value; the caller has made sure that there is room."""
    directory = store.headers[index]
    if directory.chunks == 0:
        _open_chunk(store, index, 0)
    position = _find(store, index, value)
    if store.cells[directory.start + position].count == CHUNK:
        _split(store, index, position)
        if store.cells[directory.start + position + 1].least <= value:
            position += 1
    chunk = store.cells[directory.start + position]
    row, offset = chunk.link, chunk.count
    while offset > 0 and store.values[row, offset - 1] > value:
        store.values[row, offset] = store.values[row, offset - 1]
        offset -= 1
    store.values[row, offset] = value
    chunk.count += 1
    chunk.total += value
    chunk.least = store.values[row, 0]


@compiled_apart
def below(store: Runtimes, index: int, limit: float) -> tuple[int, float]:
    """How many values are strictly below `limit`, and their sum."""
    count = 0
    total = 0.0
    directory = store.headers[index]
    for cell in range(directory.start, directory.start + directory.chunks):
        chunk = store.cells[cell]
        row, size = chunk.link, chunk.count
        if store.values[row, size - 1] < limit:
            count += size
            total += chunk.total
            continue
        offset = 0
        while offset < size and store.values[row, offset] < limit:
            total += store.values[row, offset]
            offset += 1
        count += offset
        break
    return count, total
