"""What people are shown of a study: one record, read by earlier and by later versions."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import pytest
from pydantic import create_model
from typer.testing import CliRunner

from cunctator.base.errors import StudyProblem
from cunctator.cli.common import app
from cunctator.scenario import load_scenario
from cunctator.show.study import facts
from cunctator.study import folder as study_folder
from cunctator.study import snapshot as snapshots
from cunctator.study.folder import begin_study
from cunctator.study.journal.journal import open_journal
from cunctator.study.snapshot import Incumbent, Snapshot, snapshot_of
from tests.recorded_workers import SCENARIO, RecordedWorkers
from tests.study.test_journal import PROGRESS, fill, put_progress, read_all

KEYS = """
stop problem charged wall runs solved in_flight closing crashed own_seconds busy
budget.charged budget.wall budget.runs
incumbent.index incumbent.configuration.speed incumbent.started incumbent.mean incumbent.known_cap
incumbent.proposed
default.started default.mean
compared.pairs compared.cap compared.answer compared.default compared.exact
certificate.confidence certificate.points.delta certificate.points.epsilon certificate.points.cap
certificate.headline certificate.gamma certificate.optimal certificate.floor certificate.cutoff
certificate.penalty certificate.looked_at certificate.instances certificate.seeds
certificate.versus_default.lower certificate.versus_default.upper
certificate.versus_default.headline
certificate.pools.size certificate.pools.gamma certificate.pools.time_share
certificate.pools.best_point.delta certificate.pools.best_point.epsilon
certificate.pools.best_point.cap
forecast.faster.headline forecast.faster.charged forecast.faster.wall forecast.faster.exact
forecast.close.headline forecast.close.charged forecast.close.wall
forecast.close.epsilon forecast.close.delta
trajectory directory
"""
"""Of the JSON of `run` and `status`; scripts of users depend on them."""


def keys(data, path=()):
    """The keys of nested tables, those in lists too."""
    if isinstance(data, list) and data and isinstance(data[0], dict):
        data = data[0]
    if not isinstance(data, dict):
        return {".".join(path)}
    return {key for name, value in data.items() for key in keys(value, (*path, name))}


@pytest.fixture
def folder(tmp_path):
    """With a journal in it."""
    fill(tmp_path)
    return tmp_path


def test_run_and_status_write_the_same_keys(tmp_path, monkeypatch):
    monkeypatch.setattr(study_folder, "LocalWorkers", lambda *_: RecordedWorkers())
    scenario, study = tmp_path / "scenario.toml", tmp_path / "study"
    scenario.write_text(SCENARIO.replace("configurations = 12", "guide = false") + "runs = 400")
    written = []
    for words in (["run", str(scenario), str(study)], ["status", str(study)]):
        out = tmp_path / "out.json"
        result = CliRunner().invoke(app, [*words, "--json", str(out)])
        assert result.exit_code == 0, result.output
        written.append(json.loads(out.read_text()))
    assert keys(written[0]) == set(KEYS.split())
    assert written[0] == written[1], "what is kept is what was shown"


def test_what_is_written_down_is_read(tmp_path):
    (tmp_path / "scenario.toml").write_text(SCENARIO + "runs = 150")
    loaded = load_scenario(tmp_path / "scenario.toml")
    with begin_study(loaded, tmp_path / "study", lambda *_: RecordedWorkers()) as study:
        snapshot = study.run().snapshot()
    assert snapshot.budget.runs == 150 and snapshot.certificate.looked_at == 12
    assert snapshot_of(json.loads(json.dumps(snapshot.as_data()))) == snapshot
    with closing(open_journal(tmp_path / "study", writing=False)) as journal:
        assert journal.last_progress()[1] == snapshot


def later(data):
    """The same with more in each table, as a later version might write it."""
    if isinstance(data, dict):
        return {**{name: later(value) for name, value in data.items()}, "more": [{"is": None}]}
    return [later(one) for one in data] if isinstance(data, list) else data


def test_what_later_versions_add_is_ignored(folder):
    data = later({**PROGRESS, "incumbent": None})
    data["incumbent"] = {**PROGRESS["incumbent"], "more": 1}
    put_progress(folder, json.dumps(data))
    snapshot = read_all(folder)[3][1]
    assert snapshot == snapshot_of(PROGRESS)
    assert "more" not in json.dumps(snapshot.as_data())
    result = CliRunner().invoke(app, ["status", str(folder)])
    assert result.exit_code == 0, result.output
    assert "settings: a=1 b=x" in result.output


def test_later_versions_read_what_this_one_writes(folder, monkeypatch):
    incumbent = create_model("LaterIncumbent", __base__=Incumbent, source=(str, "drawn"))
    more: dict[str, Any] = {"paused": (bool, False), "incumbent": (incumbent | None, ...)}
    monkeypatch.setattr(snapshots, "Snapshot", create_model("Later", __base__=Snapshot, **more))
    snapshot = read_all(folder)[3][1]
    assert snapshot.paused is False and snapshot.incumbent.source == "drawn"
    assert snapshot.incumbent.started == 3 and list(facts(snapshot))
    put_progress(folder, json.dumps(snapshot.as_data() | {"paused": True}))
    assert read_all(folder)[3][1].paused is True
    monkeypatch.undo()
    assert read_all(folder)[3][1] == snapshot_of(PROGRESS), "and the other way round"


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        (("solved",), "many"),
        (("solved",), -1),
        (("runs",), 1.5),
        (("runs",), True),
        (("runs",), 2**63),
        (("problem",), 7),
        (("charged",), "12"),
        (("budget", "runs"), "all"),
        (("incumbent", "configuration"), {"a": None}),
        (("incumbent", "known_cap"), float("inf")),
        (("compared", "pairs"), 1.5),
        (("certificate", "optimal"), 1),
        (("certificate", "points"), [{"delta": 0.5}]),
        (("certificate", "pools"), {}),
        (("certificate", "pools"), [{"size": 3, "gamma": 0.5, "time_share": "half"}]),
        (("certificate", "versus_default"), {"lower": float("nan")}),
    ],
)
def test_what_is_of_the_wrong_type_is_damaged(folder, place, wrong):
    data = json.loads(json.dumps(PROGRESS))
    table = data
    for name in place[:-1]:
        table = table[name]
    table[place[-1]] = wrong
    put_progress(folder, json.dumps(data))
    with pytest.raises(StudyProblem, match="the journal is damaged") as caught:
        read_all(folder)
    message = str(caught.value)
    assert f"({'.'.join(place)}" in message and "\\n" not in message and "pydantic" not in message


def test_names_that_are_not_utf_8_are_shown(folder):
    text = "there is no file in\udcffstance"
    put_progress(folder, json.dumps({**PROGRESS, "problem": text}))
    assert read_all(folder)[3][1].problem == text


def test_a_number_that_no_search_reaches_is_damage():
    far = {**PROGRESS["incumbent"], "index": 2**62}
    with pytest.raises(ValueError, match="is not what it should be"):
        snapshot_of({**PROGRESS, "incumbent": far})


def test_the_speed_up_is_shown_before_how_close_to_the_best_it_is():
    """Studies of earlier versions have no such sentence, and are shown without it."""
    said = {"headline": "so it is", "pools": [], "versus_default": {"headline": "so much faster"}}
    *_, faster, close = facts(snapshot_of({**PROGRESS, "certificate": said}))
    assert (faster, close) == ("so much faster", "so it is")
    *_, before, close = facts(snapshot_of(PROGRESS))
    assert close == "so it is" and before.startswith("answer: ")
    # Nobody asks how much faster than itself the default is.
    itself = {**PROGRESS["incumbent"], "index": 0}
    default = facts(snapshot_of({**PROGRESS, "certificate": said, "incumbent": itself}))
    assert "so much faster" not in list(default)


def test_forecasts_follow_what_they_are_about():
    """Versions that made none wrote none down, and there is none where there is nothing to say."""
    said = {"headline": "so it is", "pools": [], "versus_default": {"headline": "nobody knows"}}
    faster = {"headline": "soon", "charged": 3.0, "wall": 2.0, "exact": False}
    close = {"headline": "late", "charged": None, "wall": None, "epsilon": 0.5, "delta": 0.1}
    data = {**PROGRESS, "certificate": said, "forecast": {"faster": faster, "close": close}}
    assert list(facts(snapshot_of(data)))[-4:] == ["nobody knows", "soon", "so it is", "late"]
    data["forecast"] = {"faster": None, "close": None}
    assert list(facts(snapshot_of(data)))[-2:] == ["nobody knows", "so it is"]
    assert snapshot_of(PROGRESS).forecast is None
