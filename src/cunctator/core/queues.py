"""The queues of put-off runs, one for each configuration (Q in the paper's Algorithm 1).

An entry is (pair, level): run this pair next under the cap of that level. Run one at a time, the
levels of a queue never fall from head to tail, because caps only rise; with several runs in
flight a late result may carry a lower level than the tail, and is then put in its place from the
tail on, so that the head always holds the lowest level.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.slabs import Slabs, allocate, grown, has_room, new_slabs, release


class Queues(NamedTuple):
    """Ring buffers in one arena; `slabs.links` and `levels` are the two halves of the entries."""

    slabs: Slabs
    levels: NDArray[np.int16]
    start: NDArray[np.int64]
    capacity: NDArray[np.int64]
    head: NDArray[np.int64]
    length: NDArray[np.int64]


def new_queues(size: int, room: int) -> Queues:
    """Empty queues for `size` configurations, with `room` entries before the arena must grow."""
    start, capacity, head, length = (np.zeros(size, dtype=np.int64) for _ in range(4))
    slabs = new_slabs(np.zeros(room, dtype=np.int32))
    return Queues(slabs, np.zeros(room, dtype=np.int16), start, capacity, head, length)


@compiled
def queue_has_room(queues: Queues, index: int) -> bool:
    """Whether one more entry fits without a larger arena."""
    capacity = queues.capacity[index]
    return bool(queues.length[index] < capacity or has_room(queues.slabs, grown(capacity)))


@compiled_apart
def _enlarge(queues: Queues, index: int) -> None:
    old, start = queues.capacity[index], queues.start[index]
    capacity = grown(old)
    fresh = allocate(queues.slabs, capacity)
    pairs = queues.slabs.links
    for position in range(queues.length[index]):
        cell = start + ((queues.head[index] + position) & (old - 1))
        pairs[fresh + position] = pairs[cell]
        queues.levels[fresh + position] = queues.levels[cell]
    if old > 0:
        release(queues.slabs, start, old)
    queues.start[index], queues.capacity[index], queues.head[index] = fresh, capacity, 0


@compiled
def push(queues: Queues, index: int, pair: int, level: int) -> None:
    """Put an entry behind all entries of its level and below."""
    if queues.length[index] == queues.capacity[index]:
        _enlarge(queues, index)
    start, mask = queues.start[index], queues.capacity[index] - 1
    head = queues.head[index]
    position = queues.length[index]
    pairs = queues.slabs.links
    while position > 0:
        ahead = start + ((head + position - 1) & mask)
        if queues.levels[ahead] <= level:
            break
        cell = start + ((head + position) & mask)
        pairs[cell] = pairs[ahead]
        queues.levels[cell] = queues.levels[ahead]
        position -= 1
    cell = start + ((head + position) & mask)
    pairs[cell] = pair
    queues.levels[cell] = level
    queues.length[index] += 1


@compiled
def head_level(queues: Queues, index: int) -> int:
    """Level of the entry at the head; the queue must not be empty."""
    return int(queues.levels[queues.start[index] + queues.head[index]])


@compiled
def pop(queues: Queues, index: int) -> int:
    """Take the head off and return its pair; the queue must not be empty."""
    pair = queues.slabs.links[queues.start[index] + queues.head[index]]
    queues.head[index] = (queues.head[index] + 1) & (queues.capacity[index] - 1)
    queues.length[index] -= 1
    return int(pair)
