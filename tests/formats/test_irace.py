from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from cunctator.base.errors import InvalidScenario
from cunctator.formats.imported import ImportedSpace
from cunctator.formats.irace import read_irace_parameters
from cunctator.formats.irace_scenario import read_irace_configurations, read_irace_scenario
from cunctator.space.expressions import parse_expression, text_of_expression
from tests.formats import irace_checker
from tests.formats.irace_files import (
    EXAMPLE,
    all_of,
    check_samples,
    command_of,
    read,
    space_of,
    write,
)

PARAMETER_FILES = ("acotsp/parameters-acotsp", "Spear/parameters-cat", "Spear/parameters-mixed")


def check_round_trip(imported: ImportedSpace) -> None:
    names = frozenset(parameter.name for parameter in imported.parameters)
    trees = [p.when for p in imported.parameters if not isinstance(p.when, Mapping)]
    bounds = [b for p in imported.parameters for b in (p.low_expression, p.high_expression) if b]
    assert trees
    for tree in (*trees, *bounds, *imported.forbidden):
        assert parse_expression(text_of_expression(tree), names) == tree


# Real files


@pytest.mark.parametrize("name", PARAMETER_FILES)
def test_a_second_opinion_confirms_samples_of_real_files(data_folder: Path, name: str) -> None:
    check_samples(data_folder / "irace" / f"{name}.txt")


@pytest.mark.parametrize("name", PARAMETER_FILES)
def test_expressions_of_real_files_can_be_written_and_read_back(
    data_folder: Path, name: str
) -> None:
    check_round_trip(read_irace_parameters(data_folder / "irace" / f"{name}.txt"))


@pytest.mark.parametrize("name", PARAMETER_FILES)
def test_every_parameter_of_real_files_reaches_the_runner(data_folder: Path, name: str) -> None:
    imported = read_irace_parameters(data_folder / "irace" / f"{name}.txt")
    labels = {p.name: p.label for p in irace_checker.read(data_folder / f"irace/{name}.txt").lines}
    command, space = command_of(imported), space_of(imported)
    for number in range(50):
        configuration = space.configuration(number)
        argv = command.argv(configuration, "x.tsp", 7, 1.0)
        line = " ".join(f"{labels[name]}{value}" for name, value in configuration.items())
        assert argv[:1] + argv[3:5] == ["./runner", "7", "x.tsp"]
        assert argv[5:] == line.split()


def test_a_real_table_of_configurations(data_folder: Path) -> None:
    folder = data_folder / "irace" / "acotsp"
    space = read_irace_parameters(folder / "parameters-acotsp.txt")
    expected = {"algorithm": "as", "localsearch": "0", "alpha": 1.0, "beta": 1.0, "rho": 0.95}
    # The file gives q0 a value, which is not active: irace would refuse it.
    assert read_irace_configurations(folder / "default.txt", space) == [expected | {"ants": 10}]


def test_real_scenarios(data_folder: Path) -> None:
    spear = read_irace_scenario(data_folder / "irace" / "Spear" / "scenario.txt")
    assert spear.target == {
        "command": ["./target-runner"],
        "protocol": "irace",
        "directory": ".",
    }
    assert spear.instances == {"glob": "SWV-scrambled-first302/**/*"}
    assert spear.test_instances == {"glob": "SWV-scrambled-last302/**/*"}
    assert (spear.budget, spear.search) == ({"runs": 10000}, {})
    assert "not used: testType" in spear.warnings
    assert any("SWV-scrambled-first302" in warning for warning in spear.warnings)
    acotsp = read_irace_scenario(data_folder / "irace" / "acotsp" / "scenario.txt")
    assert acotsp.target["command"] == ["../target-runner"]
    assert acotsp.target["directory"] == "acotsp-arena"
    assert not acotsp.space.has_defaults
    assert any("minimises running time" in warning for warning in acotsp.warnings)


# Parameters


def test_a_second_opinion_confirms_samples_of_everything_at_once(tmp_path: Path) -> None:
    check_samples(write(tmp_path, EXAMPLE))


def test_expressions_can_be_written_and_read_back(tmp_path: Path) -> None:
    check_round_trip(read(tmp_path, EXAMPLE))


def test_the_second_opinion_can_say_no(tmp_path: Path) -> None:
    path = write(tmp_path, EXAMPLE)
    checker, space = irace_checker.read(path), space_of(read_irace_parameters(path))
    wrong = 0
    for number in range(200):
        good = space.configuration(number)
        for name in good:
            assert checker.complaints({n: v for n, v in good.items() if n != name})
        if "q0" not in good:
            assert checker.complaints(good | {"q0": 0.5})
        wrong += bool(checker.complaints(good | {"ants": 95}))
        assert checker.complaints(good | {"ants": 101})
        assert checker.complaints(good | {"algorithm": "tabu"})
    assert wrong > 20


