from __future__ import annotations

import time
from pathlib import Path

import pytest

from cunctator.base.errors import InvalidScenario
from cunctator.formats.imported import ImportedScenario
from cunctator.formats.irace_scenario import read_irace_configurations, read_irace_scenario
from cunctator.scenario.commands import make_command
from cunctator.scenario.instance_files import make_instances
from cunctator.scenario.models import BudgetTable, InstancesTable, SearchTable, TargetTable
from cunctator.space.parameters import Value
from cunctator.space.space import Space
from tests.formats.irace_files import read, space_of, write

# Tables of configurations

TABLE = """
# the second is not active in the first
algorithm  q0   ants label
"as"       NA   10   'with blank'   # good
acs        0.25 2e1  plain
acs        <NA> 20   plain
"""
TABLE_SPACE = """
algorithm "" c (as, acs, "NA")
q0        "" r (0, 1)  | algorithm == "acs"
ants      "" i (5, 100)
label     "" c ("with blank", plain)
fixed     "" c (one)
[forbidden]
ants == 99
"""


def configurations(folder: Path, table: str) -> list[dict[str, Value]]:
    space = read(folder, TABLE_SPACE)
    return read_irace_configurations(write(folder, table, "default.txt"), space)


def test_a_table_of_configurations(tmp_path: Path) -> None:
    assert configurations(tmp_path, TABLE.replace("<NA>", "0.5")) == [
        {"algorithm": "as", "ants": 10, "label": "with blank", "fixed": "one"},
        {"algorithm": "acs", "q0": 0.25, "ants": 20, "label": "plain", "fixed": "one"},
        {"algorithm": "acs", "q0": 0.5, "ants": 20, "label": "plain", "fixed": "one"},
    ]


def test_tables_may_name_their_rows_and_repeat_them(tmp_path: Path) -> None:
    row = "acs 0.25 20 plain\r\n"
    placeholder = 'as NA 52 "with blank"\n'  # the default of the space
    inactive = "as 0.5 20 plain\n"
    table = "algorithm q0 ants label\r\n" + row + placeholder + inactive + '"1" ' + row + inactive
    found = configurations(tmp_path, table)
    assert [c["algorithm"] for c in found] == ["acs", "as", "as", "acs", "as"]
    assert found[0] == found[3]
    assert found[2] == found[4] == found[1] | {"ants": 20, "label": "plain"}


def test_na_in_quotes_may_be_a_value(tmp_path: Path) -> None:
    (found,) = configurations(tmp_path, 'algorithm q0 ants label\n"NA" "NA" 9 plain\n')
    assert found == {"algorithm": "NA", "ants": 9, "label": "plain", "fixed": "one"}


@pytest.mark.parametrize(
    ("table", "line", "problem"),
    [
        (TABLE, 6, "q0: is missing"),
        ("algorithm q0 ants label\nacs 0.5 4 plain\n", 2, "ants: 4 is outside 5 to 100"),
        ("algorithm q0 ants label\nacs 0.5 5.5 plain\n", 2, "ants: 5.5 is not a whole"),
        ("algorithm q0 ants label\nacs 0.5 x plain\n", 2, "ants: 'x' is not a number"),
        ("algorithm q0 ants label\nacs 0.5 1e999 plain\n", 2, "not a finite number"),
        ("algorithm q0 ants label\ntabu 0.5 9 plain\n", 2, "'tabu' is not a value"),
        ("algorithm q0 ants label\nacs 0.5 99 plain\n", 2, "forbidden"),
        ("algorithm q0 ants label\nacs 0.5\n", 2, "2 cells where the first line has 4"),
        ("algorithm q0 ants label\nacs 0.5 9 'plain\n", 2, "makes no sense"),
        ("algorithm q0 ants label\nNA NA 9 plain\n", 2, "algorithm: is missing"),
        ("algorithm q0 ants\nacs 0.5 9\n", 1, "label: there is no column"),
        ("algorithm q0 ants label x\nacs 0.5 9 plain 1\n", 1, "x: there is no such parameter"),
        ("algorithm q0 ants label q0\nacs 0.5 9 plain 1\n", 1, "twice"),
        ("algorithm q0 ants label\n", None, "no configurations"),
        ("", None, "no configurations"),
    ],
)
def test_bad_tables(tmp_path: Path, table: str, line: int | None, problem: str) -> None:
    with pytest.raises(InvalidScenario) as caught:
        configurations(tmp_path, table)
    assert caught.value.line == line
    assert problem in str(caught.value)


