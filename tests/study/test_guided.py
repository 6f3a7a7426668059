"""Studies with a guide: what it proposes is written down, and a resumed study is told it again."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import sqlite3
import threading
from concurrent.futures import Future
from contextlib import closing

import numpy as np
import pytest
from typer.testing import CliRunner

from cunctator.base.errors import StudyProblem
from cunctator.base.records import Status
from cunctator.cli.common import app
from cunctator.core.state import GUIDED
from cunctator.propose.guide import Plan
from cunctator.scenario import load_scenario
from cunctator.study import folder as study_folder
from cunctator.study import guidance, loop
from cunctator.study import validate as validation
from cunctator.study.folder import begin_study, incumbent_of, resumed_study, scenario_of
from cunctator.study.guidance import SHARE, Planned, at_once, beside
from cunctator.study.journal.journal import FILE, Journal, open_journal
from cunctator.study.journal.rows import advised_of
from cunctator.study.validate import validate
from cunctator.target.execution import Details, Report
from tests.recorded_workers import RecordedWorkers
from tests.study.conducting import events_of, write_scenario

SCENARIO = """
[target]
command = ["{python}", "{parameters}", "{instance}", "{seed}"]
format = "-{name}={value}"
[parameters.speed]
type = "real"
low = 0.2
high = 5.0
log = true
default = 1.0
[parameters.restarts]
type = "categorical"
values = ["luby", "geometric", "none"]
default = "luby"
[parameters.first]
type = "integer"
low = 1
high = 1000
log = true
default = 100
when = {restarts = ["luby", "geometric"]}
[parameters.simplify]
type = "categorical"
values = [true, false]
default = true
[instances]
names = ["a", "b", "c", "d"]
seeds = 30
[search]
first_cap = "10ms"
cutoff = "20s"
seed = 3
workers = 1
[budget]
"""
RESTARTS = {"luby": 1.0, "geometric": 0.8, "none": 2.0}


def runtime_of(execution):
    """Fast are low speeds, geometric restarts, a first interval near 30, and no simplification."""
    values = execution.configuration
    words = f"{execution.instance} {execution.seed}".encode()
    hardness = int.from_bytes(hashlib.sha256(words).digest()[:4], "big") / 2**32
    own = hashlib.sha256(words + json.dumps(values).encode()).digest()
    noise = int.from_bytes(own[:4], "big") / 2**32 - 0.5
    factor = values["speed"] ** 0.5 * RESTARTS[values["restarts"]]
    factor *= 1.0 if values["simplify"] else 0.8
    if "first" in values:
        factor *= math.exp(0.1 * math.log(values["first"] / 30.0) ** 2)
    return 0.1 * math.exp(3.0 * hardness + noise) * factor


def report_of(execution):
    runtime = runtime_of(execution)
    seconds = min(runtime, execution.cap)
    status = Status.SOLVED if runtime <= execution.cap else Status.CAPPED
    return Report(status, seconds, Details(cpu=seconds, wall=seconds, ending="recorded"))


class Workers(RecordedWorkers):
    """Slots of this target; they may end a study after so many runs, or look at it meanwhile."""

    def __init__(self, slots=1, most=math.inf, looks=()):
        super().__init__(slots, report_of)
        self.most, self.study, self.looks = most, None, dict(looks)

    def submit(self, execution):
        if len(self.executions) + 1 >= self.most:
            self.study.interrupt()
        if look := self.looks.get(execution.number):
            look()
        return super().submit(execution)

    def argv(self, execution):
        return ["solver", *map(str, execution.configuration.values())]


def run_study(opened, workers):
    with opened as study:
        workers.study = study
        return study, study.run()


def begin(tmp_path, workers, budget="runs = 900", planner=at_once, text=SCENARIO):
    scenario = write_scenario(tmp_path, budget, text=text)
    opened = begin_study(scenario, tmp_path / "study", lambda *_: workers, planner)
    return run_study(opened, workers)


def go_on(directory, workers, **more):
    opened = resumed_study(directory, make_workers=lambda *_: workers, planner=at_once, **more)
    return run_study(opened, workers)


def advice_in(directory):
    with closing(open_journal(directory, writing=False)) as journal:
        journal.check()
        return journal.advice()


def test_the_guide_is_followed_and_written_down(tmp_path):
    study, view = begin(tmp_path, Workers())
    advice = advice_in(tmp_path / "study")
    proposed = sum(len(said.proposed) for said in advice)
    assert len(advice) > 10 and proposed > 30
    turns = study.scheduler.state.turns
    assert turns[GUIDED] > 0.1 * turns.sum()
    answer = view.incumbent.configuration
    assert study.scenario.space.is_proposed(answer), "proposals are better than draws here"
    with closing(open_journal(tmp_path / "study", writing=False)) as journal:
        assert journal.fact("guided") == str(SHARE) and journal.fact("schema") == "4"
        space = scenario_of(tmp_path / "study", journal).space
    assert space.configuration(answer) == view.configuration
    for number in range(study.scheduler.state.testers.size):
        assert space.configuration(number) == study.scenario.space.configuration(number)


def test_values_keep_their_types_through_the_journal(tmp_path):
    begin(tmp_path, Workers())
    for said in advice_in(tmp_path / "study"):
        for values in said.proposed:
            assert type(values["simplify"]) is bool and type(values["speed"]) is float
            assert type(values.get("first", 1)) is int


def test_it_finds_more_than_random_draws_do(tmp_path):
    """Expected runtimes of the answers, of three seeds together."""
    means = {}
    for guide in ("true", "false"):
        for seed in range(3):
            place = tmp_path / f"{guide}{seed}"
            place.mkdir()
            text = SCENARIO.replace("seed = 3", f"seed = {seed}\nguide = {guide}")
            _, view = begin(place, Workers(), "runs = 2500", text=text)
            values = view.configuration
            factor = values["speed"] ** 0.5 * RESTARTS[values["restarts"]]
            factor *= 1.0 if values["simplify"] else 0.8
            if "first" in values:
                factor *= math.exp(0.1 * math.log(values["first"] / 30.0) ** 2)
            means[guide, seed] = math.log(factor)
    guided, alone = (np.mean([means[one, seed] for seed in range(3)]) for one in ("true", "false"))
    assert guided < alone - 0.03


def test_a_study_without_a_guide_is_as_before(tmp_path):
    text = SCENARIO.replace("seed = 3", "seed = 3\nguide = false")
    begin(tmp_path, Workers(), text=text)
    assert advice_in(tmp_path / "study") == []
    with closing(open_journal(tmp_path / "study", writing=False)) as journal:
        assert journal.fact("guided") is None and journal.fact("schema") == "3"


@pytest.mark.parametrize("change", ["configurations = 12\n", "list"])
def test_there_is_none_where_all_are_listed(tmp_path, change):
    text = SCENARIO.replace("seed = 3", f"seed = 3\n{change}")
    if change == "list":
        text = SCENARIO.replace('"real"', '"integer"').replace("low = 0.2", "low = 1")
        text = text.replace("high = 5.0", "high = 5").replace("1000", "20").replace("100\n", "10\n")
        text = text.replace("default = 1.0", "default = 1")
    study, _ = begin(tmp_path, Workers(), "runs = 200", text=text)
    assert study.scenario.space.size or study.scenario.configurations == 12
    assert advice_in(tmp_path / "study") == []


def test_interrupted_thirty_times_it_asks_for_the_same_runs(tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir()
    parts.mkdir()
    begin(whole, Workers(), "runs = 700")
    random = np.random.default_rng(1)
    begin(parts, Workers(most=12), "runs = 700")
    for _ in range(30):
        go_on(parts / "study", Workers(most=int(random.integers(1, 40))))
    go_on(parts / "study", Workers())
    for ours, theirs in zip(events_of(whole / "study"), events_of(parts / "study"), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert advice_in(whole / "study") == advice_in(parts / "study")


def test_killed_at_any_moment_it_asks_for_the_same_runs(tmp_path):
    """What is on disk when a run begins is what a kill leaves."""
    random = np.random.default_rng(2)
    moments = sorted({int(one) for one in random.integers(30, 690, 30)})

    def keep(number):
        copy = tmp_path / str(number)
        shutil.copytree(tmp_path / "study", copy, ignore=shutil.ignore_patterns("lock"))

    looks = {number: lambda number=number: keep(number) for number in moments}
    begin(tmp_path, Workers(looks=looks), "runs = 700")
    expected = events_of(tmp_path / "study")
    for number in moments:
        go_on(tmp_path / str(number), Workers())
        for ours, theirs in zip(events_of(tmp_path / str(number)), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_several_slots_are_kept_busy_by_tasks(tmp_path):
    study, _ = begin(tmp_path, Workers(slots=3))
    assert len(advice_in(tmp_path / "study")) > 10
    study.scheduler.check()


class LateWorkers(Workers):
    """Some runs are done after a while, so that the study looks around several times between."""

    def submit(self, execution):
        now = super().submit(execution)
        if execution.number % 20:
            return now
        later = Future()
        threading.Timer(0.2, lambda: later.cancelled() or later.set_result(now.result())).start()
        return later


def test_no_advice_is_lost_between_two_events(tmp_path, monkeypatch):
    """Plans that come sooner than anything that could carry them into the journal."""

    def always(scheduler, *_):
        return scheduler.state.now.entered >= 8 and not scheduler.is_closing

    monkeypatch.setattr(guidance, "is_plan_due", always)
    monkeypatch.setattr(loop, "GLANCE", 0.002)
    study, _ = begin(tmp_path, LateWorkers(), "runs = 400")
    advice = advice_in(tmp_path / "study")
    assert len(advice) > 10
    proposals = study.scheduler.state.now.proposals
    written = sum(len(said.proposed) for said in advice)
    assert proposals - 8 <= written <= proposals, "the last may have come after all events"
    go_on(tmp_path / "study", Workers(), more_runs=50)


def test_advice_whose_numbers_are_other_ones_is_not_gone_on_with(tmp_path, monkeypatch):
    begin(tmp_path, Workers(), "runs = 300")
    changed = [said._replace(first=said.first + 1) for said in advice_in(tmp_path / "study")]
    monkeypatch.setattr(Journal, "advice", lambda _: changed)
    with pytest.raises(StudyProblem, match="the search has changed"):
        go_on(tmp_path / "study", Workers(), more_runs=50)


def test_a_plan_in_the_making_keeps_nobody(tmp_path):
    """Not the study, nor the end of the process: its thread is a daemon."""
    release, begun = threading.Event(), threading.Event()

    def work():
        begun.set()
        release.wait(60.0)
        return Plan((), ())

    future = beside(work)
    assert begun.wait(60.0) and not future.done()
    assert all(thread.daemon for thread in threading.enumerate() if thread.name == "guide")
    release.set()
    assert future.result(60.0).plan == Plan((), ())


def test_plans_that_cost_much_are_made_less_often(tmp_path):
    """At most a fiftieth of the charged time is for them."""

    def costly(work):
        future = Future()
        future.set_result(Planned(work(), 0.4))
        return future

    _, view = begin(tmp_path, Workers(), planner=costly)
    count = len(advice_in(tmp_path / "study"))
    assert 3 < count <= 1 + view.spent.charged / 20


def test_a_guide_that_fails_is_done_without(tmp_path):
    def broken(work):
        def fail():
            raise ZeroDivisionError("division by zero")

        return at_once(fail)

    study, view = begin(tmp_path, Workers(), "runs = 300", broken)
    assert view.spent.runs == 300
    assert study.warnings == [
        "the guide has failed, and the search goes on alone: ZeroDivisionError: division by zero"
    ]


def test_nobody_waits_for_a_guide_that_is_slow(tmp_path):
    study, view = begin(tmp_path, Workers(), "runs = 300", lambda work: Future())
    assert view.spent.runs == 300 and advice_in(tmp_path / "study") == []
    assert study.scheduler.state.turns[GUIDED] == 0


def test_a_scenario_that_was_used_is_as_new(tmp_path):
    """The configurations of one study's guide are not those of the next."""
    scenario = write_scenario(tmp_path, "runs = 400", text=SCENARIO)
    studies = []
    for name in ("one", "other"):
        workers = Workers()
        opened = begin_study(scenario, tmp_path / name, lambda *_, w=workers: w, at_once)
        studies.append(run_study(opened, workers))
    ours, theirs = events_of(tmp_path / "one"), events_of(tmp_path / "other")
    np.testing.assert_array_equal(ours.configuration, theirs.configuration)


