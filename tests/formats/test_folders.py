"""`cunctator import FOLDER`: which file of it is meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import cunctator.cli
from cunctator.base.errors import InvalidScenario
from cunctator.cli.common import app
from cunctator.formats.folders import file_in
from cunctator.scenario import load_scenario
from tests.formats.read_back import write

assert cunctator.cli  # it makes the commands

PCS = "mode {fast, slow} [fast]\n"
IRACE = 'mode "--mode=" c (fast, slow)\n'
IRACE_OPTIONS = 'parameterFile = "./parameters.txt"\ntrainInstancesDir = "./cnf"\nmaxTime = 60\n'
SMAC = """
algo = python3 target_algorithms/sat/solver/wrapper.py
execdir = .
deterministic = 0
run_obj = runtime
cutoff_time = 5
tuner-timeout = 100
paramfile = target_algorithms/sat/solver/params.pcs
instance_file = instances/sat/sets/SWV/training.txt
test_instance_file = instances/sat/sets/SWV/test.txt
"""


@pytest.fixture
def aclib(tmp_path: Path) -> Path:
    """A root with two scenarios, as AClib lays it out."""
    root = tmp_path / "aclib"
    solver = root / "target_algorithms" / "sat" / "solver"
    write(solver / "params.pcs", PCS)
    write(solver / "wrapper.py", "")
    for name in ("training", "test"):
        instance = f"instances/sat/data/SWV/{name}.cnf"
        write(root / "instances" / "sat" / "sets" / "SWV" / f"{name}.txt", f"{instance}\n")
        write(root / instance, "p cnf 0 0\n")
    for name in ("solver_SWV", "solver_IBM"):
        write(root / "scenarios" / "sat" / name / "scenario.txt", SMAC)
    return root


def test_a_scenario_of_aclib(aclib: Path, tmp_path: Path) -> None:
    out = tmp_path / "made.toml"
    folder = aclib / "scenarios" / "sat" / "solver_SWV"
    done = CliRunner().invoke(app, ["import", str(folder), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert f"{folder / 'scenario.txt'} is imported" in done.output
    scenario = load_scenario(out)
    assert scenario.directory.resolve() == aclib.resolve()  # paths begin at the root
    assert scenario.space.default == {"mode": "fast"} and scenario.search.cutoff == 5
    instance, _ = scenario.instances.pair(0)
    assert Path(instance).resolve() == (aclib / "instances/sat/data/SWV/training.cnf").resolve()


def test_several_are_named(aclib: Path, tmp_path: Path) -> None:
    for folder in (aclib, aclib / "scenarios", aclib / "scenarios" / "sat"):
        with pytest.raises(InvalidScenario, match="several files to choose from") as caught:
            file_in(folder)
        for name in ("solver_SWV", "solver_IBM"):
            path = aclib / "scenarios" / "sat" / name / "scenario.txt"
            assert str(path.relative_to(folder)) in str(caught.value)
    done = CliRunner().invoke(app, ["import", str(aclib), "--out", str(tmp_path / "x.toml")])
    assert done.exit_code == 2 and done.output.count("\n") == 1
    assert file_in(aclib / "target_algorithms" / "sat" / "solver").name == "params.pcs"


def test_other_folders(tmp_path: Path) -> None:
    folder = tmp_path / "irace"
    for name in ("parameters-a.txt", "parameters-b.txt"):
        write(folder / name, IRACE)
    write(folder / "instances.txt", "a.cnf\nb.cnf\n")
    write(folder / "notes.json", '{"some": "data"}')
    with pytest.raises(InvalidScenario, match=r"parameters-a.txt, parameters-b.txt; give one of"):
        file_in(folder)
    write(folder / "parameters.txt", IRACE)
    assert file_in(folder).name == "parameters.txt"
    write(folder / "tune.txt", IRACE_OPTIONS)
    assert file_in(folder).name == "tune.txt"
    write(folder / "scenario.txt", IRACE_OPTIONS)
    assert file_in(folder).name == "scenario.txt"
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InvalidScenario, match="neither a scenario nor a parameter file"):
        file_in(empty)
    write(empty / "space.json", '{"hyperparameters": []}')
    assert file_in(empty).name == "space.json"


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("aclib/saps", "saps-scenario.txt"),
        ("aclib/spear", "spear-scenario.txt"),
        ("irace/acotsp", "scenario.txt"),
        ("irace/Spear", "scenario.txt"),
    ],
)
def test_real_folders(data_folder: Path, name: str, file: str) -> None:
    assert file_in(data_folder / name).name == file
