"""Spaces written as scenarios: whatever they hold, they are read back as they were."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cunctator.base.errors import CunctatorError, InvalidKey, InvalidScenario
from cunctator.formats.imported import ImportedScenario, ImportedSpace
from cunctator.formats.scenario_text import scenario_text, space_text
from cunctator.scenario import Scenario, load_scenario
from cunctator.scenario.toml_text import toml_value
from cunctator.space.expressions import (
    Call,
    Constant,
    Expression,
    ExpressionError,
    Member,
    Name,
    Operation,
    names_in,
    parse_expression,
    text_of_expression,
)
from cunctator.space.parameters import LISTED, Parameter, make_parameter, text_of
from cunctator.space.space import Space
from cunctator.target.template import RawFormat
from tests.formats.read_back import completed, same, write

AMBIGUOUS = re.compile(r"-")
"""Names that mean something else in expressions as well."""


# Awkward spaces

CHARACTERS = st.one_of(
    st.sampled_from("ab01 .-_\"'\\#=[](),|&<>!%^+*/:;$@~é€漢\U0001f600"),
    st.characters(exclude_categories=["Cs", "Cc", "Cf", "Zl", "Zp", "Zs", "Co", "Cn"]),
)
NAMES = st.one_of(
    st.sampled_from(["a", "b", "a-b", "a.b", "in", "or", "true", "T", "c", "min", "1", "1e5", "-"]),
    st.text(CHARACTERS, min_size=1, max_size=6),
).filter(lambda name: name.isprintable() and not set(name) & set("{}`"))
TEXTS = st.one_of(
    st.sampled_from(["", "yes", "no", "true", "1", "1.0", "x\ny", "\x7f", "\t", "\r\n", "a\\n"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6),
)
NUMBERS = st.one_of(
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
)
VALUES = st.one_of(TEXTS, NUMBERS, st.booleans())


@st.composite
def parameters(draw: st.DrawFn, name: str, before: dict[str, Parameter]) -> Parameter:
    kind = draw(st.sampled_from(["categorical", "ordinal", "integer", "real"]))
    when: Any = None
    if before and draw(st.booleans()):
        plain = {name: parent for name, parent in before.items() if parent.has_fixed_bounds}
        when = draw(st.one_of(tables(plain), expressions(before)))
    if kind in LISTED:
        values = draw(st.lists(VALUES, min_size=1, max_size=4, unique_by=text_of))
        default = draw(st.sampled_from(values))
        return make_parameter(name, kind, default, values=values, when=when)
    number = st.integers(-1000, 1000) if kind == "integer" else st.floats(-1e6, 1e6)
    low, high = sorted(draw(st.lists(number, min_size=2, max_size=2, unique=True)))
    log = low > 0 and draw(st.booleans())
    default = draw(st.sampled_from([low, high]))
    bound: Any = high
    others = [p.name for p in before.values() if p.kind == "integer"]
    if others and not log and draw(st.booleans()):
        bound = normal(Call("max", (Name(draw(st.sampled_from(others))), Constant(high))), before)
    return make_parameter(name, kind, default, low=low, high=bound, log=log, when=when)


@st.composite
def tables(draw: st.DrawFn, before: dict[str, Parameter]) -> dict[str, Any]:
    parent = before[draw(st.sampled_from(sorted(before)))]
    if parent.kind in LISTED:
        some = st.lists(st.sampled_from(parent.values), min_size=1, unique_by=text_of)
        return {parent.name: draw(st.one_of(some, st.sampled_from(parent.values)))}
    return {parent.name: f">= {text_of(parent.low)}"}


@st.composite
def expressions(draw: st.DrawFn, before: dict[str, Parameter]) -> Expression:
    def atoms() -> Iterator[st.SearchStrategy[Expression]]:
        for parameter in before.values():
            name = Name(parameter.name)
            values = parameter.values or (parameter.default, 0, -2.5)
            value = st.sampled_from(values).map(Constant)
            signs = ["==", "!="] if parameter.kind == "categorical" else ["==", "<", ">="]
            yield st.builds(
                lambda sign, one, name=name: Operation(sign, (name, one)),
                st.sampled_from(signs),
                value,
            )
            members = st.lists(value, min_size=1, max_size=3).map(tuple)
            yield st.builds(lambda some, name=name: Member(name, some), members)
            if parameter.kind not in LISTED:
                total = Operation("-", (name, Operation("*", (Constant(-2), name))))
                yield st.just(Operation("<", (Call("abs", (total,)), Constant(5))))

    tree = st.recursive(
        st.one_of(*atoms()),
        lambda inner: st.one_of(
            st.builds(lambda one: Operation("not", (one,)), inner),
            st.builds(
                lambda word, parts: Operation(word, tuple(parts)),
                st.sampled_from(["and", "or"]),
                st.lists(inner, min_size=2, max_size=3),
            ),
        ),
        max_leaves=4,
    )
    return normal(draw(tree), before)


def normal(tree: Expression, before: dict[str, Parameter]) -> Expression:
    """A tree as it is read; `-2` may be a number or the negative of one."""
    try:
        found = parse_expression(text_of_expression(tree), before)
        is_same = sorted(names_in(found)) == sorted(names_in(tree))
    except ExpressionError:
        is_same = False
    if not is_same:
        assert any(AMBIGUOUS.fullmatch(name) for name in before)
        assume(False)
    return found


@st.composite
def formats(draw: st.DrawFn, parameter: Parameter) -> RawFormat:
    plain = TEXTS.map(lambda text: text.replace("{", "{{").replace("}", "}}"))
    one = draw(plain) + draw(st.sampled_from(["{value}", "{name}={value}"]))
    choice = draw(st.integers(0, 2))
    if choice == 2 and parameter.kind in LISTED:
        each = st.one_of(plain, st.lists(plain, max_size=2).map(tuple))
        return {text_of(value): draw(each) for value in parameter.values}
    return one if choice else (draw(plain), one)


@st.composite
def spaces(draw: st.DrawFn) -> ImportedSpace:
    known: dict[str, Parameter] = {}
    for name in draw(st.lists(NAMES, min_size=1, max_size=4, unique=True)):
        known[name] = draw(parameters(name, known))
    names = sorted(known)
    forbidden = draw(st.lists(expressions(known), max_size=2))
    some = draw(st.lists(st.sampled_from(names), unique=True))
    return ImportedSpace(
        tuple(known.values()),
        tuple(forbidden),
        {name: draw(formats(known[name])) for name in some},
    )


def checked(space: ImportedSpace) -> Space:
    """The space, if it is one: conditions may exclude each other, or the default."""
    try:
        made = Space(space.parameters, forbidden=space.forbidden)
        made.configuration(0 if made.size == 1 else 1)
    except CunctatorError:
        assume(False)
    return made


def read_back(folder: Path, space: ImportedSpace, text: Callable[[], str]) -> Scenario:
    """What is read from a text, unless there is a good reason that it cannot be."""
    try:
        return load_scenario(write(folder / "scenario.toml", text()))
    except InvalidKey:
        assert any(AMBIGUOUS.fullmatch(parameter.name) for parameter in space.parameters)
    except InvalidScenario as error:
        assert "never reaches the target" in str(error)
    assume(False)
    raise AssertionError


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shared")


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(space=spaces(), data=st.data())
def test_scenarios_are_read_back_as_they_were(
    shared: Path, space: ImportedSpace, data: st.DataObject
) -> None:
    made = checked(space)
    numbers = data.draw(st.lists(st.just(0 if made.size == 1 else 1), max_size=1))
    seconds = st.one_of(st.integers(1, 10**9), st.floats(0.01, 1e9)).filter(lambda s: s <= 1e9)
    imported = ImportedScenario(
        space=space,
        target={"command": [sys.executable, data.draw(TEXTS)], "protocol": "irace"},
        instances={"names": ["x y", *data.draw(st.sets(TEXTS.filter(lambda t: t != "x y")))]},
        search={"cutoff": data.draw(seconds), "seed": 3},
        budget={"wall": data.draw(seconds), "runs": 9},
        initial=tuple(made.configuration(number) for number in numbers),
    )
    assume(not set("{}") & set(imported.target["command"][1]))
    loaded = read_back(shared, space, lambda: scenario_text(imported))
    same(loaded, space, imported.initial)
    assert loaded.target.command == tuple(imported.target["command"])
    assert loaded.search.cutoff == imported.search["cutoff"]
    assert loaded.budget.wall == imported.budget["wall"]
    assert tomllib.loads(loaded.text)["instances"] == imported.instances


@settings(max_examples=50, suppress_health_check=list(HealthCheck))
@given(space=spaces())
def test_spaces_are_read_back_as_they_were(shared: Path, space: ImportedSpace) -> None:
    checked(space)
    reserved = {"instance", "seed", "cap", "parameters", "python"}
    assume(not reserved & {p.name for p in space.parameters})
    loaded = read_back(shared, space, lambda: completed(space_text(space)))
    same(loaded, space)


@pytest.mark.parametrize("name", ["a`b", "1", "true", "-", "in"])
def test_names_that_cannot_be_written_in_expressions(name: str) -> None:
    one = make_parameter(name, "integer", 1, low=0, high=2)
    two = make_parameter("x", "integer", 1, low=0, high=2)
    assert parameter_names(space_text(ImportedSpace((one, two)))) == [name, "x"]
    for rule in (
        Operation("<", (Operation("-", (Name("x"), Name(name))), Constant(1))),
        Operation("==", (Name("x"), Constant(True))),
        Member(Name(name), (Constant(1), Constant(True))),
    ):
        try:
            text = space_text(ImportedSpace((one, two), (rule,)))
        except InvalidKey as error:
            assert "cannot be written" in str(error)
        else:
            assert parse_expression(tomllib.loads(text)["forbidden"][0], [name, "x"]) == rule


def parameter_names(text: str) -> list[str]:
    return list(tomllib.loads(text)["parameters"])


def test_texts_that_cannot_be_written() -> None:
    with pytest.raises(InvalidKey, match="cannot be written as UTF-8"):
        toml_value("\udc80")


def test_values_of_toml() -> None:
    for value in [
        "a'b",
        'a"\n',
        'a"b',
        "a\\b",
        "'\"",
        "\x7f\x00\x1f",
        True,
        -0.0,
        1e-300,
        2**53,
        ["a", 1],
    ]:
        assert tomllib.loads(f"x = {toml_value(value)}")["x"] == value
    table = {"a b": "x", "": ["y", ""], 'q"': 1}
    assert tomllib.loads(f"x = {toml_value(table)}")["x"] == table