def test_status_and_validate_know_what_was_proposed(tmp_path, monkeypatch):
    _, view = begin(tmp_path, Workers())
    monkeypatch.setattr(study_folder, "LocalWorkers", lambda *_: Workers())
    result = CliRunner().invoke(app, ["status", str(tmp_path / "study")])
    assert result.exit_code == 0
    words = f"configuration {view.incumbent.configuration} (proposed by the guide), "
    assert words in " ".join(result.output.split())
    assert view.snapshot().as_data()["incumbent"]["proposed"] is True


def test_the_answer_is_validated_and_nobody_else(tmp_path, monkeypatch):
    """Also by whoever loads the scenario anew, where its number means another one."""
    text = SCENARIO.replace("[search]", "[test_instances]\nnames = ['e', 'f']\nseeds = 2\n[search]")
    _, view = begin(tmp_path, Workers(), text=text)
    answer, workers = incumbent_of(tmp_path / "study"), Workers()
    assert answer.proposed
    monkeypatch.setattr(validation, "LocalWorkers", lambda *_: workers)
    validate(load_scenario(tmp_path / "scenario.toml"), answer, tmp_path)
    default = {"speed": 1.0, "restarts": "luby", "first": 100, "simplify": True}
    run = [one.configuration for one in workers.executions]
    assert run == [default, view.configuration] * 4


