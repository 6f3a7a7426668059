from __future__ import annotations

import itertools
import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest

from cunctator.base.errors import InvalidScenario, MissingExtra
from cunctator.formats.configspace import read_configspace
from cunctator.formats.importing import CONFIGSPACE, import_file, summary, text_of_import
from cunctator.formats.smac_scenario import read_smac_scenario
from cunctator.scenario import load_scenario
from cunctator.study.trial import check_scenario
from tests.formats.configspace_files import (
    all_of,
    categorical,
    clause,
    integer,
    ordinal,
    real,
    relation,
    save,
    space_of,
)

pytestmark = pytest.mark.extra


def test_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ConfigSpace", None)
    with pytest.raises(MissingExtra, match="pip install ConfigSpace"):
        read_configspace(tmp_path / "space.json")


@pytest.mark.usefixtures("library")
def test_what_is_never_active_is_left_out(tmp_path: Path) -> None:
    def when(child: str, parent: str, value: Any) -> dict[str, Any]:
        return {"type": "EQ", "child": child, "parent": parent, "value": value}

    both = [when("lost", "mode", "a"), when("lost", "mode", "b")]
    data = {
        "hyperparameters": [
            categorical("mode", "a", "b"),
            categorical("lost", 1, 2),
            integer("child", 1, 9),
        ],
        "conditions": [
            {"type": "AND", "child": "lost", "conditions": both},
            when("child", "lost", 1),
        ],
        "forbiddens": [clause("EQUALS", "child", 3)],
    }
    found = read_configspace(save(tmp_path, data))
    assert [parameter.name for parameter in found.parameters] == ["mode"]
    assert found.left_out == {"lost", "child"} and found.forbidden == ()
    assert found.warnings == (
        "lost is never active and is left out: its condition never holds",
        "child is never active and is left out: its condition never holds",
        "forbidden clauses about what is never active are left out",
    )


@pytest.mark.usefixtures("library")
def test_kinds_of_parameters(tmp_path: Path) -> None:
    found = read_configspace(
        save(
            tmp_path,
            {
                "hyperparameters": [
                    categorical("flag", True, False, default_value=False),
                    categorical("some:name", "a", 1, 2.5, None),
                    ordinal("size", "small", "large", default_value="large"),
                    integer("count", 1, 100, log=True, default_value=7),
                    real("rate", 0, 1),
                    {"type": "constant", "name": "fixed", "value": 3},
                ]
            },
        )
    )
    by_name = {parameter.name: parameter for parameter in found.parameters}
    assert list(by_name) == ["flag", "some:name", "size", "count", "rate", "fixed"]
    assert by_name["flag"].values == (True, False) and by_name["flag"].default is False
    assert all(isinstance(value, bool) for value in by_name["flag"].values)
    assert by_name["some:name"].values == ("a", 1, 2.5, "None")
    assert (by_name["size"].kind, by_name["size"].default) == ("ordinal", "large")
    count, rate = by_name["count"], by_name["rate"]
    assert (count.kind, count.low, count.high, count.log, count.default) == (
        "integer",
        1,
        100,
        True,
        7,
    )
    assert (rate.kind, rate.low, rate.high, rate.log, rate.default) == ("real", 0, 1, False, 0.5)
    assert (by_name["fixed"].kind, by_name["fixed"].values) == ("categorical", (3,))
    assert found.warnings == ("some:name: its value None is the text 'None' here",)
    assert found.has_defaults and found.formats == {}


