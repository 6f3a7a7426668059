"""Configurations that are written into the text of a scenario."""

from __future__ import annotations

import tomllib

import pytest

from cunctator.base.errors import InvalidKey
from cunctator.scenario.changes import with_initial

SETTINGS = {"plain": 1, "a b.c": 'say "it\'s"\n', "é": True, "x": 1e-07, "back\\slash": "C:\\"}


@pytest.mark.parametrize("before", ["", "[[initial]]\nplain = 2\n", "[budget]\nruns = 1 # end"])
def test_they_come_after_those_that_are_there(before):
    made = with_initial(before, [SETTINGS, {"plain": 3}])
    given = tomllib.loads(before)
    assert made.startswith(before)
    assert tomllib.loads(made) == {
        **given,
        "initial": [*given.get("initial", []), SETTINGS, {"plain": 3}],
    }


def test_nothing_to_add_is_no_change():
    assert with_initial("a = 1 # one", []) == "a = 1 # one"


@pytest.mark.parametrize("before", ["initial = []", "initial = [{plain = 1}]", "initial.x = []"])
def test_a_list_on_a_line_is_refused(before):
    with pytest.raises(InvalidKey, match=r"write each as a table \[\[initial\]\]"):
        with_initial(before, [SETTINGS])
