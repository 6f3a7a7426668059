"""`cunctator import`: which kind a file is, what is said of it, what is written."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

import cunctator.cli
from cunctator.base.errors import CunctatorError, InvalidScenario
from cunctator.cli.common import app
from cunctator.formats.imported import ImportedScenario, ImportedSpace
from cunctator.formats.importing import (
    CONFIGSPACE,
    IRACE_PARAMETERS,
    IRACE_SCENARIO,
    PCS,
    SMAC_SCENARIO,
    import_file,
    kind_of,
    moved,
    summary,
    text_of_import,
)
from cunctator.scenario import load_scenario
from cunctator.space.parameters import make_parameter
from tests.formats.read_back import completed, provide, same, write

assert cunctator.cli  # it makes the commands

IRACE = """
mode  "--mode="  c     (fast, slow, "a b")
ants  "--ants "  i,log (5, 100)
rho   "--rho "   r     (0.01, 1.0)  | mode == "fast"
[forbidden]
ants > 90 & mode == "slow"
"""
OLD_PCS = """
mode {fast, slow} [fast]
steps [1, 100] [10]il
depth [1, 9] [3]i
depth | mode in {slow}
{mode=slow, depth=9}
"""
SMAC = """
algo = ./wrapper
execdir = .
deterministic = 0
run_obj = runtime
cutoff_time = 1.5
tuner_timeout = 90
paramfile = params.pcs
instance_file = train.txt
"""
IRACE_OPTIONS = """
parameterFile = "./parameters.txt"
trainInstancesDir = "./cnf"
targetRunner <- "./wrapper"
maxTime = 3600
boundMax = 60
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shared")


# Which kind a file is


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("space.json", "", CONFIGSPACE),
        ("space.YML", "", CONFIGSPACE),
        ("a.txt", IRACE, IRACE_PARAMETERS),
        ("a.txt", OLD_PCS, PCS),
        ("a.txt", "seed {1, 2} [1]\nalgo {a, b} [a]\ndeterministic [0,1] [0]i # x", PCS),
        ("a.pcs", "x real [0, 1] [0.5] log\n", PCS),
        ("a.txt", SMAC, SMAC_SCENARIO),
        ("a.txt", "algo ./w\ncutoffTime 5\npcs-file p.pcs", SMAC_SCENARIO),
        ("a.txt", IRACE_OPTIONS, IRACE_SCENARIO),
        ("a.txt", "deterministic = 0\nparallel <- 4\n", IRACE_SCENARIO),
        ("a.txt", "deterministic = 0\ncutoff_time = 4\n", SMAC_SCENARIO),
        ("a.txt", "targetRunner <- function(x) {\n  x\n}\n", IRACE_SCENARIO),
        ("a.txt", "", PCS),
        ("a.txt", "Nothing at all.\n", PCS),
    ],
)
def test_kinds(tmp_path: Path, name: str, text: str, kind: object) -> None:
    assert kind_of(write(tmp_path / name, text)) is kind


@pytest.mark.parametrize(
    ("text", "line", "parts"),
    [
        ("x {a, b} [c]\n", 1, ["'c' is not a value", "taken for a parameter file in PCS"]),
        ("x {a} [a]\nx | z in {1}\n", 2, ["no parameter 'z'", "PCS"]),
        ('x "" c (a, b)\ny "" q (1)\n', 2, ["taken for a parameter file of irace"]),
        ("algo = x\nrun_obj = quality\n", 2, ["running time", "taken for a scenario of SMAC"]),
        ("parameterFile = paste(1)\n", 1, ["R code is never run", "a scenario of irace"]),
        ("", None, ["declares no parameters", "PCS"]),
    ],
)
def test_errors_say_what_the_file_was_taken_for(
    tmp_path: Path, text: str, line: int | None, parts: list[str]
) -> None:
    path = write(tmp_path / "file.txt", text)
    with pytest.raises(InvalidScenario) as caught:
        import_file(path)
    assert caught.value.line == line
    for part in (*parts, "file.txt"):
        assert part in str(caught.value)


# The summary


