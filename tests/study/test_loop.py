"""Studies on recorded runtimes: the loop, the journal, and going on where another ended."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from cunctator.base.errors import StudyProblem
from cunctator.base.records import StopReason
from cunctator.core.closing import EARLY_PROOF
from cunctator.core.replay import AS_BEFORE, BEGUN, ENDED
from cunctator.core.sentinels import ASKED
from cunctator.scenario import load_scenario
from cunctator.show.study import CLOSING, facts
from cunctator.study.folder import begin_study, resumed_study, will_close
from cunctator.study.journal.journal import Journal, open_journal
from tests.recorded_workers import SCENARIO, SEEDLESS, RecordedWorkers, report_of
from tests.study.conducting import conduct, events_of, go_on, write_scenario


@pytest.mark.parametrize("slots", [1, 3])
def test_a_study_finds_a_fast_configuration(tmp_path, slots):
    scenario = write_scenario(tmp_path, "runs = 3000")
    workers = RecordedWorkers(slots)
    view = conduct(scenario, tmp_path / "study", workers)
    assert view.stop is StopReason.BUDGET and view.spent.runs == 3000
    speeds = [scenario.space.configuration(k)["speed"] for k in range(12)]
    assert view.configuration["speed"] <= 1.1 * min(speeds)
    assert workers.is_closed
    events = events_of(tmp_path / "study")
    assert (events.status == ASKED).sum() == (events.status != ASKED).sum() == 3000
    log = (tmp_path / "study" / "study.log").read_text()
    assert "begun after 0 runs" in log and "stopped after 3000 runs" in log
    assert view.spent.charged == pytest.approx(events.seconds.sum())


@pytest.mark.parametrize("slots", [1, 3])
def test_pieces_are_the_same_as_the_whole(tmp_path, slots):
    """However often it is interrupted, the same runs are made in the same order; to the end, when
    what was put off is finished."""
    scenario = write_scenario(tmp_path, "runs = 400")
    conduct(scenario, tmp_path / "whole", RecordedWorkers(slots))
    opened, sessions = begin_study(scenario, tmp_path / "study", stopping_workers(slots, 29)), 0
    while True:
        with opened as study:
            STOPPING.append(study)
            if study.run().stop is StopReason.BUDGET:
                break
        sessions += 1
        opened = resumed_study(tmp_path / "study", 0.0, stopping_workers(slots, 29))
    assert sessions > 400 // 32
    ours, theirs = events_of(tmp_path / "study"), events_of(tmp_path / "whole")
    if slots == 1:  # with more, it depends on when results come in
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(mine, other)
        assert (ours.closing == BEGUN).sum() == 1
    assert (ours.closing != ENDED).all()
    assert len(np.unique(ours.number[ours.status != ASKED])) == (ours.status != ASKED).sum() == 400


STOPPING = []


def stopping_workers(slots, most):
    """Workers that interrupt the last study of STOPPING after so many runs."""
    made = []

    def report(execution):
        made.append(None)
        if len(made) == most:
            STOPPING[-1].interrupt()
        return report_of(execution)

    return lambda *_: RecordedWorkers(slots, report)


@pytest.mark.parametrize("budget", ["charged = '6s'", "runs = 150"])
def test_with_more_time_it_is_searched_again(tmp_path, budget):
    """What was put off is finished before a budget ends; not before it would, had it been so."""
    scenario = write_scenario(tmp_path, budget)
    view = conduct(scenario, tmp_path / "study", RecordedWorkers())
    assert view.closing and events_of(tmp_path / "study").closing.tolist().count(BEGUN) == 1
    more = {"more": 60.0} if "charged" in budget else {"more_runs": 3000}
    with resumed_study(
        tmp_path / "study", make_workers=lambda *_: RecordedWorkers(), **more
    ) as study:
        assert study.scheduler.is_closing
        seen = []
        again = study.run(lambda view: seen.append(view.closing))
    assert seen[0] is False
    flips = events_of(tmp_path / "study").closing
    assert flips[flips != AS_BEFORE].tolist()[:2] == [BEGUN, ENDED]
    with resumed_study(tmp_path / "study", 0.0, lambda *_: RecordedWorkers()) as study:
        assert study.scheduler.is_closing == again.closing


@pytest.mark.parametrize("lost", ["interrupted", "killed", "in the copy"])
def test_an_extension_that_was_not_made_use_of_is_not_forgotten(tmp_path, lost):
    """Nobody goes on closing because the session that was given more ended at its start."""
    folder = tmp_path / "study"
    conduct(write_scenario(tmp_path, "runs = 150"), folder, RecordedWorkers())
    if lost == "in the copy":
        copy = folder / "scenario.toml"
        copy.write_text(copy.read_text().replace("runs = 150", "runs = 3150"))
    else:
        with resumed_study(folder, 0.0, lambda *_: RecordedWorkers(), more_runs=3000) as study:
            if lost == "interrupted":
                study.interrupt()
                study.run()
            study._journal.commit()
    view = go_on(folder, RecordedWorkers())
    assert view.spent.runs == 3150
    flips = events_of(folder).closing
    assert flips[flips != AS_BEFORE].tolist()[:2] == [BEGUN, ENDED]
    before = len(flips)
    go_on(folder, RecordedWorkers())
    assert len(events_of(folder).closing) == before, "there is no more to be spent"


def test_most_of_the_proof_waits_if_a_set_can_be_run_whole(tmp_path):
    """That is decided when a study begins, and kept."""
    endless = write_scenario(tmp_path, "runs = 60")
    assert not will_close(endless)
    names = f"names = {[str(number) for number in range(20)]}"
    text = SEEDLESS.replace('names = ["a", "b", "c"]', names)
    whole = write_scenario(tmp_path, "runs = 60", text=text)
    waits_for = text.replace("[budget]", "stop_at = {epsilon = 0.1, delta = 0.1}\n[budget]")
    assert will_close(whole)
    assert not will_close(write_scenario(tmp_path, "runs = 60", text=waits_for))
    for scenario, share in ((endless, 1.0), (whole, EARLY_PROOF)):
        folder = tmp_path / str(share)
        with begin_study(scenario, folder, lambda *_: RecordedWorkers()) as study:
            assert study.scheduler.state.rules.early_proof == share
            study.run()
        with resumed_study(folder, 0.0, lambda *_: RecordedWorkers()) as study:
            assert study.scheduler.state.rules.early_proof == share


def test_it_says_that_it_is_closing(tmp_path):
    scenario = write_scenario(tmp_path, "runs = 300")
    with begin_study(scenario, tmp_path / "study", lambda *_: RecordedWorkers()) as study:
        while not study.scheduler.is_closing:
            study._ask()
            study._take()
            study._look()
        assert CLOSING in facts(study.view().snapshot())
        view = study.run()
    assert view.closing and CLOSING not in facts(view.snapshot()), "it is over"
    assert " closing" in (tmp_path / "study" / "study.log").read_text()


@pytest.mark.parametrize("slots", [1, 3])
def test_all_that_led_to_a_run_is_on_disk_before_it_begins(tmp_path, slots):
    """Its ask, and each outcome that was known; nobody may wait for two commits instead of one."""
    commits = []

    def check(execution):
        events = events_of(tmp_path / "study")  # through a connection of its own
        is_ask = events.status == ASKED
        assert execution.number in events.number[is_ask]
        assert int(is_ask.sum()) - int((~is_ask).sum()) <= slots
        return report_of(execution)

    commit = Journal.commit

    def counted(self):
        commits.append(None)
        commit(self)

    scenario = write_scenario(tmp_path, "runs = 60")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Journal, "commit", counted)
        view = conduct(scenario, tmp_path / "study", RecordedWorkers(slots, check))
    assert view.spent.runs == 60
    few = 5  # at the beginning, at the end, and for what is shown each second
    assert len(commits) <= 60 / slots + few + 2 * view.spent.wall


def test_the_wall_clock_and_the_certificate_end_it_too(tmp_path):
    def slow(execution):
        time.sleep(0.01)
        return report_of(execution)

    scenario = write_scenario(tmp_path, "wall = '300ms'")
    view = conduct(scenario, tmp_path / "study", RecordedWorkers(report=slow))
    assert view.stop is StopReason.BUDGET and 0.3 <= view.spent.wall < 2
    again = go_on(tmp_path / "study", RecordedWorkers(report=slow))
    assert again.spent.runs == view.spent.runs, "the budget was spent before"
    assert again.own_seconds > view.own_seconds > 0, "time of all sessions, like what is charged"
    (tmp_path / "other").mkdir()
    target = "[search]\nstop_at = {epsilon = 1.0, delta = 0.3}\n"
    text = SCENARIO.replace("[search]\n", target) + "runs = 100000"
    (tmp_path / "other" / "scenario.toml").write_text(text)
    loaded = load_scenario(tmp_path / "other" / "scenario.toml")
    view = conduct(loaded, tmp_path / "certified", RecordedWorkers())
    assert view.stop is StopReason.CERTIFIED
    assert view.certificate.epsilon_at(0.3) <= 1.0


DRIVER = """
import sys, time
from pathlib import Path
from cunctator.scenario import load_scenario
from cunctator.study.folder import begin_study, resumed_study
from tests.recorded_workers import RecordedWorkers, report_of

