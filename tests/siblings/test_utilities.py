"""Utility functions: their values, their shape, and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cunctator.base.errors import InvalidSetting
from cunctator.recorded.table import make_table
from cunctator.siblings.problem import Problem
from cunctator.siblings.utilities import (
    CODES,
    CUTOFF,
    Utility,
    check_settings,
    choose_utility,
    utility_of,
)

PROBLEM = Problem(make_table([[1.0, 2.0]]), first_cap=1.0, cutoff=100.0)


@pytest.mark.parametrize(
    ("name", "alpha", "expected"),  # at 0, 5, 10, 20 and 40 s, with a scale of 10 s
    [
        ("uniform", 1.0, [1.0, 0.5, 0.0, 0.0, 0.0]),
        ("exponential", 1.0, [1.0, math.exp(-0.5), math.exp(-1), math.exp(-2), math.exp(-4)]),
        ("pareto", 1.0, [1.0, 1.0, 1.0, 1 / 2, 1 / 4]),
        ("pareto", 2.0, [1.0, 1.0, 1.0, 1 / 4, 1 / 16]),
        ("log-laplace", 1.0, [1.0, 3 / 4, 1 / 2, 1 / 4, 1 / 8]),
        ("log-laplace", 2.0, [1.0, 7 / 8, 1 / 2, 1 / 8, 1 / 32]),
        ("step", 1.0, [1.0, 1.0, 0.0, 0.0, 0.0]),
    ],
)
def test_values_by_hand(name, alpha, expected):
    utility = choose_utility(PROBLEM, name, 10.0, alpha)
    found = [utility_of(utility, seconds) for seconds in (0.0, 5.0, 10.0, 20.0, 40.0)]
    assert found == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("alpha", [0.1, 1.0, 7.5])
@pytest.mark.parametrize("scale", [1e-320, 1e-3, 60.0, 1e9])
def test_nonincreasing_from_one_and_never_outside_zero_to_one(name, alpha, scale):
    utility = Utility(CODES[name], scale, alpha)
    seconds = np.concatenate(
        [[0.0], np.geomspace(1e-9, 1e15, 2000), scale * np.arange(0.9, 1.1, 0.01)]
    )
    values = np.array([utility_of(utility, s) for s in np.sort(seconds)])
    assert values[0] == 1.0
    assert np.all(np.diff(values) <= 0)
    assert np.all((values >= 0) & (values <= 1))


def test_the_scale_is_the_cutoff_unless_given_as_a_number_or_its_text():
    assert choose_utility(PROBLEM, "uniform", CUTOFF, 1.0).scale == 100.0
    assert choose_utility(PROBLEM, "uniform", 60, 1.0).scale == 60.0
    assert choose_utility(PROBLEM, "uniform", "60", 1.0).scale == 60.0


def test_what_is_not_solved_by_the_cutoff_is_worth_nothing_to_a_step_or_uniform_at_the_cutoff():
    for name in ("step", "uniform"):
        assert utility_of(choose_utility(PROBLEM, name, CUTOFF, 1.0), 100.0) == 0.0


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        (("linear", 10.0, 1.0), "utility is 'linear'; expected one of uniform, exponential"),
        (("uniform", 0.0, 1.0), "scale is 0.0; expected a positive number of seconds"),
        (("uniform", -1.0, 1.0), "scale is -1.0"),
        (("uniform", math.inf, 1.0), "scale is inf"),
        (("uniform", math.nan, 1.0), "scale is nan"),
        (("uniform", "soon", 1.0), "scale is 'soon'; .* or 'cutoff'"),
        (("log-laplace", 10.0, 0.0), "alpha is 0.0"),
        (("log-laplace", 10.0, math.nan), "alpha is nan"),
        (("pareto", CUTOFF, 1.0), "scale is 'cutoff'; expected less, .* cutoff of 100 s"),
        (("pareto", 200.0, 1.0), "scale is 200.0; expected less"),
        (("step", 100.5, 1.0), "scale is 100.5; expected less"),
        (("exponential", 1e300, 1.0), "expected less"),
    ],
)
def test_settings_out_of_range_are_named(settings, named):
    with pytest.raises(InvalidSetting, match=named):
        choose_utility(PROBLEM, *settings)


def test_epsilon_and_delta_out_of_range_are_named():
    check_settings(0.0, 0.5)
    check_settings(0.001, 0.5, least_epsilon=0.001)
    for epsilon in (-0.1, 1.0, math.nan):
        with pytest.raises(InvalidSetting, match=r"epsilon is .*; expected 0 or more, below 1"):
            check_settings(epsilon, 0.5)
    with pytest.raises(InvalidSetting, match=r"expected 0\.001 or more"):
        check_settings(0.0, 0.5, least_epsilon=0.001)
    for delta in (0.0, 1.0, -1.0, math.nan):
        with pytest.raises(InvalidSetting, match="delta is"):
            check_settings(0.1, delta)
