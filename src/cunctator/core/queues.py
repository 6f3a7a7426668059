"""The queues of put-off runs, one for each configuration (Q in the paper's Algorithm 1).

An entry is (pair, level): run this pair next under the cap of that level. In Algorithm 1, run one
at a time, the levels of a queue never fall from head to tail, because caps only rise. A result that
is late, or of a run that was not the next one, may carry a lower level than the tail; it is put in
its place from the tail on, so that the head always holds the lowest level.
"""

from __future__ import annotations

from typing import NamedTuple

from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.rows import Medium, Rows, Short, new_rows
from cunctator.core.slabs import Arena, allocate, grown, has_room, new_arena, release


class Queue:
    """One queue: a ring buffer in a slab of the cells."""

    start: int
    capacity: int
    head: int
    length: int


class Entry:
    """A cell of a queue."""

    link: Medium
    """The pair."""
    level: Short


class Queues(NamedTuple):
    """Ring buffers in one array of cells, one for each configuration."""

    headers: Rows[Queue]
    cells: Rows[Entry]
    arena: Arena


def new_queues(size: int, room: int) -> Queues:
    """Empty queues for `size` configurations, with `room` entries before the cells must grow."""
    return Queues(new_rows(Queue, size), new_rows(Entry, room), new_arena())


@compiled
def queue_has_room(queues: Queues, index: int) -> bool:
    """Whether one more entry fits without more cells."""
    queue = queues.headers[index]
    return bool(
        queue.length < queue.capacity or has_room(queues.arena, queues.cells, grown(queue.capacity))
    )


@compiled_apart
def _enlarge(queues: Queues, index: int) -> None:
    queue, cells = queues.headers[index], queues.cells
    old, start = queue.capacity, queue.start
    capacity = grown(old)
    fresh = allocate(queues.arena, cells, capacity)
    for position in range(queue.length):
        cell, copy = cells[start + ((queue.head + position) & (old - 1))], cells[fresh + position]
        copy.link, copy.level = cell.link, cell.level
    if old > 0:
        release(queues.arena, cells, start, old)
    queue.start, queue.capacity, queue.head = fresh, capacity, 0


@compiled
def push(queues: Queues, index: int, pair: int, level: int) -> None:
    """Put an entry behind all entries of its level and below."""
    queue, cells = queues.headers[index], queues.cells
    if queue.length == queue.capacity:
        _enlarge(queues, index)
    start, head, mask = queue.start, queue.head, queue.capacity - 1
    position = queue.length
    while position > 0:
        ahead = cells[start + ((head + position - 1) & mask)]
        if ahead.level <= level:
            break
        cell = cells[start + ((head + position) & mask)]
        cell.link, cell.level = ahead.link, ahead.level
        position -= 1
    entry = cells[start + ((head + position) & mask)]
    entry.link, entry.level = pair, level
    queue.length += 1


@compiled
def head_level(queues: Queues, index: int) -> int:
    """Level of the entry at the head; the queue must not be empty."""
    queue = queues.headers[index]
    return int(queues.cells[queue.start + queue.head].level)


@compiled
def head_pair(queues: Queues, index: int) -> int:
    """Pair of the entry at the head; the queue must not be empty."""
    queue = queues.headers[index]
    return int(queues.cells[queue.start + queue.head].link)


@compiled
def take(queues: Queues, index: int, pair: int) -> int:
    """Take the entry of a pair out and return its level; there must be one.

    It is looked for from the head on, where most are taken.
    """
    queue, cells = queues.headers[index], queues.cells
    start, mask = queue.start, queue.capacity - 1
    position = 0
    while cells[start + ((queue.head + position) & mask)].link != pair:
        position += 1
    level = cells[start + ((queue.head + position) & mask)].level
    while position > 0:  # those ahead of it move up
        cell = cells[start + ((queue.head + position) & mask)]
        ahead = cells[start + ((queue.head + position - 1) & mask)]
        cell.link, cell.level = ahead.link, ahead.level
        position -= 1
    queue.head = (queue.head + 1) & mask
    queue.length -= 1
    return int(level)