# Scenarios

SCENARIO = """
## all of it
parameterFile <- "./parameters.txt"   # here
execDir = './run here'; deterministic = TRUE
trainInstancesDir = "./train"
testInstancesFile = "test.txt"
testInstancesDir = ""
configurationsFile = "default.txt"
targetRunner = "bin/runner"
boundMax = 300
maxTime = "36000"
maxExperiments = 0
parallel = 4L
seed = 1234567
testType = "t-test"
debugLevel = NA
confidence = 0.9
logFile = "./out#1.Rdata"
.mine = 3
postselction = F
"""


def make_folder(folder: Path, scenario: str = SCENARIO) -> Path:
    write(folder, TABLE_SPACE)
    write(folder, TABLE.replace("<NA>", "0.5"), "default.txt")
    write(folder, "", "train/b/two.cnf")
    write(folder, "", "train/one.cnf")
    write(folder, "", "run here/x.cnf")
    write(folder, "x.cnf # the only one\n", "test.txt")
    write(folder, "#!/bin/sh\n", "bin/runner").chmod(0o755)
    return write(folder, scenario, "scenario.txt")


def imported(folder: Path, more: str = "", *without: str) -> ImportedScenario:
    lines = [line for line in SCENARIO.splitlines() if not line.startswith(without or ("?",))]
    return read_irace_scenario(make_folder(folder, "\n".join(lines) + "\n" + more))


def test_a_whole_scenario(tmp_path: Path) -> None:
    found = read_irace_scenario(make_folder(tmp_path))
    assert found.target == {
        "command": ["../bin/runner"],
        "protocol": "irace",
        "directory": "run here",
        "deterministic": True,
    }
    assert found.instances == {"glob": "train/**/*"}
    assert found.test_instances == {"list": ["run here/x.cnf"]}
    assert found.search == {"cutoff": 300, "workers": 4, "seed": 1234567}
    assert found.budget == {"charged": 36000}
    assert found.space.has_defaults
    assert space_of(found.space).default["label"] == "with blank"
    assert [c["q0"] for c in found.initial] == [0.25, 0.5]
    assert "not used: testType, confidence, logFile" in found.warnings
    assert "scenario.txt, line 20: irace has no option postselction" in found.warnings
    assert len(found.warnings) == 3  # and that bounds are no whole seconds


def test_a_penalty_of_bounds(tmp_path: Path) -> None:
    found = imported(tmp_path, "boundPar = 10\n")
    assert (found.search["cutoff"], found.search["penalty"]) == (300, 10)
    SearchTable.model_validate(found.search)
    for more, without in (("boundPar = 1\n", "?"), ("boundPar = 10\n", "boundMax")):
        assert "penalty" not in imported(tmp_path, more, without).search


def test_our_own_checks_accept_the_tables(tmp_path: Path) -> None:
    found = read_irace_scenario(make_folder(tmp_path))
    target = TargetTable.model_validate(found.target)
    search = SearchTable.model_validate(found.search)
    BudgetTable.model_validate(found.budget)
    Space(found.space.parameters, 0, found.space.forbidden, found.initial)
    command = make_command(
        target, found.space.parameters, found.space.formats, objective="cpu", has_cutoff=True
    )
    assert (tmp_path / target.directory / "../bin/runner").is_file()
    for table, names in (
        (found.instances, ("train/b/two.cnf", "train/one.cnf")),
        (found.test_instances, ("run here/x.cnf",)),
    ):
        checked = InstancesTable.model_validate(table)
        _, written = make_instances(checked, tmp_path, search.seed, command.takes_seed, False)
        assert written == names
    argv = command.argv(found.initial[0], "train/one.cnf", 5, 0.25)
    assert argv[0] == "../bin/runner"
    assert argv[3:] == ["5", "train/one.cnf", "0.25", "acs", "0.25", "20", "plain", "one"]


