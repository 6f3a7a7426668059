"""Studies that cannot be gone on with: looked at, validated, and begun anew, warm."""

from __future__ import annotations

import json
import logging
import shlex
import shutil
import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from cunctator.cli.common import app
from cunctator.core.sentinels import ASKED
from cunctator.scenario import load_scenario
from cunctator.study import folder as study_folder
from cunctator.study import validate as validation
from cunctator.study.folder import begin_study
from cunctator.study.journal.journal import FILE, open_journal
from cunctator.study.journal.tables import EVENTS, PROGRESS, End
from cunctator.study.warm import MOST, warm_configurations
from tests.recorded_workers import SCENARIO, RecordedWorkers

ENDLESS = SCENARIO.replace("configurations = 12\n", "seed = 2\nguide = false\n").replace(
    '"{python}"', '"./solver"'
)
TESTS = "[test_instances]\nnames = ['d', 'e', 'f']\n"
STUDIES = Path(__file__).parents[1] / "studies"


@pytest.fixture(autouse=True)
def recorded_runtimes(monkeypatch):
    monkeypatch.setattr(study_folder, "LocalWorkers", lambda *_: RecordedWorkers())
    monkeypatch.setattr(validation, "LocalWorkers", lambda *_: RecordedWorkers(2))


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    """The folder of a scenario, with a program beside it, and of a study."""
    folder = tmp_path_factory.mktemp("origin")
    (folder / "solver").touch(0o755)
    (folder / "scenario.toml").write_text(ENDLESS + "runs = 400\n" + TESTS)
    loaded = load_scenario(folder / "scenario.toml")
    with begin_study(loaded, folder / "old.study", lambda *_: RecordedWorkers()) as study:
        study.run()
    return folder


@pytest.fixture
def old(origin, tmp_path):
    return shutil.copytree(origin / "old.study", tmp_path / "my old.study")


@pytest.fixture
def liked(origin):
    """The answers of the study, straight from its file, the last first, without the default."""
    with closing(sqlite3.connect(origin / "old.study" / FILE)) as connection:
        found = connection.execute("select configuration from incumbents order by id desc")
        numbers = [number for number in dict.fromkeys(row[0] for row in found) if number]
    space = load_scenario(origin / "scenario.toml").space
    assert len(numbers) > MOST
    return [space.configuration(number) for number in numbers]


def tamper(study: Path) -> None:
    """As if this version chose otherwise: a row changes, and the checksums are right."""
    with closing(open_journal(study, writing=True)) as journal:
        store = journal.store
        store.begin_writing()
        store.run("update events set configuration = configuration + 1 where id = 100")
        store._ends[EVENTS.name] = End()
        for row in store.run(EVENTS.plain_query).fetchall():
            store.seal(EVENTS, row)
        journal.commit()


