"""Studies of later versions: read if there are only additions, else refused in one line."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

import pytest
from pydantic import create_model
from typer.testing import CliRunner

from cunctator.cli.common import app
from cunctator.scenario import load, load_scenario
from cunctator.scenario.models import Document, SearchTable
from cunctator.study import folder as study_folder
from cunctator.study.folder import begin_study, resumed_study
from cunctator.study.journal.journal import FILE, open_journal
from cunctator.study.journal.tables import end_of_facts
from tests.recorded_workers import SCENARIO, RecordedWorkers


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.setattr(study_folder, "LocalWorkers", lambda *_: RecordedWorkers())
    (tmp_path / "scenario.toml").write_text(SCENARIO + "runs = 60")
    with begin_study(load_scenario(tmp_path / "scenario.toml"), tmp_path / "study") as begun:
        begun.run()
    return tmp_path / "study"


def set_facts(study: Path, **facts: str) -> None:
    """Change some, with the checksum of all."""
    with closing(sqlite3.connect(study / FILE)) as connection, connection:
        for item in facts.items():
            connection.execute("insert or replace into facts values (?, ?)", item)
        written = dict(connection.execute("select name, cast(value as blob) from facts"))
        connection.execute("replace into ends values ('facts', ?, ?)", end_of_facts(written))


@pytest.mark.parametrize("words", [["status"], ["validate"], ["resume"], ["resume", "--repair"]])
@pytest.mark.parametrize("is_changed", [False, True])
def test_a_later_format_is_refused(study, words, is_changed):
    """Whatever else is in it: the version that wrote it last is named, not the one that began."""
    set_facts(study, schema="5", version="0.8")
    with closing(sqlite3.connect(study / FILE)) as connection, connection:
        connection.execute("update sessions set version = '0.9.1'")
        if is_changed:
            connection.execute("drop table events")
            connection.execute("drop table sessions")
    before = (study / FILE).read_bytes()
    result = CliRunner().invoke(app, [words[0], str(study), *words[1:]])
    writer = "0.8" if is_changed else "0.9.1"
    assert result.exit_code == 2 and result.output == (
        f"cunctator: {study / FILE}: its format is number 5, written by Cunctator {writer};"
        f" this is Cunctator {version('cunctator')}, which reads 2 to 4; use that version\n"
    )
    assert (study / FILE).read_bytes() == before


def test_more_tables_and_facts_are_no_matter(study):
    set_facts(study, opinion="good")
    with closing(sqlite3.connect(study / FILE)) as connection, connection:
        connection.execute("create table pauses (id integer primary key, checksum integer)")
        connection.execute("insert into pauses values (1, 7)")
        connection.execute("insert into ends values ('pauses', 1, 7)")
    assert CliRunner().invoke(app, ["status", str(study)]).exit_code == 0
    result = CliRunner().invoke(app, ["resume", str(study), "--more", "40runs"])
    assert result.exit_code == 0, result.output
    with closing(open_journal(study, writing=False)) as journal:
        journal.check()
        assert journal.fact("opinion") == "good"
        assert journal.store.one("select * from ends where name = 'pauses'") == ("pauses", 1, 7)


def test_a_key_with_a_default_is_added_to_the_scenario(study, monkeypatch):
    """A later version goes on with a study of this one, and this one with a study of that."""
    search = create_model("LaterSearch", __base__=SearchTable, propose=(bool, False))
    document = create_model("Later", __base__=Document, search=(search, ...))
    monkeypatch.setattr(load, "Document", document)
    other = shutil.copytree(study, study.parent / "other")
    with resumed_study(other, more_runs=20) as resumed:
        assert resumed.scenario.search.model_dump()["propose"] is False
        assert resumed.run().spent.runs == 80
    with begin_study(load_scenario(study.parent / "scenario.toml"), study.parent / "new") as begun:
        begun.run()
    monkeypatch.undo()
    monkeypatch.setattr(study_folder, "LocalWorkers", lambda *_: RecordedWorkers())
    for directory in (other, study.parent / "new"):
        with resumed_study(directory, more_runs=20) as resumed:
            assert resumed.run().spent.runs >= 80
