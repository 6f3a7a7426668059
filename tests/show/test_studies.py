"""What people see of trials, validations and studies that went wrong."""

from __future__ import annotations

import io
import json
import shlex
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from cunctator.base.records import Status
from cunctator.cli.common import app
from cunctator.scenario import load_scenario
from cunctator.show.study import comparison, story
from cunctator.show.trial import check_parts
from cunctator.show.validation import validation_table
from cunctator.study.folder import resumed_study
from cunctator.study.trial import Trial, contradiction_in
from cunctator.study.validate import Validation
from cunctator.target.execution import Details, Execution, Report
from tests.recorded_workers import SCENARIO, SEEDLESS, RecordedWorkers
from tests.study.conducting import conduct, write_scenario


def trial(configuration: int, instance: str, reply: str) -> Trial:
    execution = Execution(configuration, {"speed": 1.0}, instance, 1, 5.0)
    details = Details(0.1, 0.4, "exited", 10, reply=reply)
    argv = ["solver", f"-s={configuration}", instance]
    return Trial(configuration, execution, argv, Report(Status.SOLVED, 0.1, details))


def shown(parts: object) -> str:
    console = Console(width=80, record=True, file=io.StringIO())
    for part in parts if isinstance(parts, list) else [parts]:
        console.print(part)
    return " ".join(console.export_text().split())


@pytest.fixture
def scenario(tmp_path):
    (tmp_path / "scenario.toml").write_text(SCENARIO + 'wall = "40s"\n')
    return load_scenario(tmp_path / "scenario.toml")


def test_a_trial_whose_runs_contradict_each_other_is_not_well(scenario):
    trials = [trial(0, "a", "SAT"), trial(0, "b", "UNSAT"), trial(3, "a", "UNSATISFIABLE")]
    assert contradiction_in(trials) is not None
    text = shown(check_parts(scenario, trials))
    assert "contradict each other" in text and "All is well" not in text
    assert shlex.join(["solver", "-s=3", "a"]) in text
    assert contradiction_in(trials[:2]) is None
    assert "All is well" in shown(check_parts(scenario, trials[:2]))


def test_a_budget_on_the_clock_is_reckoned_by_the_clock(scenario):
    text = shown(check_parts(scenario, [trial(0, "a", "SAT")]))
    assert "takes 100 ms on average here: the budget is worth some 100 such runs" in text


def test_a_validation_of_crashes_says_why():
    never = np.full(4, np.inf)
    pairs = tuple((str(number), 0) for number in range(4))
    found = Validation(2, pairs, never, never, (0, 0), (4, 4), 0.95, 5.0, "no such file")
    assert "no speed-up to speak of; one of them: no such file" in shown(validation_table(found))


def test_a_validation_of_the_default_compares_nothing():
    ones = np.ones(4)
    pairs = tuple((str(number), 0) for number in range(4))
    found = Validation(0, pairs, ones, ones, (0, 0), (0, 0), 0.95, 5.0)
    assert "The answer is the default" in shown(validation_table(found))


def test_status_says_why_a_study_has_no_answer(tmp_path):
    """Runs were solved, and yet there is none: two of them contradict each other."""

    def replying(execution: Execution) -> Report:
        reply = "SAT" if execution.configuration["speed"] == 1.0 else "UNSAT"
        return Report(Status.SOLVED, 0.02, Details(0.02, 0.02, "exited", reply=reply))

    scenario = write_scenario(tmp_path, "runs = 100")
    directory = tmp_path / "my study"
    assert not conduct(scenario, directory, RecordedWorkers(report=replying)).has_incumbent
    result = CliRunner().invoke(app, ["status", str(directory)])
    assert "contradict each other" in result.output and "solver" in result.output
    assert "cannot be relied on" in result.output and "No run has been solved" not in result.output
    CliRunner().invoke(app, ["status", str(directory), "--json", str(tmp_path / "status.json")])
    assert json.loads((tmp_path / "status.json").read_text())["solved"] > 0
    refused = CliRunner().invoke(app, ["validate", str(directory)])
    assert refused.exit_code == 2 and "no run was solved" not in refused.output


