"""Backends that fail, double, delay and lose reports: what a study makes of that."""

from __future__ import annotations

import dataclasses
import time
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest

from cunctator.base.records import Status, StopReason
from cunctator.scenario import load_scenario
from cunctator.study import flights as flights_module
from cunctator.study import loop
from cunctator.study.bulk import completed
from cunctator.study.flights import ATTEMPTS, FAILURES, Flights, WorkersFailed
from cunctator.study.folder import begin_study, resumed_study
from cunctator.target.execution import Details, Execution, Report
from tests.hostile_workers import KINDS, HostileWorkers
from tests.recorded_workers import SCENARIO, RecordedWorkers, report_of
from tests.study.test_workers_contract import check_told_once, events_of, execution


@pytest.fixture(autouse=True)
def quick_looks(monkeypatch):
    monkeypatch.setattr(flights_module, "LOOK_EVERY", 0.01)


@pytest.fixture
def conduct(tmp_path):
    """A study of so many runs on some workers, in a folder; the second time it is resumed."""

    def run(workers, name="study", runs=60, more=""):
        directory = tmp_path / name
        if directory.exists():
            with resumed_study(directory, 0.0, lambda *_: workers) as study:
                return study.run()
        (tmp_path / "scenario.toml").write_text(SCENARIO + f"runs = {runs}\n{more}")
        loaded = load_scenario(tmp_path / "scenario.toml")
        with begin_study(loaded, directory, lambda *_: workers) as study:
            return study.run()

    return run


class ByHand(RecordedWorkers):
    """Futures that the test ends; all attempts at a run are in a list."""

    def __init__(self, patience=1e9):
        super().__init__(2)
        self.futures: dict[int, list[Future]] = {}
        self._patience = patience

    def submit(self, execution):
        self.futures.setdefault(execution.number, []).append(Future())
        return self.futures[execution.number][-1]

    def patience(self, execution):
        return self._patience


REPORT = report_of(Execution(1, {"speed": 1.0}, "a", 0, 9.0))
OTHER = Report(Status.CAPPED, 9.0, Details(9.0, 9.0, "other"))


@pytest.mark.parametrize("kind", KINDS)
def test_harm_to_reports_changes_nothing(conduct, tmp_path, kind):
    """The same runs are asked for, with the same results, in the same order."""
    conduct(RecordedWorkers(), "plain", runs=20)
    workers = HostileWorkers(RecordedWorkers(), (kind,))
    view = conduct(workers, "harmed", runs=20)
    assert view.stop is StopReason.BUDGET and kind in workers.seen
    pairs = zip(events_of(tmp_path / "harmed"), events_of(tmp_path / "plain"), strict=True)
    for mine, other in pairs:
        np.testing.assert_array_equal(mine, other)


def test_a_run_that_always_fails_ends_the_study_in_good_order(conduct, tmp_path):
    def report(execution):
        if execution.number == 17:
            raise ValueError("a\nbug")
        return report_of(execution)

    workers = RecordedWorkers(2, report)
    view = conduct(workers)
    assert view.stop is StopReason.ABORTED and workers.is_closed
    assert [each.number for each in workers.executions].count(17) == ATTEMPTS
    assert view.problem.startswith(f"run 17 failed {ATTEMPTS} times in a row, the last one with")
    assert r"ValueError: a\nbug; see to the workers" in view.problem
    log = (tmp_path / "study" / "study.log").read_text()
    assert "run 17: attempt 2 failed" in log and 'raise ValueError("a\\nbug")' in log
    view = conduct(RecordedWorkers(2))
    assert view.stop is StopReason.BUDGET and view.spent.runs == 60
    check_told_once(events_of(tmp_path / "study"), 60)


@pytest.mark.parametrize("slots", [1, 50])
def test_workers_that_only_fail_are_given_up(conduct, tmp_path, slots):
    def report(execution):
        raise ConnectionError("nobody there")

    workers = RecordedWorkers(slots, report)
    view = conduct(workers, runs=1000)
    assert view.stop is StopReason.ABORTED and "ConnectionError: nobody there" in view.problem
    assert view.spent.runs == 0 and view.in_flight == 0
    assert len(workers.executions) <= FAILURES + 3 * slots
    assert conduct(RecordedWorkers(slots)).spent.runs == 1000
    check_told_once(events_of(tmp_path / "study"), 1000)


def test_many_failures_at_once_are_survived(conduct):
    """A network that is down for a moment fails all runs in flight."""
    failed = set()

    def report(execution):
        if execution.number <= FAILURES + 1 and execution.number not in failed:
            failed.add(execution.number)
            raise ConnectionError("down for a moment")
        return report_of(execution)

    view = conduct(RecordedWorkers(50, report), runs=200)
    assert view.stop is StopReason.BUDGET and view.spent.runs == 200
    assert len(failed) > FAILURES


def test_failures_in_a_row_give_the_workers_up():
    """All that are in flight may fail once, but hardly more without a report in between."""
    workers = ByHand()
    flights = Flights(workers)
    for number in range(50):
        flights.submit(execution(number))

    def fail(numbers):
        for number in numbers:
            workers.futures[number][-1].set_exception(OSError("x"))

    fail(range(50))
    assert flights.take(0.0) is None
    fail(range(FAILURES - 1))
    assert flights.take(0.0) is None and len(flights) == 50
    workers.futures[49][-1].set_result(REPORT)
    assert flights.take(0.0) is not None, "from here they are counted anew"
    for number in range(50, 100):
        flights.submit(execution(number))
    fail([*range(FAILURES, 49), *range(50, 100)])
    assert flights.take(0.0) is None
    fail(range(50, 70))
    with pytest.raises(WorkersFailed, match=r"109 attempts .* the last one with OSError: x;"):
        flights.take(0.0)
    assert len(flights) == 98


