"""Studies that earlier versions made: looked at, validated, and begun anew with what they liked."""

from __future__ import annotations

import json
import shlex
import shutil
import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from cunctator.base.errors import StudyProblem
from cunctator.cli.common import app
from cunctator.core.sentinels import ASKED
from cunctator.study import folder as study_folder
from cunctator.study import validate as validation
from cunctator.study.folder import resumed_study
from cunctator.study.journal.journal import open_journal
from cunctator.study.journal.repair import add_checksums
from cunctator.study.warm import MOST
from tests.recorded_workers import RecordedWorkers
from tests.studies.make import RUNS, answered

ALL = sorted((Path(__file__).parents[1] / "studies").glob("*/*-[12]"))
PRESENT = [path for path in ALL if path.parent.name in ("by-pair", "guided")]
"""Made by a version whose search is still the present one."""

STUDIES = [path for path in ALL if path not in PRESENT]
OLDEST = [path for path in STUDIES if path.parent.name == "schema-2"]


def recorded(directory):
    """The events, as the file has them, whatever the version."""
    columns = "number, status, configuration, pair, cap, seconds"
    with closing(sqlite3.connect(directory / "study.db")) as connection:
        return connection.execute(f"select {columns} from events order by id").fetchall()


@pytest.fixture(autouse=True)
def recorded_runtimes(monkeypatch):
    monkeypatch.setattr(study_folder, "LocalWorkers", lambda *_: RecordedWorkers())
    monkeypatch.setattr(validation, "LocalWorkers", lambda *_: RecordedWorkers(2))


@pytest.fixture(params=STUDIES, ids=lambda path: f"{path.parent.name}-{path.name}")
def original(request):
    return request.param


@pytest.fixture
def study(original, tmp_path):
    return Path(shutil.copytree(original, tmp_path / original.name))


def test_there_are_some():
    assert len(STUDIES) >= 8 and len(PRESENT) == 6


@pytest.mark.parametrize("original", PRESENT, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_those_of_the_present_search_are_resumed(original, tmp_path):
    """All that was recorded counts, runs in flight are made again, and the search goes on."""
    study = Path(shutil.copytree(original, tmp_path / original.name))
    slots = int(study.name[-1])
    before = recorded(study)
    unfinished = {row[0] for row in before} - {row[0] for row in before if row[1] != ASKED}
    assert len(unfinished) == slots
    with resumed_study(study, 0.0, lambda *_: RecordedWorkers(slots, answered)) as resumed:

        def until(view):
            if view.spent.runs >= RUNS + 50:
                resumed.interrupt()

        view = resumed.run(until)
    assert view.spent.runs > RUNS
    after = recorded(study)
    assert after[: len(before)] == before
    assert unfinished < {row[0] for row in after[len(before) :] if row[1] != ASKED}


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def command(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.parametrize("more", [[], ["--more", "1h"]])
def test_they_are_not_gone_on_with(study, more):
    """The search has changed since. One line says so and what to do, and nothing is touched."""
    before = contents(study)
    result = command("resume", study, *more)
    assert result.exit_code == 2 and result.output.count("\n") == 1
    assert f"{study}: the search has changed, and it cannot be gone on with" in result.output
    new = study.with_name(f"{study.name}-2.study")
    words = shlex.split(result.output.partition(": cunctator ")[2])
    assert words == ["run", str(study / "scenario.toml"), str(new), "--warm", str(study)]
    after = contents(study)
    assert after.pop("lock") == b""
    assert after == before and not new.exists()


def test_a_new_study_begins_with_what_they_liked(original, study, tmp_path):
    """By the command that `resume` names; the old one stays as it was.

    Those without checksums were killed before they wrote down another answer than the default.
    """
    before = contents(study)
    words = shlex.split(command("resume", study).output.partition(": cunctator ")[2])
    result = command(*words, "--budget", "5s")
    assert result.exit_code == 0 and f"Tried first, from {study}: " in result.output
    new = tmp_path / f"{study.name}-2.study"
    initial = tomllib.loads((new / "scenario.toml").read_text()).get("initial", [])
    command("status", study, "--json", tmp_path / "old.json")
    answer = json.loads((tmp_path / "old.json").read_text())["incumbent"]
    assert initial[:1] == ([answer["configuration"]] if answer["index"] else [])
    assert len(initial) <= MOST and bool(initial) == (original not in OLDEST)
    with closing(open_journal(new, writing=False)) as journal:
        journal.check()
        tried = set(journal.events().configuration.tolist())
    assert set(range(len(initial) + 1)) <= tried
    assert {name: contents(study)[name] for name in before} == before
    assert command("resume", new, "--more", "1s").exit_code == 0


def test_their_events_are_read(study):
    rows = recorded(study)
    with closing(open_journal(study, writing=False)) as journal:
        journal.check()
        events = journal.events()
    for place, name in ((0, "number"), (1, "status"), (2, "configuration"), (3, "pair")):
        assert getattr(events, name).tolist() == [row[place] for row in rows]
    told = events.number[events.status != ASKED]
    assert told.size == np.unique(told).size == RUNS


def test_they_are_validated(study, tmp_path):
    with (study / "scenario.toml").open("a") as copy:
        copy.write("\n[test_instances]\nnames = ['d', 'e', 'f']\n")
    before = contents(study)
    result = command("validate", study, "--pairs", 6, "--json", tmp_path / "out.json")
    assert result.exit_code == 0, result.output
    assert json.loads((tmp_path / "out.json").read_text())
    assert {name: contents(study)[name] for name in before} == before


@pytest.mark.parametrize("original", OLDEST, ids=lambda path: path.name)
def test_one_without_checksums_gets_them(original, tmp_path):
    """When it is gone on with, as those of other profiles still can be."""
    study = Path(shutil.copytree(original, tmp_path / "study"))
    with closing(open_journal(study, writing=True)) as journal:
        add_checksums(journal)
    with closing(open_journal(study, writing=False)) as journal:
        journal.check()
        assert journal.fact("schema") == "3"
        assert journal.replies()
    assert recorded(study) == recorded(original)
    with closing(sqlite3.connect(study / "study.db")) as connection, connection:
        connection.execute("update events set pair = pair + 1 where id = 50")
    with (
        closing(open_journal(study, writing=False)) as journal,
        pytest.raises(StudyProblem, match="row 50 of its table events"),
    ):
        journal.check()


@pytest.mark.parametrize("original", OLDEST[:1], ids=lambda path: path.name)
def test_one_that_cannot_be_believed_gets_no_checksums(original, tmp_path):
    study = Path(shutil.copytree(original, tmp_path / "study"))
    with closing(sqlite3.connect(study / "study.db")) as connection, connection:
        connection.execute("update events set seconds = -1.0 where id = 50")
    with (
        pytest.raises(StudyProblem, match="row 50 of its table events"),
        resumed_study(study, 0.0, lambda *_: RecordedWorkers(1, answered)),
    ):
        pass
    with closing(open_journal(study, writing=True)) as journal:
        with pytest.raises(StudyProblem, match="row 50 of its table events"):
            add_checksums(journal)
        assert journal.fact("schema") == "2"


def test_they_are_looked_at(study, tmp_path):
    out = tmp_path / "status.json"
    result = CliRunner().invoke(app, ["status", str(study), "--json", str(out)])
    assert result.exit_code == 0, result.output
    assert json.loads(out.read_text())["incumbent"]["started"] > 0
