"""Studies on recorded runtimes: the loop, the journal, and going on where another ended."""

from __future__ import annotations

import dataclasses
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
from cunctator.base.records import Status, StopReason
from cunctator.core.sentinels import ASKED
from cunctator.scenario import load_scenario
from cunctator.show.study import NO_ANSWER, facts
from cunctator.study.folder import begin_study, incumbent_of, resumed_study
from cunctator.study.journal.journal import Journal, open_journal
from cunctator.target.execution import Execution
from tests.recorded_workers import SCENARIO, RecordedWorkers, report_of, runtime_of


def write_scenario(folder, budget, extra=""):
    path = folder / "scenario.toml"
    path.write_text(SCENARIO + budget + extra)
    return load_scenario(path)


def conduct(scenario, directory, workers):
    with begin_study(scenario, directory, lambda *_: workers) as study:
        return study.run()


def go_on(directory, workers, more=0.0):
    with resumed_study(directory, more, lambda *_: workers) as study:
        return study.run()


def events_of(directory):
    journal = open_journal(directory, writing=False)
    journal.check()
    events = journal.events()
    journal.close()
    return events


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
    """However often it is resumed, the same runs are made in the same order."""
    whole = write_scenario(tmp_path, "runs = 400")
    conduct(whole, tmp_path / "whole", RecordedWorkers(slots))
    (tmp_path / "pieces").mkdir()
    first = write_scenario(tmp_path / "pieces", "charged = '0.4s'")
    conduct(first, tmp_path / "study", RecordedWorkers(slots))
    for _ in range(12):
        go_on(tmp_path / "study", RecordedWorkers(slots), more=0.4)
    ours, theirs = events_of(tmp_path / "study"), events_of(tmp_path / "whole")
    size = min(ours.number.size, theirs.number.size)
    assert size > 200
    if slots == 1:  # with more, it depends on when results come in
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(mine[:size], other[:size])
    assert len(np.unique(ours.number[ours.status != ASKED])) == (ours.status != ASKED).sum()


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


def crashing(share):
    def report(execution):
        good = report_of(execution)
        if execution.configuration["speed"] > share:
            details = dataclasses.replace(good.details, problem="it fell over")
            return dataclasses.replace(good, status=Status.CRASHED, seconds=1e-4, details=details)
        return good

    return report


def test_a_default_that_crashes_ends_the_study(tmp_path):
    scenario = write_scenario(tmp_path, "runs = 3000")
    view = conduct(scenario, tmp_path / "study", RecordedWorkers(report=crashing(0.9)))
    assert view.stop is StopReason.DEFAULT_CRASHES
    assert "it fell over" in view.problem and view.spent.runs < 100


def test_answer_and_default_are_compared_over_the_same_pairs(tmp_path):
    scenario = write_scenario(tmp_path, "runs = 150")
    view = conduct(scenario, tmp_path / "study", RecordedWorkers())
    answer, both = view.incumbent.configuration, view.compared
    events = events_of(tmp_path / "study")
    pairs = [
        set(events.pair[(events.configuration == index) & (events.status != ASKED)].tolist())
        for index in (0, answer)
    ]
    common = sorted(pairs[0] & pairs[1])
    assert answer != 0 and 0 < both.pairs == len(common) < view.incumbent.started
    for index, mean in ((answer, both.one), (0, both.other)):
        settings = scenario.space.configuration(index)
        named = [scenario.instances.pair(pair) for pair in common]
        runs = [Execution(0, settings, name, seed, both.cap) for name, seed in named]
        runtimes = np.array([runtime_of(run) for run in runs])
        assert mean == pytest.approx(np.clip(runtimes, 0.01, both.cap).mean())
    text = " ".join(facts(view.snapshot()))
    assert f"over the {both.pairs} pairs that both have run" in text
    again = go_on(tmp_path / "study", RecordedWorkers())
    assert again.spent.runs == 150 and again.compared == both, "it is restored with the rest"
    certificate = view.snapshot().as_data()["certificate"]
    assert certificate["looked_at"] == 12
    assert (1 - certificate["gamma"]) ** 11 == pytest.approx(0.1 * 0.05)


def ending_in_a_crash(is_broken):
    """Runs take their time, and then crash if `is_broken` says so of their speed."""

    def report(execution):
        good = report_of(execution)
        if good.status is Status.SOLVED and is_broken(execution.configuration["speed"]):
            details = dataclasses.replace(good.details, exit_code=10, problem="exit code 10")
            return dataclasses.replace(good, status=Status.CRASHED, details=details)
        return good

    return report


def test_a_target_that_fails_after_its_time_is_noticed(tmp_path):
    """A wrong list of exit codes: runs that are cut off do not speak for the default."""
    scenario = write_scenario(tmp_path, "runs = 3000")
    workers = RecordedWorkers(report=ending_in_a_crash(lambda speed: True))
    view = conduct(scenario, tmp_path / "study", workers)
    assert view.stop is StopReason.DEFAULT_CRASHES and view.spent.runs < 300
    assert "first 3 pairs: exit code 10" in view.problem
    assert "success = [0, 10, 20]" in view.problem
    assert not view.has_incumbent and view.spent.solved == 0
    with pytest.raises(StudyProblem, match="first 3 pairs"):
        go_on(tmp_path / "study", RecordedWorkers())
    with pytest.raises(StudyProblem, match="no run was solved"):
        incumbent_of(tmp_path / "study")