@pytest.mark.parametrize("first", [0, 1])
def test_whichever_attempt_comes_first_counts_and_only_it(first):
    workers = ByHand(patience=0.05)
    flights = Flights(workers)
    flights.submit(execution(7))
    time.sleep(0.1)
    assert flights.take(0.0) is None, "it was silent for too long"
    attempts = workers.futures[7]
    assert len(attempts) == 2 and len(flights) == 1
    attempts[first].set_result(REPORT)
    assert flights.take(0.0) == (execution(7), REPORT)
    assert len(flights) == 0 and attempts[1 - first].cancelled()
    flights.submit(execution(8))
    assert flights.take(0.0) is None and len(workers.futures[7]) == 2


def test_a_late_report_is_dropped_and_logged(caplog, monkeypatch):
    monkeypatch.setattr(loop.logger, "propagate", True)
    workers = ByHand(patience=0.05)
    flights = Flights(workers)
    flights.submit(execution(7))
    workers.futures[7][0].set_running_or_notify_cancel()  # it cannot be called off any more
    time.sleep(0.1)
    flights.take(0.0)
    workers.futures[7][1].set_result(REPORT)
    assert flights.take(0.0) == (execution(7), REPORT)
    flights.submit(execution(8))
    workers.futures[7][0].set_result(OTHER)
    assert flights.take(0.0) is None and len(flights) == 1
    assert "run 7: a report came late, or twice; dropped" in caplog.text


def test_a_silent_attempt_that_fails_at_last_is_no_second_failure():
    workers = ByHand(patience=0.05)
    flights = Flights(workers)
    flights.submit(execution(7))
    time.sleep(0.1)
    flights.take(0.0)
    workers.futures[7][0].set_exception(OSError("gone"))
    flights.take(0.0)
    assert len(workers.futures[7]) == 2
    workers.futures[7][1].set_exception(OSError("gone"))
    flights.take(0.0)
    assert len(workers.futures[7]) == 3
    workers.futures[7][2].set_result(REPORT)
    assert flights.take(0.0) == (execution(7), REPORT)


def test_time_in_which_we_were_stopped_is_no_silence(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("cunctator.study.flights.time.monotonic", lambda: now[0])
    workers = ByHand(patience=5.0)
    flights = Flights(workers)
    flights.submit(execution(7))
    now[0] += 3600.0
    flights.take(0.0)
    assert len(workers.futures[7]) == 1
    for _ in range(5):
        now[0] += 1.0
        flights.take(0.0)
    assert len(workers.futures[7]) == 2


def test_nobody_is_woken_at_the_end():
    """Ctrl-C once more, while the last reports come in: none of them is lost by that."""
    workers = ByHand()
    flights = Flights(workers)
    flights.submit(execution(7))
    flights.wake()
    assert flights.take(5.0) is None
    flights.end()
    flights.wake()
    workers.futures[7][0].set_result(REPORT)
    assert flights.take(5.0) == (execution(7), REPORT)


def test_what_is_no_report_is_a_failure():
    workers = RecordedWorkers(report=lambda execution: None)
    flights = Flights(workers)
    flights.submit(execution(7))
    with pytest.raises(WorkersFailed, match=r"run 7 .* TypeError: None is no report;"):
        flights.take(0.0)


WRONG: list[dict[str, Any]] = [
    {"seconds": float("nan")},
    {"seconds": -1.0},
    {"seconds": float("inf")},
    {"seconds": "1"},
    {"status": "solved"},
    {"details": None},
    {"details": dataclasses.replace(REPORT.details, problem=b"x")},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_report_that_cannot_be_is_a_failure(wrong):
    workers = ByHand()
    flights = Flights(workers)
    flights.submit(execution(7))
    workers.futures[7][-1].set_result(dataclasses.replace(REPORT, **wrong))
    assert flights.take(0.0) is None and len(workers.futures[7]) == 2
    workers.futures[7][-1].set_result(REPORT)
    assert flights.take(0.0) == (execution(7), REPORT)


def test_a_study_ends_even_if_its_workers_do_not_answer(conduct, tmp_path, monkeypatch):
    """They were told to stop, and some futures never end."""
    monkeypatch.setattr(loop, "LAST_WORDS", 0.2)
    hanging = ByHand()
    submit = hanging.submit

    def some(execution):
        return submit(execution) if execution.number == 5 else RecordedWorkers().submit(execution)

    hanging.submit = some
    view = conduct(hanging, runs=10, more="wall = '300ms'")
    assert view.stop is StopReason.BUDGET and view.spent.runs == 9
    assert "1 run left without a word" in (tmp_path / "study" / "study.log").read_text()


def test_tries_of_the_default_survive_failures_too(conduct):
    """They are made apart from the search when everything crashes."""
    attempts = []

    def report(execution):
        crashed = Report(Status.CRASHED, 0.001, Details(0.001, 0.001, "x", problem="broken"))
        if execution.cap == 0.01 and execution.configuration["speed"] == 1.0:
            attempts.append(execution)
            if len(attempts) % 2:
                raise ConnectionError("gone")
        return crashed

    view = conduct(RecordedWorkers(1, report))
    assert view.stop is StopReason.DEFAULT_CRASHES and "broken" in view.problem


def test_bulk_runs_are_made_again():
    workers = HostileWorkers(RecordedWorkers(2))
    asked = [execution(number, f"i{number}") for number in range(50)]
    found = {each.number: report for each, report in completed(workers, asked)}
    assert found == {each.number: report_of(each) for each in asked}
    workers.close()
