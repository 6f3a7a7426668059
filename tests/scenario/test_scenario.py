"""Scenario files: what is accepted, what is refused and in which words."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from cunctator.base.errors import InvalidKey, InvalidScenario
from cunctator.scenario import load_scenario, template_text
from tests.scenario.conftest import BASE

LONG = "x" * 5000
"""No file can have such a name."""


def complaint(place: Path) -> InvalidScenario:
    with pytest.raises(InvalidScenario) as caught:
        load_scenario(place)
    message = str(caught.value)
    assert "\n" not in message and message.startswith(str(place))
    for jargon in ("pydantic", "validation", "Input should", "Traceback", "Extra inputs"):
        assert jargon not in message
    return caught.value


def test_a_scenario(write, tmp_path):
    place = write()
    scenario = load_scenario(str(place))
    assert scenario.text == BASE
    assert scenario.directory == tmp_path.resolve()
    assert scenario.search.first_cap == 0.01 and scenario.search.cutoff == 60.0
    assert scenario.search.workers >= 1 and scenario.search.profile == "tight"
    assert scenario.budget.runs == 100 and scenario.budget.charged is None
    assert scenario.instances.count == 100 and scenario.instances.seeds == 50
    assert scenario.test_instances is None
    assert scenario.space.configuration(0) == {"restarts": "luby"}
    assert scenario.space.size is None and scenario.configurations is None


def test_times_of_several_units(write):
    scenario = load_scenario(write(("runs = 100", 'wall = "2m30s"\ncharged = "1h 30m"')))
    assert (scenario.budget.wall, scenario.budget.charged) == (150.0, 5400.0)


CHANGES = {
    ("search", "seed"): 7,
    ("search", "workers"): 3,
    ("search", "cutoff"): "2m30s",
    ("search", "penalty"): 10.0,
    ("budget", "charged"): "10m",
    ("budget", "runs"): 55,
}


def test_changes_are_in_the_text_and_nothing_else_is_changed(write):
    place = write()
    scenario = load_scenario(place, changes=CHANGES)
    assert (scenario.search.seed, scenario.search.workers, scenario.search.cutoff) == (7, 3, 150.0)
    assert scenario.search.penalty == 10
    assert (scenario.budget.charged, scenario.budget.runs) == (600.0, 55)
    assert place.read_text() == BASE  # the user's file stays as it is
    again = load_scenario(write(text=scenario.text))
    assert again.digest == scenario.digest != load_scenario(write()).digest
    assert (again.search, again.budget) == (scenario.search, scenario.budget)
    kept = [line for line in scenario.text.splitlines() if "given on the command line" not in line]
    changed = ("cutoff", "runs")
    assert kept == [line for line in BASE.splitlines() if not line.startswith(changed)]


def test_a_penalty_is_a_number_and_once_by_default(write):
    assert load_scenario(write()).search.penalty == 1
    for text in ("10", "10.0", "2.5"):
        scenario = load_scenario(write(('"60s"', f'"60s"\npenalty = {text}')))
        assert scenario.search.penalty == float(text)


def test_changes_of_a_scenario_without_the_table(write):
    text = BASE.replace('[search]\ncutoff = "60s"\n', "")
    assert "[search]" not in text
    assert load_scenario(write(text=text), changes={("search", "seed"): 7}).search.seed == 7


@pytest.mark.parametrize("table", ['search.cutoff = "60s"', 'search = {cutoff = "60s"}'])
def test_changes_that_cannot_be_written(write, table):
    text = table + "\n" + BASE.replace('[search]\ncutoff = "60s"\n', "")
    with pytest.raises(InvalidScenario, match=r"search.cutoff: it cannot be changed .*write \[se"):
        load_scenario(write(text=text), changes={("search", "cutoff"): "5s"})


def test_the_template_is_a_scenario(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    solver = tmp_path / "bin" / "minisat"
    solver.write_text("#!/bin/false\n")
    solver.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "cnf").mkdir()
    (tmp_path / "cnf" / "one.cnf").write_text("p cnf 0 0\n")
    place = tmp_path / "scenario.toml"
    place.write_text(template_text())
    scenario = load_scenario(place)
    instance = str(tmp_path / "cnf" / "one.cnf")
    argv = scenario.command.argv(scenario.space.default, instance, 7, 0.01)
    assert argv == [
        "minisat", "-verb=0", "-rnd-seed=7", "-var-decay=0.95", "-ccmin-mode=2",
        "-phase-saving=2", "-rnd-freq=0.0", "-luby", "-rfirst=100", "-rinc=2.0", "-elim",
        "-grow=0", instance,
    ]  # fmt: skip
    # Comments show every other key; they must be right too.
    commented = re.findall(r"^# (\w+) = (?:\"[^\"]|[\d{])", template_text(), re.MULTILINE)
    assert {"memory", "workers", "profile", "stop_at", "runs"} <= set(commented)
    for extra in ('memory = "2GB"', 'directory = "."'):
        assert f"# {extra}" in template_text()
        place.write_text(template_text().replace(f"# {extra}", extra))
        load_scenario(place)


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "problem"),
    [
        ("[target]", "[targets]", 1, "targets", "unknown key; did you mean target?"),
        ("runs = 100", "run = 100", 23, "budget.run", "unknown key; did you mean runs?"),
        ('type = "real"', 'kind = "real"', 10, "parameters.factor.kind", "unknown key; expected"),
        ('type = "real"', 'type = "float"', 10, "parameters.factor.type", "'float' is unknown"),
        ("default = 2.0\n", "", 9, "parameters.factor.default", "is missing"),
        ("default = 2.0", "default = 9", 13, "parameters.factor.default", "outside 1.0 to 4.0"),
        ("default = 2.0", 'default = "2"', 13, "parameters.factor.default", "not a finite number"),
        ("default = 2.0", "default = true", 13, "parameters.factor.default", "not a finite num"),
        ("default = 2.0", "default = nan", 13, "parameters.factor.default", "nan is not a value"),
        ("default = 2.0", "default = 2020-01-01", 13, "parameters.factor.default", "date is not"),
        ('default = "luby"', 'default = "x"', 7, "parameters.restarts.default", "'x' is not a val"),
        ('["luby", "geometric"]', "[]", 6, "parameters.restarts.values", "there are no values"),
        ('["luby", "geometric"]', '"luby"', 6, "parameters.restarts.values", "a list is expected"),
        ('"geometric"]', '"luby"]', 6, "parameters.restarts.values", "'luby' is given twice"),
        ('"geometric"]', '"a\\u0000b"]', 6, "parameters.restarts.values", "holds a NUL"),
        ("low = 1.0", "low = 5", 11, "parameters.factor.low", "low is 5.0 and high is 4.0"),
        ("low = 1.0", "low = 0\nlog = true", 11, "parameters.factor.low", "logarithmic scale"),
        ("low = 1.0\n", "", 9, "parameters.factor.low", "is missing"),
        ("low = 1.0", "values = [1]", 11, "parameters.factor.values", "does not apply to real"),
        ('default = "luby"', 'default = "luby"\nlow = 1', 8, "parameters.restarts.low",
         "does not apply to a categorical"),
        ("restarts = \"geom", "restart = \"geom", 14, "parameters.factor.when.restart",
         "there is no parameter 'restart'"),
        ('{restarts = "geometric"}', '{restarts = "none"}', 14, "parameters.factor.when.restarts",
         "'none' is not a value of it; expected one of luby, geometric"),
        ('{restarts = "geometric"}', '{factor = "> 5"}', 14, "parameters.factor.when.factor",
         "factor is never that"),
        ('{restarts = "geometric"}', '{factor = "> 2"}', 14, "parameters.factor.when",
         "factor depends on factor"),
        ('default = "luby"', 'default = "luby"\nwhen = {factor = "> 2"}', 8,
         "parameters.restarts.when", "depends on"),
        ('{restarts = "geometric"}', '"geometric"', 14, "parameters.factor.when",
         "there is no parameter 'geometric'"),
        ('{restarts = "geometric"}', "7", 14, "parameters.factor.when", "a table or an expr"),
        ('"{parameters}", ', "", 2, "target.command", "parameter restarts is not in it"),
        ('"{parameters}"', '"x{parameters}"', 2, "target.command", "is several arguments"),
        (', "{instance}"', "", 2, "target.command", "{instance} is not in it"),
        ("{seed}", "{sed}", 2, "target.command", "unknown placeholder {sed}"),
        ("{seed}", "{seed", 2, "target.command", "a single {"),
        ("{python}", "no-such-solver", 2, "target.command", "there is no program 'no-such-solver'"),
        ("{python}", "./a.cnf", 2, "target.command", "make the file executable"),
        ("{python}", "a.cnf", 2, "target.command", "write ./a.cnf"),
        ('["{python}", "-s={seed}", "{parameters}", "{instance}"]', '"minisat {instance}"', 2,
         "target.command", "a list is expected, not one text"),
        ("[target]", "[target]\nsuccess = [256]", 2, "target.success", "exit codes is expected"),
        ("[target]", "[target]\nsuccess = []", 2, "target.success", "exit codes is expected"),
        ("[target]", '[target]\nanswer = "("', 2, "target.answer", "not a regular expression"),
        ("[target]", '[target]\nmemory = "2"', 2, "target.memory", "'2' is not a size"),
        ("[target]", '[target]\nmemory = "0MB"', 2, "target.memory", "nothing can run"),
        ("[target]", '[target]\ndirectory = "x"', 2, "target.directory", "there is no folder"),
        ("[target]", '[target]\nfunction = "a:b"', 2, "target.function", "either a command"),
        ("[target]", '[target]\nprotocol = "smac"\nsuccess = [1]', 3, "target.success",
         "the protocol smac says by itself"),
        ("[target]", '[target]\nprotocol = "smack"', 2, "target.protocol", "'smack' is unknown"),
        ("[target]", "[target]\ndeterministic = true", 2, "target.deterministic", "for wrappers"),
        ('"b.cnf"', '"c.cnf"', 17, "instances.list", "there is no file"),
        ('"b.cnf"', '"a.cnf"', 17, "instances.list", "'a.cnf' is there twice"),
        ('["a.cnf", "b.cnf"]', "[]", 17, "instances.list", "it is empty"),
        ("list = [", 'glob = "*.cnf"\nlist = [', 16, "instances", "it gives list and glob"),
        ('list = ["a.cnf", "b.cnf"]\n', "", 16, "instances", "it gives nothing"),
        ('list = ["a.cnf", "b.cnf"]', 'glob = "*.x"', 17, "instances.glob", "no file matches"),
        ('list = ["a.cnf", "b.cnf"]', 'glob = "a\\u0000/b*"', 17, "instances.glob",
         "no file can match"),
        ('list = ["a.cnf", "b.cnf"]', f'glob = "{"*/" * 2000}b*"', 17, "instances.glob",
         "no file can match"),
        ('list = ["a.cnf", "b.cnf"]', f'glob = "{LONG}*"', 17, "instances.glob", "no file matches"),
        ('list = ["a.cnf", "b.cnf"]', f'glob = "{LONG}"', 17, "instances.glob", "no file matches"),
        ('"b.cnf"', f'"{LONG}"', 17, "instances.list", "there is no file"),
        ('list = ["a.cnf", "b.cnf"]', f'file = "{LONG}"', 17, "instances.file",
         "there is no file"),
        ('list = ["a.cnf", "b.cnf"]', f'generator = ["{LONG}", "{{seed}}"]', 17,
         "instances.generator", "there is no program"),
        ("[target]", f'[target]\ndirectory = "{LONG}"', 2, "target.directory",
         "there is no folder"),
        ("{python}", LONG, 2, "target.command", "there is no program"),
        ("{python}", f"./{LONG}", 2, "target.command", "there is no program"),
        ('list = ["a.cnf", "b.cnf"]', 'file = "x"', 17, "instances.file", "there is no file"),
        ('list = ["a.cnf", "b.cnf"]', 'generator = ["{python}"]', 17, "instances.generator",
         "the same instance again and again"),
        ('list = ["a.cnf", "b.cnf"]', 'generator = ["nix", "{seed}"]', 17, "instances.generator",
         "there is no program 'nix'"),
        ("runs = 100", "runs = 0", 23, "budget.runs", "it is 0; expected at least 1"),
        ("runs = 100", "runs = 1.5", 23, "budget.runs", "expected a whole number"),
        ("runs = 100", 'charged = "0s"', 23, "budget.charged", "is out of range"),
        ("runs = 100", 'wall = "1e999s"', 23, "budget.wall", "is out of range"),
        ("runs = 100", "wall = true", 23, "budget.wall", "True is not a time"),
        ("runs = 100", 'wall = "2m30"', 23, "budget.wall",
         "'2m30' is not a time; expected a time such as 2m30s: 30 has no unit"),
        ("runs = 100", 'charged = "10 weeks"', 23, "budget.charged", "'10 weeks' is not a time"),
        ("runs = 100\n", "", 22, "budget", "it gives no limit"),
        ('"60s"', '"1ms"', 20, "search.cutoff", "below the first cap"),
        ('"60s"', '"60s"\npenalty = 0.5', 21, "search.penalty", "it is 0.5; expected at least 1"),
        ('"60s"', '"60s"\npenalty = 1e7', 21, "search.penalty", "expected at most 1000000"),
        ('"60s"', '"60s"\npenalty = nan', 21, "search.penalty", "expected a finite number"),
        ('"60s"', '"60s"\npenalty = inf', 21, "search.penalty", "expected"),
        ('"60s"', '"60s"\npenalty = "10"', 21, "search.penalty", "expected a number"),
        ('cutoff = "60s"', "penalty = 10", 20, "search.penalty", 'add one, e.g. cutoff = "60s"'),
        ('"60s"', '"60s"\nconfidence = 1.0', 21, "search.confidence", "expected less than 1"),
        ('"60s"', '"60s"\nprofile = "loose"', 21, "search.profile", "'loose' is unknown"),
        ('"60s"', '"60s"\nseed = -1', 21, "search.seed", "it is -1; expected at least 0"),
        ('"60s"', '"60s"\nseed = "1"', 21, "search.seed", "expected a whole number"),
        ('"60s"', '"60s"\nstop_at = {epsilon = 0.1}', 21, "search.stop_at.delta", "is missing"),
        ('"60s"', '"60s"\nstop_at = 3', 21, "search.stop_at", "expected a table"),
        ('cutoff = "60s"', 'cutoff = "60s', 20, "", "not TOML"),
        ('cutoff = "60s"', 'cutoff = "1s"\ncutoff = "2s"', 21, "", "given twice"),
        ("[search]", "[parameters.restarts]", 19, "", "given twice"),
    ],
)  # fmt: skip
def test_refused_with_file_line_and_key(write, old, new, line, key, problem):
    error = complaint(write((old, new)))
    assert problem in f"{error.problem}; {error.fix}"
    assert error.key == key
    assert error.line == line


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("[budget]\nruns = 1", "is missing"),
        ("", "is missing"),
        ("x = " + "[" * 100_000, "nested too deeply"),
        ("x = " + "{a = " * 100_000, "nested too deeply"),
        ("[" + ".".join("a" * 20_000) + "]\n", "nested too deeply"),
        ("[[" + ".".join("a" * 20_000) + "]]\n", "nested too deeply"),
        (".".join("a" * 20_000) + " = 1\n", "nested too deeply"),
        ("x = {" + ".".join("a" * 20_000) + " = 1}\n", "nested too deeply"),
        ("\x00", "not TOML"),
    ],
    ids=["part", "empty", "nested", "tables", "header", "headers", "key", "inline key", "nul"],
)
def test_files_that_are_hardly_scenarios(write, change, problem):
    assert problem in complaint(write(text=change)).problem


def test_dots_in_texts_lists_and_comments_nest_nothing(write):
    numbers = ", ".join(["0.5"] * 200)
    load_scenario(write(("[search]", f"# {'a.' * 200}\n[search] # {'[' * 200}")))
    error = complaint(write(("[search]", f"[search]\nx = [{numbers}]")))
    assert error.problem == "unknown key"


@pytest.mark.parametrize("number", ["1" * 400, "-" + "1" * 400, "0x" + "f" * 5000, "1_1" * 200])
@pytest.mark.parametrize("key", ["seed", "workers", "cutoff", "confidence", "first_cap"])
def test_whole_numbers_without_end(write, number, key):
    """Longer ones than Python converts are refused by itself, decimal ones only."""
    old = next((line for line in BASE.splitlines() if line.startswith(f"{key} =")), "[search]")
    new = f"{key} = {number}" if old != "[search]" else f"[search]\n{key} = {number}"
    error = complaint(write((old, new)))
    assert error.key == f"search.{key}" and "too large for TOML" in error.problem
    error = complaint(write(text=BASE[: BASE.index("[budget]")] + f"[budget]\nruns = {number}"))
    assert error.key == "budget.runs" and "too large for TOML" in error.problem


def test_no_parameters(write):
    text = re.sub(r"\[parameters(.|\n)*?\n\n", "", BASE).replace(
        "[instances]", "[parameters]\n[instances]"
    )
    error = complaint(write(text=text))
    assert error.key == "parameters" and error.line == 4


def test_conditions_that_exclude_each_other(write):
    more = '[parameters.c]\ntype = "integer"\nlow = 0\nhigh = 9\ndefault = 1\n'
    more += 'when = {restarts = "luby", factor = "> 2"}\n\n[instances]'
    error = complaint(write(("[instances]", more)))
    assert error.key == "parameters.c.when" and error.line == 21
    assert "never active: no value of restarts" in error.problem


def test_files_that_cannot_be_read(tmp_path):
    assert "cannot be read" in complaint(tmp_path / "none.toml").problem
    assert "not a file" in complaint(tmp_path).problem
    place = tmp_path / "latin.toml"
    place.write_bytes(b"[target]\ncommand = ['caf\xe9']\n")
    error = complaint(place)
    assert error.line == 2 and "not UTF-8 (byte 0xe9)" in error.problem


def test_windows_line_ends_and_byte_order_mark(write):
    place = write()
    place.write_bytes(b"\xef\xbb\xbf" + BASE.replace("\n", "\r\n").encode())
    windows = load_scenario(place)
    assert windows.digest == load_scenario(write()).digest
    place.write_bytes(BASE.replace("runs = 100", "runs = 0").replace("\n", "\r\n").encode())
    assert complaint(place).line == 23


def test_values_reach_the_target_exactly(write):
    text = r'["a b", "$HOME", "\"q\"", "it' "'" r's", "two\nlines", "{seed}", "\\"]'
    scenario = load_scenario(
        write(('["luby", "geometric"]', text), ('"luby"', '"a b"'), ('"geometric"', "'$HOME'"))
    )
    command = scenario.command
    wanted = ["a b", "$HOME", '"q"', "it's", "two\nlines", "{seed}", "\\"]
    for value in wanted:
        argv = command.argv({"restarts": value}, "i", 1, 1.0)
        assert argv == [sys.executable, "-s=1", f"--restarts={value}", "i"]


def test_the_digest_is_of_what_determines_the_search(write):
    digest = load_scenario(write()).digest
    for old, new in (
        ("runs = 100", 'wall = "1h"'),
        ('cutoff = "60s"', 'cutoff = "1m"\nworkers = 7'),
        ("[target]", "# a comment\n[target]"),
    ):
        assert load_scenario(write((old, new))).digest == digest
    others = [
        load_scenario(write(change)).digest
        for change in (
            ('cutoff = "60s"', 'cutoff = "61s"'),
            ('cutoff = "60s"', 'cutoff = "60s"\nseed = 1'),
            ('"a.cnf", "b.cnf"', '"b.cnf"'),
            ("-s={seed}", "-S={seed}"),
            ("high = 4.0", "high = 5.0"),
            ("[target]", '[target]\nmemory = "1GB"'),
        )
    ]
    assert len({digest, *others}) == 1 + len(others)


def test_a_small_space_is_searched_whole(write):
    small = 'type = "integer"\nlow = 1\nhigh = 4\ndefault = 2\n'
    text = re.sub(r'type = "real"\n(.|\n)*?(?=when)', small, BASE)
    scenario = load_scenario(write(text=text))
    assert scenario.space.size == 5 and scenario.configurations == 5


def test_a_function_as_the_target(write):
    line = 'command = ["{python}", "-s={seed}", "{parameters}", "{instance}"]'
    scenario = load_scenario(write((line, 'function = "package.module:name"')))
    assert scenario.instances.count == 100
    still = load_scenario(write((line, 'function = "a:b"\ndeterministic = true')))
    assert still.instances.count == 2
    named = load_scenario(
        write((line, 'function = "a:b"'), ('list = ["a.cnf", "b.cnf"]', 'names = ["x", "y"]'))
    )
    assert {named.instances.pair(j)[0] for j in range(50)} == {"x", "y"}
    error = complaint(write((line, 'function = "a"')))
    assert error.key == "target.function" and "package.module:name" in error.fix


def test_the_error_says_it_in_one_line_whatever_the_file_holds(write):
    error = complaint(write(("[parameters.factor]", '[parameters."a\\u001b[31m\\nb"]')))
    assert "\x1b" not in str(error) and "cannot be a parameter's name" in error.problem


def test_an_invalid_key_is_one_line():
    assert str(InvalidKey(("a", "b"), "x\ny", "do z")) == "a.b: x\\ny; do z"
