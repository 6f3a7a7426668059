"""Full tables of runtimes, measured for real, and tables written and read back."""

from __future__ import annotations

import numpy as np
import pytest

from cunctator.errors import InvalidSetting, StudyProblem
from cunctator.formats.load import load_table
from cunctator.formats.save import check_ending, save_table
from cunctator.measuring import measure
from cunctator.scenario import load_scenario
from cunctator.target.table import make_table

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
