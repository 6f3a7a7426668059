from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cunctator.base.errors import InvalidScenario
from cunctator.formats.configspace import read_configspace
from cunctator.formats.plain_yaml import DEEPEST, MOST_ITEMS
from tests.optional import need

library = need("ConfigSpace")
pytestmark = pytest.mark.extra


def save(folder: Path, text: str) -> Path:
    path = folder / "space.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def problem_of(folder: Path, text: str) -> str:
    with pytest.raises(InvalidScenario) as caught:
        read_configspace(save(folder, text))
    assert "space.yaml" in str(caught.value) and "\n" not in str(caught.value)
    return str(caught.value)


def bomb(first: str, start: str, end: str, levels: int) -> str:
    """Each line refers nine times to the one before."""
    lines = [f"a0: &a0 {first}"]
    for level in range(1, levels):
        inside = ", ".join([f"*a{level - 1}"] * 9)
        lines.append(f"a{level}: &a{level} {start}{inside}{end}")
    return "\n".join([*lines, "hyperparameters: []"])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("hyperparameters: [", "not YAML"),
        ("hyperparameters: *lost", "not YAML"),
        ("a: &a [*a]\nhyperparameters: []", "line 1: *a is within itself"),
        ("a: &a {b: [&b x, *b, *a]}", "line 1: *a is within itself"),
        (bomb("[x, x]", "[", "]", 12), "it holds too much"),
        (bomb("{x: x}", "{<<: [", "]}", 7), "line 2: << (a merge key) is not read"),
        ("a: {! <<: {b: 1}}", "<< (a merge key)"),
        ("a: {!!merge b: {b: 1}}", "<< (a merge key)"),
        ("a: {? !!merge [b] : {b: 1}}", "<< (a merge key)"),
        ("a: [" + "1, " * MOST_ITEMS + "]", "it holds too much"),
    ],
)
def test_wrong_files(tmp_path: Path, text: str, problem: str) -> None:
    assert problem in problem_of(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        "hyperparameters: " + "[" * 100_000,
        "hyperparameters:\n" + "- " * 100_000,
        "{a: " * 100_000,
        "? " * 100_000,
        "[? " * 100_000,
        "\n".join(" " * level + "a:" for level in range(2000)),
        "a0: &a0 []\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 5000)),
    ],
    ids=["[", "-", "{", "?", "[?", "indented", "references"],
)
def test_deep_nesting(tmp_path: Path, text: str) -> None:
    assert f"nested too deeply: more than {DEEPEST} levels" in problem_of(tmp_path, text)


@pytest.mark.parametrize(
    "value",
    [
        "!!bool foo",
        '!!int ""',
        '!!float ""',
        "!!timestamp foo",
        "!!float 1:x",
        "2024-99-99",
        "0b_",
        "1" * 5000,
        "1:" * 500_000 + "1",  # YAML's sixtieths
        "1:" * 900 + "1.5",
        "!!python/tuple foo",
        "!!python/tuple {a: b}",
        "!!python/name:os.system",
        "!!python/object/apply:os.system [ls]",
        "!!python/list [a]",
    ],
    ids=lambda value: value[:20],
)
def test_values_that_do_not_fit_their_tags(tmp_path: Path, value: str) -> None:
    text = f"hyperparameters:\n- {{name: a, type: {value}}}\n"
    problem = problem_of(tmp_path, text)
    assert "not YAML: " in problem and "line 2" in problem


def test_references_that_are_small(tmp_path: Path) -> None:
    text = (
        "hyperparameters:\n"
        "- {name: a, type: categorical, choices: &some [x, y, '<<']}\n"
        "- {name: b, type: categorical, choices: *some}\n"
    )
    found = read_configspace(save(tmp_path, text))
    assert [one.values for one in found.parameters] == [("x", "y", "<<")] * 2


DISTRIBUTIONS = """
hyperparameters:
- {name: w, type: categorical, choices: [a, b], weights: [0.25, 0.75]}
- {name: even, type: categorical, choices: [a, b], weights: [1, 1]}
- {name: n, type: normal_float, mu: 3, sigma: 1, lower: 1, upper: 9}
- {name: b, type: beta_int, alpha: 3, beta: 2, lower: 1, upper: 9}
"""


def test_distributions_are_warned_of(tmp_path: Path) -> None:
    found = read_configspace(save(tmp_path, DISTRIBUTIONS))
    assert found.warnings == (
        "w: its weights are not used; all values are as likely",
        "n: its normal distribution is not used; it is uniform in its bounds",
        "b: its beta distribution is not used; it is uniform in its bounds",
    )
    normal, beta = found.parameters[2:]
    assert (normal.kind, normal.low, normal.high, normal.default) == ("real", 1, 9, 3)
    assert (beta.kind, beta.low, beta.high) == ("integer", 1, 9)


STEPS = """
hyperparameters:
- {name: a, type: uniform_int, lower: 0, upper: 100, default_value: 10, log: false, q: 10}
- {name: b, type: uniform_float, lower: 0, upper: 1, q: 0.25}
- {name: none, type: uniform_float, lower: 0, upper: 1, q: null}
- {name: every, type: uniform_int, lower: 0, upper: 9, q: 1}
json_format_version: 0.3
"""


def test_steps_are_warned_of(tmp_path: Path) -> None:
    assert read_configspace(save(tmp_path, STEPS)).warnings == (
        "a: its step q = 10 is not used: values in between may be drawn",
        "b: its step q = 0.25 is not used: values in between may be drawn",
    )


def written_by_the_library(folder: Path) -> tuple[Any, Path]:
    space = library.ConfigurationSpace()
    letter = library.CategoricalHyperparameter("letter", ["x", "y", "<<"])
    space.add(letter, library.ForbiddenInClause(letter, ["y", "<<"]))
    space.to_yaml(folder / "space.yaml")
    return space, folder / "space.yaml"


def test_tuples_that_the_library_writes(tmp_path: Path) -> None:
    space, path = written_by_the_library(tmp_path)
    found = read_configspace(path)
    space.to_json(tmp_path / "space.json")
    assert found.forbidden == read_configspace(tmp_path / "space.json").forbidden
    assert len(found.forbidden) == 1 and found.warnings == ()


def test_only_the_tag_of_tuples_is_known(tmp_path: Path) -> None:
    text = written_by_the_library(tmp_path)[1].read_text(encoding="utf-8")
    assert "!!python/tuple" in text
    assert "not YAML" in problem_of(tmp_path, text.replace("python/tuple", "python/set"))
