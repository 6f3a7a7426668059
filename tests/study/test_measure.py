"""Full tables of runtimes, measured for real, and tables written and read back."""

from __future__ import annotations

import dataclasses
import os
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np
import pytest

from cunctator.base.errors import (
    InvalidScenario,
    InvalidSetting,
    InvalidTable,
    StudyProblem,
)
from cunctator.formats.load import load_table
from cunctator.formats.save import check_ending, save_table
from cunctator.recorded.table import make_table
from cunctator.scenario import load_scenario
from cunctator.study import measure as measuring
from cunctator.study.measure import measure
from cunctator.target.replies import ContradictingReplies
from tests.optional import need
from tests.recorded_workers import SCENARIO as RECORDED
from tests.recorded_workers import RecordedWorkers, report_of

SOLVER = """
import sys, time
level, instance = int(sys.argv[1]), sys.argv[2]
if instance == "crash" and level == 2:
    sys.exit("no")
end = time.process_time() + (10 if instance == "long" else 0.02 * level)
while time.process_time() < end:
    pass
"""
SCENARIO = """
[target]
command = ["{python}", "-S", "-E", "solver.py", "{level}", "{instance}"]
[parameters.level]
type = "integer"
low = 1
high = 3
default = 1
[instances]
names = ["short", "long", "crash"]
[search]
cutoff = "200ms"
workers = 2
[budget]
runs = 1
"""


@pytest.mark.parametrize("ending", [".npz", ".csv", ".parquet"])
def test_a_table_comes_back_as_it_was(tmp_path, ending):
    if ending == ".parquet":
        need("pyarrow")
    names = ["plain", "with, comma", 'with "quotes"']
    table = make_table(np.random.default_rng(0).random((3, 2)), names, ["x y", "z"], 1.5)
    path = tmp_path / f"table{ending}"
    save_table(table, path)
    save_table(table, path)  # replaces it
    again = load_table(path)
    np.testing.assert_array_equal(again.runtimes, table.runtimes)
    assert (again.configurations, again.instances) == (table.configurations, table.instances)
    assert again.cutoff == (None if ending == ".csv" else 1.5)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", [".npz", ".csv", ".parquet"])
def test_names_that_are_not_utf_8(tmp_path, ending):
    if ending == ".parquet":
        need("pyarrow")
    name = os.fsdecode(b"in\xffstance")
    table = make_table(np.ones((1, 2)), [name], [name, "plain"], 1.5)
    folder = tmp_path / os.fsdecode(b"t\xffbles")
    folder.mkdir()
    save_table(table, folder / f"{name}{ending}")
    again = load_table((folder / f"{name}{ending}").rename(tmp_path / f"table{ending}"))
    kept = name if ending == ".npz" else "in\\udcffstance"
    assert again.configurations == (kept,) and again.instances == (kept, "plain")


def test_names_that_cannot_be_written_to(tmp_path):
    for name in ("table.txt", "missing/table.npz"):
        with pytest.raises(InvalidSetting):
            check_ending(tmp_path / name)


def test_everything_is_measured_once(tmp_path):
    (tmp_path / "solver.py").write_text(SOLVER)
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO)
    scenario, beside = load_scenario(path), tmp_path / "table.db"
    seen: list[tuple[int, int]] = []
    small = measure(scenario, 2, 3, beside, lambda *numbers: seen.append(numbers))
    assert small.runtimes.shape == (2, 3) and seen[-1] == (6, 6)
    seen.clear()
    table = measure(scenario, 100, 100, beside, lambda *numbers: seen.append(numbers))
    assert table.runtimes.shape == (3, 3) and seen[-1] == (3, 3), "the rest only"
    np.testing.assert_array_equal(table.runtimes[:2], small.runtimes)
    columns = zip(table.instances, table.runtimes.T, strict=True)
    by_name = {name.split()[0]: column for name, column in columns}
    assert (by_name["long"] == 0.2).all() and (by_name["short"] < 0.2).all()
    levels = [int(name.split("=")[1]) for name in table.configurations]
    assert by_name["crash"][levels.index(2)] == 0.2
    path.write_text(SCENARIO.replace("high = 3", "high = 4"))
    with pytest.raises(StudyProblem, match="another scenario"):
        measure(load_scenario(path), 2, 3, beside, lambda *_: None)


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """A scenario, and a function that measures four configurations with workers on five pairs."""
    path = tmp_path / "scenario.toml"
    path.write_text(RECORDED + "runs = 1")
    scenario = load_scenario(path)

    def run(workers, beside=tmp_path / "table.npz.db", progress=lambda *_: None):
        monkeypatch.setattr(measuring, "LocalWorkers", lambda *_: workers)
        return measure(scenario, 4, 5, beside, progress)

    return run