def test_settings_of_quality_are_mentioned(tmp_path: Path) -> None:
    found = imported(tmp_path, "maxExperiments = 500\n", "boundMax", "maxTime")
    assert (found.search.get("cutoff"), found.budget) == (None, {"runs": 500})
    text = " ".join(found.warnings)
    assert "add cutoff" in text
    assert "Cunctator minimises running time" in text
    no_budget = imported(tmp_path, "", "maxTime")
    assert no_budget.budget == {}
    assert any("[budget]" in warning for warning in no_budget.warnings)


def test_what_is_not_there_is_a_warning(tmp_path: Path) -> None:
    more = 'execDir = "nowhere"\ntrainInstancesDir = "none"\ntestInstancesFile = "no.txt"\n'
    found = imported(tmp_path, more + 'targetRunner = "gone"\n')
    assert found.target["command"] == ["../gone"]
    assert found.instances == {"glob": "none/**/*"}
    assert found.test_instances == {"file": "no.txt"}
    for name in ("nowhere", "none", "no.txt", "../gone"):
        assert any("there is no f" in w and name in w for w in found.warnings), name


@pytest.mark.parametrize(
    ("lines", "directory", "table", "warning"),
    [
        ("one.cnf\nb/two.cnf\n", "train", {"list": ["train/one.cnf", "train/b/two.cnf"]}, ""),
        ("one.cnf\ngone.cnf\n", "train", {"list": ["train/one.cnf", "train/gone.cnf"]}, "missing"),
        ("../train/one.cnf\n", "", {"list": ["train/one.cnf"]}, ""),
        ("train/one.cnf\n", ".", {"file": "list.txt"}, ""),
        ("# two\n100 # seed\n\n  200\n", "", {"names": ["100", "200"]}, ""),
        ("1\n2\n1\n", "", {"names": ["1", "2"]}, "1 line is repeated"),
        ("100 --size 3\n", "", {"names": ["100 --size 3"]}, "one argument"),
        ("one.cnf -t 1\n", "train", {"names": ["{folder}/train/one.cnf -t 1"]}, "one argument"),
    ],
)
def test_instances_of_a_file(
    tmp_path: Path, lines: str, directory: str, table: dict[str, object], warning: str
) -> None:
    write(tmp_path, lines, "list.txt")
    more = f'trainInstancesDir = "{directory}"\ntrainInstancesFile = "list.txt"\n'
    found = imported(tmp_path, more)
    if "{folder}" in str(table):
        table = {"names": [str(tmp_path.resolve() / "train/one.cnf -t 1")]}
    assert found.instances == table
    assert len(found.warnings) == 3 + bool(warning)
    assert warning in " ".join(found.warnings)


@pytest.mark.parametrize(
    ("more", "command"),
    [
        ('targetRunner = "/opt/runner"', ["/opt/runner"]),
        ('targetRunner = "x{y}"', ["../x{{y}}"]),
        ('execDir = "bin"', ["./runner"]),
        ('targetRunnerLauncher = "python3"', ["python3", "../bin/runner"]),
        ('targetRunnerLauncher = "bin/launch"', ["../bin/launch", "../bin/runner"]),
        (
            'targetRunnerLauncher = "julia"\ntargetCmdline = "--project=. {targetRunner} -q '
            '{configurationID} {instanceID} {seed} {instance} {bound} {targetRunnerArgs}"',
            ["julia", "--project=.", "../bin/runner", "-q"],
        ),
        (
            'targetRunnerLauncher = "java"\n'
            "targetRunnerLauncherArgs = '-jar {targetRunner} {targetRunnerArgs}'",
            ["java", "-jar", "../bin/runner"],
        ),
    ],
)
def test_commands(tmp_path: Path, more: str, command: list[str]) -> None:
    assert imported(tmp_path, more).target["command"] == command


