"""The appendix lemma, as printed and corrected."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cunctator.base.errors import InvalidSetting
from cunctator.core.guarantee import appendix_delta, appendix_epsilon


def test_as_printed_by_hand():
    """Epsilon 1, delta 1/4, t = 2^19: 72 * log2(2^19 * 2) = 1440, so r = 5760 is just enough."""
    claim = appendix_delta(1.0, 5760, 2**19, 1, as_printed=True)
    assert claim.delta == pytest.approx(0.25, rel=1e-6)
    assert claim.probability == pytest.approx(1 - math.exp(-2))
    assert appendix_epsilon(0.25, 5760, 2**19, 1, as_printed=True).epsilon == pytest.approx(1.0)
    assert appendix_epsilon(0.25, 5759, 2**19, 1, as_printed=True) is None


def test_theory_example():
    """epsilon = delta = 0.1 at t = 10^6 takes 1.56 million runs as printed."""
    needed = 72 * math.log2(1e6 * math.log2(10)) / (0.1**2 * 0.1)
    assert needed == pytest.approx(1.56e6, rel=0.01)
    claim = appendix_epsilon(0.1, math.ceil(needed), math.ceil(needed), 1, as_printed=True)
    assert claim.epsilon == pytest.approx(0.1, rel=0.03)


def test_no_guarantee_rather_than_a_delta_above_one():
    assert appendix_delta(0.1, 1000, 10**6, 10) is None
    assert appendix_delta(0.1, 0, 0, 10) is None
    assert appendix_epsilon(0.1, 0, 0, 10) is None


@given(
    epsilon=st.floats(0.05, 1.0),
    started=st.integers(1, 10**8),
    slack=st.integers(0, 10**9),
    n=st.integers(1, 10**5),
)
def test_delta_and_epsilon_are_inverse(epsilon, started, slack, n):
    claim = appendix_delta(epsilon, started, started + slack, n)
    if claim is not None:
        assert 0 < claim.delta < 1 and 0 < claim.probability <= 1
        back = appendix_epsilon(claim.delta, started, started + slack, n)
        assert back.epsilon == pytest.approx(epsilon, rel=1e-6)


def test_the_correction_is_the_weaker_claim():
    printed = appendix_delta(0.5, 50_000, 10**6, 10, as_printed=True)
    corrected = appendix_delta(0.5, 50_000, 10**6, 10)
    assert corrected.delta > printed.delta
    assert corrected.probability > 0.99


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"epsilon": 0.0}, "epsilon is 0.0"),
        ({"epsilon": 1.5}, "epsilon is 1.5"),
        ({"started": 11}, "started is 11"),
        ({"configurations": 0}, "configurations is 0"),
        ({"strength": 0.5}, "strength is 0.5"),
    ],
)
def test_bad_arguments(arguments, complaint):
    with pytest.raises(InvalidSetting, match=complaint):
        appendix_delta(
            **{"epsilon": 0.5, "started": 5, "step": 10, "configurations": 2, **arguments}
        )
    if "epsilon" not in arguments:
        with pytest.raises(InvalidSetting, match=complaint):
            appendix_epsilon(
                **{"delta": 0.5, "started": 5, "step": 10, "configurations": 2, **arguments}
            )


def test_delta_out_of_range():
    with pytest.raises(InvalidSetting, match="delta is 1"):
        appendix_epsilon(1.0, 5, 10, 2)


def test_the_corrected_probability_by_hand():
    """With delta = 1/2, y is t: failure is n t (y^-6.4 + y^(-25 / eps^2)) + 2.63 r^-1.25."""
    claim = appendix_epsilon(0.5, 10_000, 100_000, 50)
    assert claim.epsilon == pytest.approx(math.sqrt(144 * math.log2(1e5) / 5000))
    failure = 50 * 1e5 * (1e5**-6.4 + 1e5 ** (-25 / claim.epsilon**2)) + 2.63 * 1e4**-1.25
    assert 1 - claim.probability == pytest.approx(failure, rel=1e-6)
    many = appendix_epsilon(0.5, 100, 100, 10**9, strength=1.0)
    assert many is None or many.probability < 1 - 10**9 * 100 * 100**-6.4
    # Where the tails matter: a few steps and very many configurations.
    few = appendix_delta(1.0, 3000, 3000, 10**16)
    expected = 10**16 * 3000 * 2 * (3000 * max(1, -math.log2(few.delta))) ** -6.4
    assert 1 - few.probability > 0.5 * expected
