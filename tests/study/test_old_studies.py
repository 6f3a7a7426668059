"""Studies that earlier versions made: they can be looked at and gone on with."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from cunctator.base.errors import StudyProblem
from cunctator.cli.common import app
from cunctator.core.sentinels import ASKED
from cunctator.study.folder import resumed_study
from cunctator.study.journal.journal import open_journal
from tests.recorded_workers import RecordedWorkers
from tests.studies.make import RUNS, answered

STUDIES = sorted((Path(__file__).parents[1] / "studies").glob("*/*-[12]"))


def recorded(directory):
    """The events, as the file has them, whatever the version."""
    columns = "number, status, configuration, pair, cap, seconds"
    with closing(sqlite3.connect(directory / "study.db")) as connection:
        return connection.execute(f"select {columns} from events order by id").fetchall()


@pytest.fixture(params=STUDIES, ids=lambda path: f"{path.parent.name}-{path.name}")
def study(request, tmp_path):
    return Path(shutil.copytree(request.param, tmp_path / request.param.name))


def test_there_are_some():
    assert len(STUDIES) >= 8


def test_they_are_resumed(study):
    """All that was recorded counts, runs in flight are made again, and the search goes on."""
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
    journal = open_journal(study, writing=False)
    journal.check()
    events = journal.events()
    journal.close()
    told = events.number[events.status != ASKED]
    assert told.size == np.unique(told).size == view.spent.runs


OLDEST = [path for path in STUDIES if path.parent.name == "schema-2"]


@pytest.mark.parametrize("original", OLDEST[:1], ids=lambda path: path.name)
def test_one_without_checksums_gets_them_or_stays_as_it_was(original, tmp_path):
    study = Path(shutil.copytree(original, tmp_path / "study"))
    with closing(sqlite3.connect(study / "study.db")) as connection, connection:
        connection.execute("update events set configuration = 3 where id = 100")
    with (
        pytest.raises(StudyProblem, match="cannot be gone on with to the letter"),
        resumed_study(study, 0.0, lambda *_: RecordedWorkers(1, answered)),
    ):
        pass
    with closing(open_journal(study, writing=False)) as journal:
        journal.check()
        assert journal.fact("schema") == "3"
        assert journal.replies()
    assert recorded(study)[:99] == recorded(original)[:99]
    with closing(sqlite3.connect(study / "study.db")) as connection, connection:
        connection.execute("update events set seconds = seconds * 2 where id = 50")
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
    with closing(open_journal(study, writing=False)) as journal:
        assert journal.fact("schema") == "2"


def test_they_are_looked_at(study, tmp_path):
    out = tmp_path / "status.json"
    result = CliRunner().invoke(app, ["status", str(study), "--json", str(out)])
    assert result.exit_code == 0, result.output
    assert json.loads(out.read_text())["incumbent"]["started"] > 0
