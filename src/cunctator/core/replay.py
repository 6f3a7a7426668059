"""Asks and outcomes of an earlier session, made again in one compiled loop.

A study is restored by putting its journal through a fresh scheduler. That every recomputed ask
equals the recorded one is checked on the way: a journal that was changed, or that another version
wrote whose choices differ, is noticed at the first difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cunctator.base.errors import DifferentReplay
from cunctator.base.records import Run
from cunctator.core.closing import set_closing
from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.scheduler import Advice, Scheduler, begin_flight, finish_flight
from cunctator.core.sentinels import ASKED, NONE, WIDEN
from cunctator.core.state import State, grow, room_for_result
from cunctator.core.turns import choose

AS_BEFORE, BEGUN, ENDED = 0, 1, 2
ALL_DONE, NO_ROOM, NO_SLOT, DIFFERENT, NO_CONFIGURATION = 0, 1, 2, 3, 4


class Events(NamedTuple):
    """One entry an event, in the order in which they happened."""

    number: NDArray[np.int64]
    """Of the run that was asked for, or whose outcome came in."""
    configuration: NDArray[np.int64]
    pair: NDArray[np.int64]
    status: NDArray[np.int64]
    """ASKED, or the code of the outcome's status."""
    seconds: NDArray[np.float64]
    closing: NDArray[np.int64]
    """Before this event: AS_BEFORE, or closing was BEGUN or ENDED (`closing.py`)."""


@compiled
def _note_closing(state: State, what: int) -> None:
    # An event may be gone through again when there is room for it.
    if what != AS_BEFORE and state.now.closing != (what == BEGUN):
        set_closing(state, what == BEGUN)


@compiled_apart
def replay_events(
    state: State, events: Events, slots: NDArray[np.int64], first: int, end: int
) -> tuple[int, int]:
    """Go through events from `first` to `end`; returns why it stopped, and at which event.

    `slots[number]` is the flight slot of a run, and NONE when it is not in flight.
    """
    flights = state.flights
    for at in range(first, end):
        number = events.number[at]
        _note_closing(state, events.closing[at])
        if events.status[at] == ASKED:
            slot = 0
            while slot < flights.size and flights[slot].configuration != NONE:
                slot += 1
            if slot == flights.size:
                return NO_SLOT, at
            index = choose(state)
            if index == WIDEN:
                return NO_CONFIGURATION, at
            if index != events.configuration[at] or number != state.now.step + 1:
                return DIFFERENT, at
            if not room_for_result(state, index):
                return NO_ROOM, at
            begin_flight(state, index, slot)
            if flights[slot].pair != events.pair[at]:
                return DIFFERENT, at
            slots[number] = slot
        else:
            slot = slots[number] if 0 < number < slots.size else NONE
            if slot == NONE or flights[slot].configuration != events.configuration[at]:
                return DIFFERENT, at
            if flights[slot].pair != events.pair[at]:
                return DIFFERENT, at
            if not room_for_result(state, flights[slot].configuration):
                return NO_ROOM, at
            finish_flight(state, slot, events.status[at], events.seconds[at])
            slots[number] = NONE
    return ALL_DONE, end


def replay(
    scheduler: Scheduler, events: Events, advice: Mapping[int, Advice] | None = None
) -> list[Run]:
    """Put recorded events through a fresh scheduler; returns the runs that are still in flight.

    `advice` is what a guide had said before some of the events, by their place.
    Raises `DifferentReplay` at the first ask that comes out otherwise than it was recorded.
    """
    advice = advice or {}
    most = int(events.number.max(initial=0))
    slots = np.full(most + 1, NONE, dtype=np.int64)
    at = 0
    ends = [place for place in sorted(advice) if place < events.number.size]
    for end in [*ends, events.number.size]:
        at = _replay_until(scheduler, events, slots, at, end)
        if end in advice:
            first = scheduler.advise(advice[end])
            if advice[end].first not in (NONE, first):
                raise DifferentReplay(end, int(events.number[end]))
    return [scheduler.take_off(int(slots[n]), int(n)) for n in np.flatnonzero(slots != NONE)]


def _replay_until(
    scheduler: Scheduler, events: Events, slots: NDArray[np.int64], at: int, end: int
) -> int:
    """Go through events up to `end`, with more room wherever it takes that."""
    while True:
        why, at = replay_events(scheduler.state, events, slots, at, end)
        if why == ALL_DONE:
            return at
        if why == NO_SLOT:
            scheduler.add_slots()
        elif why == NO_CONFIGURATION:
            scheduler.widen()
        elif why == NO_ROOM:
            scheduler.state = grow(scheduler.state, int(events.configuration[at]))
        else:
            raise DifferentReplay(at, int(events.number[at]))