def test_what_the_lines_say(tmp_path: Path) -> None:
    by_name = {p.name: p for p in read(tmp_path, EXAMPLE).parameters}
    assert list(by_name)[:3] == ["algorithm", "search", "alpha"]
    algorithm, search, ants = by_name["algorithm"], by_name["search"], by_name["ants"]
    assert (algorithm.kind, algorithm.values) == (
        "categorical",
        ("as", "mmas", "eas", "ras", "acs"),
    )
    assert (search.kind, search.values) == ("ordinal", ("0", "1", "2", "3"))
    assert (ants.kind, ants.low, ants.high, ants.log) == ("integer", 5, 100, True)
    assert (by_name["rho"].kind, by_name["rho"].log) == ("real", True)
    assert by_name["queue"].values == ("", "--queue")


@pytest.mark.parametrize(
    ("domain", "values"),
    [
        ("(a,b)", ("a", "b")),
        ("( a , b )", ("a", "b")),
        ('("a, b", "c|d", "")', ("a, b", "c|d", "")),
        ("(f(x), g)", ("f(x)", "g")),
        ("(1, 1.0, 01)", ("1", "1.0", "01")),
        ("(only)", ("only",)),
        ('("very low", low)', ("very low", "low")),
    ],
)
def test_values_of_categorical_parameters_are_texts(
    tmp_path: Path, domain: str, values: tuple[str, ...]
) -> None:
    assert read(tmp_path, f'p "-p " c {domain}').parameters[0].values == values


# Sections and defaults


NEVER = """
mode  "--mode="  c (a, b, c)
size  "--size="  i (1, 9)
lost  "--lost="  r (0, 1)     | mode == "a" & mode != "a"
rare  "--rare="  i (1, size)  | size > 4 & size < 5
child "--child=" c (x, y)     | lost > 0.5
least "--least=" i (rare, 20)
most  "--most="  c (x, y)     | lost > 0.5 | size > 3
nots  "--nots="  c (x, y)     | !(mode == "b" & lost > 0.5)
[forbidden]
lost < 0.2 & mode == "b"
(child == "x") | size == 7
"""


def test_what_is_never_active_is_left_out(tmp_path: Path) -> None:
    imported = read(tmp_path, NEVER)
    assert imported.left_out == {"lost", "rare", "child", "least"}
    assert [parameter.name for parameter in imported.parameters] == ["mode", "size", "most", "nots"]
    assert imported.formats.keys() == {"mode", "size", "most", "nots"}
    assert len(imported.forbidden) == 1
    told = "\n".join(imported.warnings)
    for line, name in ((4, "lost"), (5, "rare"), (6, "child"), (7, "least")):
        assert f"parameters.txt, line {line}: {name} is never active and is left out" in told
    assert "parameters.txt, line 11: it never applies, and is left out" in told
    for configuration in all_of(imported):
        size, mode = configuration["size"], configuration["mode"]
        assert size != 7 and ("most" in configuration) == (int(size) > 3)
        assert ("nots" in configuration) == (mode != "b")  # in R, FALSE & NA is FALSE
    path = write(tmp_path, "mode size lost most nots\na 5 NA x y\n", "configurations.txt")
    assert read_irace_configurations(path, imported) == [
        {"mode": "a", "size": 5, "most": "x", "nots": "y"}
    ]


@pytest.mark.parametrize(
    "sections",
    [
        "[forbidden]\nx == 1 & y == 1\n[global]\ndigits = 5\n",
        "[global]\ndigits = 5\n  [forbidden]  # these\nx == 1 & y == 1\n",
        "[forbidden]\nx == 1 && y == 1\n",
    ],
)
def test_sections_come_in_either_order(tmp_path: Path, sections: str) -> None:
    imported = read(tmp_path, f'x "" i (0, 1)\ny "" c (0, 1)\n{sections}')
    assert len(all_of(imported)) == 3
    assert ("digits = 5 is not used" in str(imported.warnings)) == ("digits" in sections)


def test_forbidden_combinations_in_a_file_of_their_own(tmp_path: Path) -> None:
    path = write(tmp_path, 'x "" i (0, 1)\ny "" c (0, 1)\n[forbidden]\nx == 0 & y == "0"\n')
    other = write(tmp_path, "# old style\nx == 1 & y == 1\n", "forbidden.txt")
    assert len(all_of(read_irace_parameters(path, other))) == 2
    write(tmp_path, "\nx == 1 &\n", "forbidden.txt")
    with pytest.raises(InvalidScenario, match=r"forbidden\.txt, line 2: forbidden: "):
        read_irace_parameters(path, other)


