"""The configuration of least lower bound, among all or among the first ones.

Algorithm 1, line 8. The choice is the exact argmin of the lower bounds at the current step t
(ties: fewest started, then lowest index). In the profiles `paper` and `proved` those bounds fall
as t grows, so a cached bound would be an over-estimate and an ordinary heap would choose wrongly.
Instead each configuration has a key that its bound does not fall below until the key expires; the
candidates are those whose key is not above the best bound evaluated so far, usually a handful.
"""

from __future__ import annotations

import math

from cunctator.core.bounds import lower_bound
from cunctator.core.compiled import compiled
from cunctator.core.proposals import is_proposal
from cunctator.core.sentinels import EXHAUSTED, NONE, WAIT
from cunctator.core.state import State
from cunctator.core.tester import BLOCKED, NOTHING, next_kind, rekey
from cunctator.core.tournament import ROOT, winner_between

MOST_PATIENT, LEAST_PATIENT = 6, 30
"""Least and most of `Tester.patience`: keys are kept for step / 64 steps, or not at all."""


@compiled
def choose_honestly(state: State, size: int) -> int:
    """Of the first `size`, that of least (lower bound, started, index) at the next step.

    Or WAIT, or EXHAUSTED. Profiles whose bounds depend on the step have one pool, of all.
    """
    step = state.now.step + 1
    _rekey_expired(state, step)
    tree, log_step = state.by_lower, math.log(step)
    best = winner_between(tree, 0, size)
    leaf = tree[(tree.size >> 1) + best]
    if leaf.second == BLOCKED:
        return WAIT
    bound = lower_bound(state, best, log_step)
    if bound > leaf.first:
        best = _contest(state, best, bound, log_step)
    if next_kind(state, best) != NOTHING:
        return int(best)
    # The argmin is known exactly. A blocked configuration might still turn out as good.
    bound = lower_bound(state, best, log_step)
    for slot in range(state.flights.size):
        rival = state.flights[slot].configuration
        if rival == NONE or rival >= size:
            continue
        if lower_bound(state, rival, log_step) <= bound:
            return WAIT
    if math.isinf(bound):
        # All have crashed, without a cutoff. There is no best mean, but there is more to see.
        for index in range(size):
            if next_kind(state, index) != NOTHING and not is_proposal(state, index):
                return index
    is_all = size == state.pools[state.pools.size - 1].members
    # No run counts less than the first cap: whoever is there is as good as any, also in pools to
    # come, and all of them would be opened in the search for somebody better.
    if is_all or bound <= state.rules.first_cap:
        state.now.proved = best
    return EXHAUSTED


@compiled
def _rekey_expired(state: State, step: int) -> None:
    while state.by_expiry[ROOT].first < step:
        expired = state.by_expiry[ROOT].winner
        tester = state.testers[expired]
        tester.patience = max(MOST_PATIENT, tester.patience - 1)
        rekey(state, expired)


@compiled
def _before(
    bound: float, started: float, index: int, rival_bound: float, rival_started: float, rival: int
) -> bool:
    """Whether the first comes strictly before the second: by bound, started, then index."""
    if bound != rival_bound:
        return bound < rival_bound
    if started != rival_started:
        return started < rival_started
    return index < rival


@compiled
def _contest(state: State, best: int, bound: float, log_step: float) -> int:
    """Look at every configuration whose key is not above the best bound so far.

    From the leaf of `best` up, each sibling subtree is searched if its smallest key comes before
    the best bound; a key never exceeds the bound itself, so whatever is left out cannot win.
    """
    tree, testers, stack = state.by_lower, state.testers, state.scratch.stack
    leaves = tree.size >> 1
    node = leaves + best
    while node > ROOT:
        stack[0], height = node ^ 1, 1
        while height > 0:
            height -= 1
            place = stack[height]
            smallest, started = tree[place], testers[best].started
            rival = smallest.winner
            if not _before(smallest.first, smallest.second, rival, bound, started, best):
                continue
            if place < leaves:
                stack[height], stack[height + 1] = 2 * place, 2 * place + 1
                height += 2
                continue
            rival_bound = lower_bound(state, rival, log_step)
            if _before(rival_bound, testers[rival].started, rival, bound, started, best):
                best, rival, bound = rival, best, rival_bound
            testers[rival].patience = min(LEAST_PATIENT, testers[rival].patience + 1)
            rekey(state, rival)
        node >>= 1
    return int(best)
