from __future__ import annotations

from pathlib import Path

import pytest

from cunctator.base.errors import InvalidScenario
from cunctator.formats.imported import ImportedScenario
from cunctator.formats.scenario_text import scenario_text
from cunctator.formats.smac_keys import NOT_USED, USED, plain
from cunctator.formats.smac_scenario import read_smac_scenario
from cunctator.scenario.models import SearchTable

PCS = """
alpha real [1, 1.4] [1.189] log
steps [1, 100] [10]i
mode {fast, slow} [fast]
extra {0, 1} [0]
extra | mode in {slow}
"""
SCENARIO = """
# An old scenario
algo = ./wrapper.py --mem=3 'two words' {x}
execdir = .
deterministic = 1
run_obj = runtime
overall_obj = mean
cutoff_time = 0.5      # of a run
tuner-timeout = 3600
paramfile = params.pcs
instance_file = train.txt
"""


def write(place: Path, text: str) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    return place


def program(place: Path) -> Path:
    write(place, "#!/bin/sh\n").chmod(0o755)
    return place


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scenario of which nothing is missing, and a current folder where nothing is."""
    write(tmp_path / "here" / "params.pcs", PCS)
    write(tmp_path / "here" / "train.txt", "a.cnf\nb.cnf\n")
    for name in ("a.cnf", "b.cnf", "c d.cnf"):
        write(tmp_path / "here" / name, "")
    program(tmp_path / "here" / "wrapper.py")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    return tmp_path / "here"


def read(folder: Path, text: str) -> ImportedScenario:
    return read_smac_scenario(write(folder / "scenario.txt", text))


def changed(*lines: str, without: str = "") -> str:
    """The scenario with lines in place of those with the same key, or without some."""
    keys = {plain(line.split()[0]) for line in lines} | {plain(key) for key in without.split()}
    kept = [one for one in SCENARIO.splitlines() if plain((one.split() or [""])[0]) not in keys]
    return "\n".join([*kept, *lines])


def warned(imported: ImportedScenario, text: str) -> bool:
    return any(text in warning for warning in imported.warnings)


def test_a_plain_scenario(folder: Path) -> None:
    found = read(folder, SCENARIO)
    assert found.target == {
        "command": ["./wrapper.py", "--mem=3", "two words", "{{x}}"],
        "protocol": "smac",
        "directory": ".",
        "deterministic": True,
    }
    assert found.instances == {"file": "train.txt"}
    assert found.test_instances is None
    assert found.search == {"cutoff": 0.5}
    assert found.budget == {"charged": 3600}
    assert found.initial == ()
    assert found.warnings == ()
    assert [p.name for p in found.space.parameters] == ["alpha", "steps", "mode", "extra"]


SPELLINGS = [
    ("algo", "algo algo-exec algoExec ta"),
    ("execdir", "algo-exec-dir exec-dir execDir execdir"),
    ("deterministic", "algo-deterministic deterministic"),
    ("run_obj", "run-obj run-objective runObj run_obj"),
    ("overall_obj", "overall-obj overallObj intra-obj intra-instance-obj intra_instance_obj"),
    ("cutoff_time", "cutoff-time cutoffTime cutoff algo-cutoff-time target-run-cputime-limit"),
    ("cutoff_time", "target_run_cputime_limit"),
    ("tuner_timeout", "tuner-timeout tunerTimeout tunertime-limit cputime-limit cpu-limit"),
    ("tuner_timeout", "cputime_limit algo_runs_timelimit"),
    ("wallclock_limit", "wallclock-limit wallClockLimit runtime-limit runtimeLimit"),
    ("runcount_limit", "runcount-limit totalNumRunsLimit numRunsLimit numberOfRunsLimit"),
    ("runcount_limit", "ta_run_limit max-evaluations"),
    ("memory_limit", "memory-limit"),
    ("paramfile", "paramFile param-file param_file pcs-file pcs_fn"),
    ("instance_file", "instances instance-file instance-dir instanceFile i train_inst_fn"),
    ("instance_file", "instance_seed_file training-instances"),
    ("test_instance_file", "test-instances test-instance-file test-instance-dir test_inst_fn"),
    ("test_instance_file", "testInstanceFile test_instance_seed_file"),
    ("initial_incumbent", "initial-incumbent"),
]


@pytest.mark.parametrize(("name", "aliases"), SPELLINGS)
def test_spellings(name: str, aliases: str) -> None:
    for alias in aliases.split():
        assert USED[plain(alias)] == name


def test_no_key_is_both_used_and_not() -> None:
    assert not USED.keys() & NOT_USED


def test_all_limits(folder: Path) -> None:
    text = changed(
        "cutoffTime 2.5", "wallclock-limit = 60", "max-evaluations = 1e3", "memory_limit = 512"
    )
    found = read(folder, text.replace("cutoff_time", "# cutoff_time"))
    assert found.search == {"cutoff": 2.5}
    assert found.budget == {"charged": 3600, "wall": 60, "runs": 1000}
    assert found.target["memory"] == "512MB"


@pytest.mark.parametrize("limit", ["max", "inf", "2147483647", "99999999999999.0"])
def test_no_limit_at_all(folder: Path, limit: str) -> None:
    limits = (f"tuner-timeout = {limit}", f"runcount_limit = {limit}", f"cutoff_time = {limit}")
    found = read(folder, changed(*limits))
    assert found.budget == {} and found.search == {}
    assert warned(found, "there is no limit on the search")


def test_a_cutoff_below_the_usual_first_cap(folder: Path) -> None:
    found = read(folder, changed("cutoff_time = 0.002"))
    assert found.search == {"cutoff": 0.002, "first_cap": 0.002}


def test_what_is_not_set_is_warned_of(folder: Path) -> None:
    text = changed(without="deterministic run_obj cutoff_time")
    found = read(folder, text)
    assert "deterministic" not in found.target
    for what in ("deterministic is not set", "run_obj is not set", "there is no cutoff_time"):
        assert warned(found, what)


def test_only_the_first_equals_sign_divides(folder: Path) -> None:
    program(folder / "run=it")
    found = read(folder, changed("algo=./run=it --a=b =c"))
    assert found.target["command"] == ["./run=it", "--a=b", "=c"]
    found = read(folder, changed("algo ./run=it --a=b = c"))
    assert found.target["command"] == ["./run=it", "--a=b", "=", "c"]


def test_keys_without_equals_signs_and_quotes(folder: Path) -> None:
    found = read(folder, changed('paramfile "params.pcs"', "cutoff_time 3", "deterministic no"))
    assert found.search == {"cutoff": 3}
    assert found.target["deterministic"] is False


def test_a_number_sign_within_a_word_is_no_comment(folder: Path) -> None:
    found = read(folder, changed("algo = ./wrapper.py --label=#1 #2"))
    assert found.target["command"] == ["./wrapper.py", "--label=#1"]


def test_keys_that_are_not_used_or_unknown(folder: Path) -> None:
    text = changed("cutoff_length = max", "feature-file = f.csv", "frobnicate = 3")
    found = read(folder, text)
    assert "not used: cutoff_length, feature-file" in found.warnings
    assert warned(found, f"line {len(text.splitlines())}: unknown key frobnicate, not used")


def test_a_key_that_is_given_again(folder: Path) -> None:
    found = read(folder, SCENARIO + "cutoffTime = 7\n")
    assert found.search == {"cutoff": 7}
    assert warned(found, "cutoff_time of line 8 is given again as cutoffTime")


@pytest.mark.parametrize(
    ("objective", "penalty"),
    [
        ("PAR10", 10),
        ("mean10", 10),
        ("MEAN10", 10),
        ("par2", 2),
        ("mean1000", 1000),
        ("par1.5", 1.5),
    ],
)
def test_penalised_means(folder: Path, objective: str, penalty: float) -> None:
    found = read(folder, changed(f"overall_obj = {objective}"))
    assert found.search == {"cutoff": 0.5, "penalty": penalty} and found.warnings == ()
    assert f"\npenalty = {penalty}\n" in scenario_text(found)
    assert SearchTable.model_validate(found.search).penalty == penalty


def test_penalised_means_without_a_cutoff(folder: Path) -> None:
    found = read(folder, changed("overall_obj = PAR10", without="cutoff_time"))
    assert found.search == {}
    assert warned(found, "overall_obj: par10 counts timeouts several times, but there is no cut")


def test_other_means(folder: Path) -> None:
    assert warned(read(folder, changed("overall_obj = median")), "Cunctator minimises the mean")
    assert warned(read(folder, changed("overall_obj = PAR0.5")), "par0.5 is not used")
    found = read(folder, changed("overall_obj = MEAN1"))
    assert found.warnings == () and found.search == {"cutoff": 0.5}


def test_aclib_2(folder: Path) -> None:
    text = changed(
        "executable = wrapper.py", "arg = --mem-limit", "arg = 3 0", without="algo execdir"
    )
    found = read(folder, text)
    assert found.target["command"] == ["./wrapper.py", "--mem-limit", "3 0"]
    assert found.target["protocol"] == "aclib2"


def test_programs_that_are_not_there(folder: Path) -> None:
    found = read(folder, changed("algo = ./other.py", "execdir = nowhere"))
    assert warned(found, "there is no program ./other.py")
    assert warned(found, "execdir: there is no folder")
    assert found.target["directory"] == "nowhere"


def test_paths_from_the_root_of_aclib(tmp_path: Path) -> None:
    write(tmp_path / "targets" / "params.pcs", PCS)
    write(tmp_path / "sets" / "train.txt", "data/a.cnf\ndata/b.cnf\n")
    write(tmp_path / "data" / "a.cnf", "")
    write(tmp_path / "data" / "b.cnf", "")
    program(tmp_path / "targets" / "wrapper.py")
    text = changed(
        "algo = targets/wrapper.py",
        "paramfile = targets/params.pcs",
        "instance_file = sets/train.txt",
    )
    path = write(tmp_path / "scenarios" / "sat" / "s.txt", text)
    found = read_smac_scenario(path)
    assert found.target["directory"] == "../.."
    assert found.target["command"] == ["targets/wrapper.py"]
    assert found.instances == {"list": ["../../data/a.cnf", "../../data/b.cnf"]}
    assert len(found.warnings) == 1
    assert warned(found, f"targets/params.pcs are taken from {tmp_path.resolve()}")


def test_paths_from_the_current_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A name that no other test leaves in a folder around this one.
    (folder / "params.pcs").rename(folder / "mine.pcs")
    text = SCENARIO.replace("params.pcs", "mine.pcs")
    path = write(folder.parent / "elsewhere" / "s.txt", text)
    with pytest.raises(InvalidScenario, match=r"there is no file mine\.pcs"):
        read_smac_scenario(path)
    monkeypatch.chdir(folder)
    found = read_smac_scenario(path)
    assert warned(found, f"taken from {folder.resolve()}")
    assert found.target["directory"] == "../here"
    assert found.instances == {"list": ["../here/a.cnf", "../here/b.cnf"]}


def test_paths_are_looked_for_in_six_folders_around(tmp_path: Path) -> None:
    write(tmp_path / "p" / "params.pcs", PCS)
    text = changed("paramfile = p/params.pcs")
    near, far = tmp_path / "1/2/3/4/5/6", tmp_path / "1/2/3/4/5/6/7"
    assert read_smac_scenario(write(near / "s.txt", text)).space.parameters
    with pytest.raises(InvalidScenario, match=r"there is no file p/params\.pcs"):
        read_smac_scenario(write(far / "s.txt", text))


def test_the_last_resort_is_beside_the_file(folder: Path) -> None:
    found = read(folder, changed("paramfile = lost/params.pcs", "instance_file = lost/train.txt"))
    assert warned(found, "there is no lost/params.pcs; params.pcs beside this file is used")
    assert found.instances == {"file": "train.txt"}


def test_a_scenario_behind_a_link(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "deep" / "er" / "train.txt", "../../here/a.cnf\n")
    (tmp_path / "link").symlink_to(tmp_path / "deep" / "er")
    text = changed("paramfile = ../../here/params.pcs")
    path = write(tmp_path / "link" / "s.txt", text)
    found = read_smac_scenario(path)
    assert found.instances == {"file": "train.txt"}
    assert found.target["directory"] == "."


@pytest.mark.parametrize(
    ("text", "names", "warning"),
    [
        ("a.cnf\n# comment\n\nb.cnf", ["a.cnf", "b.cnf"], ""),
        ("  a.cnf\nb.cnf\n", ["a.cnf", "b.cnf"], ""),
        ("17 a.cnf\n-1 b.cnf\n", ["a.cnf", "b.cnf"], "its seeds are not used"),
        ("a.cnf SAT\nb.cnf UNSAT 3\n", ["a.cnf", "b.cnf"], "such as 'SAT', are not used"),
        ("1 a.cnf SAT x\n2 b.cnf\n", ["a.cnf", "b.cnf"], "such as 'SAT x', are not used"),
        ('"a.cnf"\n"b.cnf"\n', ["a.cnf", "b.cnf"], ""),
        ('"1","a.cnf","x, y"\n"2","b.cnf",""', ["a.cnf", "b.cnf"], "'x, y', are not used"),
        ('"c d.cnf"\n', ["c d.cnf"], ""),
        ("c d.cnf\na.cnf\n", ["c d.cnf", "a.cnf"], ""),
        ("1 a.cnf\n2 a.cnf\n", ["a.cnf"], "1 line is repeated"),
        ("a.cnf\nlost.cnf\n", ["a.cnf", "lost.cnf"], "1 of 2 instances are missing"),
    ],
)
def test_instance_lists(folder: Path, text: str, names: list[str], warning: str) -> None:
    write(folder / "list.txt", text)
    found = read(folder, changed("instance_file = list.txt"))
    is_as_ours = text.splitlines() == names or "comment" in text
    if is_as_ours:
        assert found.instances == {"file": "list.txt"}
    else:
        assert found.instances == {"list": names}
    assert warned(found, warning) if warning else found.warnings == ()


def test_instances_that_are_whole_numbers(folder: Path) -> None:
    write(folder / "list.txt", "1\n2\n")
    found = read(folder, changed("instance_file = list.txt"))
    assert found.instances == {"file": "list.txt"}
    assert not warned(found, "seeds")


def test_instances_are_seen_from_where_the_target_runs(folder: Path) -> None:
    write(folder / "run" / "a.cnf", "")
    found = read(folder, changed("execdir = run", "algo = ../wrapper.py"))
    assert found.instances == {"list": ["run/a.cnf", "run/b.cnf"]}
    assert warned(found, "1 of 2 instances are missing")
    write(folder / "list.txt", "b.cnf\n")
    found = read(folder, changed("execdir = run", "instance_file = list.txt"))
    assert found.instances == {"file": "list.txt"}  # not there, but where the tool was started


def test_a_missing_list_is_kept(folder: Path) -> None:
    found = read(folder, changed("test_instance_file = sets/test.txt"))
    assert found.test_instances == {"file": "sets/test.txt"}
    assert warned(found, "test_instance_file: there is no file")


def test_a_folder_of_instances(folder: Path) -> None:
    write(folder / "set[1]" / "a.cnf", "")
    lines = ("instance-dir = set[1]", "instance-suffix = .cnf")
    found = read(folder, changed(*lines, without="instance_file"))
    assert found.instances == {"glob": "set[[]1]/**/*.cnf"}


def test_no_instances(folder: Path) -> None:
    text = changed("use-instances = false", without="instance_file")
    assert read(folder, text).instances == {"names": ["no_instance"]}


def test_an_initial_configuration(folder: Path) -> None:
    line = "initial_incumbent = -alpha '1.2' -steps '5' -mode 'slow' --extra 1"
    found = read(folder, changed(line))
    assert found.initial == ({"alpha": 1.2, "steps": 5, "mode": "slow", "extra": "1"},)
    found = read(folder, changed(line.replace("slow", "fast")))
    assert found.initial == ({"alpha": 1.2, "steps": 5, "mode": "fast"},)
    assert warned(found, "extra: not active there")
    default = "initial-incumbent -alpha '1.189' -steps '10' -mode 'fast'"
    assert read(folder, changed(default)).initial == ()
    assert read(folder, changed("initialIncumbent = RANDOM")).initial == ()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("cutoff_time = soon", "'soon' is not a time"),
        ("cutoff_time = -1", "'-1' is not a time"),
        ("cutoff_time = nan", "'nan' is not a time"),
        ("tuner-timeout = 1 h", "'1 h' is not a time"),
        ("runcount_limit = 1.5", "'1.5' is not a number"),
        ("runcount_limit = 0", "'0' is not a number"),
        ("deterministic = maybe", "neither true nor false"),
        ("run_obj = quality", "Cunctator minimises running time"),
        ("run_obj = runlength", "Cunctator minimises running time"),
        ("algo = 'unclosed", "has no end"),
        ("algo = ''", "it is empty"),
        ("executable = x", "algo gives a command as well"),
        ("paramfile = lost.pcs", "there is no file lost.pcs"),
        ("initial_incumbent = -alpha 9 -steps 1 -mode fast", "9.0 is outside"),
        ("initial_incumbent = -alpha 1.2", "steps: is missing"),
        ("initial_incumbent = -alpha", "is no configuration"),
        ("initial_incumbent = -beta 1", "there is no parameter -beta"),
        ("initial_incumbent = 'open", "is no configuration"),
        ("= 3", "makes no sense"),
        ("[section]", "makes no sense"),
    ],
)
def test_lines_that_are_wrong(folder: Path, line: str, problem: str) -> None:
    text = changed(line)
    with pytest.raises(InvalidScenario) as caught:
        read(folder, text)
    assert problem in str(caught.value)
    assert caught.value.line == len(text.splitlines())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", ["algo", "paramfile", "instance_file"])
def test_keys_that_are_missing(folder: Path, key: str) -> None:
    with pytest.raises(InvalidScenario, match=f"{key}: is missing"):
        read(folder, changed(without=key))


@pytest.mark.parametrize(
    ("text", "line"), [("", None), ("# nothing\n", None), ('"a"\n"b', 2), ('""\n', 1)]
)
def test_lists_that_are_wrong(folder: Path, text: str, line: int | None) -> None:
    place = write(folder / "list.txt", text)
    with pytest.raises(InvalidScenario) as caught:
        read(folder, changed("instance_file = list.txt"))
    assert caught.value.path == place and caught.value.line == line


def test_errors_of_the_parameter_file_name_it(folder: Path) -> None:
    write(folder / "params.pcs", "alpha {a, b} [c]\n")
    with pytest.raises(InvalidScenario) as caught:
        read(folder, SCENARIO)
    assert Path(caught.value.path).name == "params.pcs" and caught.value.line == 1
