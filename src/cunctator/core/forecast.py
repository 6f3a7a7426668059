"""What it would take: how much longer until something is certified, if all goes on as it has.

Two things are forecast: that the answer is faster than the default, and that it is within
1 + epsilon of the best. What runs that takes is in `projection.py`; here it is shared out as
`beside.py` and the race do, and becomes charged time.

None of this is a bound, and nothing is certified by it: a forecast from a few pairs is as good as
these are typical. Against the best, the answer may change, and with it the race begins anew; so
what is said of that is half of what is expected, and called the least. Nothing here changes what
the search goes by.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from cunctator.core.beside import (
    FEW_PAIRS,
    LASTED,
    MANY_PAIRS,
    MOST_MEMBERS,
    SHARE,
    SHARE_AFTER,
)
from cunctator.core.certificate import Certificate, Point, PoolPoints
from cunctator.core.claims import PRECISION, RIVALS
from cunctator.core.known import charged_so_far, proof_share, ramp
from cunctator.core.pools import pool_error
from cunctator.core.projection import runs_to_be_close, runs_to_be_faster
from cunctator.core.race import CUT_OFF, TARGETS
from cunctator.core.state import BESIDE, State

AT_LEAST = 0.5
"""Of the time that is expected until the answer is close to the best: what is said that it takes at
least. See `docs/algorithm.md` for how often that was so."""

FIRST_TARGET, LAST_TARGET = 1, len(TARGETS) - 1
"""Of the race's targets, those worth a forecast: the first is hardly a claim, and the last one,
that nobody is any better, is reached at the end of a finite set or never."""


@dataclass(frozen=True, slots=True)
class ToBeFaster:
    """What it takes to certify that the answer is faster than the default."""

    charged: float
    """Seconds of runs that are charged until then; infinite: it is not in sight."""
    exact: bool
    """Not before all of a finite set has been run, and then it is known whether it is."""


@dataclass(frozen=True, slots=True)
class ToBeClose:
    """What it takes at least to certify that the answer is within 1 + epsilon of the best."""

    charged: float
    """Seconds of runs that are charged until then; infinite: it is not in sight."""
    epsilon: float
    delta: float
    looked_at: int | None
    """The best of so many; None: of all."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What it takes to certify more; None where there is nothing to say."""

    faster: ToBeFaster | None
    close: ToBeClose | None


NOTHING_SAID = Forecast(None, None)


def forecast(
    state: State,
    certificate: Certificate,
    asked: Point | None = None,
    gamma: float = 0.0,
    closing_in: float = math.inf,
) -> Forecast:
    """What it takes to certify more than a certificate of the same state says.

    Of how close to the best the answer is: what was `asked`, against all but `gamma` of a space
    that is searched in pools; else the next of the race's targets, with at most a tenth cut off.
    `closing_in`: so many seconds later all of the time is for the answer and the default, until
    the budget ends.
    """
    if certificate.optimal or certificate.incumbent != state.now.incumbent:
        return NOTHING_SAID
    close = None if closing_in <= 0.0 else _forecast_close(state, certificate, asked, gamma)
    return Forecast(_forecast_faster(state, certificate, closing_in), close)


def _forecast_faster(
    state: State, certificate: Certificate, closing_in: float
) -> ToBeFaster | None:
    low, high = certificate.versus_default
    if low >= 1.0 or high < 1.0:  # certified, one way or the other
        return None
    seconds, pairs = runs_to_be_faster(state, certificate.incumbent)
    if math.isnan(seconds):
        return None
    charged = min(_charged_beside(state, seconds), closing_in + float(seconds))
    return ToBeFaster(charged, exact=bool(pairs >= state.rules.instances))


def _forecast_close(
    state: State, certificate: Certificate, asked: Point | None, gamma: float
) -> ToBeClose | None:
    members = int(state.now.race_size)
    pool = next((pool for pool in certificate.pools if pool.size == members), None)
    target = _target(certificate, pool, asked, gamma)
    if target is None:
        return None
    error = RIVALS * state.rules.error
    if pool:
        error = pool_error(error, certificate.pools.index(pool) + 1)
    seconds = runs_to_be_close(state, 1.0 + target.epsilon, target.delta, 1.0 / error)
    if math.isnan(seconds) or seconds == 0.0:
        return None
    share = SHARE_AFTER if state.now.faster == state.now.incumbent else SHARE
    share *= proof_share(state)
    charged = AT_LEAST * float(seconds) / (1.0 - state.profile.full_share - share)
    looked_at = members if pool and pool.gamma > 0.0 else certificate.looked_at
    return ToBeClose(charged, target.epsilon, target.delta, looked_at)


def _target(
    certificate: Certificate, pool: PoolPoints | None, asked: Point | None, gamma: float
) -> Point | None:
    """What was asked, or the first of the race's targets, that has not been reached.

    None too if the pool that the race is about is too small for what was asked.
    """
    if asked is not None:
        is_reached = certificate.epsilon_at(asked.delta, gamma) <= asked.epsilon
        return None if is_reached or (pool and pool.gamma > gamma) else asked
    points = pool.points if pool else certificate.points
    reached = min((p.epsilon for p in points if p.delta <= CUT_OFF), default=math.inf)
    for ratio in TARGETS[FIRST_TARGET:LAST_TARGET]:
        if ratio * (1.0 + 2.0 * PRECISION) < 1.0 + reached:
            return Point(CUT_OFF, round(ratio - 1.0, 9), math.inf)
    return None


def _charged_beside(state: State, seconds: float) -> float:
    """How much is charged until so many seconds have been run of answer and default: see
    `beside.is_beside_due`.
    """
    now, charged = state.now, charged_so_far(state)
    if math.isinf(seconds):
        return math.inf
    everybody = min(int(now.last_entered) + 1, MOST_MEMBERS) * float(now.incumbent_mean)
    begin = max(charged, float(now.incumbent_since) / (1.0 - LASTED))
    due, share = float(state.turns[BESIDE]) + seconds, SHARE * proof_share(state)
    low, high = begin, max(begin, MANY_PAIRS * everybody, due / share)
    while high > low * (1.0 + PRECISION):
        middle = (low + high) / 2.0
        if share * ramp(middle / everybody, FEW_PAIRS, MANY_PAIRS) * middle < due:
            low = middle
        else:
            high = middle
    return float(max(high, begin + seconds) - charged)