def command(*words: object) -> str:
    """What a command prints that should go well."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.output


def initial_of(study: Path) -> list[dict[str, object]]:
    return tomllib.loads((study / "scenario.toml").read_text()).get("initial", [])


def test_one_that_cannot_be_gone_on_with(old, liked, tmp_path):
    """It can be looked at and validated; what `resume` says to do is done."""
    tamper(old)
    before = (old / FILE).read_bytes()
    assert "400 of 400 runs" in command("status", old)
    assert "On 3 test instances, 6 runs each" in command("validate", old, "--pairs", 6)
    result = CliRunner().invoke(app, ["resume", str(old), "--more", "100runs"])
    assert result.exit_code == 2 and result.output.count("\n") == 1
    assert (
        "the search has changed, and it cannot be gone on with to the letter: run " in result.output
    )
    assert (old / FILE).read_bytes() == before, "nothing was added to its budget"
    words = shlex.split(result.output.partition(": cunctator ")[2])
    new = tmp_path / "my old-2.study"
    assert words == ["run", str(old / "scenario.toml"), str(new), "--warm", str(old)]
    assert f"Tried first, from {old}: {min(MOST, len(liked))} configurations." in command(*words)
    assert initial_of(new) == liked[:MOST]
    with closing(open_journal(new, writing=False)) as journal:
        journal.check()
        events = journal.events()
        told = events.status != ASKED
        assert told.sum() == 400, "nothing of the other counts as its own"
        assert set(range(len(liked[:MOST]) + 1)) <= set(np.unique(events.configuration).tolist())
    command("resume", new, "--more", "50runs")
    result = CliRunner().invoke(app, ["resume", str(old)])
    assert str(tmp_path / "my old-3.study") in result.output, "a folder that is free"


def test_the_users_own_come_first_and_nothing_comes_twice(origin, old, liked, tmp_path):
    own = [{"speed": 0.5}, liked[0]]
    text = "".join(f"[[initial]]\nspeed = {one['speed']}\n" for one in own)
    (origin / "own.toml").write_text(ENDLESS + "runs = 40 # the last line\n" + text)
    command("run", origin / "own.toml", tmp_path / "new", "--warm", old, "--seed", 3)
    assert initial_of(tmp_path / "new") == [*own, *liked[1:MOST]]
    copy = (tmp_path / "new" / "scenario.toml").read_text()
    assert "# the last line" in copy and "# from an earlier study" in copy
    assert initial_of(tmp_path / "new")[0] == {"speed": 0.5}
    assert tomllib.loads((origin / "own.toml").read_text())["initial"] == own, "it stays as it is"


def test_what_does_not_fit_any_more_is_left_out(origin, old, liked, caplog):
    low = sorted(one["speed"] for one in liked[:MOST])[1]
    text = ENDLESS.replace("low = 0.2", f"low = {low}") + "runs = 40\n"
    (origin / "narrow.toml").write_text(text)
    scenario = load_scenario(origin / "narrow.toml")
    with caplog.at_level(logging.WARNING, logger="cunctator"):
        found = warm_configurations(scenario, old)
    assert found == [one for one in liked[:MOST] if one["speed"] >= low]
    assert len(caplog.messages) == 1 and len(found) > 1
    assert " is left out: speed: " in caplog.text
    (origin / "other.toml").write_text(text.replace("speed", "pace"))
    assert warm_configurations(load_scenario(origin / "other.toml"), old) == []


def test_a_fixed_pool_has_room_for_some(origin, old, liked):
    (origin / "pool.toml").write_text(
        ENDLESS.replace("[search]", "[search]\nconfigurations = 3") + "runs = 40\n"
    )
    assert warm_configurations(load_scenario(origin / "pool.toml"), old) == liked[:2]


def test_if_numbers_mean_something_else_now_what_was_written_down_counts(origin, old, liked):
    """A version that draws otherwise: of the answers, those that people saw are known."""
    scenario = load_scenario(origin / "scenario.toml")
    assert warm_configurations(scenario, old) == liked[:MOST]
    with closing(open_journal(old, writing=True)) as journal:
        journal.store.begin_writing()
        at, snapshot = journal.last_progress()
        other = snapshot.incumbent.model_copy(update={"configuration": {"speed": 0.25}})
        journal.store.run("delete from progress")
        journal.add_progress(at, snapshot.model_copy(update={"incumbent": other}))
        journal.commit()
        assert journal.store.rows(PROGRESS)
    assert warm_configurations(scenario, old) == [{"speed": 0.25}]


def test_a_copy_without_the_files_beside_it_is_enough(origin, old, liked):
    """The scenario of the other need not be there any more; only what people saw is known then."""
    (old / "scenario.toml").unlink()
    found = warm_configurations(load_scenario(origin / "scenario.toml"), old)
    assert found and found[0] == liked[0]


@pytest.mark.parametrize("study", sorted(STUDIES.glob("*/endless-1")), ids=lambda p: p.parent.name)
def test_studies_of_earlier_versions_are_something_to_begin_with(study, tmp_path):
    copy = shutil.copytree(study, tmp_path / "old")
    out = command("run", copy / "scenario.toml", tmp_path / "new", "--warm", copy, "--budget", "9s")
    assert "Tried first" in out
    command("status", tmp_path / "new", "--json", tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text())["runs"] > 0


def test_what_is_no_study_is_refused(origin, tmp_path):
    words = ["run", str(origin / "scenario.toml"), str(tmp_path / "new"), "--warm", str(tmp_path)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2 and "this is not a study" in result.output
    assert not (tmp_path / "new").exists()


def test_where_none_can_be_added(origin, old, tmp_path):
    text = f"initial = [{{speed = 0.5}}]\n{ENDLESS}runs = 40\n"
    (origin / "inline.toml").write_text(text)
    words = ["run", str(origin / "inline.toml"), str(tmp_path / "new"), "--warm", str(old)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2 and "inline.toml, line 1: initial: none can be added" in (
        result.output
    )
