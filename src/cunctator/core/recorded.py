"""The search on recorded runtimes, in one compiled loop: the kernels of `recorded/simulation.py`.

They do what `ask` and `tell` of the scheduler do with one run at a time; the way between them is
shorter, since the outcome of a run is looked up in a table.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cunctator.core.closing import is_closing_due, set_closing
from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.known import cap_at
from cunctator.core.recommend import recommended
from cunctator.core.sentinels import FINISHED
from cunctator.core.state import State, room_for_result
from cunctator.core.tester import CAPPED, SOLVED, begin, finish, update
from cunctator.core.turns import choose, note_result

GOING_ON, PROVED, SPENT, NO_ROOM = 0, 1, 2, 3

INCUMBENT_GROWTH = 1.01
"""How much the charged time must grow before the incumbent is looked at again."""

CONFIGURATIONS_PER_STEP = 32
"""Of which looking at the incumbent costs much less than a step; see `note_incumbent`."""


CLOSING_LOOKS = 1 / 256
"""Of a budget: so much is spent between looks at whether it is time to close."""


class Totals:
    """What a simulation has spent."""

    charged: float
    resumed: float
    """The same, had runs been resumed rather than restarted."""
    changes: int
    """How often the incumbent has changed."""
    look_charged: float
    look_step: float
    """When both are reached, the incumbent is looked at again."""
    look_closing: float
    """When so much is charged, it is looked at whether it is time to close (`closing.py`)."""


class Ledger(NamedTuple):
    """What a simulation has spent, and how its incumbent changed."""

    totals: Totals
    changes: NDArray[np.float64]
    """Rows (charged, step, index): the incumbent from that moment on."""


@compiled
def note_incumbent(state: State, ledger: Ledger) -> None:
    """Look at the incumbent, and record it if it has changed; there must be room for that.

    Looking at hundreds of configurations costs as much as a step, so it is done again only when
    the charged time has grown by one part in a hundred and enough steps have been made.
    """
    incumbent = recommended(state)
    totals, now, used = ledger.totals, state.now, ledger.totals.changes
    if used == 0 or ledger.changes[used - 1, 2] != incumbent:
        ledger.changes[used, 0] = totals.charged
        ledger.changes[used, 1] = now.step
        ledger.changes[used, 2] = incumbent
        totals.changes = used + 1
    totals.look_charged = totals.charged * INCUMBENT_GROWTH
    size = state.pools[now.opened - 1].members
    totals.look_step = now.step + size // CONFIGURATIONS_PER_STEP


@compiled_apart
def _look_at_closing(state: State, totals: Totals, budget: float) -> None:
    totals.look_closing = totals.charged + CLOSING_LOOKS * budget
    if is_closing_due(state, budget - totals.charged, budget):
        set_closing(state, True)
        totals.look_closing = math.inf


@compiled
def advance(
    state: State,
    ledger: Ledger,
    runtimes: NDArray[np.float64],
    order: NDArray[np.int64],
    budget: float,
    steps: int,
) -> tuple[int, int]:
    """Make up to `steps` runs; returns why it stopped and the configuration it was about to run."""
    totals, now = ledger.totals, state.now
    for _ in range(steps):
        if totals.charged >= budget:
            return SPENT, 0
        if totals.charged >= totals.look_closing:
            _look_at_closing(state, totals, budget)
        index = choose(state)
        if index == FINISHED:
            return PROVED, 0
        if not room_for_result(state, index) or totals.changes == ledger.changes.shape[0]:
            return NO_ROOM, index
        now.step += 1
        is_new, tried = begin(state, index)
        pair, level = now.pair, now.level
        cap = cap_at(state.rules, level)
        runtime = runtimes[index, order[pair]]
        solved = runtime <= cap and runtime < state.rules.cutoff
        seconds = min(runtime, cap)
        status = SOLVED if solved else CAPPED
        finish(state, index, pair, level, is_new, now.turn, status, seconds)
        totals.charged += seconds
        # A retry could have gone on from the cap of the try before.
        totals.resumed += seconds if is_new else seconds - cap_at(state.rules, tried)
        update(state, index, True, not is_new)
        note_result(state, index, False)
        if totals.charged >= totals.look_charged and now.step >= totals.look_step:
            note_incumbent(state, ledger)
    return GOING_ON, 0