def test_a_runner_of_aclib(tmp_path: Path) -> None:
    write(tmp_path, 'a "a" c (x, y)\nb "b" i (1, 5)\n', "aclib.txt")
    more = 'aclib = 1\nparameterFile = "aclib.txt"\nconfigurationsFile = ""\n'
    found = imported(tmp_path, more)
    assert (found.target["protocol"], found.space.formats) == ("aclib2", {})
    write(tmp_path, 'a "-a" c (x, y)\nb "b" i (1, 5)\n', "aclib.txt")
    with pytest.raises(InvalidScenario, match="by its label"):
        imported(tmp_path, more)


def test_forbidden_file_of_older_versions(tmp_path: Path) -> None:
    write(tmp_path, 'algorithm == "NA"\n', "forbidden.txt")
    found = imported(tmp_path, 'forbiddenFile = "forbidden.txt"\ndigits = 4\n')
    assert len(found.space.forbidden) == 2
    assert any("forbiddenFile" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("targetRunner <- function(experiment, scenario) {", "'targetRunner <- function("),
        ("maxTime = 60 * 60", "'maxTime = 60 * 60' is not"),
        ("maxTime = system('rm -rf /')", "R code is never run"),
        ("require(matlabr)", "'require(matlabr)' is not"),
        ("instances = c('a', 'b')", "is not a name and a literal"),
        ("maxTime == 5", "is not a name and a literal"),
        ("maxTime =", "is not a name and a literal"),
        ("maxTime = 5 6", "is not a name and a literal"),
        ("5 -> maxTime", "is not a name and a literal"),
        ("seed = TRUEISH", "is not a name and a literal"),
        ('execDir = "open', "is not a name and a literal"),
        ('execDir = "a\0b"', "is not a name and a literal"),
        ("}", "is not a name and a literal"),
        ("execDir = 5", "execDir: 5 is not a text"),
        ('parallel = "many"', "parallel: 'many' is not a number"),
        ("parallel = TRUE", "parallel: True is not a number"),
        ("parallel = -1", "parallel: it is -1"),
        ("seed = 1.5", "seed: it is 1.5"),
        ("seed = 1e99", "seed: it is 1e+99"),
        ("boundMax = 1e999", "boundMax: it is inf"),
        ("deterministic = 2", "deterministic: it is 2"),
        ("deterministic = 'yes'", "deterministic: 'yes' is not a number"),
        ('batchmode = "slurm"', "batchmode: the runner submits jobs"),
        ('targetCmdline = "{seed} {instance}"', "targetCmdline: "),
        ('targetCmdline = "{seed} {configurationID} {targetRunnerArgs}"', "another order"),
        ('trainInstancesDir = ""', "trainInstancesDir: there are no instances"),
    ],
)
def test_bad_scenarios(tmp_path: Path, statement: str, problem: str) -> None:
    with pytest.raises(InvalidScenario) as caught:
        imported(tmp_path, statement)
    assert caught.value.line == len(SCENARIO.splitlines()) + 1
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("parameters.txt", "x\n", "parameters.txt, line 1"),
        ("default.txt", "algorithm\nas\n", "default.txt, line 1"),
        ("test.txt", "# none\n", "test.txt: there are no instances"),
        ("test.txt", "a\n\0\n", "test.txt, line 2"),
    ],
)
def test_errors_of_the_files_that_a_scenario_names(
    tmp_path: Path, file: str, text: str, problem: str
) -> None:
    path = make_folder(tmp_path)
    write(tmp_path, text, file)
    with pytest.raises(InvalidScenario, match=problem):
        read_irace_scenario(path)


def test_a_missing_parameter_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidScenario, match=r"gone\.txt: cannot be read"):
        imported(tmp_path, 'parameterFile = "gone.txt"')
    with pytest.raises(InvalidScenario, match="cannot be read"):
        imported(tmp_path, f'parameterFile = "{"x" * 5000}"')


def test_a_long_scenario(tmp_path: Path) -> None:
    began = time.process_time()
    imported(tmp_path, "# comment\nseed = 1; seed = 2\n" * 50_000)
    with pytest.raises(InvalidScenario):
        imported(tmp_path, 'execDir = "' + "\\" * 200_001 + '"\n')
    assert time.process_time() - began < 10