FUNCTION = """
def target(configuration, instance, seed, cap):
    flag = configuration["flag"]
    assert flag is True or flag is False, repr(flag)
    assert type(configuration["mixed"]) in (str, int, float, bool), repr(configuration)
    assert ("child" in configuration) == flag
"""
REST = """
[target]
function = "flags:target"
[instances]
names = ["a"]
[search]
cutoff = "10s"
[budget]
runs = 5
"""


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("name", ["space.json", "space.yaml"])
def test_truth_values_reach_a_function_as_such(tmp_path: Path, name: str) -> None:
    """From the file through the scenario to the function, and to a command as words."""
    data = {
        "hyperparameters": [
            categorical("flag", True, False, default_value=True),
            categorical("mixed", True, "auto", 3, 2.5, default_value=3),
            integer("child", 1, 9),
        ],
        "conditions": [{"type": "EQ", "child": "child", "parent": "flag", "value": True}],
        "forbiddens": [
            {
                "type": "AND",
                "clauses": [clause("EQUALS", "flag", False), clause("EQUALS", "mixed", True)],
            }
        ],
    }
    path = save(tmp_path, json.dumps(data), name)
    imported = import_file(path)
    text = text_of_import(imported, path, CONFIGSPACE)
    assert "values = [true, false]" in text and 'values = [true, "auto", 3, 2.5]' in text
    assert any(
        "a Python function gets True and False" in said for said in summary(imported, CONFIGSPACE)
    )
    (tmp_path / "flags.py").write_text(FUNCTION)
    place = tmp_path / "scenario.toml"
    place.write_text(text + REST)
    scenario = load_scenario(place)
    found = [scenario.space.configuration(number) for number in range(12)]
    assert {one["flag"] for one in found} == {True, False}
    assert all(("child" in one) == one["flag"] for one in found)
    assert not any(one["mixed"] is True and one["flag"] is False for one in found)
    trials = check_scenario(scenario)
    assert all(trial.is_good for trial in trials), trials


PARENTS = [
    categorical("c", "x", "y", "z"),
    ordinal("o", 10, 5, 7),
    integer("i", 1, 4),
    {**integer("child", 0, 1), "default_value": 0},
]


def condition(kind: str, parent: str, value: Any) -> dict[str, Any]:
    key = "values" if kind == "IN" else "value"
    return {"type": kind, "child": "child", "parent": parent, key: value}


def joined(kind: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "child": "child", "conditions": list(parts)}


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (condition("EQ", "c", "x"), lambda c, o, i: c == "x"),
        (condition("NEQ", "c", "x"), lambda c, o, i: c != "x"),
        (condition("IN", "c", ["x", "z"]), lambda c, o, i: c in "xz"),
        (condition("EQ", "o", 5.0), lambda c, o, i: o == 5),
        (condition("LT", "o", 7), lambda c, o, i: o in (10, 5)),
        (condition("GT", "o", 10), lambda c, o, i: o in (5, 7)),
        (condition("LT", "i", 3), lambda c, o, i: i < 3),
        (condition("GT", "i", 3), lambda c, o, i: i > 3),
        (condition("IN", "i", [1, 4]), lambda c, o, i: i in (1, 4)),
        (
            joined("AND", condition("GT", "i", 1), condition("NEQ", "o", 5)),
            lambda c, o, i: i > 1 and o != 5,
        ),
        (
            joined(
                "OR",
                condition("EQ", "i", 1),
                joined("AND", condition("EQ", "c", "y"), condition("LT", "o", 7)),
            ),
            lambda c, o, i: i == 1 or (c == "y" and o in (10, 5)),
        ),
    ],
)
def test_conditions(tmp_path: Path, said: dict[str, Any], meant: Any) -> None:
    data = {"hyperparameters": PARENTS, "conditions": [said]}
    found = all_of(read_configspace(save(tmp_path, data)))
    assert {("child" in one) for one in found} == {True, False}
    for one in found:
        assert ("child" in one) == meant(one["c"], one["o"], one["i"])


