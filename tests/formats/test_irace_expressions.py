from __future__ import annotations

from pathlib import Path

import pytest

from cunctator.base.errors import InvalidScenario
from cunctator.formats.irace import read_irace_parameters
from cunctator.formats.r_literals import text_in_r
from cunctator.space.parameters import Value
from tests.formats import irace_checker
from tests.formats.irace_files import all_of, check_samples, read, space_of, write

# Conditions

THREE_VALUED = """
a "" c (x, y)
b "" c (p, q) | a == "x"
test "" c (0) | {condition}
"""


@pytest.mark.parametrize(
    ("condition", "for_p", "for_q", "for_none"),
    [
        ('b == "p"', True, False, False),
        ('b != "p"', False, True, False),
        ('!(b == "p")', False, True, False),
        ('b %in% c("p")', True, False, False),
        ('!(b %in% c("p"))', False, True, True),
        ('!b %in% c("p")', False, True, True),
        ('b == "p" | TRUE', True, True, True),
        ('b == "p" | a == "y"', True, False, True),
        ('b == "p" & FALSE', False, False, False),
        ('!(b == "p" & a == "x")', False, True, True),
        ('!(b == "p" | a == "x")', False, False, False),
        ('b == "p" || a == "y" && TRUE', True, False, True),
        ('"p" == b', True, False, False),
        ('b == "nothing"', False, False, False),
        ('b != "nothing"', True, True, False),
        ('!(b == "nothing")', True, True, False),
        ('b %in% c("nothing")', False, False, False),
        ('!(b %in% c("nothing", "p"))', False, True, True),
        ('!(b %in% c("nothing"))', True, True, True),
        ('b < "q"', True, False, False),
        ('!(b < "q")', False, True, False),
        ('b <= "q"', True, True, False),
        ('!(b <= "q")', False, False, False),
        ('!(b > "q")', True, True, False),
        ("a == b", False, False, False),
        ("a != b", True, True, False),
    ],
)
def test_what_is_said_of_inactive_parameters_is_unknown(
    tmp_path: Path, condition: str, for_p: bool, for_q: bool, for_none: bool
) -> None:
    imported = read(tmp_path, THREE_VALUED.format(condition=condition))
    checker = irace_checker.read(tmp_path / "parameters.txt")
    found = {}
    for configuration in all_of(imported):
        assert checker.complaints(configuration) == []
        found[configuration.get("b")] = "test" in configuration
    assert found == {"p": for_p, "q": for_q, None: for_none}


@pytest.mark.parametrize("kind", ["c", "o"])
@pytest.mark.parametrize(
    ("condition", "chosen"),
    [
        ('n < "5"', {"1", "10"}),
        ("n < 5", {"1", "10"}),
        ("n <= 5", {"1", "5", "10"}),
        ("n > 10", {"5"}),
        ("10 >= n", {"1", "10"}),
        ("1 < n", {"5", "10"}),
        ("5 > n", {"1", "10"}),
        ('!(n > "1")', {"1"}),
        ("as.numeric(n) > 4", {"5", "10"}),
        ("n == 5L", {"5"}),
        ("n == 2 + 3", {"5"}),
        ("n != 5.0", {"1", "10"}),
        ("n %in% c(1, 10)", {"1", "10"}),
    ],
)
def test_texts_are_compared_as_texts(
    tmp_path: Path, kind: str, condition: str, chosen: set[str]
) -> None:
    text = f'n "" {kind} (1, 5, 10)\nm "" c (0) | {condition}\n'
    imported = read(tmp_path, text)
    assert {c["n"] for c in all_of(imported) if "m" in c} == chosen
    if condition.startswith("n < "):
        assert "compares texts" in imported.warnings[0]


