"""From one session to the next: locks, what has changed, more budget, what is written down."""

from __future__ import annotations

import errno
import json
import logging
import os
import shutil
import sqlite3
import threading
from concurrent.futures import Future
from contextlib import closing
from itertools import pairwise

import pytest
from typer.testing import CliRunner

from cunctator.base.errors import InvalidSetting, StudyProblem
from cunctator.base.records import StopReason
from cunctator.cli.common import app
from cunctator.cli.studies import validated
from cunctator.scenario import load_scenario
from cunctator.study import folder as study_folder
from cunctator.study.folder import begin_study, resumed_study
from cunctator.study.journal import file as journal_file
from cunctator.study.journal.journal import FILE, PROGRESS_KEPT, create_journal, open_journal
from cunctator.study.snapshot import snapshot_of
from tests.recorded_workers import SCENARIO, SEEDLESS, RecordedWorkers, report_of
from tests.study.test_journal import FACTS, PROGRESS

LONGEST_WAIT = 60.0


def begin(folder, budget="runs = 100", text=SCENARIO):
    (folder / "scenario.toml").write_text(text + budget)
    loaded = load_scenario(folder / "scenario.toml")
    with begin_study(loaded, folder / "study", lambda *_: RecordedWorkers()) as study:
        return study.run()


def go_on(study, **more):
    with resumed_study(study, make_workers=lambda *_: RecordedWorkers(), **more) as resumed:
        return resumed.run()


@pytest.fixture
def locked(monkeypatch):
    """Lock a journal as another program would; it is let go when somebody says that he waits."""
    monkeypatch.setattr(journal_file, "PATIENCE", 0.05)
    waiting = threading.Event()
    handler = logging.Handler()
    handler.emit = lambda record: "is locked by another program" in record.msg and waiting.set()
    logging.getLogger("cunctator").addHandler(handler)
    threads = []

    def lock(study, exclusive=False):
        other = sqlite3.connect(study / FILE, check_same_thread=False, isolation_level=None)
        if exclusive:
            other.execute("pragma locking_mode = exclusive")
        other.execute("begin exclusive")

        def let_go():
            assert waiting.wait(LONGEST_WAIT)
            other.execute("rollback")
            other.close()

        threads.append(threading.Thread(target=let_go))
        threads[-1].start()
        return waiting

    yield lock
    waiting.set()
    for thread in threads:
        thread.join(LONGEST_WAIT)
    logging.getLogger("cunctator").removeHandler(handler)


def test_a_study_waits_for_whoever_locks_its_journal(tmp_path, locked):
    (tmp_path / "scenario.toml").write_text(SCENARIO + "runs = 300")
    study = tmp_path / "study"
    said = []

    def report(execution):
        if execution.number == 200:
            said.append(locked(study))
        return report_of(execution)

    loaded = load_scenario(tmp_path / "scenario.toml")
    with begin_study(loaded, study, lambda *_: RecordedWorkers(report=report)) as begun:
        assert begun.run().spent.runs == 300
    assert said[0].is_set()
    with closing(open_journal(study, writing=False)) as journal:
        journal.check()
        assert journal.events().number.size == 600, "nothing was lost"


@pytest.mark.parametrize("exclusive", [False, True])
def test_resume_waits_too(tmp_path, locked, exclusive):
    begin(tmp_path)
    said = locked(tmp_path / "study", exclusive)
    assert go_on(tmp_path / "study", more_runs=50).spent.runs == 150
    assert said.is_set()


def test_status_waits_too(tmp_path, locked):
    begin(tmp_path)
    said = locked(tmp_path / "study", exclusive=True)
    result = CliRunner().invoke(app, ["status", str(tmp_path / "study")])
    assert result.exit_code == 0 and "100 of 100 runs" in result.output
    assert said.is_set()


def test_a_full_disk_at_the_start_is_about_the_disk(tmp_path, monkeypatch):
    """It used to be said that nothing can be printed."""
    begin(tmp_path)
    study = tmp_path / "study"

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StudyProblem, match=r"No space left on device.*; make room") as caught:
        go_on(study)
    assert str(study) in str(caught.value)


FILES = SCENARIO.replace('names = ["a", "b", "c"]', 'list = ["a.cnf", "b.cnf", "c.cnf"]').replace(
    '["{python}",', '["./solver", "script.py",'
)


