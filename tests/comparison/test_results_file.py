"""What a comparison keeps: it goes on with what is sound, and leaves alone what is not its own."""

from __future__ import annotations

import json
import logging
import os
import zlib

import pytest

from cunctator.base.errors import StudyProblem
from cunctator.comparison.jobs import KILLED, REPORT
from cunctator.comparison.results_file import NAME
from tests.comparison.comparing import compare, table_of


def signed(record):
    """A line with the checksum that its record should have."""
    record.pop("checksum", None)
    return json.dumps({**record, "checksum": zlib.crc32(json.dumps(record).encode())})


def test_a_line_that_was_not_finished_is_made_again(tmp_path):
    whole = compare(tmp_path, methods=["sp"])
    path = tmp_path / NAME
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]) + lines[-1][:50])
    seen = []
    again = compare(tmp_path, methods=["sp"], progress=seen.append)
    assert seen[0].done == 1
    assert [r["charged"] for r in again.records] == [r["charged"] for r in whole.records]


def test_results_of_something_else_are_refused(tmp_path):
    compare(tmp_path, methods=["sp"], seeds=1)
    with pytest.raises(StudyProblem, match="begun with another table; give another --out"):
        compare(tmp_path, methods=["sp"], table=table_of(5))
    facts, line = (tmp_path / NAME).read_text().splitlines()
    others = json.loads(facts)
    others["conditions"]["first_cap"] = 77.0
    (tmp_path / NAME).write_text(f"{json.dumps(others)}\n{line}\n")
    with pytest.raises(StudyProblem, match=r"begun with first_cap = 77\.0 instead of 0\.\d+; give"):
        compare(tmp_path, methods=["sp"])
    (tmp_path / NAME).write_text(f"{json.dumps({**json.loads(facts), 'code': 'x'})}\n{line}\n")
    with pytest.raises(StudyProblem, match="begun with another version"):
        compare(tmp_path, methods=["sp"])
    (tmp_path / NAME).write_text("what is this?\n")
    with pytest.raises(StudyProblem, match="no file of a comparison, or damaged; move it"):
        compare(tmp_path, methods=["sp"])
    (tmp_path / "file").touch()
    with pytest.raises(StudyProblem, match="cannot be used"):
        compare(tmp_path / "file" / "folder", methods=["sp"])


def test_jobs_that_were_killed_or_met_a_mistake_of_ours_are_made_again(tmp_path):
    compare(tmp_path, methods=["sp"])
    path = tmp_path / NAME
    facts, *lines = path.read_text().splitlines()
    records = [json.loads(line) for line in lines]
    for record, error in zip(records, (KILLED, "it failed (X: y)" + REPORT), strict=True):
        record.pop("trajectory")
        record["error"] = error
    path.write_text("\n".join([facts, *map(signed, records)]) + "\n")
    again = compare(tmp_path, methods=["sp"])
    assert not any("error" in record for record in again.records)


def test_two_at_once_are_one_too_many(tmp_path):
    def other(_):
        with pytest.raises(StudyProblem, match="another comparison is writing to it"):
            compare(tmp_path, methods=["sp"])

    compare(tmp_path, methods=["sp"], seeds=1, progress=other)


@pytest.mark.parametrize(
    "damage",
    [
        {"trajectory": "abc"},
        {"trajectory": [[1.0, 9999]]},
        {"charged": 1e308},
        {"steps": 12},
        {"error": None},
        {"checksum": 0},
    ],
    ids=str,
)
def test_lines_that_were_changed_are_made_again(tmp_path, caplog, damage):
    whole = compare(tmp_path, methods=["sp"])
    path = tmp_path / NAME
    facts, first, second = path.read_text().splitlines()
    changed = {**json.loads(first), **damage}
    path.write_text("\n".join([facts, json.dumps(changed), second]) + "\n")
    seen = []
    with caplog.at_level(logging.WARNING):
        again = compare(tmp_path, methods=["sp"], progress=seen.append)
    assert seen[0].done == 1 and "1 line of" in caplog.text
    assert [r["charged"] for r in again.records] == [r["charged"] for r in whole.records]


@pytest.mark.parametrize("junk", ["", "\0" * 40, "[" * 100_000, "{}", '{"method": "sp"}', "3"])
def test_junk_between_the_lines_loses_no_result(tmp_path, junk):
    compare(tmp_path, methods=["sp"])
    path = tmp_path / NAME
    facts, *lines = path.read_text().splitlines()
    path.write_text("\n".join([facts, lines[0], junk, lines[1]]) + "\n")
    seen = []
    compare(tmp_path, methods=["sp"], progress=seen.append)
    assert [(now.done, now.total) for now in seen] == [(2, 2)]


def test_a_beginning_that_was_not_finished_is_made_again(tmp_path):
    compare(tmp_path, methods=["sp"], seeds=1)
    path = tmp_path / NAME
    facts = path.read_bytes().splitlines()[0]
    path.write_bytes(facts[:40])
    assert len(compare(tmp_path, methods=["sp"], seeds=1).records) == 1
    assert path.read_bytes().startswith(facts + b"\n")


@pytest.mark.parametrize("end", ["", "\n"])
def test_files_of_others_stay_as_they_are(tmp_path, end):
    theirs = tmp_path / NAME
    theirs.write_text('{"precious": "data"}' + end)
    with pytest.raises(StudyProblem, match="no file of a comparison"):
        compare(tmp_path, methods=["sp"])
    assert theirs.read_text() == '{"precious": "data"}' + end
    theirs.unlink()
    (tmp_path / "summary.md").write_text("mine")
    with pytest.raises(StudyProblem, match=r"has summary\.md of something else"):
        compare(tmp_path, methods=["sp"])
    assert (tmp_path / "summary.md").read_text() == "mine"


def test_what_is_no_ordinary_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / NAME)
    with pytest.raises(StudyProblem, match="no ordinary file"):
        compare(tmp_path, methods=["sp"])