def test_a_number_that_r_writes_differently_is_the_number(tmp_path: Path) -> None:
    text = 'n "" c (0, 0.0001, 100000)\nm "" c (0) | n %in% c(0.0001, 1e5)\n'
    imported = read(tmp_path, text)
    assert {c["n"] for c in all_of(imported) if "m" in c} == {"0.0001", "100000"}
    assert ["1e-04" in w for w in imported.warnings] == [True, False]
    assert "parameters.txt, line 2: " in imported.warnings[0]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0001, "1e-04"),
        (0.001, "0.001"),
        (100000, "1e+05"),
        (123456.0, "123456"),
        (0.1 + 0.2, "0.3"),
        (-2.0, "-2"),
        (0.0, "0"),
        (1e-300, "1e-300"),
        (1.5e22, "1.5e+22"),
        (True, "TRUE"),
        ("x", "x"),
    ],
)
def test_values_as_r_writes_them(value: Value, text: str) -> None:
    assert text_in_r(value) == text


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ("x * 2 %% 3 == 0", "%%"),
        ("x + 1 %in% c(1)", "%in%"),
        ("x <- 3", "assigns"),
        ("x %/% 2 == 1", "%/%"),
        ("x", "neither true nor false"),
        ("!x & TRUE", "neither true nor false"),
        ("n == 'many'", "never 'many'"),
        ("x < n", "compares texts"),
        ("x == n * 2", "compare it with a value"),
        ("(n > 1) == 'yes'", "only a parameter can be compared with the text 'yes'"),
        ("nobody == 1", "no parameter 'nobody'"),
        ("`nobody` == 1", "no parameter 'nobody'"),
        ("system('ls') == 1", "no function 'system'"),
        ("x == c(1, 2)", "no function 'c'"),
        ("x == 1)", "')' without"),
        ("(x == 1", "the end"),
        ("x = = 1", "'=='"),
        ('x == "1', "makes no sense"),
        ("x[1] == 2", "makes no sense"),
        ("x == 1; quit()", "makes no sense"),
        ("n " + "+ n " * 500 + "> 1", "more than 100 terms"),
        ("(" * 500 + "n > 1" + ")" * 500, "nested more than"),
    ],
)
def test_conditions_that_are_refused(tmp_path: Path, condition: str, problem: str) -> None:
    text = f'x "" c (1, 2)\nn "" i (1, 5)\n\ny "" c (0, 1) | {condition}\n'
    with pytest.raises(InvalidScenario) as caught:
        read(tmp_path, text)
    assert caught.value.line == 4
    assert caught.value.key == "y"
    assert problem in str(caught.value)


def test_parentheses_say_what_r_reads_differently(tmp_path: Path) -> None:
    text = 'x "" i (1, 9)\ny "" c (0) | (x * 2) %% 3 == 0\nz "" c (0) | x %% 3 * 2 == 2\n'
    imported = read(tmp_path, text)
    assert {c["x"] for c in all_of(imported) if "y" in c} == {3, 6, 9}
    assert {c["x"] for c in all_of(imported) if "z" in c} == {1, 4, 7}


# Bounds


@pytest.mark.parametrize("domain", ['(1, "x*2")', "(1, x*2)", "(1, 'x * 2')", '("1", x + x)'])
def test_bounds_that_depend_on_others(tmp_path: Path, domain: str) -> None:
    imported = read(tmp_path, f'x "" i (1, 3)\ny "" i {domain}\n')
    rows = {(c["x"], c["y"]) for c in all_of(imported)}
    assert rows == {(x, y) for x in (1, 2, 3) for y in range(1, 2 * x + 1)}


def test_bounds_of_integers_lose_their_decimals(tmp_path: Path) -> None:
    text = 'real "" r (1.5, 7.5)\nlow "" i ("real", 10)\nhigh "" i (1, real)\n'
    path = write(tmp_path, text)
    check_samples(path, 300)
    space = space_of(read_irace_parameters(path))
    rows = [space.configuration(number) for number in range(300)]
    assert any(row["low"] < row["real"] for row in rows)


def test_what_depends_on_an_inactive_parameter_is_not_active(tmp_path: Path) -> None:
    text = """
        a "" c (x, y)
        n "" i (1, 4) | a == "x"
        m "" i (1, n)
        k "" i (m, 10)
        """
    imported = read(tmp_path, text)
    checker = irace_checker.read(tmp_path / "parameters.txt")
    found = set()
    for configuration in all_of(imported):
        assert checker.complaints(configuration) == []
        found.add((configuration["a"], *(name in configuration for name in "nmk")))
    assert found == {("x", True, True, True), ("y", False, False, False)}
