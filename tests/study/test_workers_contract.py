"""What every backend must do: local slots, recorded ones, and those on the far side of bad luck.

Another backend is another line of `BACKENDS`.
"""

from __future__ import annotations

import dataclasses
import json
import pickle
import time
from contextlib import closing

import numpy as np
import pytest

from cunctator.base.records import Status, StopReason
from cunctator.core.sentinels import ASKED
from cunctator.scenario import load_scenario
from cunctator.study import flights as flights_module
from cunctator.study.flights import Flights
from cunctator.study.folder import begin_study, resumed_study
from cunctator.study.journal.journal import open_journal
from cunctator.study.workers import LocalWorkers, Workers, slot_settings
from cunctator.target.execution import Details, Execution, Report
from tests.hostile_workers import AT_ONCE, HostileWorkers
from tests.recorded_workers import SEEDLESS, RecordedWorkers

BACKENDS = {
    "local": LocalWorkers,
    "recorded": lambda settings, slots: RecordedWorkers(slots),
    "hostile": lambda settings, slots: HostileWorkers(RecordedWorkers(slots)),
    "hostile and local": lambda settings, slots: HostileWorkers(
        LocalWorkers(settings, slots), AT_ONCE, late=100.0
    ),
}

COMMAND = """["/bin/sh", "-c", "[ $1 != slow ] || sleep 100", "sh", "{instance}", "{speed}"]"""
"""It sleeps on one instance; recorded slots have their own view of it."""


@pytest.fixture
def scenario(tmp_path, monkeypatch):
    monkeypatch.setattr(flights_module, "LOOK_EVERY", 0.02)
    text = SEEDLESS.replace("""["{python}", "{speed}", "{instance}"]""", COMMAND)
    names = ", ".join(f"'{number}'" for number in range(100))
    text = text.replace("""names = ["a", "b", "c"]""", f"names = [{names}]")
    assert COMMAND in text and names in text
    (tmp_path / "scenario.toml").write_text(text + "runs = 40")
    return load_scenario(tmp_path / "scenario.toml")


@pytest.fixture(params=BACKENDS)
def make(request, scenario, tmp_path):
    """Workers of a backend, closed in the end."""
    made: list[Workers] = []

    def workers(slots=1):
        settings = slot_settings(scenario, tmp_path / "made")
        made.append(BACKENDS[request.param](settings, slots))
        return made[-1]

    yield workers
    for each in made:
        each.close()


def execution(number=1, instance="a", cap=20.0):
    return Execution(number, {"speed": 1.0}, instance, 0, cap)


def reported(flights, seconds=60.0):
    """All reports of what is in flight."""
    until = time.monotonic() + seconds
    found = []
    while flights and time.monotonic() < until:
        taken = flights.take(0.1)
        if taken is not None:
            found.append(taken)
    return found


@pytest.mark.parametrize("slots", [1, 3])
def test_every_run_is_reported_once(make, slots):
    flights = Flights(make(slots))
    asked = [execution(number, f"i{number}") for number in range(1, 41)]
    for each in asked:
        flights.submit(each)
    found = reported(flights)
    assert not flights and flights.take(0.5) is None
    assert sorted((each for each, _ in found), key=lambda each: each.number) == asked
    for each, report in found:
        assert report.status in (Status.SOLVED, Status.CAPPED) and not report.abort
        assert report.status is Status.CAPPED or 0 <= report.seconds <= each.cap


def test_what_passes_is_small_and_plain(make):
    asked = execution()
    flights = Flights(make())
    flights.submit(asked)
    ((_, report),) = reported(flights)
    for record in (asked, report):
        sent = pickle.dumps(record)
        assert pickle.loads(sent) == record and len(sent) < 1000
    data = json.loads(json.dumps(dataclasses.asdict(asked)))
    assert Execution(**data) == asked
    data = json.loads(json.dumps(dataclasses.asdict(report), default=lambda status: status.value))
    details = Details(**data.pop("details"))
    assert Report(Status(data.pop("status")), details=details, **data) == report


def test_facts_for_people(make):
    workers = make(2)
    assert workers.slots == 2 and workers.busy_seconds >= 0
    assert all(isinstance(word, str) for word in workers.argv(execution()))
    assert workers.patience(execution()) > 0


def test_stopping_calls_off_what_runs(make):
    workers = make(2)
    flights = Flights(workers)
    for number in range(1, 5):
        flights.submit(execution(number, "slow", cap=50.0))
    flights.take(0.2)
    begun = time.monotonic()
    workers.stop()
    flights.end()
    reported(flights)
    assert not flights and time.monotonic() - begun < 10
    flights.submit(execution())
    reported(flights)
    assert not flights, "what comes after a stop ends too"


def test_closing_may_be_repeated(make):
    workers = make(2)
    Flights(workers).submit(execution(instance="slow", cap=50.0))
    begun = time.monotonic()
    workers.close()
    workers.close()
    assert time.monotonic() - begun < 10


def events_of(directory):
    with closing(open_journal(directory, writing=False)) as journal:
        journal.check()
        return journal.events()


def check_told_once(events, runs):
    told = events.number[events.status != ASKED]
    assert len(told) == len(np.unique(told)) == runs
    asked = events.number[events.status == ASKED]
    assert len(asked) == len(np.unique(asked)), "a run that is made again is not asked for again"


@pytest.mark.parametrize("slots", [1, 3])
def test_a_study_tells_every_run_once(make, scenario, tmp_path, slots):
    with begin_study(scenario, tmp_path / "study", lambda *_: make(slots)) as study:
        view = study.run()
    assert view.stop is StopReason.BUDGET, view.problem
    assert view.spent.runs == 40 and view.in_flight == 0
    check_told_once(events_of(tmp_path / "study"), 40)


def test_a_study_that_is_interrupted_goes_on(make, scenario, tmp_path):
    workers = make(2)
    submit, count = workers.submit, [0]
    with begin_study(scenario, tmp_path / "study", lambda *_: workers) as study:

        def submitted(each):
            count[0] += 1
            if count[0] == 20:
                study.interrupt()
            return submit(each)

        workers.submit = submitted
        view = study.run()
    assert view.stop is StopReason.INTERRUPTED and view.spent.runs < 40
    with resumed_study(tmp_path / "study", 0.0, lambda *_: make(2)) as study:
        view = study.run()
    assert view.stop is StopReason.BUDGET and view.spent.runs == 40
    check_told_once(events_of(tmp_path / "study"), 40)