def test_placeholders_are_first_values_and_middles(tmp_path: Path) -> None:
    imported = read(tmp_path, EXAMPLE)
    assert not imported.has_defaults
    defaults = {parameter.name: parameter.default for parameter in imported.parameters}
    assert (defaults["algorithm"], defaults["search"], defaults["alpha"]) == ("as", "0", 2.5)
    assert defaults["rho"] == pytest.approx(0.1)
    assert defaults["ants"] == 22  # the square root of 5 * 101


def test_placeholders_that_are_forbidden_are_replaced(tmp_path: Path) -> None:
    text = 'x "" i (0, 10)\ny "" c (a, b)\nz "" r (x, x + 1)\n[forbidden]\ny == "a"\nx == 5\n'
    space = space_of(read(tmp_path, text))
    assert space.default["y"] == "b"
    assert space.default["x"] != 5


def test_nothing_is_found_where_everything_is_forbidden(tmp_path: Path) -> None:
    for domain in ("c (a, b)", "r (0, 1)"):
        with pytest.raises(InvalidScenario, match="line 3: no configuration"):
            read(tmp_path, f'x "" {domain}\n[forbidden]\nTRUE\n')


# Labels


@pytest.mark.parametrize(
    ("label", "domain", "values"),
    [
        ("--x ", "i (1, 5)", {"1": ["--x", "1"], "5": ["--x", "5"]}),
        ("--x=", "i (1, 5)", {"1": ["--x=1"], "5": ["--x=5"]}),
        ("-v -x", "i (1, 5)", {"3": ["-v", "-x3"]}),
        ("", "i (-1, 5)", {"-1": ["-1"]}),
        ("--", "c (as, eas)", {"as": ["--as"], "eas": ["--eas"]}),
        ("", 'c ("", "--flag")', {"": [], "--flag": ["--flag"]}),
        ("--x ", 'c ("", y)', {"": ["--x"], "y": ["--x", "y"]}),
        ("--x ", 'c ("a b", c)', {"a b": ["--x", "a", "b"], "c": ["--x", "c"]}),
        ("", 'c ("-a 1", "-b")', {"-a 1": ["-a", "1"], "-b": ["-b"]}),
        ("--{x}=", "c ({}, {value})", {"{}": ["--{x}={}"], "{value}": ["--{x}={value}"]}),
        ("", "c ('a b', '')", {"'a b'": ["a b"], "''": [""]}),
        ("--x=", r"c (a\ b, c)", {r"a\ b": ["--x=a b"]}),
        ("  --x\t ", "c (y)", {"y": ["--x", "y"]}),
    ],
)
def test_labels_and_values_are_split_as_a_shell_would(
    tmp_path: Path, label: str, domain: str, values: dict[str, list[str]]
) -> None:
    imported = read(tmp_path, f'p "{label}" {domain}\n')
    command = command_of(imported)
    (parameter,) = imported.parameters
    for text, arguments in values.items():
        value = text if parameter.kind == "categorical" else int(text)
        assert command.argv({"p": value}, "i", 1, 1.0)[5:] == arguments


def test_common_labels_make_one_format(tmp_path: Path) -> None:
    imported = read(tmp_path, 'a "--a " c (x, y)\nb "--b=" i (1, 2)\nc "" c (x, "")\n')
    assert imported.formats == {
        "a": ("--a", "{value}"),
        "b": "--b={value}",
        "c": {"x": "x", "": ""},
    }


def test_what_a_shell_would_expand_is_mentioned(tmp_path: Path) -> None:
    imported = read(tmp_path, 'a "--a " c ($HOME, y)\nb "--b " c (x*y)\nc "-c " c (x)\n')
    assert ["'$HOME'" in w or "'x*y'" in w for w in imported.warnings] == [True, True]


