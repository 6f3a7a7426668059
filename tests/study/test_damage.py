"""Bits that flip in a study's journal: noticed, and what comes before them is kept."""

from __future__ import annotations

import json
import logging
import os
import random
import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from typer.testing import CliRunner

from cunctator.base.errors import CunctatorError, StudyProblem
from cunctator.cli.common import app
from cunctator.core.sentinels import ASKED
from cunctator.scenario import load_scenario
from cunctator.study.folder import begin_study, incumbent_of, resumed_study
from cunctator.study.journal.journal import FILE, open_journal
from tests.recorded_workers import SCENARIO, RecordedWorkers
from tests.studies.make import answered

RUNS = 400


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A study that was resumed and extended, and is not at its end."""
    folder = tmp_path_factory.mktemp("original")
    (folder / "scenario.toml").write_text(SCENARIO + "charged = '3s'\nruns = 9000")
    study = folder / "study"
    with begin_study(
        load_scenario(folder / "scenario.toml"), study, lambda *_: RecordedWorkers(2, answered)
    ) as begun:
        begun.run()
    with resumed_study(study, 5.0, lambda *_: RecordedWorkers(2, answered)) as resumed:
        assert resumed.run().spent.runs > RUNS / 4
    return study


@pytest.fixture
def study(original, tmp_path):
    return shutil.copytree(original, tmp_path / "study")


def shown(study):
    """What `status`, `validate` and `resume` show of a study, as far as the journal tells it."""
    with closing(open_journal(study, writing=False)) as journal:
        journal.check()
        looked = journal.last_progress()
        crashes = journal.crashes(5)
        answers = journal.replies()
        changes = journal.changes()
    answer = incumbent_of(study)
    with resumed_study(study, 0.0, lambda *_: RecordedWorkers(2, answered)) as resumed:
        data = resumed.view().snapshot().as_data()
    for name in ("own_seconds", "busy"):  # of this process
        del data[name]
    return looked, crashes, answers, changes, answer, json.dumps(data)


def flip(path, bit):
    with path.open("r+b") as file:
        file.seek(bit // 8)
        byte = file.read(1)[0]
        file.seek(bit // 8)
        file.write(bytes([byte ^ 1 << bit % 8]))


@pytest.mark.parametrize("flips", [40, pytest.param(300, marks=pytest.mark.slow)])
def test_no_bit_that_flips_changes_a_number_unnoticed(original, tmp_path, flips):
    chance = random.Random(flips)
    whole = shown(shutil.copytree(original, tmp_path / "whole"))
    noticed = 0
    for number in range(flips):
        study = shutil.copytree(original, tmp_path / f"{number}")
        flip(study / FILE, bit := chance.randrange(8 * (study / FILE).stat().st_size))
        try:
            assert shown(study) == whole, f"bit {bit} was believed"
        except CunctatorError as error:
            noticed += 1
            assert str(study) in str(error)
        shutil.rmtree(study)
    assert noticed > flips / 3, "most of the file is rows"


@pytest.mark.parametrize("table", ["events", "progress", "extensions", "answers", "incumbents"])
def test_rows_that_vanish_from_the_end_are_missed(study, table):
    with closing(sqlite3.connect(study / FILE)) as connection, connection:
        connection.execute(f"delete from {table} where id = (select max(id) from {table})")
    result = CliRunner().invoke(app, ["status", str(study)])
    assert result.exit_code == 2
    assert f"of its table {table} is not as it was written" in result.output


def events_of(study):
    with closing(open_journal(study, writing=False)) as journal:
        return journal.events()


def change(study, statement):
    with closing(sqlite3.connect(study / FILE)) as connection, connection:
        assert connection.execute(statement).rowcount == 1


@pytest.mark.parametrize("column", ["seconds", "cap", "at", "details", "checksum"])
def test_what_comes_before_a_bad_row_is_kept(original, study, column, caplog):
    """All commands name it, and say what to do; that is done."""
    change(study, f"update events set {column} = 7.0 where id = 88")
    before = (study / FILE).read_bytes()
    for words in (["status"], ["validate"], ["resume"]):
        result = CliRunner().invoke(app, [*words, str(study)])
        assert result.exit_code == 2, result.output
        assert "row 88 of its table events is not as it was written" in result.output
        assert result.output.rstrip().endswith(f"cunctator resume {study} --repair")
    make = lambda *_: RecordedWorkers(2, answered)  # noqa: E731
    with (
        caplog.at_level(logging.WARNING, logger="cunctator"),
        resumed_study(study, 0.0, make, repair=True) as resumed,
    ):
        view = resumed.run()
    assert "87 events kept; the old file is study.db.damaged" in caplog.text
    assert view.spent.charged >= 8.0, "what was added to the budget counts"
    assert (study / f"{FILE}.damaged").read_bytes() == before
    for mine, other in zip(events_of(study), events_of(original), strict=True):
        np.testing.assert_array_equal(mine[:87], other[:87])
    with closing(open_journal(study, writing=False)) as journal:
        journal.check()
        assert [c.runs for c in journal.changes()] == sorted(c.runs for c in journal.changes())


def test_a_page_that_cannot_be_read(original, study):
    """SQLite itself finds that the file is damaged."""
    pages = (study / FILE).stat().st_size // 4096
    with (study / FILE).open("r+b") as file:
        for page in range(pages * 2 // 3, pages):
            file.seek(4096 * page)
            file.write(os.urandom(4096))
    with (
        pytest.raises(StudyProblem, match="the journal is damaged"),
        resumed_study(study, 0.0, lambda *_: RecordedWorkers(2, answered)),
    ):
        pass
    with resumed_study(study, 0.0, lambda *_: RecordedWorkers(2, answered), repair=True) as again:
        assert again.view().spent.runs > 0
    kept = events_of(study)
    assert (kept.status != ASKED).sum() > 30
    for mine, other in zip(kept, events_of(original), strict=True):
        np.testing.assert_array_equal(mine, other[: mine.size])


def test_progress_that_is_damaged_costs_no_event(original, study):
    change(study, "update progress set data = '{}' where id = (select max(id) from progress)")
    with resumed_study(study, 0.0, lambda *_: RecordedWorkers(2, answered), repair=True) as again:
        assert again.view().spent.runs == (events_of(original).status != ASKED).sum()


def test_a_study_that_is_whole_is_left_alone(study):
    with resumed_study(study, 0.0, lambda *_: RecordedWorkers(2, answered), repair=True):
        pass
    assert not (study / f"{FILE}.damaged").exists()


def test_without_its_facts_nothing_can_be_kept(study):
    with closing(sqlite3.connect(study / FILE)) as connection, connection:
        connection.execute("delete from facts where name = 'digest'")
    result = CliRunner().invoke(app, ["resume", str(study), "--repair"])
    assert result.exit_code == 2 and "begin a new study" in result.output