def test_status_and_the_story_say_how_much_longer_it_takes(tmp_path):
    text = SCENARIO.replace("configurations = 12\n", "") + "runs = 400"
    (tmp_path / "scenario.toml").write_text(text)
    view = conduct(load_scenario(tmp_path / "scenario.toml"), tmp_path / "study", RecordedWorkers())
    kept = view.snapshot().forecast.faster.headline
    # Recorded runs take no time on the clock; say that these did.
    view = replace(view, spent=replace(view.spent, wall=view.spent.charged))
    said = view.snapshot().forecast
    assert said.faster.wall == pytest.approx(
        said.faster.charged * view.spent.wall / view.spent.charged
    )
    status = " ".join(CliRunner().invoke(app, ["status", str(tmp_path / "study")]).output.split())
    told = shown(story(view, []))
    assert kept in status
    for line, label in ((said.faster, "faster than the default"), (said.close, "within ")):
        assert line.headline.startswith(label) and "more than is left" not in line.headline
        assert f"{line.headline[0].upper()}{line.headline[1:]}." in told


def test_nothing_is_forecast_of_a_study_without_an_answer(tmp_path):
    def capped(execution: Execution) -> Report:
        return Report(Status.CAPPED, execution.cap, Details(execution.cap, 0.1, "stopped"))

    scenario = write_scenario(tmp_path, "runs = 60")
    view = conduct(scenario, tmp_path / "study", RecordedWorkers(report=capped))
    assert view.snapshot().forecast is None


def test_a_set_that_is_too_small_is_said_at_the_start_and_once(tmp_path, caplog):
    (tmp_path / "scenario.toml").write_text(SEEDLESS + "runs = 5")
    scenario = load_scenario(tmp_path / "scenario.toml")
    conduct(scenario, tmp_path / "study", RecordedWorkers())
    assert caplog.text.count("with 95% confidence, 3 instances can never show") == 1
    caplog.clear()
    with resumed_study(tmp_path / "study", 0.0, lambda *_: RecordedWorkers()) as study:
        study.run()
    assert "can never show" not in caplog.text
    CliRunner().invoke(app, ["check", str(tmp_path / "scenario.toml")])
    assert "can never show" in caplog.text
    caplog.clear()
    (tmp_path / "endless.toml").write_text(SCENARIO + "runs = 5")
    conduct(load_scenario(tmp_path / "endless.toml"), tmp_path / "endless", RecordedWorkers())
    assert "can never show" not in caplog.text


def test_a_simulation_says_the_same(tmp_path, caplog):
    random = np.random.default_rng(2)  # with 1, the default is the answer and nothing is forecast
    for columns in (4, 200):
        runtimes = random.lognormal(0.0, 1.0, (5, columns)).clip(max=10.0)
        np.savez(tmp_path / f"{columns}.npz", runtimes=runtimes, cutoff=10.0)
        out = tmp_path / f"{columns}.json"
        words = ["simulate", str(tmp_path / f"{columns}.npz"), "--json", str(out)]
        done = CliRunner().invoke(app, [*words, "--budget", "100s"])
        assert done.exit_code == 0, done.output
        assert ("4 instances can never show" in caplog.text) is (columns == 4)
        caplog.clear()
        said, output = json.loads(out.read_text())["forecast"], " ".join(done.output.split())
        for one in filter(None, said.values()):
            assert one["wall"] is None
            assert one["headline"][1:] in output
            assert one["charged"] is None or "of runs" in one["headline"]
    assert any(said.values())


def test_parameters_that_are_active_nowhere_are_counted():
    told = shown([comparison({"a": 1}, {"a": 2, "b": 3}, 5)])
    assert "3 more parameters, active in neither" in " ".join(told.split())
    assert "active in neither" not in shown([comparison({"a": 1}, {"a": 2}, 1)])
