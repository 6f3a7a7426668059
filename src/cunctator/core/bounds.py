"""Where the profiles part: measuring a configuration, its lower bound, its queue target.

The tester and the scheduler call these four and do not know which profile they run.
"""

from __future__ import annotations

from cunctator.core.compiled import compiled
from cunctator.core.equation1 import (
    FOREVER,
    area_bound,
    dyadic_queue_target,
    lasting_area_bound,
    measure_areas,
)
from cunctator.core.known import is_exact, mean_runtime
from cunctator.core.profiles import BETTING
from cunctator.core.state import State
from cunctator.core.tight import measure_bets, tight_queue_target


@compiled
def measure(state: State, index: int, raised: bool, has_result: bool) -> None:
    """Bring what the bounds are computed from up to date; `raised`: the known cap has changed."""
    if state.profile.bound == BETTING:
        measure_bets(state, index, raised, has_result)
    else:
        measure_areas(state, index)


@compiled
def queue_target(state: State, index: int) -> int:
    """How many runs of this configuration may be put off."""
    if state.profile.bound == BETTING:
        return tight_queue_target(state, index)
    return dyadic_queue_target(state.profile, state.testers[index].started, state.now.step)


@compiled
def lower_bound(state: State, index: int, log_step: float) -> float:
    """The lower bound on the mean at the step whose natural logarithm is given."""
    if is_exact(state, index):
        return mean_runtime(state, index)
    if state.profile.bound == BETTING:
        return float(state.testers[index].full)
    return area_bound(state, index, log_step)


@compiled
def lasting_lower_bound(state: State, index: int, step: int) -> tuple[float, float]:
    """What the lower bound does not fall below from `step` on, and the last step it holds for."""
    if is_exact(state, index):
        return mean_runtime(state, index), FOREVER
    if state.profile.bound == BETTING:
        return float(state.testers[index].full), FOREVER
    return lasting_area_bound(state, index, step)
