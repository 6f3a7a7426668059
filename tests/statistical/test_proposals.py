"""Claims about configurations that were proposed because of results, by the most hostile guide.

All configurations have the same mean. Once forty pairs have been started by anybody, the guide
finds one in an endless space that is fast on every one of these, by luck. So its proposals look far
faster than the default, and are not; claims that say so are false. Far more studies than may would
make some if proposals had capital from the first pair on.
"""

from __future__ import annotations

import numpy as np
import pytest

from cunctator.core.claims import (
    ERROR_SHARES,
    FASTER,
    MEAN,
    RIVALS,
    answer_capital,
    default_capital,
    rival_capital,
)
from cunctator.core.scheduler import Advice, Scheduler
from cunctator.core.sentinels import WHOLE
from tests.core.driving import outcome
from tests.margins import most_events

FAST, SLOW, CUTOFF = 0.2, 1.8, 2.0
TRUE = (FAST + SLOW) / 2
DRAWS, PAIRS, STARTED = 4, 2000, 40
STUDIES, RUNS, LOOKS = 100, 900, 6
ENOUGH = 1e12


def drawn(random, count):
    """Runtimes of so many configurations, half of them fast, whatever the pair."""
    return np.where(random.random((count, PAIRS)) < 0.5, FAST, SLOW)


def luckiest(random, started):
    """One that is fast on all pairs that have been started."""
    row = drawn(random, 1)[0]
    row[:started] = FAST
    return row


def study(seed):
    """The largest capital of a false claim, over its share of the error; and as if from pair 1."""
    random = np.random.default_rng(seed)
    rows = list(drawn(random, DRAWS))
    scheduler = Scheduler(DRAWS, None, first_cap=0.1, cutoff=CUTOFF, guided=0.75)
    found = np.zeros(2)
    for _look in range(LOOKS):
        for _ in range(RUNS // LOOKS):
            started = int(scheduler.state.testers["started"].max())
            if scheduler.state.ladder.made and not scheduler.open_tasks and started >= STARTED:
                rows.append(luckiest(random, started))
                scheduler.advise(Advice(1, ((-1, 11),)))
            run = scheduler.ask()
            result = outcome(scheduler, run, lambda index, pair: rows[index][pair])
            scheduler.tell(run, result)
        found[0] = max(found[0], capital(scheduler.state))
    state = scheduler.state
    state.testers["proposed_at"] = np.minimum(state.testers["proposed_at"], 0)
    found[1] = capital(state)
    return found


def capital(state):
    """The largest of any proposal's at the truth, times the claim's share of the error."""
    most = 0.0
    patient = state._replace(rules=state.rules._replace(error=1.0 / ENOUGH))
    best = 1  # all have the same mean: let it be this one
    for index in np.flatnonzero(state.testers["proposed_at"] >= 0).tolist():
        most = max(
            most,
            ERROR_SHARES[FASTER] * default_capital(patient, index, 1.0, TRUE),
            ERROR_SHARES[MEAN] * answer_capital(patient, MEAN, index, WHOLE, TRUE),
            RIVALS * rival_capital(patient, index, best, WHOLE, 1.0, TRUE, ENOUGH),
        )
    return most


@pytest.fixture(scope="module")
def some():
    return np.array([study(seed) for seed in range(STUDIES)])


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95])
def test_claims_about_proposals_are_false_no_more_often_than_they_may_be(some, confidence):
    false = int((some[:, 0] >= 1 / (1 - confidence)).sum())
    assert false <= most_events(STUDIES, 1 - confidence)


def test_capital_from_the_first_pair_on_would_be_false(some):
    false = int((some[:, 1] >= 1 / (1 - 0.95)).sum())
    assert false > most_events(STUDIES, 0.05)