SIDES = [
    categorical("c", 1, 2, 3, default_value=1),
    ordinal("o", 3, 1, 2, default_value=3),
    integer("i", 1, 3, default_value=2),
    categorical("t", "b", "a", default_value="b"),
    ordinal("u", "b", "c", "a", default_value="c"),
]


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (clause("EQUALS", "c", 2), lambda one: one["c"] == 2),
        (clause("IN", "o", [1, 2]), lambda one: one["o"] in (1, 2)),
        (clause("CLAUSE_GT", "o", 3), lambda one: one["o"] in (1, 2)),
        (clause("CLAUSE_GE", "o", 1), lambda one: one["o"] in (1, 2)),
        (clause("CLAUSE_LT", "i", 2), lambda one: one["i"] < 2),
        (clause("CLAUSE_LE", "i", 1), lambda one: one["i"] <= 1),
        (relation("RELATION_LT", "i", "c"), lambda one: one["i"] < one["c"]),
        (relation("RELATION_GT", "c", "i"), lambda one: one["c"] > one["i"]),
        (relation("RELATION_GT", "c", "o"), lambda one: one["c"] > one["o"]),
        (relation("RELATION_GE", "c", "i"), lambda one: one["c"] >= one["i"]),
        (relation("RELATION_EQ", "c", "o"), lambda one: one["c"] == one["o"]),
        (relation("RELATION_LT", "u", "t"), lambda one: one["u"] < one["t"]),
        ({**relation("RELATION", "i", "c"), "lambda": "LT"}, lambda one: one["i"] < one["c"]),
        (
            {"type": "AND", "clauses": [clause("IN", "c", [2, 3]), clause("EQUALS", "t", "a")]},
            lambda one: one["c"] in (2, 3) and one["t"] == "a",
        ),
        (
            {
                "type": "OR",
                "clauses": [clause("EQUALS", "c", 3), relation("RELATION_LT", "i", "c")],
            },
            lambda one: one["c"] == 3 or one["i"] < one["c"],
        ),
    ],
)
def test_forbidden_clauses(tmp_path: Path, said: dict[str, Any], meant: Any) -> None:
    everything = all_of(read_configspace(save(tmp_path, {"hyperparameters": SIDES})))
    data = {"hyperparameters": SIDES, "forbiddens": [said]}
    found = all_of(read_configspace(save(tmp_path, data)))
    assert 0 < len(found) < len(everything)
    key = str
    assert sorted(found, key=key) == sorted((o for o in everything if not meant(o)), key=key)


@pytest.mark.usefixtures("library")
def test_a_relation_that_never_holds(tmp_path: Path) -> None:
    data = {"hyperparameters": SIDES, "forbiddens": [relation("RELATION_EQ", "c", "t")]}
    found = read_configspace(save(tmp_path, data))
    assert found.forbidden == () and "never so" in found.warnings[0]


@pytest.mark.usefixtures("library")
def test_chains_of_conditions_take_no_time(tmp_path: Path) -> None:
    names = [f"x{number}" for number in range(200)]
    chain = [
        {"type": "GT", "child": child, "parent": parent, "value": 0.1}
        for parent, child in itertools.pairwise(names)
    ]
    data = {"hyperparameters": [real(name, 0, 1) for name in names], "conditions": chain}
    assert len(space_of(read_configspace(save(tmp_path, data))).default) == 200


def test_unequal_to_an_inactive_parent(tmp_path: Path, library: Any) -> None:
    del library
    data = {
        "hyperparameters": [categorical("a", 1, 2), categorical("b", 1, 2), integer("child", 0, 1)],
        "conditions": [
            {"type": "EQ", "child": "b", "parent": "a", "value": 1},
            {"type": "NEQ", "child": "child", "parent": "b", "value": 1},
        ],
    }
    found = read_configspace(save(tmp_path, data))
    assert "where b is not active" in found.warnings[0]
    assert all("child" not in one for one in all_of(found) if one["a"] == 2)