@pytest.fixture
def files(tmp_path, caplog):
    """A study of a program, a script and instances; gives what is said when it is resumed."""
    for name in ("solver", "script.py", "a.cnf", "b.cnf", "c.cnf"):
        (tmp_path / name).write_text(f"this is {name}")
    (tmp_path / "solver").chmod(0o755)
    begin(tmp_path, text=FILES)

    def said():
        caplog.clear()
        go_on(tmp_path / "study", more_runs=1)
        return [record.getMessage() for record in caplog.records if record.name == "cunctator"]

    assert said() == []
    return tmp_path, said


def test_what_has_changed_is_named_once(files):
    folder, said = files
    (folder / "solver").write_text("another one")
    assert len(lines := said()) == 1
    assert lines[0].startswith("changed since the last session: the program solver; runs may not")
    assert said() == []
    (folder / "script.py").write_text("THIS IS SCRIPT.PY")
    (folder / "a.cnf").write_text("longer than it was before")
    (folder / "c.cnf").write_text("THIS IS C.CNF")
    (line,) = said()
    assert "the program script.py and 2 instances (a.cnf, c.cnf)" in line
    assert said() == []


def test_files_that_were_only_touched_are_the_same(files):
    folder, said = files
    for name in ("solver", "script.py", "a.cnf"):
        os.utime(folder / name, (1, 1))
    assert said() == []


def test_too_much_to_read_goes_by_size_and_time(files, monkeypatch):
    folder, said = files
    monkeypatch.setattr("cunctator.study.fingerprints.MOST_READ", 0)
    os.utime(folder / "a.cnf", (1, 1))
    assert "the instance a.cnf" in said()[0]


def test_another_version_is_named(files, monkeypatch):
    _, said = files
    monkeypatch.setattr(study_folder, "version", lambda _: "7.0")
    (line,) = said()
    assert "Cunctator (it was " in line and "and is 7.0)" in line
    assert said() == []


def test_a_study_that_knows_nothing_of_its_files_says_nothing(files):
    folder, said = files
    with closing(open_journal(folder / "study", writing=True)) as journal:
        store = journal.store
        for table in ("files", "sessions"):
            store.run(f"delete from {table}")
            store.run("update ends set rows = 0, checksum = 0 where name = ?", (table,))
        store.run("commit")
    (folder / "solver").write_text("another one")
    assert said() == []


def test_more_runs_for_a_budget_of_runs(tmp_path):
    assert begin(tmp_path).stop is StopReason.BUDGET
    study = tmp_path / "study"
    with pytest.raises(InvalidSetting, match=r"is a number of runs: give one, e.g. --more 500runs"):
        go_on(study, more=60.0)
    assert go_on(study, more_runs=50).spent.runs == 150
    assert go_on(study, more_runs=25).spent.runs == 175
    (tmp_path / "other").mkdir()
    begin(tmp_path / "other", "charged = '1s'")
    with pytest.raises(InvalidSetting, match=r"is a time: give one, e.g. --more 2h"):
        go_on(tmp_path / "other" / "study", more_runs=50)


@pytest.mark.parametrize(
    ("given", "words"), [("2 parsecs", "2h or 3d, or runs such as 500runs"), ("1h", "--more 500")]
)
def test_more_that_is_none(tmp_path, given, words):
    begin(tmp_path)
    result = CliRunner().invoke(app, ["resume", str(tmp_path / "study"), "--more", given])
    assert result.exit_code == 2 and words in result.output


def test_the_trajectory_goes_on_through_sessions(tmp_path):
    begin(tmp_path, "runs = 150")
    study = tmp_path / "study"
    first = open_trajectory(study)
    view = go_on(study, more_runs=2000)
    whole = open_trajectory(study)
    assert whole[: len(first)] == first and len(whole) > len(first) >= 1
    for before, after in pairwise(whole):
        assert before.runs < after.runs and before.charged < after.charged
        assert before.configuration != after.configuration
    assert whole[-1].configuration == view.incumbent.configuration
    out = tmp_path / "out.json"
    for words in (["status"], ["resume"]):
        CliRunner().invoke(app, [*words, str(study), "--json", str(out)])
        assert json.loads(out.read_text())["trajectory"] == [list(change) for change in whole]


def open_trajectory(study):
    with closing(open_journal(study, writing=False)) as journal:
        return journal.changes()