@pytest.mark.parametrize(
    "details",
    [
        {"advice": 3},
        {"advice": {}},
        {"advice": {"first": 1, "proposed": 3, "tasks": [], "charged": 1}},
        {"advice": {"first": 1, "proposed": [3], "tasks": [], "charged": 1}},
        {"advice": {"first": 1, "proposed": [{"a": None}], "tasks": [], "charged": 1}},
        {"advice": {"first": 1, "proposed": [{"a": [1]}], "tasks": [], "charged": 1}},
        {"advice": {"first": 1, "proposed": [], "tasks": [1], "charged": 1}},
        {"advice": {"first": 1, "proposed": [], "tasks": [[1, "x"]], "charged": 1}},
        {"advice": {"first": None, "proposed": [], "tasks": [], "charged": 1}},
        {"advice": {"first": 1, "proposed": [], "tasks": [], "charged": "soon"}},
    ],
)
def test_advice_that_is_none_is_damage(details):
    with pytest.raises(ValueError):
        advised_of(0, json.dumps(details))
    assert advised_of(0, json.dumps({"problem": '"advice"'})) is None


def test_changed_advice_is_noticed(tmp_path):
    begin(tmp_path, Workers(), "runs = 300")
    file = tmp_path / "study" / FILE
    with closing(sqlite3.connect(file)) as connection, connection:
        row = connection.execute(
            "select id, details from events where details like '%advice%' limit 1"
        ).fetchone()
        details = bytes(row[1]) if isinstance(row[1], bytes) else row[1].encode()
        changed = details.replace(b'"speed": ', b'"speed": 1', 1)
        assert changed != details
        connection.execute("update events set details = ? where id = ?", (changed, row[0]))
    with pytest.raises(StudyProblem, match=f"row {row[0]}"):
        go_on(tmp_path / "study", Workers())