def lines_of(path: Path) -> list[str]:
    return summary(import_file(path), kind_of(path))


def test_summary_of_a_space(tmp_path: Path) -> None:
    assert lines_of(write(tmp_path / "a.pcs", "Heading\n" + OLD_PCS)) == [
        "taken for a parameter file in PCS",
        "3 parameters: 2 integer, 1 categorical",
        "1 of them conditional, 1 forbidden clause",
        "configurations: 900",
        "default: mode=fast steps=10",
        "Warning: a.pcs, line 1: 'Heading': taken for a heading and skipped",
    ]


def test_summary_of_large_spaces(tmp_path: Path) -> None:
    many = "".join(f"x{number} {{1, 2}} [1]\n" for number in range(20))
    assert "configurations: more than 100,000" in lines_of(write(tmp_path / "a.pcs", many))
    assert "configurations: endless" in lines_of(write(tmp_path / "a.pcs", "x [0, 1] [0.5]\n"))


def test_summary_of_irace_says_that_there_are_no_defaults(tmp_path: Path) -> None:
    lines = lines_of(write(tmp_path / "a.txt", IRACE))
    assert any("defaults are placeholders" in line for line in lines)


def test_summaries_cannot_command_the_terminal(tmp_path: Path) -> None:
    lines = lines_of(write(tmp_path / "a.pcs", "\x1bc\nx {\x1bc, b} [\x1bc]\n"))
    assert not any("\x1b" in line for line in lines)


def test_names_that_commands_have_already(tmp_path: Path) -> None:
    lines = lines_of(write(tmp_path / "a.pcs", "seed {1, 2} [1]\n"))
    assert lines[-1].startswith("Warning: {seed} means something else in a command")


# The command


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["import", *map(str, words)])


def smac_folder(folder: Path) -> Path:
    write(folder / "params.pcs", OLD_PCS)
    write(folder / "train.txt", "cnf/a.cnf\ncnf/b.cnf\n")
    for name in "ab":
        write(folder / "cnf" / f"{name}.cnf", "")
    write(folder / "wrapper", "#!/bin/sh\n").chmod(0o755)
    return write(folder / "scenario.txt", SMAC)


def test_import_writes_a_scenario_that_can_be_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = smac_folder(tmp_path)
    monkeypatch.chdir(tmp_path)
    done = run("scenario.txt")
    assert done.exit_code == 0, done.output
    assert "taken for a scenario of SMAC" in done.stdout
    assert "try it: cunctator check scenario.toml" in done.stdout
    text = (tmp_path / "scenario.toml").read_text()
    assert text.startswith("# A scenario of Cunctator, made from scenario.txt, a scenario of SMAC")
    loaded = load_scenario(tmp_path / "scenario.toml")
    assert loaded.search.cutoff == 1.5 and loaded.budget.charged == 90
    assert loaded.target.protocol == "smac"
    imported = import_file(path)
    assert isinstance(imported, ImportedScenario)
    same(loaded, imported.space)


def test_import_does_not_overwrite(tmp_path: Path) -> None:
    path, out = smac_folder(tmp_path), write(tmp_path / "out.toml", "mine")
    done = run(path, "--out", out)
    assert done.exit_code == 2
    assert "exists already" in done.stderr and done.stderr.count("\n") == 1
    assert out.read_text() == "mine"
    assert run(path, "--out", out, "--force").exit_code == 0
    load_scenario(out)


@pytest.mark.parametrize("text", ["x {a} [b]\n", "algo = x\nrun_obj = quality\n", "\0"])
def test_import_says_what_is_wrong_in_one_line(tmp_path: Path, text: str) -> None:
    out = tmp_path / "out.toml"
    done = run(write(tmp_path / "a.txt", text), "--out", out)
    assert done.exit_code == 2 and done.stdout == ""
    assert done.stderr.startswith("cunctator: ") and done.stderr.count("\n") == 1
    assert not out.exists()


