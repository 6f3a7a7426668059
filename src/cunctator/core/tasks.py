"""Tasks: what a guide outside the core wants to know.

A guide looks at results with a model of the whole space, which the core has not (`propose/`). It
asks for configurations to be taken to a rung of the ladder: some that are on it already, others
that it has just proposed (`proposals.py`). A part of the search's time is for that, in the order of
the list. If nothing is left to run of it, the search goes on by itself, so that nobody ever waits
for a guide. A new list takes the place of the one before.

Nothing that is certified depends on whom a guide asks for. Tasks come from outside, so they are in
the journal, and a replay is given them again at the same moments.
"""

from __future__ import annotations

from collections.abc import Sequence

from cunctator.core.climbing import missing_pair, next_rung
from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.sentinels import NONE
from cunctator.core.state import BOUND, GUIDED, MOST_TASKS, NEWCOMER, RATIO, State


def set_tasks(state: State, tasks: Sequence[tuple[int, int]]) -> None:
    """Take a list of (configuration, rung to reach); what was left of the one before is dropped."""
    for place, (configuration, rung) in enumerate(tasks[:MOST_TASKS]):
        state.tasks[place].configuration, state.tasks[place].rung = configuration, rung
    state.now.tasks = min(len(tasks), MOST_TASKS)


@compiled
def are_tasks_due(state: State) -> bool:
    """Whether tasks have had less than their part of the search's time."""
    turns, share = state.turns, state.rules.guided
    own = turns[NEWCOMER] + turns[RATIO] + turns[BOUND]
    return bool(turns[GUIDED] * (1.0 - share) <= own * share) if share > 0.0 else False


@compiled_apart
def choose_task(state: State) -> int:
    """The configuration of the first task that has something to run, or NONE.

    Its pair, and the level of its cap, are in `state.now`.
    """
    now, ladder = state.now, state.ladder
    for place in range(now.tasks):
        task = state.tasks[place]
        if is_task_open(state, task.configuration, task.rung):
            pair = missing_pair(state, task.configuration)
            if pair != NONE:
                now.turn, now.pair = GUIDED, pair
                now.level = ladder.level[next_rung(state, task.configuration)]
                return int(task.configuration)
    return NONE


@compiled
def is_task_open(state: State, index: int, rung: int) -> bool:
    """Whether a configuration has not reached a rung yet, and there is a next one on its way."""
    reached = state.testers[index].rung
    return bool(reached < min(rung, state.ladder.top))


@compiled
def open_tasks(state: State) -> int:
    """How many tasks have something to run that is not in flight."""
    count = 0
    for place in range(state.now.tasks):
        task = state.tasks[place]
        if is_task_open(state, task.configuration, task.rung):
            count += missing_pair(state, task.configuration) != NONE
    return count