# Bad parameter files


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("x", "makes no sense"),
        ("x --x i (0, 1)", "makes no sense"),
        ('x-y "--x " i (0, 1)', "makes no sense"),
        ('x "--x " i,lag (0, 1)', "makes no sense"),
        ('x "--x " i, log (0, 1)', "makes no sense"),
        ('x "--x " i c(0, 1)', "makes no sense"),
        ('x "--x " c "a,b"', "makes no sense"),
        ('x "--x " i (0, 1', "makes no sense"),
        ('x "--x " i (0, 1) n > 1', "makes no sense"),
        ('x "--x " i (0, 1) |', "give a condition"),
        ('x "--x " i (1, 2, 3)', "is no range"),
        ('x "--x " i (1)', "is no range"),
        ('x "--x " i (1.5, 3)', "not a whole number"),
        ('x "--x " i (3, 3)', "low is 3 and high is 3"),
        ('x "--x " r (0.01, 0.001)', "low is 0.01"),
        ('x "--x " r,log (0, 1)', "logarithmic"),
        ('x "--x " i,log (-3, 10)', "logarithmic"),
        ('x "--x " r (0, 1e999)', "too large"),
        ('x "--x " r (0, 1/0)', "is no number"),
        ('x "--x " r (0, "a")', "no parameter 'a'"),
        ('x "--x " r (0, m)', "cannot depend on m"),
        ('x "--x " r (0, system(1))', "no function"),
        ('x "--x " c (a, b, a)', "given twice"),
        ('x "--x " c (a,, b)', "its values make no sense from ', b'"),
        ('x "--x " c (a, b,)', "its values make no sense"),
        ('x "--x " c ("a"b, c)', "its values make no sense"),
        ('x "--x " c ()', "its values make no sense"),
        ('n "--x " i (0, 1)', "line 1 already"),
        ('x "--x " i (0, x)', "x depends on x"),
        ('x "it\'s " i (0, 1)', "has no end"),
        ('x "-x " c (a\0b)', "makes no sense"),
        ("[forbiden]", "makes no sense"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, line: str, problem: str) -> None:
    with pytest.raises(InvalidScenario) as caught:
        read(tmp_path, f'n "-n " i (0, 1)\nm "-m " c (0, 1)\n\n{line}\n')
    assert caught.value.line == 4
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ('a "" c (0, 1) | b == 1\nb "" c (0, 1) | a == 1\n', 1, "a depends on b depends on a"),
        ('a "" i (0, b)\nb "" i (0, c)\nc "" i (0, a)\n', None, "depends on"),
        ("# nothing\n\n", None, "no parameters"),
        ("", None, "no parameters"),
        ('a "" i (0, 1)\n[global]\ndigits = 16\n', 3, "1 to 15"),
        ('a "" i (0, 1)\n[global]\ncolour = 1\n', 3, "digits = N"),
        ('a "" i (0, 1)\n[forbidden]\na == 1\nb == 1\n', 4, "no parameter 'b'"),
        ('a "" i (0, 1)\n[forbidden]\n\n`b` == 1\n', 4, "no parameter 'b'"),
        ('a "" i (0, 1)\n[forbidden]\nb "" i (0, 1)\n', 3, "no parameter 'b'"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, line: int | None, problem: str) -> None:
    with pytest.raises(InvalidScenario) as caught:
        read(tmp_path, text)
    assert problem in str(caught.value)
    assert line is None or caught.value.line == line


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for read_file in (read_irace_parameters, read_irace_scenario):
        with pytest.raises(InvalidScenario, match="cannot be read"):
            read_file(tmp_path / "nothing.txt")
        with pytest.raises(InvalidScenario, match="not a file"):
            read_file(tmp_path)


def test_encodings_and_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "parameters.txt"
    path.write_bytes(b"\xef\xbb\xbf" + EXAMPLE.replace("\n", "\r\n").encode())
    assert read_irace_parameters(path) == read(tmp_path / "plain", EXAMPLE)
    path.write_bytes('größe "--größe=" c (klein, groß) # schön\n'.encode("latin-1"))
    (parameter,) = read_irace_parameters(path).parameters
    assert (parameter.name, parameter.values) == ("größe", ("klein", "groß"))


def test_names_that_mean_something_in_expressions(tmp_path: Path) -> None:
    text = """
        c "" i (1, 3)
        T "" i (1, 3)
        10 "" i (1, 3)
        2opt "" i (1, 3)
        in "" c (0) | c %in% c(1, 10) & T == 2 & `2opt` == 3
        """
    imported = read(tmp_path, text)
    found = {(c["c"], c["T"], c["2opt"]) for c in all_of(imported) if "in" in c}
    assert found == {(1, 2, 3)}


@pytest.mark.parametrize(
    "text",
    [
        "# nothing to say\n" * 100_000 + 'x "" i (0, 1)\n',
        'x "" i (0, 9)\n[forbidden]\n' + "x == 3\n" * 30_000,
        'x "" i (0, 9)\n' + "".join(f'x{k} "-x" i (0, 9) | x > 5\n' for k in range(1_000)),
        'x "" c (' + ",".join(f"v{k}" for k in range(100_000)) + ")\n",
        'x "" c (' + '"' * 100_000 + ")\n",
        'x "' + "a" * 1_000_000 + '" i (0, 1)\n',
        'x "" i (0' + "-1" * 30_000 + ", 1)\n",
        'x "" i (0, 1) | ' + "x-" * 30_000 + "\n",
        'x "" i (' + ")" * 100_000 + "\n",
        'x "" i (0, 1)' + " " * 100_000 + "junk\n",
        'x "" c (a' + " " * 100_000 + "b, c)\n",
        'x "" i (0, 1)\n[forbidden]\n' + "(" * 90_000 + "\n",
    ],
)
def test_large_files_take_no_longer_than_they_are(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, text)
    began = time.process_time()
    try:
        read_irace_parameters(path)
    except InvalidScenario as error:
        assert len(str(error)) < 2_000
    assert time.process_time() - began < 10
