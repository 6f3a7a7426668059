"""Settings that several methods share: checks, and what would fit."""

from __future__ import annotations

import numpy as np
import pytest

from cunctator.base.errors import InvalidSetting
from cunctator.siblings import problem as problems
from cunctator.siblings.problem import TooFewInstances
from cunctator.siblings.registry import METHODS
from cunctator.siblings.settings import fitting, number_within, whole
from cunctator.target.instances import CHUNK
from tests.siblings.in_order import problem_of


@pytest.mark.parametrize("value", [0, 11, 2.5, float("nan"), float("inf"), "3", None])
def test_a_setting_has_to_be_a_whole_number_within_its_range(value):
    with pytest.raises(InvalidSetting, match=r"^size is .*; expected a whole number from 1 to 10$"):
        whole("size", value, 1, 10)
    assert whole("size", 3.0, 1, 10) == 3


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), "0.5"])
def test_a_setting_has_to_be_a_number_within_its_range(value):
    with pytest.raises(InvalidSetting, match=r"^share is .*; expected a number from 0 to 1$"):
        number_within("share", value, 0.0, 1.0)
    assert number_within("share", 1, 0.0, 1.0) == 1.0


def test_what_fits_by_hand():
    def needed(epsilon, delta):
        return 1.0 / (epsilon**2 * delta)

    # At delta 0.1, 100 instances are enough for epsilon^2 >= 0.1: 0.32 and more.
    assert fitting(needed, 0.1, 0.1, 100) == "epsilon = 0.32 and delta = 0.1"
    # 9 instances are not enough at delta 0.1; both have to grow: 0.48^3 = 0.1106 >= 1/9.04
    assert fitting(needed, 0.1, 0.1, 9) == "epsilon = 0.49 and delta = 0.49"
    assert fitting(needed, 0.1, 0.1, 1) == ""
    assert fitting(needed, 0.1, 1e-12, 100) == "epsilon = 0.26 and delta = 0.16"


@pytest.mark.parametrize("name", ["sp", "lb", "cr", "icar"])
@pytest.mark.parametrize("resample", [False, True])
@pytest.mark.parametrize(
    ("epsilon", "delta"), [(2e-9, 0.2), (1e-15, 1e-15), (1e-320, 0.1), (0.1, 5e-324)]
)
def test_what_nobody_has_instances_for_is_refused(name, resample, epsilon, delta):
    """Numbers that fit in no 64 bits must not come out small, or negative."""
    problem = problem_of(np.ones((3, 50)), resample=resample)
    with pytest.raises(TooFewInstances) as caught:
        METHODS[name].solve(problem, epsilon=epsilon, delta=delta)
    assert caught.value.needed > problem.stream.size
    assert "--once" not in str(caught.value), "it would not help"


def test_replacement_is_offered_where_it_helps():
    longest = CHUNK * vars(problems)["CHUNKS"]  # as these tests have set it
    error = TooFewInstances("It", longest, 300)
    assert str(error).endswith("the table has 300; draw them with replacement (without --once)")
    error = TooFewInstances("It", longest + 1, 300)
    assert str(error).endswith("; leave it out: no settings that it is tried with would do")
