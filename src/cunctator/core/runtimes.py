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
from cunctator.core.slabs import Slabs, allocate, grown, has_room, new_slabs, release

CHUNK = 128


class Runtimes(NamedTuple):
    """Chunks of values, and a directory slab of chunk numbers (`slabs.links`) for each owner."""

    chunks: NDArray[np.float64]
    """One row a chunk; the values in use are sorted and come first."""
    chunks_used: NDArray[np.int64]
    """One number: rows of `chunks` handed out."""
    slabs: Slabs
    counts: NDArray[np.int64]
    sums: NDArray[np.float64]
    least: NDArray[np.float64]
    start: NDArray[np.int64]
    capacity: NDArray[np.int64]
    entries: NDArray[np.int64]
    """Chunks of each configuration."""


def new_runtimes(size: int, chunks: int, room: int) -> Runtimes:
    """An empty store for `size` configurations."""
    start, capacity, entries = (np.zeros(size, dtype=np.int64) for _ in range(3))
    return Runtimes(
        chunks=np.zeros((chunks, CHUNK)),
        chunks_used=np.zeros(1, dtype=np.int64),
        slabs=new_slabs(np.zeros(room, dtype=np.int32)),
        counts=np.zeros(room, dtype=np.int64),
        sums=np.zeros(room),
        least=np.zeros(room),
        start=start,
        capacity=capacity,
        entries=entries,
    )


@compiled
def runtimes_have_room(store: Runtimes, index: int) -> bool:
    """Whether one more value fits without larger arrays."""
    capacity = store.capacity[index]
    return bool(
        store.chunks_used[0] < store.chunks.shape[0]
        and (store.entries[index] < capacity or has_room(store.slabs, grown(capacity)))
    )


@compiled_apart
def _open_entry(store: Runtimes, index: int, position: int) -> int:
    """Make place in the directory for a new, empty chunk at `position`; returns its entry."""
    old, start, entries = store.capacity[index], store.start[index], store.entries[index]
    if entries == old:
        capacity = grown(old)
        fresh = allocate(store.slabs, capacity)
        for offset in range(entries):
            _copy_entry(store, start + offset, fresh + offset)
        if old > 0:
            release(store.slabs, start, old)
        store.start[index], store.capacity[index] = fresh, capacity
        start = fresh
    for offset in range(entries, position, -1):
        _copy_entry(store, start + offset - 1, start + offset)
    entry = start + position
    store.slabs.links[entry] = store.chunks_used[0]
    store.counts[entry], store.sums[entry], store.least[entry] = 0, 0.0, 0.0
    store.chunks_used[0] += 1
    store.entries[index] += 1
    return int(entry)


@compiled
def _copy_entry(store: Runtimes, source: int, destination: int) -> None:
    store.slabs.links[destination] = store.slabs.links[source]
    store.counts[destination] = store.counts[source]
    store.sums[destination] = store.sums[source]
    store.least[destination] = store.least[source]


@compiled_apart
def _split(store: Runtimes, index: int, position: int) -> None:
    """Move the upper half of a full chunk into a new one behind it."""
    upper = _open_entry(store, index, position + 1)
    lower = upper - 1
    half = CHUNK // 2
    full, fresh = store.slabs.links[lower], store.slabs.links[upper]
    moved = 0.0
    for offset in range(half):
        value = store.chunks[full, half + offset]
        store.chunks[fresh, offset] = value
        moved += value
    kept = 0.0
    for offset in range(half):
        kept += store.chunks[full, offset]
    store.counts[lower], store.counts[upper] = half, half
    store.sums[lower], store.sums[upper] = kept, moved
    store.least[upper] = store.chunks[fresh, 0]


@compiled
def _find(store: Runtimes, index: int, value: float) -> int:
    """Position of the last chunk whose least value is at most `value` (or the first chunk)."""
    start = store.start[index]
    low, high = 0, store.entries[index] - 1
    while low < high:
        middle = (low + high + 1) >> 1
        if store.least[start + middle] <= value:
            low = middle
        else:
            high = middle - 1
    return int(low)


@compiled
def insert(store: Runtimes, index: int, value: float) -> None:
    """Add one value; the caller has made sure that there is room."""
    if store.entries[index] == 0:
        _open_entry(store, index, 0)
    position = _find(store, index, value)
    if store.counts[store.start[index] + position] == CHUNK:
        _split(store, index, position)
        if store.least[store.start[index] + position + 1] <= value:
            position += 1
    entry = store.start[index] + position
    chunk = store.slabs.links[entry]
    offset = store.counts[entry]
    while offset > 0 and store.chunks[chunk, offset - 1] > value:
        store.chunks[chunk, offset] = store.chunks[chunk, offset - 1]
        offset -= 1
    store.chunks[chunk, offset] = value
    store.counts[entry] += 1
    store.sums[entry] += value
    store.least[entry] = store.chunks[chunk, 0]


@compiled_apart
def below(store: Runtimes, index: int, limit: float) -> tuple[int, float]:
    """How many values are strictly below `limit`, and their sum."""
    count = 0
    total = 0.0
    start = store.start[index]
    for entry in range(start, start + store.entries[index]):
        chunk, size = store.slabs.links[entry], store.counts[entry]
        if store.chunks[chunk, size - 1] < limit:
            count += size
            total += store.sums[entry]
            continue
        offset = 0
        while offset < size and store.chunks[chunk, offset] < limit:
            total += store.chunks[chunk, offset]
            offset += 1
        count += offset
        break
    return count, total
