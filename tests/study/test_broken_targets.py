"""Targets that crash, fail late or contradict themselves, and what a study makes of them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from cunctator.base.errors import StudyProblem
from cunctator.base.records import Status, StopReason
from cunctator.core.sentinels import ASKED
from cunctator.scenario import load_scenario
from cunctator.show.study import NO_ANSWER, facts
from cunctator.study.crash_streak import FALLEN, Streak
from cunctator.study.folder import begin_study, incumbent_of
from cunctator.target.execution import Execution
from tests.recorded_workers import RecordedWorkers, report_of, runtime_of
from tests.study.conducting import conduct, events_of, go_on, write_scenario


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
    assert answer != 0 and 0 < both.pairs == len(common) <= view.incumbent.started
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


def test_a_target_that_breaks_in_the_middle_ends_the_study_and_is_gone_on_with(tmp_path):
    """A licence that runs out: nobody is to record for a night that everything crashes."""
    scenario = write_scenario(tmp_path, "runs = 3000")

    def expired(execution):
        good = report_of(execution)
        if execution.number <= 200:
            return good
        details = dataclasses.replace(good.details, problem="licence expired")
        return dataclasses.replace(good, status=Status.CRASHED, seconds=1e-4, details=details)

    view = conduct(scenario, tmp_path / "study", RecordedWorkers(report=expired))
    assert view.stop is StopReason.ABORTED and 250 <= view.spent.runs < 400
    assert "runs crashed, also of what had worked before" in view.problem
    assert "licence expired" in view.problem
    again = go_on(tmp_path / "study", RecordedWorkers())
    assert again.spent.runs > 300


def test_configurations_that_never_worked_may_crash_in_a_row():
    streak = Streak()
    for number in range(200):
        streak.take(number % 40, True, has_worked=number % 40 < FALLEN - 1)
    assert streak.length == 200 and not streak.is_alarming
    streak.take(FALLEN, True, has_worked=True)
    assert streak.is_alarming
    streak.take(0, False, has_worked=True)
    assert streak.length == 0 and not streak.is_alarming
