"""Journals that are damaged, empty, read-only, or named in other encodings."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cunctator.base.errors import StudyProblem
from cunctator.base.records import Run, Status
from cunctator.core.scheduler import STATUS_CODE
from cunctator.core.sentinels import ASKED
from cunctator.study.journal.journal import FILE, create_journal, is_begun, open_journal
from cunctator.study.journal.tables import PROGRESS as PROGRESS_TABLE
from cunctator.study.snapshot import snapshot_of
from cunctator.target.execution import Details
from cunctator.target.replies import Given

FACTS = {"version": "1", "digest": "d", "folder": "/somewhere", "created": "0"}

PROGRESS: dict[str, Any] = {
    "stop": None,
    "problem": "",
    "charged": 1.5,
    "wall": 2,
    "runs": 3,
    "budget": {"charged": 10.0, "wall": None, "runs": None},
    "in_flight": 0,
    "crashed": 0,
    "incumbent": {"index": 1, "configuration": {"a": 1, "b": "x"}, "started": 3, "mean": 0.5},
    "default": {"started": 1, "mean": None},
    "compared": {"cap": 1.0, "answer": 0.5, "default": None, "exact": False},
    "certificate": {"headline": "so it is", "pools": []},
    "own_seconds": 0.1,
    "busy": 0.9,
}


@pytest.fixture
def study(tmp_path):
    """A folder with a journal of a few events, closed in good order."""
    folder = tmp_path / "study"
    folder.mkdir()
    fill(folder)
    return folder


def fill(folder: Path) -> None:
    with closing(create_journal(folder, FACTS)) as journal:
        details = Details(0.1, 0.1, "exited", problem="no")
        for number in (1, 2, 3):
            run = Run(number, number % 3, 0, 1.0, 0.0)
            journal.add_ask(run, 0.0)
            journal.add_outcome(run, 0.0, Status.CRASHED, 0.1 * number, details)
        journal.add_reply("one", Given("SAT", ("solver", "one")))
        journal.add_progress(4.0, snapshot_of(PROGRESS))
        journal.extend(5.0, 60.0)
        journal.commit()


def change(folder: Path, statement: str, *arguments: object) -> None:
    with closing(sqlite3.connect(folder / FILE)) as connection, connection:
        assert connection.execute(statement, arguments).rowcount > 0


def put_progress(folder: Path, text: str) -> None:
    """With its checksum, as another version might have written it."""
    with closing(open_journal(folder, writing=True)) as journal:
        journal.store.begin_writing()
        journal.store.add(PROGRESS_TABLE, 4.0, text.encode())
        journal.commit()


def read_all(folder: Path) -> tuple[Any, ...]:
    """Whatever there is to read."""
    with closing(open_journal(folder, writing=False)) as journal:
        return (
            journal.events(),
            journal.crashes(5),
            journal.replies(),
            journal.last_progress(),
            journal.extended(),
        )


def test_what_is_written_is_read(study):
    events, crashes, answers, progress, extended = read_all(study)
    crashed = STATUS_CODE[Status.CRASHED]
    np.testing.assert_array_equal(events.number, [1, 1, 2, 2, 3, 3])
    np.testing.assert_array_equal(events.status, [ASKED, crashed] * 3)
    np.testing.assert_allclose(events.seconds, [0, 0.1, 0, 0.2, 0, 0.3])
    assert [crash.configuration for crash in crashes] == [0, 1, 2]  # the default's first
    assert crashes[0].problem == "no"
    assert answers == {"one": Given("SAT", ("solver", "one"))}
    assert progress == (4.0, snapshot_of(PROGRESS)) and extended == (60.0, 0)


@pytest.mark.parametrize(
    "statement",
    [
        "update events set number = 4000000000000 where id = 3",
        "update events set number = 'seven' where id = 3",
        "update events set number = 0 where id = 3",
        "update events set pair = -1 where id = 3",
        "update events set configuration = 1.5 where id = 3",
        "update events set status = 77 where id = 4",
        "update events set status = 'solved' where id = 4",
        "update events set seconds = null where id = 4",
        "update events set seconds = -1.0 where id = 4",
        "update events set seconds = 9e999 where id = 4",
        "update events set seconds = 'long' where id = 4",
        "update events set cap = 'x' where id = 4",
        "update events set details = '{' where id = 4",
        "update events set details = '[]' where id = 4",
        "update events set details = null where id = 4",
        "update answers set command = 'solver'",
        "update answers set command = '[1]'",
        "update answers set command = x'ff'",
        "update answers set answer = x'ff'",
        "update progress set data = 'soon'",
        "update progress set data = '[]'",
        "update progress set data = 7",
        "update progress set at = 'noon'",
        "update extensions set seconds = 'more'",
        "update extensions set seconds = 9e999",
        "delete from facts where name = 'schema'",
        "delete from facts where name = 'digest'",
        "delete from facts where name = 'folder'",
        "update facts set value = 'a' || char(0) || 'b' where name = 'folder'",
        "delete from facts",
    ],
)
def test_a_damaged_row_is_neither_believed_nor_a_traceback(study, statement):
    change(study, statement)
    with pytest.raises(StudyProblem, match="the journal is damaged") as caught:
        read_all(study)
    assert str(caught.value).endswith(f"cunctator resume {study} --repair")


@pytest.mark.parametrize("table", ["facts", "events", "answers", "progress", "extensions"])
def test_a_table_that_is_missing(study, table):
    with closing(sqlite3.connect(study / FILE)) as connection, connection:
        connection.execute(f"drop table {table}")
    with pytest.raises(StudyProblem, match="the journal is damaged"):
        read_all(study)


def places(data, path=()):
    """The keys of nested tables."""
    for name, value in data.items():
        yield (*path, name)
        if isinstance(value, dict) and name != "configuration":
            yield from places(value, (*path, name))


REQUIRED = [path for path in places(PROGRESS) if path[-1] not in ("in_flight", "mean")]
"""What all versions wrote."""


@pytest.mark.parametrize("path", REQUIRED, ids=".".join)
def test_progress_that_lacks_a_key_or_holds_something_else(study, path):
    for wrong in (None, [[]], float("nan"), -1):
        data = json.loads(json.dumps(PROGRESS))
        table = data
        for name in path[:-1]:
            table = table[name]
        del table[path[-1]]
        if wrong is not None:
            table[path[-1]] = wrong
        put_progress(study, json.dumps(data))
        with pytest.raises(StudyProblem, match="the journal is damaged"):
            read_all(study)


def test_nesting_without_end(study):
    put_progress(study, "[" * 200_000)
    with pytest.raises(StudyProblem, match="the journal is damaged"):
        read_all(study)


@pytest.mark.parametrize("size", [30, 2000, 6000, 20000])
def test_a_truncated_file_is_damaged(study, size):
    os.truncate(study / FILE, size)
    with pytest.raises(StudyProblem, match="the journal is damaged") as caught:
        read_all(study)
    assert "permissions" not in caught.value.fix


def test_an_empty_file_has_kept_nothing(study):
    os.truncate(study / FILE, 0)
    assert not is_begun(study)
    for writing in (False, True):
        with pytest.raises(StudyProblem, match="nothing in it") as caught:
            open_journal(study, writing)
        assert "kept" not in caught.value.fix


def test_a_path_that_no_folder_can_have(tmp_path):
    with pytest.raises(StudyProblem, match="cannot be read"):
        open_journal(tmp_path / ("x" * 5000), writing=False)


def test_names_that_are_not_utf_8(tmp_path):
    folder = tmp_path / os.fsdecode(b"stud\xff?#%y")
    folder.mkdir()
    name = os.fsdecode(b"in\xffstance")
    given = Given(os.fsdecode(b"\xe9"), ("solver", name))
    with closing(create_journal(folder, FACTS | {"folder": name})) as journal:
        journal.add_reply(name, given)
        journal.add_reply("\ud800", given)  # not even the bytes of a name
        journal.commit()
    assert [path.name for path in folder.iterdir()] == [FILE]
    with closing(open_journal(folder, writing=False)) as journal:
        assert journal.replies() == {name: given, "\\ud800": given}
        assert journal.fact("folder") == name


@pytest.fixture
def read_only(monkeypatch):
    """Folders as they look to somebody who may not write; root always may."""
    monkeypatch.setattr(os, "access", lambda *_: False)


def test_a_read_only_folder_is_read_without_other_files(study, read_only):
    with closing(open_journal(study, writing=False)) as journal:
        assert journal.last_progress() == (4.0, snapshot_of(PROGRESS))
        assert [path.name for path in study.iterdir()] == [FILE]
    (study / f"{FILE}-wal").touch()
    assert read_all(study)[4] == (60.0, 0)
    assert not (study / f"{FILE}-shm").exists()


def test_a_read_only_folder_with_changes_that_cannot_be_read(tmp_path, study, read_only):
    copy = tmp_path / "copy"
    copy.mkdir()
    with closing(open_journal(study, writing=True)) as journal:
        journal.store.begin_writing()
        journal.extend(6.0, 30.0)
        journal.commit()
        assert read_all(study)[4] == (90.0, 0), "somebody writes: what is shared is there"
        for ending in ("", "-wal"):
            (copy / f"{FILE}{ending}").write_bytes((study / f"{FILE}{ending}").read_bytes())
    with pytest.raises(StudyProblem, match="read-only; copy the folder"):
        read_all(copy)