def test_import_into_a_folder_that_is_not_there(tmp_path: Path) -> None:
    path = smac_folder(tmp_path)
    done = run(path, "--out", tmp_path / "nowhere" / "out.toml")
    assert done.exit_code == 2 and "cannot write" in done.stderr
    assert run(tmp_path / "lost.txt", "--out", tmp_path / "o.toml").exit_code == 2
    assert run(tmp_path / "none", "--out", tmp_path / "o.toml").exit_code == 2


def test_paths_follow_the_scenario_to_another_folder(tmp_path: Path) -> None:
    path = smac_folder(tmp_path / "fro[m]")
    out = tmp_path / "to" / "out.toml"
    out.parent.mkdir()
    assert run(path, "--out", out).exit_code == 0
    loaded = load_scenario(out)
    assert loaded.directory.resolve() == (tmp_path / "fro[m]").resolve()
    data = tomllib.loads(out.read_text())
    assert data["instances"] == {"list": ["../fro[m]/cnf/a.cnf", "../fro[m]/cnf/b.cnf"]}
    write(path.parent / "parameters.txt", IRACE)
    options = write(path.parent / "irace.txt", IRACE_OPTIONS)
    assert run(options, "--out", out, "--force").exit_code == 0
    assert tomllib.loads(out.read_text())["instances"] == {"glob": "../fro[[]m]/cnf/**/*"}
    load_scenario(out)


def test_paths_that_no_file_can_have(tmp_path: Path) -> None:
    path = smac_folder(tmp_path / "from")
    for key, old in (("execdir", "."), ("instance_file", "train.txt"), ("algo", "./wrapper")):
        text = SMAC.replace(f"{key} = {old}", f"{key} = ./{'x' * 5000}")
        done = run(write(path, text), "--out", tmp_path / "out.toml", "--force")
        assert done.exit_code == 0 and "Warning: " in done.stdout, done.stderr
    text = SMAC.replace("params.pcs", "x" * 5000)
    done = run(write(path, text), "--out", tmp_path / "out.toml", "--force")
    assert done.exit_code == 2 and "there is no file" in done.stderr


def test_init_for_a_solver(tmp_path: Path) -> None:
    place = tmp_path / "scenario.toml"
    done = CliRunner().invoke(app, ["init", str(place), "--solver", "kissat"])
    assert done.exit_code == 0, done.output
    assert tomllib.loads(place.read_text())["target"]["command"][0] == "kissat"
    done = CliRunner().invoke(app, ["init", str(tmp_path / "b.toml"), "--solver", "odd"])
    assert done.exit_code == 2 and "expected one of" in done.stderr
    assert not (tmp_path / "b.toml").exists()


def test_moving_keeps_what_is_whole(tmp_path: Path) -> None:
    space = ImportedSpace((make_parameter("x", "integer", 1, low=0, high=2),))
    target = {"command": ["./w"], "protocol": "smac", "directory": "/opt"}
    whole = {"list": ["/a", "b"]}
    scenario = ImportedScenario(space, target, whole, test_instances={"file": "lost.txt"})
    assert moved(scenario, tmp_path, tmp_path) == scenario
    found = moved(scenario, tmp_path / "x", tmp_path)
    assert found.target["directory"] == "/opt"
    assert found.instances == {"list": ["/a", "x/b"]}
    assert found.test_instances == {"file": "x/lost.txt"}
    assert any("lost.txt: paths in it will be seen from" in text for text in found.warnings)


# Real files


def real(folder: Path, *patterns: str) -> list[Path]:
    found = [path for pattern in patterns for path in sorted(folder.glob(pattern))]
    assert found
    return found


def test_real_parameter_files(data_folder: Path, tmp_path: Path) -> None:
    for path in real(data_folder, "pcs/*.pcs", "aclib/*/*.pcs", "irace/*/parameters*.txt"):
        out = tmp_path / f"{path.parent.name}-{path.stem}.toml"
        done = run(path, "--out", out)
        assert done.exit_code == 0, (path, done.stderr)
        imported = import_file(path)
        assert isinstance(imported, ImportedSpace)
        text = completed(out.read_text(encoding="utf-8"), has_wrapper=not imported.formats)
        loaded = load_scenario(write(out, text))
        same(loaded, imported)


