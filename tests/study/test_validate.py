"""The answer against the default: answers that contradict, runs that cannot be made, Ctrl-C."""

from __future__ import annotations

import dataclasses
import io
import shlex
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from rich.console import Console

from cunctator.base.errors import InvalidSetting
from cunctator.base.records import Status
from cunctator.scenario import load_scenario
from cunctator.show.validation import validation_table
from cunctator.study import validate as validation
from cunctator.study.snapshot import Incumbent
from cunctator.target.execution import Execution
from cunctator.target.replies import ContradictingReplies
from tests.recorded_workers import SCENARIO, RecordedWorkers, report_of

TESTS = "runs = 1\n[test_instances]\nnames = ['d', 'e', 'f']\n"


def third(scenario):
    """Configuration 3 as an answer."""
    return Incumbent(index=3, configuration=scenario.space.configuration(3), started=20)


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO + TESTS)
    return load_scenario(path)


@pytest.fixture
def validate(scenario, tmp_path, monkeypatch):
    """Compare configuration 3 with the default; runs are what `report` makes of them."""

    def validate(report, progress=None, workers=None):
        workers = workers or RecordedWorkers(2, report)
        monkeypatch.setattr(validation, "LocalWorkers", lambda *_: workers)
        try:
            return validation.validate(scenario, third(scenario), tmp_path, 20, progress=progress)
        finally:
            assert workers.is_closed
            validate.runs = len(workers.executions)  # type: ignore[attr-defined]

    return validate


def answering(answer):
    def report(execution):
        good = report_of(execution)
        details = dataclasses.replace(good.details, reply=answer(execution))
        return dataclasses.replace(good, details=details)

    return report


def test_both_run_the_same_pairs(validate, scenario):
    seen = []
    found = validate(report_of, lambda *numbers: seen.append(numbers))
    assert seen == [(done, 40) for done in range(1, 41)]
    assert found.default.size == found.incumbent.size == len(found.pairs) == 20
    assert found.pairs == tuple(scenario.test_instances.even_pair(k) for k in range(20))
    assert not found.interrupted and found.as_data()["interrupted"] is False


def test_agreeing_answers(validate):
    found = validate(answering(lambda execution: execution.instance))
    assert found.default.size == 20


def test_contradicting_answers_show_both_command_lines(validate, scenario):
    other = scenario.space.configuration(3)["speed"]
    with pytest.raises(ContradictingReplies) as caught:
        validate(answering(lambda run: "SAT" if run.configuration["speed"] == other else "UNSAT"))
    assert validate.runs < 40, "it ends at once"
    for speed in (1.0, other):
        assert f"solver {shlex.quote(str(speed))} " in str(caught.value)
    assert "UNSAT was the answer of" in str(caught.value)


def cut_off(scenario, is_default, is_answer):
    """Runs on `d` are cut off, of the default, of the answer, or of both."""

    def report(execution):
        good = report_of(dataclasses.replace(execution, cap=1000.0))
        mine = execution.configuration == scenario.space.default
        if execution.instance == "d" and (is_default if mine else is_answer):
            return dataclasses.replace(good, status=Status.CAPPED, seconds=execution.cap)
        return good

    return report


def text_of(found):
    text = io.StringIO()
    Console(width=200, file=text).print(validation_table(found))
    return text.getvalue()


@pytest.mark.parametrize(
    ("who", "bound", "words"),
    [
        ((False, False), None, "Speed-up 0."),
        ((True, False), "at least", "Speed-up at least"),
        ((False, True), "at most", "Speed-up at most"),
        ((True, True), "no bound", "in neither direction"),
    ],
)
def test_a_speed_up_of_runs_that_were_cut_off_is_a_bound(validate, scenario, who, bound, words):
    found = validate(cut_off(scenario, *who))
    data, text = found.as_data(), text_of(found)
    assert data["bound"] == bound and words in text
    assert (data["interval"][0] > 0) == (bound in (None, "at least"))
    assert (data["interval"][1] is not None) == (bound in (None, "at most"))
    rows = [line for line in text.splitlines() if "default  " in line or "configuration 3" in line]
    for row, capped in zip(rows[:2], who, strict=True):
        assert ("at least" in row) == capped, row


