from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cunctator.base.errors import InvalidScenario
from cunctator.formats.irace import read_irace_parameters
from cunctator.formats.irace_scenario import read_irace_configurations, read_irace_scenario
from tests.formats import irace_checker
from tests.formats.irace_files import command_of, read, space_of, write

WORDS = r"""
    a b c p1 x.y 2opt "--a " "" "-b=" ' " ( ) , | || & && ! == != < <= > >= = <- %in% %% %/% c(
    r i o i,log r,log + - * / ^ 0 1 5 10 0.5 1e-4 1e999 NA TRUE FALSE min( max( round( as.numeric(
    # `a` \ [forbidden] [global] digits { } [ ] ; $ ~ é {value} (1,5) (a,b) (0.1,2)
"""
PIECES = st.sampled_from([*WORDS.split(), " ", "  ", "\t", "\n", "\r\n", "\0", "\u2028", '"x y"'])
MESSES = st.lists(PIECES, max_size=25).map(" ".join)
CONDITIONS = st.recursive(
    st.sampled_from(
        [
            'a == "x"',
            "n > 2",
            'o < "b"',
            "b %in% c(1, 2)",
            "n %% 2 == 0",
            "a != b",
            "z == 1",
            "n",
            "a",
        ]
    ),
    lambda inner: st.one_of(
        inner.map("!({})".format),
        st.tuples(inner, st.sampled_from(["&", "|", "&&", "=="]), inner).map(" ".join),
    ),
    max_leaves=6,
)
BOUNDS = st.sampled_from(["0", "1", "-2", "5", "10.5", "n", "r", '"n * 2"', "min(n, r)", "a"])


@st.composite
def files(draw: st.DrawFn) -> str:
    """Parameter files that are nearly right."""
    lines = ['a "-a " c (x, y)', 'b "-b " c (1, 2, 10)', 'o "-o" o (a, b)', 'n "-n" i (1, 9)']
    for name in draw(st.lists(st.sampled_from("rstuv"), max_size=4)):
        kind = draw(st.sampled_from(["c", "o", "i", "r", "i,log", "r,log"]))
        domain = f"{draw(BOUNDS)}, {draw(BOUNDS)}"
        condition = draw(st.one_of(st.just(""), CONDITIONS.map("| {}".format)))
        lines.append(
            f'{name} "{draw(st.sampled_from(["", "-x ", "$"]))}" {kind} ({domain}) {condition}'
        )
    lines.append("[forbidden]")
    lines.extend(draw(st.lists(CONDITIONS, max_size=3)))
    for _ in range(draw(st.integers(0, 1))):
        place = draw(st.integers(0, len(lines) - 1))
        lines[place] += " " + draw(PIECES)
    return "\n".join(lines)


@pytest.fixture(scope="module")
def fuzz_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@settings(max_examples=200)
@given(text=files())
def test_fuzz_files_that_are_nearly_right(fuzz_folder: Path, text: str) -> None:
    path = write(fuzz_folder, text)
    try:
        space = space_of(read_irace_parameters(path))
    except InvalidScenario as error:
        assert "\n" not in str(error)
        return
    checker = irace_checker.read(path)
    for number in range(5):
        if space.size is None or number < space.size:
            assert checker.complaints(space.configuration(number)) == []


@settings(max_examples=200)
@given(text=MESSES, condition=MESSES)
def test_fuzz_parameters(fuzz_folder: Path, text: str, condition: str) -> None:
    for mess in (text, f'n "" i (0, 9)\na "" c (1, 2) | {condition}', f'a "" r ({condition})'):
        try:
            command_of(read_irace_parameters(write(fuzz_folder, mess)))
        except InvalidScenario as error:
            assert "\n" not in str(error)


@settings(max_examples=200)
@given(
    text=MESSES, option=st.sampled_from(["seed", "execDir", "targetCmdline", "boundMax", "aclib"])
)
def test_fuzz_scenarios(fuzz_folder: Path, text: str, option: str) -> None:
    start = 'trainInstancesDir = "."\n'
    write(fuzz_folder, 'a "" c (1, 2)\n')
    for mess in (text, f"{start}{option} = {text}", f'{start}{option} = "{text}"'):
        try:
            read_irace_scenario(write(fuzz_folder, mess, "scenario.txt"))
        except InvalidScenario as error:
            assert "\n" not in str(error)


@settings(max_examples=200)
@given(
    text=MESSES, rows=st.lists(st.lists(PIECES, min_size=3, max_size=4).map(" ".join), max_size=3)
)
def test_fuzz_tables_and_lists(fuzz_folder: Path, text: str, rows: list[str]) -> None:
    space = read(fuzz_folder, 'a "" c (a, b)\np1 "" i (0, 5) | a == "a"\nx.y "" r (0, 1)\n')
    scenario = write(fuzz_folder, 'trainInstancesFile = "table.txt"\n', "scenario.txt")
    for mess in (text, "a p1 x.y\n" + "\n".join(rows)):
        path = write(fuzz_folder, mess, "table.txt")
        for read_file in (
            lambda path=path: read_irace_configurations(path, space),
            lambda: read_irace_scenario(scenario),
        ):
            try:
                read_file()
            except InvalidScenario as error:
                assert "\n" not in str(error)
