"""Random and damaged spaces of ConfigSpace, and the library's own opinion of them."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cunctator.base.errors import CunctatorError, InvalidScenario
from cunctator.formats.configspace import read_configspace
from cunctator.space.space import Space
from tests.formats.configspace_files import (
    categorical,
    clause,
    integer,
    ordinal,
    real,
    relation,
    space_of,
)

pytestmark = pytest.mark.extra


@st.composite
def spaces(draw: st.DrawFn) -> dict[str, Any]:
    """Spaces whose conditions ask only for values, so that all are of one mind about them."""
    items: list[dict[str, Any]] = []
    conditions = []
    # The library takes AND for OR if both have the same parts.
    kind = draw(st.sampled_from(["AND", "OR"]))
    for name in [f"p{number}" for number in range(draw(st.integers(1, 5)))]:
        made = draw(
            st.sampled_from(
                [
                    categorical(name, "a", "b", "c"),
                    categorical(name, True, False),
                    ordinal(name, 3, 1, 2),
                    integer(name, 0, 3, default_value=1),
                    integer(name, 1, 1000, log=True),
                    real(name, -1, 1),
                ]
            )
        )
        if items and draw(st.booleans()):
            parts = draw(st.lists(comparisons(items, name), min_size=1, max_size=3))
            several = {"type": kind, "child": name, "conditions": parts}
            conditions.append(parts[0] if len(parts) == 1 else several)
        items.append(made)
    forbidden = draw(st.lists(clauses(items), max_size=2))
    return {"hyperparameters": items, "conditions": conditions, "forbiddens": forbidden}


def some_value(item: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "lower" in item:
        return st.sampled_from([item["lower"], item["upper"]])
    return st.sampled_from(item.get("choices") or item["sequence"])


@st.composite
def comparisons(draw: st.DrawFn, items: list[dict[str, Any]], child: str) -> dict[str, Any]:
    parent = draw(st.sampled_from(items))
    kinds = ["EQ", "IN"] if parent["type"] == "categorical" else ["EQ", "IN", "LT", "GT"]
    kind = draw(st.sampled_from(kinds))
    value = draw(some_value(parent))
    key = {"values": [value]} if kind == "IN" else {"value": value}
    return {"type": kind, "child": child, "parent": parent["name"], **key}


@st.composite
def clauses(draw: st.DrawFn, items: list[dict[str, Any]]) -> dict[str, Any]:
    numbers = [item["name"] for item in items if "lower" in item]
    if len(numbers) > 1 and draw(st.booleans()):
        left, right = draw(st.permutations(numbers))[:2]
        return relation(draw(st.sampled_from(["RELATION_LT", "RELATION_GE"])), left, right)
    some = draw(st.lists(st.sampled_from(items), min_size=1, max_size=2, unique_by=id))
    parts = [clause("EQUALS", item["name"], draw(some_value(item))) for item in some]
    return parts[0] if len(parts) == 1 else {"type": "AND", "clauses": parts}


def is_valid(library: Any, space: Any, values: dict[str, Any]) -> bool:
    try:
        library.Configuration(space, values=values).check_valid_configuration()
    except Exception:
        return False
    return True


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(data=spaces(), is_json=st.booleans())
def test_the_library_agrees(
    tmp_path_factory: pytest.TempPathFactory, library: Any, data: dict[str, Any], is_json: bool
) -> None:
    try:
        theirs = library.ConfigurationSpace.from_serialized_dict(json.loads(json.dumps(data)))
    except Exception:
        assume(False)  # the default is forbidden, or the like
    theirs.seed(1)
    folder = tmp_path_factory.getbasetemp()
    path = folder / ("space.json" if is_json else "space.yaml")
    (theirs.to_json if is_json else theirs.to_yaml)(path)
    try:
        imported = read_configspace(path)
    except InvalidScenario as error:
        # Where a text is never equal to a number, they put up with it, and so on.
        raise AssertionError(str(error)) from error
    ours = space_of(imported)
    assert ours.default == dict(theirs.get_default_configuration())
    count = 20 if ours.size is None else min(20, ours.size)
    try:
        mine = [ours.configuration(number) for number in range(count)]
        drawn = [dict(one) for one in theirs.sample_configuration(20)]
    except (CunctatorError, library.exceptions.ForbiddenValueError):
        assume(False)  # hardly anything is allowed
    for one in mine:
        library.Configuration(theirs, values=one).check_valid_configuration()
    for one in drawn:
        if not is_valid(library, theirs, one):
            continue  # the library draws some that it finds wrong itself
        values = {name: getattr(value, "item", lambda v=value: v)() for name, value in one.items()}
        given_one = Space(imported.parameters, forbidden=imported.forbidden, initial=[values])
        assert given_one.configuration(given_one.fixed - 1) == values


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_fuzz(tmp_path_factory: pytest.TempPathFactory, library: Any, data: st.DataObject) -> None:
    del library
    odd = st.sampled_from([None, 3, -1.5, "x", [], {}, [[1]], True, "p0", "\ud800", 10**25])
    space = data.draw(spaces())
    text = json.dumps(space)
    for _ in range(data.draw(st.integers(1, 2))):
        some = data.draw(st.sampled_from([one for group in space.values() for one in group]))
        some[data.draw(st.sampled_from([*some, "extra"]))] = data.draw(odd)
        text = json.dumps(space)
    cut = data.draw(st.integers(0, 20))
    path = tmp_path_factory.getbasetemp() / "fuzz.json"
    path.write_text(text[:-cut] if cut > 17 else text, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            imported = read_configspace(path)
        except InvalidScenario as error:
            assert "\n" not in str(error)
            return
    assert space_of(imported).default