ONE = [categorical("a", "x", "y")]


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ("{", "not JSON"),
        ("[1]", "there are no hyperparameters"),
        ("{}", "there are no hyperparameters"),
        ('{"hyperparameters": 3}', "there are no hyperparameters"),
        ("[" * 100_000, "nested too deeply"),
        ('{"hyperparameters": [' + "[" * 50 + "]" * 50 + "]}", "nested too deeply"),
        ({"hyperparameters": []}, "there are none"),
        ({"hyperparameters": [3]}, "3 is not a hyperparameter"),
        ({"hyperparameters": [{"name": "a"}]}, "ConfigSpace cannot read it"),
        ({"hyperparameters": [{"name": "a", "type": "odd"}]}, "ConfigSpace cannot read it"),
        ({"hyperparameters": [*ONE, *ONE]}, "ConfigSpace cannot read it"),
        ({"hyperparameters": [real("a", 2, 1)]}, "ConfigSpace cannot read it"),
        ({"hyperparameters": [real("a", 0, math.inf)]}, ""),
        ({"hyperparameters": [{"type": "normal_float", "name": "a", "mu": 1, "sigma": 1}]}, ""),
        ({"hyperparameters": [integer("a", 0, 2**60)]}, "not a whole number up to 2^53"),
        ({"hyperparameters": [categorical("a", [1], [2])]}, "is not a text or a number"),
        ({"hyperparameters": [categorical("a", 1, "1")]}, "'1' is given twice"),
        ({"hyperparameters": [categorical("a", 10**30)]}, "at most 64 bits"),
        ({"hyperparameters": [categorical("{a}", 1)]}, "cannot be a parameter's name"),
        ({"hyperparameters": ONE, "conditions": 3}, "a list is expected"),
        ({"hyperparameters": ONE, "conditions": [3]}, "not one of the hyperparameters"),
        (
            {"hyperparameters": PARENTS, "conditions": [condition("EQ", "lost", 1)]},
            "'lost' is not one",
        ),
        (
            {"hyperparameters": PARENTS, "conditions": [condition("EQ", "c", "w")]},
            "'w' is not a value of it",
        ),
        (
            {"hyperparameters": PARENTS, "conditions": [condition("EQ", "i", "w")]},
            "cannot be compared with 'w'",
        ),
        (
            {"hyperparameters": PARENTS, "conditions": [condition("ODD", "c", "x")]},
            "ODD is unknown",
        ),
        ({"hyperparameters": PARENTS, "conditions": [joined("AND")]}, "must be a list"),
        ({"hyperparameters": PARENTS, "conditions": [condition("IN", "c", "x")]}, "must be a list"),
        (
            {"hyperparameters": PARENTS, "conditions": [condition("EQ", "child", 1)]},
            "child depends on child",
        ),
        ({"hyperparameters": ONE, "forbiddens": [clause("EQUALS", "a", "x")]}, "is forbidden"),
        ({"hyperparameters": ONE, "forbiddens": [clause("ODD", "a", "x")]}, "ODD is unknown"),
        ({"hyperparameters": ONE, "forbiddens": [{"type": "EQUALS", "name": "a"}]}, "has no value"),
        (
            {"hyperparameters": SIDES, "forbiddens": [relation("RELATION_LT", "c", "t")]},
            "texts and numbers have no order",
        ),
        (
            {"hyperparameters": SIDES, "forbiddens": [relation("RELATION_LT", "i", "t")]},
            "values that are no numbers",
        ),
        (
            {"hyperparameters": SIDES, "forbiddens": [relation("RELATION_NE", "i", "c")]},
            "NE is unknown",
        ),
    ],
)
def test_files_that_are_wrong(tmp_path: Path, data: Any, problem: str) -> None:
    with pytest.raises(InvalidScenario) as caught:
        read_configspace(save(tmp_path, data))
    assert problem in str(caught.value)
    assert "space.json" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.usefixtures("library")
def test_a_scenario_with_such_a_space(tmp_path: Path) -> None:
    save(tmp_path, {"hyperparameters": ONE})
    save(tmp_path, "a.cnf\n", "train.txt")
    text = "algo = ./w\nparamfile = space.json\ninstance_file = train.txt\nrun_obj = runtime\n"
    found = read_smac_scenario(save(tmp_path, text, "scenario.txt"))
    assert [parameter.name for parameter in found.space.parameters] == ["a"]
