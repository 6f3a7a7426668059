"""Equation 1: the bound equals its integral, for both profiles, whatever came in."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cunctator.core.bounds import lasting_lower_bound, lower_bound
from cunctator.core.check import known_values
from cunctator.core.equation1 import bin_edge, dyadic_queue_target, measure_areas
from cunctator.core.profiles import PROFILES
from cunctator.core.rules import Rules
from cunctator.core.state import HONEST, grow, new_state, room_for_result
from cunctator.core.tester import CAPPED, CRASHED, SOLVED, begin, finish, update
from tests.reference import bin_of, epsilon, integral
from tests.reference import queue_target as reference_target

FIRST_CAP = 0.5
DYADIC = ["paper", "proved"]


def state_with(profile, solved, pending=0, crashed=0, level=0, cutoff=math.inf, penalty=1.0):
    """A lone tester that has met these runtimes, some runs still pending, some crashed."""
    state = new_state(1, Rules(FIRST_CAP, cutoff, 2**31 - 1, penalty=penalty), profile)
    state.testers[0].cap_level = level
    results = [(SOLVED, value) for value in solved]
    results += [(CAPPED, math.ldexp(FIRST_CAP, level))] * pending + [(CRASHED, 0.0)] * crashed
    state.now.step = 1
    for status, seconds in results:
        if not room_for_result(state, 0):
            state = grow(state, 0)
        pair = state.now.pair = int(state.testers[0].started)
        state.now.level = level
        begin(state, 0)
        finish(state, 0, pair, level, True, HONEST, status, seconds)
        update(state, 0, True, False)
    return state


def at_step(state, step):
    state.now.step = step
    measure_areas(state, 0)
    return lower_bound(state, 0, math.log(step))


@given(
    name=st.sampled_from(DYADIC),
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(1, 3000),
    distinct=st.sampled_from([1, 2, 5, 1000]),
    pending=st.integers(0, 600),
    crashed=st.integers(0, 50),
    step=st.integers(1, 40),
    counted=st.sampled_from([(math.inf, 1), (100.0, 1), (100.0, 10), (8.0, 1), (8.0, 10)]),
)
@settings(max_examples=150)
def test_lower_bound_is_the_integral(name, seed, size, distinct, pending, crashed, step, counted):
    """Runs reach 8 s, the whole cutoff or not; timeouts count once or ten times."""
    profile = PROFILES[name]
    random = np.random.default_rng(seed)
    # Few distinct values make ties, so that shares fall exactly on bin edges.
    choices = np.exp(random.normal(0, 1.5, size=distinct)).clip(0, 7.9)
    solved, (cutoff, penalty) = random.choice(choices, size), counted
    state = state_with(profile, solved, pending, crashed, 4, cutoff, penalty)
    values = known_values(state, 0)
    reached = penalty * cutoff if cutoff == 8.0 else 8.0
    parts = [solved.clip(FIRST_CAP), [reached] * pending, [penalty * cutoff] * crashed]
    np.testing.assert_array_equal(values, np.sort(np.concatenate(parts)))
    ours = at_step(state, step)
    finite = [v for v in values if math.isfinite(v)]
    if len(finite) < len(values):  # a mass at infinity: L is infinite once a bin reaches it
        share_bin = bin_of_first_infinite(name, crashed, len(values))
        if epsilon(share_bin, len(values), step) <= 0.5:
            assert ours == math.inf
            return
        # The bins that count end below the crashes, so any large value may stand for them.
        values = [*finite, *[1e9] * crashed]
        assert ours == pytest.approx(max(FIRST_CAP, below(name, values, step, 1e8)), rel=1e-9)
        return
    assert ours == pytest.approx(max(FIRST_CAP, integral(name, list(values), step)), rel=1e-9)


def bin_of_first_infinite(name, crashed, total):
    from fractions import Fraction

    return bin_of(name, Fraction(crashed, total))


def below(name, values, step, limit):
    """The integral up to `limit`: the part above it must not count."""
    whole = integral(name, values, step)
    capped = integral(name, [min(v, limit) for v in values], step)
    assert whole == capped
    return capped


@pytest.mark.parametrize("name", DYADIC)
def test_lower_bound_with_many_bins(name):
    """Ten bins count here; the sizes around powers of two move every edge."""
    profile = PROFILES[name]
    random = np.random.default_rng(7)
    runtimes = np.exp(random.normal(0, 1.5, size=2**15 + 1)).clip(0, 60.0)
    for size in (2**13 - 1, 2**13, 2**13 + 1, 2**15, 2**15 + 1):
        state = state_with(profile, runtimes[:size], 100, 0, 7)
        values = list(known_values(state, 0))
        for step in (1, 2, 3, 50):
            expected = max(FIRST_CAP, integral(name, values, step))
            assert at_step(state, step) == pytest.approx(expected, rel=1e-9)
        assert at_step(state, 2) > 2 * FIRST_CAP


@given(
    started=st.integers(1, 10**6),
    step=st.integers(1, 10**9),
    name=st.sampled_from(DYADIC),
)
def test_queue_target(started, step, name):
    assert dyadic_queue_target(PROFILES[name], started, step) == reference_target(
        name, started, step
    )


@given(started=st.integers(1, 10**5), k=st.integers(1, 16), name=st.sampled_from(DYADIC))
def test_bin_edge_is_the_fewest_runs_in_the_bins_up_to_k(started, k, name):
    from fractions import Fraction

    edge = bin_edge(PROFILES[name].rounding, started, k)
    assert bin_of(name, Fraction(edge, started)) <= k
    assert edge == 1 or bin_of(name, Fraction(edge - 1, started)) > k


@given(size=st.integers(1, 4000), step=st.integers(1, 10**6), patience=st.integers(0, 20))
@settings(max_examples=60)
def test_a_lasting_bound_lasts(size, step, patience):
    """It is not above the bound at any step up to its last; right after a bin drops, it expires."""
    profile = PROFILES["proved"]
    random = np.random.default_rng(size)
    state = state_with(profile, random.exponential(3.0, size).clip(0, 8.0), 30, 0, 4)
    at_step(state, step)
    state.testers[0].patience = patience
    key, last = lasting_lower_bound(state, 0, step)
    assert last >= step
    end = min(int(last), step + (step >> patience)) if math.isfinite(last) else 2 * step
    for later in {step, (step + end) // 2, end}:
        assert key <= lower_bound(state, 0, math.log(later))
    assert math.isinf(last) or key == lower_bound(state, 0, math.log(last))


def test_lower_bound_falls_with_the_step_and_rises_with_the_values():
    profile = PROFILES["proved"]
    values = np.random.default_rng(3).exponential(2.0, 2000)
    state = state_with(profile, values, 10, 0, 6)
    bounds = [at_step(state, step) for step in (1, 2, 5, 100, 10**4, 10**8)]
    assert bounds == sorted(bounds, reverse=True)
    longer = state_with(profile, values + 0.1, 10, 0, 6)
    assert at_step(longer, 5) >= at_step(state, 5)


def test_before_any_run_the_bound_is_the_first_cap():
    state = new_state(1, Rules(FIRST_CAP, math.inf, 100), PROFILES["proved"])
    assert lower_bound(state, 0, 0.0) == FIRST_CAP
