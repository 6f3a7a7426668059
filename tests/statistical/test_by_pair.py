"""Are claims by pair false no more often than they may be, where pairing could do harm?

Whole searches of tables whose true means are known; most are made equal, so that every claim is at
its edge. At every look and for every configuration as the answer, each claim is tested at the truth
itself: that is where the best moment to stop, the worst answer and the sharpest question meet. A
claim that has the capital there is false, and so is its study. From a study's largest capital it
follows at which confidences it is false; and at which it would be with half the evidence.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from cunctator.core.claims import (
    BEYOND,
    DEFAULT_ALONE,
    ERROR_SHARES,
    FASTER,
    MEAN,
    RIVAL_ALONE,
    RIVALS,
    SLOWER,
    SPREAD,
    answer_capital,
    cap_weight,
    claim_weight,
    default_capital,
    rival_capital,
    slower_capital,
)
from cunctator.core.compiled import compiled, compiled_apart
from cunctator.core.known import last_octave
from cunctator.core.nominations import nomination_weight
from cunctator.core.sentinels import NONE, WHOLE
from cunctator.core.state import MOST_NOMINATIONS
from cunctator.core.tight import error_share
from cunctator.recorded.simulation import Simulation
from cunctator.recorded.table import make_table
from tests.margins import most_events

CONFIGURATIONS, PAIRS, DRAWN = 6, 60, 120
LOOKS, LONGEST = 30, {True: 1.0, False: 3.0}
"""Looks at equal ratios of charged time, up to so many times the table's cost; by finiteness."""

CONFIDENCES = (0.5, 0.8, 0.95)
ENOUGH = 1e12
"""Error shares and confidences are applied to capital afterwards, so the search has this target."""


def by_instance(random, n, m):
    """Instances differ far more than configurations."""
    return np.exp(2 * random.normal(size=m) + 0.3 * random.normal(size=(n, m)))


def opposed(random, n, m):
    """What is hard for every second configuration is easy for the others."""
    signs = np.where(np.arange(n) % 2 == 0, 1, -1)[:, None]
    return np.exp(1.5 * signs * random.normal(size=m) + 0.2 * random.normal(size=(n, m)))


def tied(random, n, m):
    """Half at a cap, half just above one."""
    ties = 2.0 ** -random.integers(0, 9, (n, m))
    return np.minimum(np.where(random.random((n, m)) < 0.5, ties * (1 + 1e-9), ties), 1.0)


def weibull(random, n, m):
    return random.weibull(0.3, (n, m)) + 1e-3


def rare(random, n, m):
    """One in a hundred takes a thousand times as long."""
    usual = 0.5 + random.random((n, m))
    return np.where(random.random((n, m)) < 0.01, 1000 * usual, usual)


KINDS = [by_instance, opposed, tied, weibull, rare]


@compiled
def _stakes(state, answer):
    """All capital that is put on an answer, in the beginning."""
    total = SPREAD * error_share(answer, state.pools[0].members)
    for number in range(MOST_NOMINATIONS):
        if state.now.nominated[number] != NONE and state.now.nominated[number] == answer:
            total += (1.0 - SPREAD) * nomination_weight(number)
    return total


@compiled
def _note(out, capital, stake, share):
    """The larger of what was and what is, times the share of the error: false at 1 / error."""
    out[0] = max(out[0], capital * share)
    out[1] = max(out[1], capital * (capital / stake) * share)


@compiled_apart
def look(state, means, caps, up_to, beyond, out):
    """Capital of all claims at the truth: `up_to[i, g]` are means of min(R_i, cap of octave g)."""
    size, octaves = means.size, last_octave(state.rules)
    best = means.argmin()
    for answer in range(size):
        stakes = _stakes(state, answer)
        if answer != 0:
            ratio = means[answer] / means[0]
            capital = default_capital(state, answer, ratio, means[answer])
            stake = DEFAULT_ALONE + (1.0 - DEFAULT_ALONE) * stakes
            _note(out, capital, stake, ERROR_SHARES[FASTER])
            capital = slower_capital(state, answer, 1.0 / ratio)
            _note(out, capital, stakes, ERROR_SHARES[SLOWER])
        for place in range(octaves + 1):
            octave = WHOLE if place == octaves else place
            mean, share = up_to[answer, place], beyond[answer, place]
            if mean < (1.0 - 1e-9) * caps[place]:
                weight = claim_weight(state.rules, MEAN, octave)
                capital = answer_capital(state, MEAN, answer, octave, mean)
                _note(out, capital, weight * stakes, ERROR_SHARES[MEAN])
            if octave != WHOLE and 0.0 < share < 1.0:
                weight = claim_weight(state.rules, BEYOND, octave)
                capital = answer_capital(state, BEYOND, answer, octave, share)
                _note(out, capital, weight * stakes, ERROR_SHARES[BEYOND])
            if answer != best:
                paired = error_share(answer, size) * cap_weight(state.rules, octave)
                capital = rival_capital(
                    state, answer, best, octave, mean / means[best], mean, ENOUGH
                )
                _note(out, capital, RIVAL_ALONE + (1.0 - RIVAL_ALONE) * paired, RIVALS)


