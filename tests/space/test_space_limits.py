"""Spaces at their limits: nearly everything forbidden, endless chains, bounds without a range."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from cunctator.base.errors import InvalidKey
from cunctator.space import space as space_module
from cunctator.space.expressions import Expression, parse_expression
from cunctator.space.parameters import make_parameter
from cunctator.space.space import Space


def expression(text: str) -> Expression:
    """Every word in it but `or` is a parameter."""
    return parse_expression(text, [w for w in re.findall(r"[a-z]\w*", text) if w != "or"])


def switches(count: int) -> list:
    """Parameters that are true or false."""
    return [make_parameter(f"p{k}", "categorical", 0, values=[0, 1]) for k in range(count)]


def test_a_search_goes_on_where_nearly_everything_is_forbidden():
    """Of a million configurations 256 are allowed: 5,000 draws in a row may all be forbidden."""
    forbidden = [expression(f"p{k + 1} != p{k}") for k in range(12)]
    space = Space(switches(20), forbidden=forbidden)
    drawn = [space.configuration(k) for k in range(40)]
    assert all(len({values[f"p{k}"] for k in range(13)}) == 1 for values in drawn)
    assert all(one != other for one, other in pairwise(drawn)), "none is taken for want of draws"


def test_a_search_goes_on_where_nothing_else_is_allowed(monkeypatch):
    monkeypatch.setattr(space_module, "MOST_FORBIDDEN_DRAWS", 3000)
    parameter = make_parameter("x", "real", 0.5, low=0, high=1)
    space = Space([parameter], forbidden=[expression("x > 0.501 or x < 0.5")])
    drawn = [space.configuration(k)["x"] for k in range(40)]
    assert all(0.5 <= x <= 0.501 for x in drawn) and len(set(drawn)) < 40
    nowhere = Space([parameter], forbidden=[expression("x != 0.5")])
    with pytest.raises(InvalidKey, match="3,000 draws in a row were all forbidden"):
        nowhere.configuration(1)


def test_long_chains_of_conditions_are_not_listed():
    parameters = switches(1)
    for k in range(1, 3000):
        parameter = make_parameter(f"p{k}", "categorical", 0, values=[0, 1], when={f"p{k - 1}": 0})
        parameters.append(parameter)
    assert Space(parameters).size is None


def test_bounds_that_are_not_known_are_named():
    flag = make_parameter("flag", "categorical", False, values=[True, False])
    noise = make_parameter("noise", "real", 0.5, low=0, high=1, when={"flag": True})
    most = expression("1 - noise")
    share = make_parameter("share", "real", 0.5, low=0, high=most)
    with pytest.raises(InvalidKey, match="no range here: low is above high, or depends on what"):
        Space([flag, noise, share])


def test_a_circle_of_bounds_is_named_by_them():
    least = expression("b + 1")
    one = make_parameter("a", "integer", 3, low=least, high=9)
    other = make_parameter("b", "integer", 3, low=1, high=expression("a"))
    with pytest.raises(InvalidKey, match="depends on") as caught:
        Space([one, other])
    assert caught.value.key in (("parameters", "a", "low"), ("parameters", "b", "high"))