def test_real_scenarios_of_smac(data_folder: Path, tmp_path: Path) -> None:
    for scenario in real(data_folder, "aclib/*/*scenario.txt"):
        # Their paths begin in the folder that holds example_scenarios.
        folder = tmp_path / "example_scenarios" / scenario.parent.name
        for file in scenario.parent.iterdir():
            write(folder / file.name, file.read_text(encoding="utf-8"))
        path = folder / scenario.name
        out = folder / "out.toml"
        done = run(path, "--out", out)
        assert done.exit_code == 0, done.stderr
        provide(out)
        loaded = load_scenario(out)
        imported = import_file(path)
        assert isinstance(imported, ImportedScenario)
        same(loaded, imported.space)
        assert loaded.target.protocol == "smac" and loaded.target.deterministic is False
        assert loaded.search.cutoff in (1, 5)
        assert loaded.test_instances is not None
        assert (loaded.budget.charged or loaded.budget.wall) == 30


def test_real_scenarios_of_irace(data_folder: Path, tmp_path: Path) -> None:
    for scenario in real(data_folder, "irace/*/scenario.txt"):
        folder = tmp_path / scenario.parent.name
        for file in scenario.parent.iterdir():
            write(folder / file.name, file.read_text(encoding="utf-8"))
        out = tmp_path / f"{folder.name}.toml"  # in another folder than they were
        done = run(folder / scenario.name, "--out", out)
        assert done.exit_code == 0, done.stderr
        assert "defaults are placeholders" in done.stdout
        provide(out)
        loaded = load_scenario(out)
        imported = import_file(folder / scenario.name)
        assert isinstance(imported, ImportedScenario)
        same(loaded, imported.space)
        assert loaded.budget.runs in (5000, 10000)


# Whatever comes

PIECES = st.one_of(
    st.sampled_from(
        [
            *"=,{}[]()|&!<>#'\"\\\n\t\r\0`~$\u2028é",
            *SMAC.split(),
            *OLD_PCS.split(),
            *IRACE.split(),
            *IRACE_OPTIONS.split(),
            *("1e999", "-0", "NA", "{{", "nan", "max", "../..", "/", "\x1b[2J"),
        ]
    ),
    st.text(max_size=3),
)
MESSES = st.one_of(
    st.lists(PIECES, max_size=30).map(" ".join), st.lists(PIECES, max_size=30).map("\n".join)
)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """Files that were right before something happened to them."""
    text = draw(st.sampled_from([SMAC, OLD_PCS, IRACE, IRACE_OPTIONS]))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(start + 5, len(text))))
        text = text[:start] + draw(PIECES) + text[end:]
    return text


@settings(max_examples=400, suppress_health_check=list(HealthCheck))
@given(text=st.one_of(MESSES, damaged()))
def test_fuzz(shared: Path, text: str) -> None:
    path = smac_folder(shared / "fuzz")
    write(path.parent / "parameters.txt", IRACE)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        imported = import_file(path)
        kind = kind_of(path)
        if isinstance(imported, ImportedScenario):
            imported = moved(imported, path.parent, shared)
        written = text_of_import(imported, path, kind)
    except CunctatorError as error:
        assert "\n" not in str(error)
        return
    assert all(line.isprintable() for line in summary(imported, kind))
    again = tomllib.loads(written)
    space = imported.space if isinstance(imported, ImportedScenario) else imported
    assert list(again["parameters"]) == [parameter.name for parameter in space.parameters]
    if isinstance(imported, ImportedSpace):
        out = write(shared / "fuzz" / "out.toml", completed(written))
        try:
            same(load_scenario(out), space)
        except InvalidScenario as error:
            assert "means something else" in str(error) or "never reaches" in str(error)


def test_large_files_take_no_time(tmp_path: Path) -> None:
    for line in ("a" * 10**6, "[" * 10**6, "algo " + "'" * 10**6, "x = " + "(" * 10**6):
        with pytest.raises(InvalidScenario):
            import_file(write(tmp_path / "a.txt", f"{line}\n"))
