"""The digest of a scenario: the same in later versions, and that of earlier ones is known."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field, create_model

from cunctator.scenario import load, load_scenario
from cunctator.scenario.models import Document, ParameterTable, SearchTable, TargetTable
from tests.recorded_workers import SCENARIO

STUDIES = sorted((Path(__file__).parents[1] / "studies").glob("schema-[23]/*-[12]"))


def digests(folder: Path, *changes: tuple[str, str]) -> tuple[str, ...]:
    text = SCENARIO + "runs = 1\n"
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    (folder / "scenario.toml").write_text(text)
    return load_scenario(folder / "scenario.toml").digests


def later_version(patch: pytest.MonkeyPatch, **tables: dict[str, Any]) -> None:
    """Make this version one that has more keys, or other defaults, in some tables."""
    bases: dict[str, Any] = {
        "search": SearchTable,
        "target": TargetTable,
        "parameters": ParameterTable,
    }
    fields: dict[str, Any] = {}
    for name, keys in tables.items():
        table: Any = create_model(name, __base__=bases[name], **keys)
        fields[name] = (dict[str, table] if name == "parameters" else table, ...)
    patch.setattr(load, "Document", create_model("Later", __base__=Document, **fields))


@pytest.mark.parametrize("study", STUDIES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_earlier_versions_wrote_is_known(study):
    address = f"file:{study / 'study.db'}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        query = "select value from facts where name = 'digest'"
        written = connection.execute(query).fetchone()[0]
    # They had no end of pairs if the target takes a seed, and there was no other choice.
    scenario = load_scenario(study / "scenario.toml", silent_is_endless=True)
    assert written in scenario.digests[1:] and written != scenario.digest


def test_how_many_seeds_there_are_is_in_the_digest(tmp_path):
    endless = 'seeds = "endless"\n'
    silent = digests(tmp_path, (endless, ""))
    assert load_scenario(tmp_path / "scenario.toml").instances.seeds == 34
    assert digests(tmp_path, (endless, "seeds = 34\n")) == silent
    others = digests(tmp_path), digests(tmp_path, (endless, "seeds = 1\n"))
    assert len({*others[0], *others[1], *silent}) == 6


def test_to_give_a_default_is_to_leave_it_out(tmp_path):
    plain = digests(tmp_path)
    assert digests(tmp_path, ("[search]", '[search]\nobjective = "cpu"\nseed = 0')) == plain
    assert digests(tmp_path, ('first_cap = "10ms"\n', "")) == plain
    assert digests(tmp_path, ("[target]", 'forbidden = []\n[target]\nprotocol = "native"')) == plain


def test_a_penalty_makes_another_scenario_and_one_of_1_does_not(tmp_path):
    """Written down before there was this key: what is begun without it goes on."""
    plain = digests(tmp_path)
    for text in ("1", "1.0"):
        assert digests(tmp_path, ("[search]", f"[search]\npenalty = {text}")) == plain
    found = {
        text: digests(tmp_path, ("[search]", f"[search]\npenalty = {text}"))
        for text in ("10", "10.0", "2")
    }
    assert found["10"] == found["10.0"]
    assert not set(found["10"]) & set(plain) and not set(found["10"]) & set(found["2"])


MORE = {
    "search": {"propose": (bool, False), "rule": (str, Field(default_factory=lambda: "usual"))},
    "target": {"nice": (int, 0)},
    "parameters": {"prior": (str | None, None)},
}


def test_keys_that_come_later_change_nothing_unless_they_are_given(tmp_path):
    before = digests(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        later_version(patch, **MORE)
        assert digests(tmp_path) == before
        assert digests(tmp_path, ("[search]", "[search]\npropose = false")) == before
        for change in (
            ("[search]", "[search]\npropose = true"),
            ("[search]", "[search]\nrule = 'other'"),
            ("[target]", "[target]\nnice = 1"),
            ("log = true", "log = true\nprior = 'low'"),
        ):
            after = digests(tmp_path, change)
            assert not set(after) & set(before), "an earlier study must not go on with that"


def test_a_table_that_comes_later_is_left_out_as_far_as_it_has_its_defaults(tmp_path):
    table = create_model("Table", size=(int, 3), share=(float, 0.5))
    before = digests(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        later_version(patch, search={"propose": (table, Field(default_factory=table))})
        assert digests(tmp_path) == before
        assert digests(tmp_path, ("[budget]", "[search.propose]\nsize = 3\n[budget]")) == before
        given = digests(tmp_path, ("[budget]", "[search.propose]\nsize = 4\n[budget]"))
    assert not set(given) & set(before)
    larger = create_model("Larger", __base__=table, more=(int, 0))
    with pytest.MonkeyPatch.context() as patch:
        later_version(patch, search={"propose": (larger, Field(default_factory=larger))})
        assert digests(tmp_path, ("[budget]", "[search.propose]\nsize = 4\n[budget]")) == given


def test_a_default_that_changes_is_noticed(tmp_path):
    before = digests(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        later_version(patch, search={"confidence": (float, 0.9)})
        assert not set(digests(tmp_path)) & set(before)
        assert digests(tmp_path, ("[search]", "[search]\nconfidence = 0.95")) == before
