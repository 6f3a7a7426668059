"""What is known of each pair that a configuration has started: values by pair, in stream order.

The bounds need sorted runtimes (`runtimes.py`) and forget which pair they belong to. But all
configurations run the same pairs in the same order, and a hard instance is hard for most of them:
whatever compares two configurations does it over the pairs that both have started. So one number is
kept for each of these:

    its runtime, if it is known (not less than first_cap), or what a timeout counts;
    CRASHED_PAIR, if it crashed;
    minus the longest cap that it was tried at, if it was put off;
    NOT_YET, while its first run is in flight.

A configuration starts pairs in order, so these are lists. They are kept in short chunks, because
most configurations are given up after a handful of runs; a directory says where the chunks are.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.rows import Medium, Rows, new_record, new_rows
from cunctator.core.runtimes import Directory, Used
from cunctator.core.slabs import Arena, allocate, grown, has_room, new_arena, release

CHUNK = 8
NOT_YET = 0.0
CRASHED_PAIR = math.inf


class Place:
    """A cell of a directory: where a chunk is."""

    link: Medium
    """The row of `Values.chunks`."""


class Values(NamedTuple):
    """Chunks of values, and for each configuration a directory of its chunks."""

    headers: Rows[Directory]
    cells: Rows[Place]
    arena: Arena
    chunks: NDArray[np.float64]
    """The value of pair j is at [row of the configuration's chunk j // CHUNK, j % CHUNK]."""
    used: Used


def new_values(size: int, chunks: int, room: int) -> Values:
    """An empty store for `size` configurations."""
    return Values(
        headers=new_rows(Directory, size),
        cells=new_rows(Place, room),
        arena=new_arena(),
        chunks=np.zeros((chunks, CHUNK)),
        used=new_record(Used),
    )


@compiled
def values_have_room(store: Values, index: int) -> bool:
    """Whether one more pair of a configuration fits without larger arrays."""
    directory = store.headers[index]
    return bool(
        store.used.rows < store.chunks.shape[0]
        and (
            directory.chunks < directory.capacity
            or has_room(store.arena, store.cells, grown(directory.capacity))
        )
    )


@compiled
def add_pair(store: Values, index: int, pair: int) -> None:
    """Make place for the next pair of a configuration, of which nothing is known yet."""
    if pair % CHUNK == 0:
        _open_chunk(store, index)
    put_value(store, index, pair, NOT_YET)


@compiled
def put_value(store: Values, index: int, pair: int, value: float) -> None:
    """Write down what is known of a pair."""
    row = store.cells[store.headers[index].start + pair // CHUNK].link
    store.chunks[row, pair % CHUNK] = value


@compiled
def value_at(store: Values, index: int, pair: int) -> float:
    """What is known of a pair that has been started."""
    row = store.cells[store.headers[index].start + pair // CHUNK].link
    return float(store.chunks[row, pair % CHUNK])


@compiled_apart
def _open_chunk(store: Values, index: int) -> None:
    directory, cells = store.headers[index], store.cells
    if directory.chunks == directory.capacity:
        old, start, capacity = directory.capacity, directory.start, grown(directory.capacity)
        fresh = allocate(store.arena, cells, capacity)
        for offset in range(old):
            cells[fresh + offset].link = cells[start + offset].link
        if old > 0:
            release(store.arena, cells, start, old)
        directory.start, directory.capacity = fresh, capacity
    cells[directory.start + directory.chunks].link = store.used.rows
    store.used.rows += 1
    directory.chunks += 1


def values_of(store: Values, index: int, started: int) -> NDArray[np.float64]:
    """All values of a configuration that has started so many pairs, in stream order."""
    directory = store.headers[index]
    start = int(directory.start)
    rows = store.cells[start : start + int(directory.chunks)]["link"]
    values: NDArray[np.float64] = store.chunks[rows].reshape(-1)[:started]
    return values