def slowly(execution):
    time.sleep(0.0005)
    return report_of(execution)

directory = Path(sys.argv[1])
make = lambda *_: RecordedWorkers(1, slowly)
if (directory / "study.db").exists():
    opened = resumed_study(directory, 0.0, make)
else:
    opened = begin_study(load_scenario(sys.argv[2]), directory, make)
with opened as study:
    print("ready", flush=True)
    study.run()
"""


@pytest.mark.parametrize("kills", [6, pytest.param(100, marks=pytest.mark.slow)])
def test_killed_at_any_moment_it_goes_on_as_if_nothing_had_been(tmp_path, kills):
    scenario = write_scenario(tmp_path, f"runs = {150 * kills}")
    conduct(scenario, tmp_path / "whole", RecordedWorkers())
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    words = [sys.executable, str(script), str(tmp_path / "study"), str(scenario.path)]
    paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    random = np.random.default_rng(kills)
    seen = 0
    for _ in range(kills):
        driver = subprocess.Popen(words, stdout=subprocess.PIPE, env=environment)
        driver.stdout.readline()
        time.sleep(random.uniform(0, 0.15))
        driver.send_signal(signal.SIGKILL)
        driver.communicate()
        told = (events_of(tmp_path / "study").status != ASKED).sum()
        assert told >= seen, "a finished run was lost"
        seen = told
    go_on(tmp_path / "study", RecordedWorkers())
    for mine, other in zip(
        events_of(tmp_path / "study"), events_of(tmp_path / "whole"), strict=True
    ):
        np.testing.assert_array_equal(mine, other)


def test_an_interrupt_keeps_everything(tmp_path):
    scenario = write_scenario(tmp_path, "runs = 5000")
    with begin_study(scenario, tmp_path / "study", lambda *_: RecordedWorkers(2)) as study:
        calls = []

        def press(view):
            calls.append(view)
            study.interrupt()

        view = study.run(press)
    assert view.stop is StopReason.INTERRUPTED and len(calls) == 1
    assert go_on(tmp_path / "study", RecordedWorkers(2)).spent.runs == 5000


def test_two_drivers_are_one_too_many(tmp_path):
    scenario = write_scenario(tmp_path, "runs = 10")
    directory = tmp_path / "study"
    with (
        begin_study(scenario, directory, lambda *_: RecordedWorkers()),
        pytest.raises(StudyProblem, match="another process"),
        resumed_study(directory, 0.0, lambda *_: RecordedWorkers()),
    ):
        pass
    with (
        pytest.raises(StudyProblem, match="there is a study"),
        begin_study(scenario, directory, lambda *_: RecordedWorkers()),
    ):
        pass


def test_a_changed_scenario_version_or_journal_is_refused(tmp_path):
    scenario = write_scenario(tmp_path, "runs = 200")
    directory = tmp_path / "study"
    conduct(scenario, directory, RecordedWorkers())
    copy = directory / "scenario.toml"
    text = copy.read_text()
    copy.write_text(text.replace("high = 5.0", "high = 6.0"))
    with pytest.raises(StudyProblem, match="not what it was"):
        go_on(directory, RecordedWorkers())
    copy.write_text(text)
    with sqlite3.connect(directory / "study.db") as connection:
        connection.execute("update events set configuration = 3 where id = 100")
    connection.close()
    with pytest.raises(StudyProblem, match="row 100 of its table events is not as it was written"):
        go_on(directory, RecordedWorkers())
    with sqlite3.connect(directory / "study.db") as connection:
        connection.execute("update facts set value = '7' where name = 'schema'")
    connection.close()
    with pytest.raises(StudyProblem, match="number 7"):
        go_on(directory, RecordedWorkers())


def test_a_kill_at_the_very_start_is_no_study(tmp_path):
    scenario = write_scenario(tmp_path, "runs = 20")
    directory = tmp_path / "study"
    directory.mkdir()
    with sqlite3.connect(directory / "study.db") as connection:
        connection.execute("pragma journal_mode = wal")
    connection.close()
    with pytest.raises(StudyProblem, match="cannot be used"):
        go_on(directory, RecordedWorkers())
    assert conduct(scenario, directory, RecordedWorkers()).spent.runs == 20


def test_a_folder_that_is_no_study(tmp_path):
    with pytest.raises(StudyProblem, match="not a study"):
        go_on(tmp_path, RecordedWorkers())
    (tmp_path / "study.db").write_bytes(b"this is no database, whatever its name says" * 100)
    with pytest.raises(StudyProblem):
        go_on(tmp_path, RecordedWorkers())


def test_a_full_disk_loses_nothing(tmp_path):
    """SQLite is told that the file may not grow."""
    scenario = write_scenario(tmp_path, "runs = 4000")
    directory = tmp_path / "study"
    with begin_study(scenario, directory, lambda *_: RecordedWorkers()) as study:
        connection = study._journal.store.connection
        pages = connection.execute("pragma page_count").fetchone()[0]
        connection.execute(f"pragma max_page_count = {pages + 20}")
        with pytest.raises(StudyProblem, match="full"):
            study.run()
    told = (events_of(directory).status != ASKED).sum()
    assert told > 100
    assert go_on(directory, RecordedWorkers()).spent.runs == 4000


@pytest.mark.slow
def test_a_million_rows_resume_soon(tmp_path):
    scenario = write_scenario(tmp_path, "runs = 500000")
    conduct(scenario, tmp_path / "study", RecordedWorkers())
    begun = time.monotonic()
    with resumed_study(tmp_path / "study", 0.0, lambda *_: RecordedWorkers()) as study:
        assert study.view().spent.runs == 500_000
    assert time.monotonic() - begun < 20
    begun = time.monotonic()
    journal = open_journal(tmp_path / "study", writing=False)
    assert journal.last_progress()[1].runs == 500_000
    journal.close()
    assert time.monotonic() - begun < 1


@pytest.mark.parametrize("content", [b"\xff\xfe", b"other = 1"])
def test_another_scenario_in_the_folder_is_refused(tmp_path, content):
    scenario = write_scenario(tmp_path, "runs = 10")
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "scenario.toml").write_bytes(content)
    with pytest.raises(StudyProblem, match=r"another scenario\.toml"):
        conduct(scenario, tmp_path / "study", RecordedWorkers())


def test_a_study_killed_before_its_journal_was_made_can_be_begun_again(tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_bytes((SCENARIO + "runs = 10").replace("\n", "\r\n").encode())
    scenario = load_scenario(path)
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "scenario.toml").write_bytes(scenario.text.encode())
    assert conduct(scenario, tmp_path / "study", RecordedWorkers()).spent.runs == 10
    assert go_on(tmp_path / "study", RecordedWorkers()).spent.runs == 10
