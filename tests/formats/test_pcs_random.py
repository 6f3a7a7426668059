"""PCS files that nobody wrote: large ones, deep ones, random ones, and text that is none."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from cunctator.base.errors import InvalidScenario
from tests.formats.pcs_checker import PcsChecker
from tests.formats.pcs_files import read
from tests.formats.test_pcs import all_of_space, space_of

# Large and deep files

SIZE = 20_000
LARGE = {
    "parameters": [f"p{k} [0,100][5]i" for k in range(SIZE)],
    "conditions": [
        *(f"p{k} {{a,b,c}}[a]" for k in range(SIZE // 2)),
        *(f"p{k} | p0 in {{a,b}}" for k in range(1, SIZE // 2)),
    ],
    "a chain of conditions": [
        *(f"p{k} {{a,b,c}}[a]" for k in range(SIZE // 2)),
        *(f"p{k} | p{k - 1} in {{a,b}}" for k in range(1, SIZE // 2)),
    ],
    "conditions of one child": ["a {1,2}[1]", "b {x}[x]", *["b | a in {1}"] * SIZE],
    "alternatives in one line": [
        "a {1,2}[1]",
        "b {x}[x]",
        "b | " + " || ".join(["a == 1 && a != 2"] * (SIZE // 2)),
    ],
    "forbidden": ["a {1,2}[1]", "b {1,2}[1]", *["{a=2,b=2}"] * (SIZE // 2)],
    "expressions": ["a {1,2}[1]", "b {1,2}[1]", *["{a + b > 3}"] * (SIZE // 2)],
    "values": [
        f"a {{{','.join(map(str, range(SIZE)))}}}[0]",
        "b {x}[x]",
        f"b | a in {{{','.join(map(str, range(SIZE)))}}}",
    ],
    "numbers in a condition": [
        "a [0,100000][1]i",
        "b {x}[x]",
        "c {x}[x]",
        *(f"{n} | a in {{{','.join(map(str, range(0, SIZE, 2)))}}}" for n in "bc"),
        "c | b in {x}",
    ],
    "forbidden values": [
        f"a {{{','.join(map(str, range(SIZE // 5)))}}}[0]",
        *(f"{{a={k}}}" for k in range(1, SIZE // 5)),
    ],
}


@pytest.mark.parametrize("what", LARGE)
def test_large_files(tmp_path, what):
    start = time.process_time()
    read(tmp_path, "\n".join(LARGE[what]))
    assert time.process_time() - start < 5


LONG = 1_000_000


@pytest.mark.parametrize(
    "text",
    [
        "x [1,2][" + "1" * LONG + "x]",
        "x" + " " * LONG + "y {",
        "[" * LONG,
        "{" * LONG,
        "x" + "|" * LONG,
        "x | y in " + "{y" * LONG,
        "x {a}[a]\nx | " + "y" * LONG + " in {a}",
        "x {a}[a]\n{" + "x - " * (LONG // 4) + "x > 1}",
    ],
    ids=lambda text: text[:14].replace("\n", " "),
)
def test_long_lines_are_refused_fast(tmp_path, text):
    start = time.process_time()
    with pytest.raises(InvalidScenario) as caught:
        read(tmp_path, text)
    assert time.process_time() - start < 5
    assert len(str(caught.value)) < 1_500


@pytest.mark.parametrize(
    "inside",
    [
        "1-" * 4_000 + "1 > x",
        "-" * 9_000 + "x > 1",
        "1" * 9_000 + "a > 1",
        "(" * 95 + "x > 1" + ")" * 95,
        "(" * 9_000 + "x > 1" + ")" * 9_000,
        "abs(" * 95 + "x" + ")" * 95 + " > 1",
        "x + " * 1_000 + "x > 2000",
        "!" * 90 + "(" + "!" * 90 + "(x > 1))",
        "x==2||" * 1_000 + "x == 2",
    ],
    ids=lambda text: text[:10],
)
def test_deep_expressions_are_read_or_refused_fast(tmp_path, inside):
    start = time.process_time()
    survives(tmp_path, f"x {{1,2}}[1]\n{{{inside}}}".encode())
    assert time.process_time() - start < 5


# Random files, against the second reader


@st.composite
def small_files(draw) -> str:
    """Up to four parameters in either dialect, conditions on earlier ones, forbidden lines."""
    lines, values_of, kinds = [], {}, {}
    count = draw(st.integers(2, 4))
    for name in ["a", "b-c", "@d:e", "f"][:count]:
        kind = draw(st.sampled_from(["categorical", "ordinal", "integer", "digits"]))
        kinds[name] = kind
        if kind == "integer":
            low = draw(st.integers(-1, 1))
            values_of[name] = [str(low + k) for k in range(3)]
            new, old = f" integer [{low},{low + 2}]", f"[{low},{low + 2}]"
        else:
            words = ["0", "1", "2", "10"] if kind == "digits" else ["yes", "no", "2.0"]
            values = draw(st.lists(st.sampled_from(words), min_size=1, max_size=3, unique=True))
            values_of[name] = values
            word = "ordinal" if kind == "ordinal" else "categorical"
            new, old = f" {word} {{{', '.join(values)}}}", f"{{{','.join(values)}}}"
        default = draw(st.sampled_from(values_of[name]))
        if kind == "ordinal" or draw(st.booleans()):
            lines.append(f"{name}{new} [{default}]")
        else:
            lines.append(f"{name}{old}[{default}]" + ("i" if kind == "integer" else ""))

    def comparison(parent: str) -> str:
        value = st.sampled_from([*values_of[parent], *values_of[parent], "9"])
        signs = ["in", "in", "==", "!="]
        signs += ["<", ">"] if kinds[parent] in ("ordinal", "integer") else []
        sign = draw(st.sampled_from(signs))
        if sign == "in":
            return f"{parent} in {{{','.join(draw(st.lists(value, min_size=1, max_size=3)))}}}"
        return f"{parent} {sign} {draw(value)}"

    names = list(values_of)
    for place in range(1, count):
        for _ in range(draw(st.integers(0, 2))):
            parts = [comparison(draw(st.sampled_from(names[:place])))]
            for _ in range(draw(st.integers(0, 2))):
                parts.append(draw(st.sampled_from(["&&", "||"])))
                parts.append(comparison(draw(st.sampled_from(names[:place]))))
            lines.append(f"{names[place]} | {' '.join(parts)}")
    for _ in range(draw(st.integers(0, 2))):
        chosen = draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
        pairs = [f"{name}={draw(st.sampled_from([*values_of[name], '9']))}" for name in chosen]
        lines.append(f"{{{', '.join(pairs)}}}")
    numbers = [name for name in names if kinds[name] in ("integer", "digits")]
    if numbers and draw(st.booleans()):
        first, second = draw(st.sampled_from(numbers)), draw(st.sampled_from(numbers))
        sign = draw(st.sampled_from(["+", "-", "*", "/", "%"]))
        compare = draw(st.sampled_from(["<", ">", "==", "!=", "<=", ">="]))
        more = draw(st.sampled_from(["", f" && {first} > 1", f" || ( {second} == 2 )"]))
        lines.append(f"{{ {first} {sign} {second} {compare} {draw(st.integers(-2, 3))}{more} }}")
    return "\n".join(lines)


def combinations(checker: PcsChecker) -> set[tuple]:
    """All configurations by brute force."""
    columns = []
    for domain in checker.domains.values():
        values = domain.get("values")
        if values is None:
            values = list(range(int(domain["low"]), int(domain["high"]) + 1))
        columns.append([None, *values])
    found = set()
    for row in itertools.product(*columns):
        pairs = zip(checker.domains, row, strict=True)
        configuration = {name: value for name, value in pairs if value is not None}
        if not checker.problems(configuration):
            found.add(tuple(configuration.items()))
    return found


@settings(max_examples=200)
@given(small_files())
def test_random_files_have_the_configurations_of_the_second_reader(tmp_path_factory, text):
    checker = PcsChecker(text)
    try:
        imported = read(tmp_path_factory.getbasetemp(), text)
    except InvalidScenario as error:
        assert "default configuration is forbidden" in str(error)
        defaults = {name: domain["default"] for name, domain in checker.domains.items()}
        active = {n: v for n, v in defaults.items() if checker.is_active(n, defaults)}
        assert any("forbidden" in problem for problem in checker.problems(active)), text
        assume(False)
    # What is never active is left out: the second reader agrees if it is in no configuration.
    assert all_of_space(imported) == combinations(checker), text
    free = PcsChecker("\n".join(ln for ln in text.split("\n") if not ln.startswith("{")))
    ever = {name for configuration in combinations(free) for name, _ in configuration}
    assert imported.left_out == set(checker.domains) - ever, text


# Fuzzing

VALID = (
    "x {a,b,c}[a]\ny real [1e-1, 10] [1] log\nz [1,9][5]il\nw ordinal {lo,hi}[lo]\n"
    "z | x in {a,b} && w == lo || y > 2\ny|x in {c}\n{x=b, z=3}\n{z * 2 > 16 && x != a}\n"
)
PIECES = [
    *"{}[]|&=<>!,#\n \"'`()+-*/^%.0129eExyzwil@\0\x1b\xe9",
    " in ",
    "&&",
    "||",
    "==",
    "real",
    "integer",
    "log",
    "ordinal",
    "1e999",
    "x",
    "{x=a}",
    "abs(",
    "{a,b}[a]",
    "[1,2][1]",
    "\nz | x == a\n",
]


@settings(max_examples=1_000)
@given(st.lists(st.tuples(st.integers(0, len(VALID)), st.integers(0, 3), st.sampled_from(PIECES))))
def test_mutations_raise_nothing_else(tmp_path_factory, changes):
    text = VALID
    for place, removed, piece in changes[:6]:
        text = text[:place] + piece + text[place + removed :]
    survives(tmp_path_factory.getbasetemp(), text.encode("latin-1", "replace"))


@settings(max_examples=700)
@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join).map(str.encode))
@example(b"{" * 300 + b"x")
def test_random_text_raises_nothing_else(tmp_path_factory, text):
    survives(tmp_path_factory.getbasetemp(), text)
    survives(tmp_path_factory.getbasetemp(), b"x {a,b}[a]\ny [1,2][1]\n" + text)


@settings(max_examples=200)
@given(st.binary(max_size=200))
def test_random_bytes_raise_nothing_else(tmp_path_factory, content):
    survives(tmp_path_factory.getbasetemp(), content)


def survives(folder: Path, content: bytes) -> None:
    try:
        imported = read(folder, content)
    except InvalidScenario as error:
        assert str(error).isprintable()
        return
    space = space_of(imported)
    assert space.configuration(0) == space.default
    assert all(warning.isprintable() for warning in imported.warnings)