@pytest.mark.parametrize("who", [(True, False), (False, True), (True, True), (False, False)])
@pytest.mark.parametrize("status", [Status.CAPPED, Status.CRASHED])
def test_where_timeouts_count_ten_times_the_ratio_is_known(tmp_path, monkeypatch, who, status):
    """It is one of other means than those of whole runtimes, so it is no bound on their ratio."""
    scenario = load_scenario(write_penalised(tmp_path))

    def report(execution):
        mine = execution.configuration == scenario.space.default
        good = report_of(execution)
        if good.status is Status.CAPPED or (execution.instance == "d" and who[0 if mine else 1]):
            return dataclasses.replace(good, status=status, seconds=execution.cap)
        return good

    monkeypatch.setattr(validation, "LocalWorkers", lambda *_: RecordedWorkers(2, report))
    found = validation.validate(scenario, third(scenario), tmp_path, 20)
    sides, count = [], found.default.size
    for place, index in enumerate((0, 3)):
        values = scenario.space.configuration(index)
        runs = [Execution(0, values, *pair, 1000.0) for pair in found.pairs]
        seconds = np.array([report_of(run).seconds for run in runs])
        out = np.array([run.instance == "d" and who[place] for run in runs]) | (seconds >= 5.0)
        sides.append(np.where(out, 50.0, seconds))
        assert (found.capped, found.crashed)[status is Status.CRASHED][place] == out.sum() < count
    assert found.speed_up == pytest.approx(sides[0].mean() / sides[1].mean())
    data, text = found.as_data(), " ".join(text_of(found).split())
    assert (data["bound"], data["penalty"], data["cutoff"]) == (None, 10.0, 5.0)
    low, high = found.interval
    assert 0 < low < found.speed_up < high < np.inf and data["interval"] == [low, high]
    assert (
        f"Speed-up {found.speed_up:.3g}, counting runs that were cut off or crashed as 50 s" in text
    )
    assert "(10 times the cutoff)" in text and "Speed-up at" not in text
    assert ("Runs crashed" in text) == any(found.crashed)
    took = data["default"][[instance for instance, _ in found.pairs].index("d")]
    if who[0]:
        assert took == (5.0 if status is Status.CAPPED else None), "what it took, or a crash"


def write_penalised(folder):
    path = folder / "penalised.toml"
    path.write_text(SCENARIO.replace('"5s"', '"5s"\npenalty = 10') + TESTS)
    return path


def test_the_answer_of_a_run_that_was_cut_off_does_not_count(validate):
    def report(execution):
        good = answering(lambda run: str(run.configuration["speed"]))(execution)
        return dataclasses.replace(good, status=Status.CAPPED)

    assert validate(report).capped == (20, 20)


def test_it_ends_at_the_first_run_that_cannot_be_made(validate):
    def report(execution):
        good = report_of(execution)
        details = dataclasses.replace(good.details, problem="it has vanished")
        return dataclasses.replace(good, details=details, abort=execution.number == 3)

    with pytest.raises(InvalidSetting, match="it has vanished"):
        validate(report)
    assert validate.runs < 20


@pytest.mark.parametrize(("after", "pairs"), [(1, None), (3, None), (4, 2), (31, 15)])
def test_an_interrupt_leaves_the_pairs_that_are_complete(validate, after, pairs):
    def press(done, _):
        if done == after:
            raise KeyboardInterrupt

    if pairs is None:
        with pytest.raises(KeyboardInterrupt):
            validate(report_of, press)
        return
    found = validate(report_of, press)
    whole = validate(report_of)
    assert found.interrupted and found.as_data()["interrupted"] is True
    assert found.pairs == whole.pairs[:pairs]
    assert found.default.tolist() == whole.default[:pairs].tolist()
    assert found.incumbent.tolist() == whole.incumbent[:pairs].tolist()


class SlowWorkers(RecordedWorkers):
    """The first run takes as long as all the others together."""

    def __init__(self, threads):
        super().__init__(2)
        self.threads = threads
        self.others_are_done = threading.Event()

    def submit(self, execution):
        self.executions.append(execution)
        return self.threads.submit(self._run, execution)

    def _run(self, execution):
        if execution.number == 0:
            assert self.others_are_done.wait(10)
        return report_of(execution)


def test_no_run_waits_for_the_slowest_and_all_find_their_place(validate):
    with ThreadPoolExecutor(2) as threads:
        workers = SlowWorkers(threads)

        def progress(done, total):
            if done == total - 1:
                workers.others_are_done.set()

        found = validate(None, progress, workers)
    whole = validate(report_of)
    assert found.default.tolist() == whole.default.tolist()
    assert found.incumbent.tolist() == whole.incumbent.tolist()
