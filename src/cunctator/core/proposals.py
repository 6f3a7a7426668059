"""Configurations that are proposed because of results: what sets them apart.

They come one at a time, beside the random draws, and take part in the search like anybody else
(`search.py`). Two things are different. What is certified of an answer is certified against the
best of the random draws: somebody who was chosen for what has been seen could have been chosen for
good luck, and the proofs of `claims.py` do not hold for such a rival. So proposals belong to no
pool. And as an answer, a proposal has capital only for pairs that nobody had started when it was
proposed: `proposed_at` of them do not count.

A pool is a range of indices (`pools.py`), of which proposals are left out. Those that come before a
pool is made move its end.
"""

from __future__ import annotations

import numpy as np

from cunctator.core.compiled import compiled
from cunctator.core.sentinels import NONE
from cunctator.core.state import State, with_more_configurations


@compiled
def is_proposal(state: State, index: int) -> bool:
    """Whether a configuration was proposed because of results."""
    return bool(state.testers[index].proposed_at != NONE)


@compiled
def capital_begins(state: State, index: int) -> int:
    """After how many pairs capital may be put on a configuration as the answer."""
    return max(0, int(state.testers[index].proposed_at))


def with_proposals(state: State, count: int) -> State:
    """The same state with so many more configurations, proposed because of what it knows.

    As with any more configurations, the keys of lower bounds must be set from scratch.
    """
    first = state.testers.size
    seen = int(state.testers["started"].max())
    wider = with_more_configurations(state, first + count)
    wider.testers["proposed_at"][first:] = seen
    members = wider.pools["members"]
    members[members > first] += count
    wider.testers["rank"][first:] = int(state.now.proposals) + np.arange(count)
    wider.now.proposals += count
    return wider