def test_what_the_default_does_is_found_out_again_after_a_kill(tmp_path):
    scenario = write_scenario(tmp_path, "charged = '100ms'")
    workers = RecordedWorkers(report=ending_in_a_crash(lambda speed: True))
    with begin_study(scenario, tmp_path / "study", lambda *_: workers) as study:
        study._check_default = lambda: None  # as if it was killed before it could look
        view = study.run()
    assert view.stop is StopReason.BUDGET and not view.has_incumbent
    view = go_on(tmp_path / "study", workers, more=30.0)
    assert view.stop is StopReason.DEFAULT_CRASHES


def test_a_slow_default_is_no_broken_one(tmp_path):
    """Half of the others crash at once, and nothing is solved for a long time."""

    def report(execution):
        good = report_of(dataclasses.replace(execution, cap=0.0))
        if execution.configuration["speed"] > 1.0:
            return dataclasses.replace(good, status=Status.CRASHED, seconds=1e-4)
        runtime = 2.0 + runtime_of(execution)
        status = Status.SOLVED if runtime <= execution.cap else Status.CAPPED
        return dataclasses.replace(good, status=status, seconds=min(runtime, execution.cap))

    scenario = write_scenario(tmp_path, "runs = 3000")
    view = conduct(scenario, tmp_path / "study", RecordedWorkers(report=report))
    assert view.stop is StopReason.BUDGET and view.has_incumbent and view.crashed > 10


def test_if_nearly_all_crashes_the_study_ends_even_if_the_default_hangs(tmp_path):
    def report(execution):
        is_default = execution.configuration["speed"] == 1.0
        good = report_of(dataclasses.replace(execution, cap=1e-9))
        if is_default:
            return dataclasses.replace(good, seconds=execution.cap)
        return dataclasses.replace(good, status=Status.CRASHED, seconds=1e-4)

    scenario = write_scenario(tmp_path, "runs = 3000")
    text = scenario.path.read_text().replace("configurations = 12", "configurations = 500")
    scenario.path.write_text(text)
    scenario = load_scenario(scenario.path)
    view = conduct(scenario, tmp_path / "study", RecordedWorkers(report=report))
    assert view.stop is StopReason.NOTHING_SOLVED and view.spent.runs < 100
    assert not view.has_incumbent


def test_without_a_solved_run_there_is_no_answer(tmp_path):
    def hanging(execution):
        return report_of(dataclasses.replace(execution, cap=1e-9))

    scenario = write_scenario(tmp_path, "runs = 60")
    view = conduct(scenario, tmp_path / "study", RecordedWorkers(report=hanging))
    assert view.stop is StopReason.BUDGET and not view.has_incumbent
    data = view.snapshot().as_data()
    assert data["incumbent"] is None and data["certificate"] is None and data["solved"] == 0
    text = " ".join(facts(view.snapshot()))
    assert NO_ANSWER in text and "configuration" not in text


def test_a_configuration_that_crashes_is_never_preferred(tmp_path):
    """Those that crash at once look fastest of all, to whoever averages over finished runs."""
    scenario = write_scenario(tmp_path, "runs = 3000")
    with begin_study(
        scenario, tmp_path / "study", lambda *_: RecordedWorkers(report=crashing(1.5))
    ) as study:
        view = study.run()
        crashes = study.crashes(5)
    assert view.configuration["speed"] <= 1.5 and view.crashed > 0
    assert crashes[0][1][0] == "solver" and crashes[0][0].problem == "it fell over"


def answering(answer):
    """Workers whose runs give the answer that a function makes of the configuration's speed."""

    def report(execution):
        good = report_of(execution)
        details = dataclasses.replace(good.details, reply=answer(execution.configuration["speed"]))
        return dataclasses.replace(good, details=details)

    return RecordedWorkers(report=report)


def test_contradicting_answers_end_the_study(tmp_path):
    scenario = write_scenario(tmp_path, "runs = 3000")
    workers = answering(lambda speed: "SAT" if speed < 2 else "UNSAT")
    view = conduct(scenario, tmp_path / "study", workers)
    assert view.stop is StopReason.CONTRADICTION
    assert view.problem.count("solver") == 2


def test_answers_of_earlier_sessions_count(tmp_path):
    scenario = write_scenario(tmp_path, "charged = '0.5s'")
    view = conduct(scenario, tmp_path / "study", answering(lambda _: "SAT"))
    assert view.stop is StopReason.BUDGET
    view = go_on(tmp_path / "study", answering(lambda _: "UNSAT"), more=5.0)
    assert view.stop is StopReason.CONTRADICTION
    assert "SAT was the answer of: solver" in view.problem and "but UNSAT" in view.problem


def test_an_instance_that_has_vanished_is_no_crash_of_the_default(tmp_path):
    """Nor if it happens on those that are tried to see whether the default always crashes."""
    seen = []

    def report(execution):
        seen.append(execution)
        return dataclasses.replace(crashing(0.9)(execution), abort=len(seen) > 1)

    scenario = write_scenario(tmp_path, "runs = 3000")
    view = conduct(scenario, tmp_path / "study", RecordedWorkers(report=report))
    assert view.stop is StopReason.ABORTED and view.spent.runs == 1


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