def with_timeouts(runtimes):
    """The longest tenth of each row's runs reach the cutoff; the mean of the others is the same."""
    order = runtimes.argsort(axis=1).argsort(axis=1)
    is_long = order >= 0.9 * runtimes.shape[1]
    others = np.where(is_long, np.nan, runtimes)
    others *= np.nanmean(others) / np.nanmean(others, axis=1, keepdims=True)
    return np.where(is_long, 1.5 * np.nanmax(others), others)


def study(kind, is_finite, seed, penalty=1.0):
    """The largest capital of a study, times its share of the error; the same with half of it."""
    random = np.random.default_rng([seed, KINDS.index(kind), is_finite])
    runtimes = kind(random, CONFIGURATIONS, PAIRS if is_finite else DRAWN)
    if kind is tied:
        cutoff, first_cap = 1.0, 1.0 / 512
    else:
        runtimes = np.minimum(runtimes, np.quantile(runtimes, 0.99))
        runtimes = np.maximum(runtimes, np.quantile(runtimes, 0.02))
        runtimes *= runtimes.mean() / runtimes.mean(axis=1, keepdims=True)
        runtimes = with_timeouts(runtimes) if penalty > 1 else runtimes
        cutoff, first_cap = float(runtimes.max()), float(runtimes.min())
    table, cost = make_table(runtimes, cutoff=cutoff), float(runtimes.sum())
    simulation = Simulation(
        table, first_cap=first_cap, penalty=penalty, seed=seed, resample=not is_finite
    )
    timeout = penalty * cutoff
    true = np.where(runtimes >= cutoff, timeout, np.maximum(runtimes, first_cap))
    octaves = math.ceil(math.log2(cutoff / first_cap) - 1e-12)
    caps = np.append(first_cap * 2.0 ** np.arange(octaves), timeout)
    up_to = np.stack([np.minimum(true, cap).mean(axis=1) for cap in caps], axis=1)
    beyond = np.stack([(true > cap).mean(axis=1) for cap in caps], axis=1)
    out = np.zeros(2)
    for budget in cost * np.geomspace(0.03, LONGEST[is_finite], LOOKS):
        simulation.budget, simulation.stop = budget, None
        while simulation.stop is None:
            simulation.advance()
        rules = simulation.state.rules._replace(error=1.0 / ENOUGH)
        look(simulation.state._replace(rules=rules), true.mean(axis=1), caps, up_to, beyond, out)
    return out


def evidence(kinds, studies, penalty=1.0):
    """Rows (full, half) of all studies, finite and endless."""
    return np.array(
        [
            study(kind, is_finite, seed, penalty)
            for kind in kinds
            for is_finite in (True, False)
            for seed in range(studies)
        ]
    )


@pytest.fixture(scope="module")
def some():
    """40 studies of each kind, finite and endless: 400 in all."""
    return evidence(KINDS, 40)


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_claims_are_false_no_more_often_than_they_may_be(some, confidence):
    """Some 8, 3 and 1% of the studies are: unions and unknown bets leave the rest.

    Chernoff: were the errors as large as allowed, more than `most_events` false ones had a chance
    of one in a million.
    """
    false = int((some[:, 0] >= 1 / (1 - confidence)).sum())
    assert false <= most_events(len(some), 1 - confidence)
    assert false <= len(some) * (1 - confidence)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_half_the_evidence_fails_the_same_test(some, confidence):
    """Some 36% and 18% of the studies are false then."""
    false = int((some[:, 1] >= 1 / (1 - confidence)).sum())
    assert false > most_events(len(some), 1 - confidence)


@pytest.fixture(scope="module")
def penalised():
    """As many in which a tenth of the runs are timeouts, and count ten times."""
    return evidence(KINDS, 40, penalty=10.0)


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_claims_of_penalised_means_are_false_no_more_often(penalised, confidence):
    false = int((penalised[:, 0] >= 1 / (1 - confidence)).sum())
    assert false <= most_events(len(penalised), 1 - confidence)
    assert false <= len(penalised) * (1 - confidence)


def test_half_the_evidence_fails_for_penalised_means_too(penalised):
    assert (penalised[:, 1] >= 1 / 0.05).sum() > most_events(len(penalised), 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_more_studies_of_each_kind(kind):
    """500 of finite sets and 500 of streams: no kind hides behind the others."""
    many = evidence([kind], 500)
    for part in (many[:500], many[500:]):
        for confidence in CONFIDENCES:
            false = int((part[:, 0] >= 1 / (1 - confidence)).sum())
            assert false <= most_events(len(part), 1 - confidence)
            assert false <= len(part) * (1 - confidence)
    assert (many[:, 1] >= 1 / 0.05).sum() > most_events(len(many), 0.05)