def test_what_an_earlier_version_measured_counts(recorded, tmp_path):
    """It wrote down another digest of the same scenario."""
    recorded(RecordedWorkers())
    with closing(sqlite3.connect(tmp_path / "table.npz.db")) as connection, connection:
        earlier = load_scenario(tmp_path / "scenario.toml").digests[1]
        connection.execute("update facts set digest = ?", (earlier,))
    workers = RecordedWorkers()
    recorded(workers)
    assert not workers.executions


def rows(beside):
    with closing(sqlite3.connect(beside)) as connection:
        return connection.execute("select count(*) from runs").fetchone()[0]


def answering(answer):
    def report(execution):
        good = report_of(execution)
        details = dataclasses.replace(good.details, reply=answer(execution))
        return dataclasses.replace(good, details=details)

    return RecordedWorkers(2, report)


def test_contradicting_answers_end_it_now_and_when_it_goes_on(recorded, tmp_path):
    def answer(execution):
        return "SAT" if execution.configuration["speed"] == 1.0 else "UNSAT"

    for _ in range(2):  # the run that contradicts is made again
        with pytest.raises(ContradictingReplies, match=r"answer of: solver.*solver") as caught:
            recorded(answering(answer))
    assert "table.npz.db" in str(caught.value)
    beside = tmp_path / "other.db"

    def press(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        recorded(answering(lambda _: "SAT"), beside, press)
    assert rows(beside) == 1
    with pytest.raises(ContradictingReplies):
        recorded(answering(lambda _: "UNSAT"), beside)
    assert recorded(answering(lambda _: "SAT"), beside).runtimes.shape == (4, 5)


def test_two_at_once_are_one_too_many(recorded):
    def progress(*_):
        with pytest.raises(StudyProblem, match="another measurement"):
            recorded(RecordedWorkers())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        recorded(RecordedWorkers(), progress=progress)
    assert recorded(RecordedWorkers()).runtimes.shape == (4, 5), "nobody holds it any more"


class SlowWorkers(RecordedWorkers):
    """The first run takes as long as all the others together."""

    def __init__(self, threads):
        super().__init__(2)
        self.threads = threads
        self.others_are_done = threading.Event()

    def submit(self, execution):
        return self.threads.submit(self._run, execution)

    def _run(self, execution):
        if execution.number == 0:
            assert self.others_are_done.wait(10)
        return report_of(execution)


def test_results_are_kept_as_they_come_in(recorded, tmp_path):
    kept = []
    with ThreadPoolExecutor(2) as threads:
        workers = SlowWorkers(threads)

        def progress(done, total):
            kept.append(rows(tmp_path / "table.npz.db"))
            if done == total - 1:
                workers.others_are_done.set()

        table = recorded(workers, progress=progress)
    assert kept == list(range(1, 21))
    other = recorded(RecordedWorkers(), tmp_path / "other.db")
    np.testing.assert_array_equal(table.runtimes, other.runtimes)


def test_a_file_that_is_no_database(recorded, tmp_path):
    (tmp_path / "x.db").write_text("no database" * 1000)
    for beside in (tmp_path / "x.db", tmp_path, tmp_path / "missing" / "x.db"):
        with pytest.raises(StudyProblem, match="cannot be used"):
            recorded(RecordedWorkers(), beside)


GENERATED = """
[target]
command = ["{python}", "-S", "-E", "solver.py", "{level}", "{instance}"]
answer = "is (.*)"
[parameters.level]
type = "integer"
low = 1
high = 2
default = 1
[instances]
generator = ["{python}", "-S", "-E", "-c", "print('WORD', {index})"]
[search]
cutoff = "5s"
workers = 1
[budget]
runs = 1
"""


def test_no_two_generators_share_instances(tmp_path):
    (tmp_path / "solver.py").write_text("import sys; print('is', open(sys.argv[2]).read())")
    path = tmp_path / "scenario.toml"
    for word in ("red", "blue"):
        for name in ("one.csv.db", "two.csv.db"):
            (tmp_path / name).unlink(missing_ok=True)
            path.write_text(GENERATED.replace("WORD", word))
            measure(load_scenario(path), 1, 1, tmp_path / name, lambda *_: None)
            with closing(sqlite3.connect(tmp_path / name)) as connection:
                answer = connection.execute("select answer from answers").fetchone()[0]
            assert answer == f"{word} 0"
    made = [file.relative_to(tmp_path).parts for file in tmp_path.glob("*.instances/*/0")]
    assert (
        sorted(parts[0] for parts in made) == ["one.csv.instances"] * 2 + ["two.csv.instances"] * 2
    )
    assert len({parts[1] for parts in made}) == 2


COUNTING = """
[target]
command = ["{python}", "-S", "-E", "solver.py", "{level}", "{instance}"]
measures = {steps = "^steps: (\\\\S+)", none = "^never (\\\\d+)"}
[parameters.level]
type = "integer"
low = 1
high = 2
default = 1
[instances]
names = ["3", "4", "infinite", "crash"]
[search]
cutoff = "5s"
[budget]
runs = 1
"""
COUNTER = """
import sys
level, instance = int(sys.argv[1]), sys.argv[2]
print("steps:", "inf" if instance == "infinite" else level * len(instance) + 0.5)
sys.exit(instance == "crash")
"""


def test_other_numbers_of_the_same_runs(tmp_path):
    (tmp_path / "solver.py").write_text(COUNTER)
    path = tmp_path / "scenario.toml"
    path.write_text(COUNTING)
    table = measure(load_scenario(path), 2, 4, tmp_path / "table.db", lambda *_: None)
    assert list(table.measures) == ["steps", "none"]
    by_name = dict(zip(table.instances, table.measures["steps"].T, strict=True))
    np.testing.assert_array_equal(by_name["3 0"], [1.5, 2.5])
    np.testing.assert_array_equal(by_name["infinite 0"], [np.nan] * 2)
    np.testing.assert_array_equal(by_name["crash 0"], [np.nan] * 2)
    assert np.isnan(table.measures["none"]).all()
    save_table(table, tmp_path / "table.npz")
    again = load_table(tmp_path / "table.npz")
    assert list(again.measures) == list(table.measures)
    for name in again.measures:
        np.testing.assert_array_equal(again.measures[name], table.measures[name])


def test_numbers_of_another_pattern_are_not_mixed_with_them(tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_text(COUNTING)
    measure(load_scenario(path), 2, 2, tmp_path / "runs.db", lambda done, total: None)
    path.write_text(COUNTING.replace("never", "ever"))
    with pytest.raises(StudyProblem, match="another scenario, or other measures"):
        measure(load_scenario(path), 2, 2, tmp_path / "runs.db", lambda done, total: None)


def test_what_is_noted_does_not_make_another_study(tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_text(COUNTING)
    (tmp_path / "solver.py").touch()
    digest = load_scenario(path).digest
    path.write_text(COUNTING.replace("measures", "# measures"))
    assert load_scenario(path).digest == digest


@pytest.mark.parametrize(
    ("measures", "problem"),
    [
        ('{steps = "no group"}', "target.measures.steps: it has no group"),
        ('{steps = "(open"}', "target.measures.steps: not a regular expression"),
        ("{steps = 3}", "target.measures.steps: a text is expected"),
        ('{"two words" = "(a)"}', "is not a name"),
        ('["(a)"]', "target.measures: a table is expected"),
    ],
)
def test_measures_that_are_refused(tmp_path, measures, problem):
    path = tmp_path / "scenario.toml"
    line = next(line for line in COUNTING.splitlines() if line.startswith("measures"))
    path.write_text(COUNTING.replace(line, f"measures = {measures}"))
    with pytest.raises(InvalidScenario, match=problem):
        load_scenario(path)


def test_measures_of_another_shape(tmp_path):
    path = tmp_path / "table.npz"
    np.savez(path, runtimes=np.ones((2, 3)), measure_steps=np.ones((3, 2)))
    with pytest.raises(InvalidTable, match="'steps' is not a table of numbers like the runtimes"):
        load_table(path)


def test_a_table_that_nobody_could_measure_is_refused(tmp_path):
    (tmp_path / "solver.py").touch()
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO.replace('"integer"', '"real"'))
    scenario = load_scenario(path)
    with pytest.raises(InvalidSetting, match="ask for fewer"):
        measuring.measure(scenario, 10**23, 100, tmp_path / "x.db", lambda *_: None)
    assert not (tmp_path / "x.db").exists()