def test_progress_is_thinned_out(tmp_path):
    """The last rows are there, and earlier ones further and further apart."""
    with closing(create_journal(tmp_path, FACTS)) as journal:
        for number in range(1, 5001):
            journal.add_progress(float(number), snapshot_of(PROGRESS))
        journal.commit()
        journal.check()
        ids = [row[0] for row in journal.store.run("select id from progress order by id")]
    assert ids[-PROGRESS_KEPT:] == list(range(5001 - PROGRESS_KEPT, 5001))
    assert PROGRESS_KEPT < len(ids) < 6 * PROGRESS_KEPT
    for before, after in pairwise(ids):
        assert after - before <= 2 * max(1, (5000 - before) // PROGRESS_KEPT)


class Stuck(RecordedWorkers):
    """Slots that finish five runs and then none."""

    def __init__(self):
        super().__init__()
        self._futures = []

    def submit(self, execution):
        if execution.number <= 5:
            return super().submit(execution)
        self._futures.append(Future())
        return self._futures[-1]

    def stop(self):
        for future in self._futures:
            future.cancel()


def test_nothing_is_written_while_nothing_happens(tmp_path, monkeypatch):
    """A long run: the clock is written down now and then, in the same row."""
    for name in ("loop.PROGRESS_EVERY", "progress.CLOCKS_EVERY"):
        monkeypatch.setattr(f"cunctator.study.{name}", 0.0)
    (tmp_path / "scenario.toml").write_text(SCENARIO + "runs = 20")
    walls = []
    loaded = load_scenario(tmp_path / "scenario.toml")
    with begin_study(loaded, tmp_path / "study", lambda *_: Stuck()) as study:

        def look(view):
            with closing(open_journal(tmp_path / "study", writing=False)) as journal:
                snapshot = journal.last_progress()[1]
            if snapshot.runs == 5:
                walls.append(snapshot.wall)
            if len(walls) == 6:
                study.interrupt()

        study.run(look)
    with closing(open_journal(tmp_path / "study", writing=False)) as journal:
        rows = journal.store.run("select count(*) from progress").fetchone()[0]
    assert walls == sorted(set(walls)), "the clock goes on"
    assert rows <= 7, "one for each change, not for each look"


def test_status_while_kernels_are_compiled(tmp_path):
    """Somebody holds the folder, and there is no progress yet."""
    (tmp_path / "scenario.toml").write_text(SCENARIO + "runs = 10")
    study = tmp_path / "study"
    loaded = load_scenario(tmp_path / "scenario.toml")
    with begin_study(loaded, study, lambda *_: RecordedWorkers()):
        result = CliRunner().invoke(app, ["status", str(study)])
        assert result.exit_code == 0 and result.output.startswith("Preparing: no run has ended")
    result = CliRunner().invoke(app, ["status", str(study)])
    assert f"nobody works on it; go on: cunctator resume {study}" in result.output


@pytest.fixture
def conducted(tmp_path, monkeypatch):
    """Run commands with recorded runtimes; gives what they print."""
    monkeypatch.setattr(study_folder, "LocalWorkers", lambda *_: RecordedWorkers())

    def conduct(*words):
        result = CliRunner().invoke(app, [*map(str, words)])
        return " ".join(result.output.split())

    return tmp_path, conduct


def test_what_to_do_next(conducted):
    folder, conduct = conducted
    (folder / "scenario.toml").write_text(SCENARIO + "runs = 100")
    study = folder / "study"
    out = conduct("run", folder / "scenario.toml", study)
    assert out.endswith(f"Go on: cunctator resume {study} --more 100runs")
    out = conduct("resume", study, "--more", "100runs")
    assert "200 runs charged" in out and "Traceback" not in out
    (folder / "scenario.toml").write_text(SEEDLESS + "charged = '1h'")
    shutil.rmtree(study)
    out = conduct("run", folder / "scenario.toml", study)
    assert "Stopped: proved the best of those looked at" in out
    assert out.endswith("to look at more, begin a new study.")
    again = conduct("resume", study)
    assert "% busy" not in again and "Stopped: proved the best of those looked at" in again
    assert "% busy" not in conduct("status", study)


def test_validation_says_that_a_study_is_still_at_work(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("cunctator.study.validate.validate", lambda *_: None)
    (tmp_path / "scenario.toml").write_text(SCENARIO + "runs = 150")
    loaded, folder = load_scenario(tmp_path / "scenario.toml"), tmp_path / "study"
    with begin_study(loaded, folder, lambda *_: RecordedWorkers()) as study:
        study.run()
        validated(loaded, folder, 1)
        assert "is still at work" in capsys.readouterr().err
    validated(loaded, folder, 1)
    assert not capsys.readouterr().err
