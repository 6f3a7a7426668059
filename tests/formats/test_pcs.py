"""PCS files: real ones against a second reader, and every pitfall by hand."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest

from cunctator.formats.imported import ImportedSpace
from cunctator.formats.pcs import read_pcs
from cunctator.space.expressions import Constant, Member, Name, Operation, text_of_expression
from cunctator.space.parameters import Parameter
from cunctator.space.space import Space
from tests.formats.pcs_checker import PcsChecker
from tests.formats.pcs_files import PAIR, PARENTS, read

CONFIGURATIONS = 1_000


def space_of(imported: ImportedSpace) -> Space:
    return Space(imported.parameters, forbidden=imported.forbidden)


def all_of_space(imported: ImportedSpace) -> set[tuple]:
    space = space_of(imported)
    assert space.size is not None
    return {tuple(space.configuration(k).items()) for k in range(space.size)}


def one(folder: Path, text: str, name: str = "x") -> Parameter:
    return next(p for p in read(folder, text).parameters if p.name == name)


# What is never active is left out


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("x | c in {}", 6, "it never holds: '' is not a value of 'c'"),
        ("x | c in {z}", 6, "it never holds: 'z' is not a value of 'c'"),
        ("x | c == z && i > 1", 6, "it never holds"),
        ("x | i > 10", 6, "it never holds"),
        ("x | i > 4 && i < 5", 6, "it never holds"),
        ("x | r < 0", 6, "it never holds"),
        ("x | o < lo", 6, "it never holds"),
        ("x | o > high", 6, "it never holds: 'high' is not a value of 'o'"),
        ("x | c in {a}\n#\nx | c in {b}", 8, "it never holds together with the other conditions"),
        ("x | i in {1,2}\nx | i > 2", 7, "it never holds together with the other conditions"),
        ("x | c == a || c == b\nx | c == c", 7, "its condition never holds"),
        ("y {1}[1]\ny | c in {b}\nx | y in {1}\nx | c in {a}", 9, "no value of c fits all"),
    ],
)
def test_never_active_and_left_out(tmp_path, text, line, words):
    imported = read(tmp_path, PARENTS + text)
    assert "x" not in {parameter.name for parameter in imported.parameters}
    assert imported.left_out == {"x"} and len(imported.warnings) == 1
    said = imported.warnings[0]
    assert said.startswith(f"params.pcs, line {line}: ") and words in said
    assert said.endswith("x is never active and is left out")


def test_what_depends_on_it_is_left_out_too(tmp_path):
    text = PARENTS + (
        "x | c in {a}\nx | c in {b}\nchild {1,2}[1]\ngrandchild [1,9][3]i\n"
        "grandchild | child in {1}\nchild | x in {on}\nother {1,2}[1]\n"
        "other | x == on || c == b\n{x=on, c=b}\n{x == on || i > 8}\n{c=c, i=2}\n"
    )
    imported = read(tmp_path, text)
    assert imported.left_out == {"x", "child", "grandchild"}
    names = [parameter.name for parameter in imported.parameters]
    assert names[-1] == "other" and not imported.left_out & set(names)
    assert [text_of_expression(rule) for rule in imported.forbidden] == [
        "i > 8",
        'c == "c" and i == 2',
    ]
    told = " ".join(imported.warnings)
    assert "line 11" in told and "child is never active" in told
    assert "line 14: '{x=on, c=b}': it never applies" in told
    space = space_of(imported)
    for number in range(50):
        configuration = space.configuration(number)
        assert ("other" in configuration) == (configuration["c"] == "b")


# Real files


def test_real_files(data_folder):
    files = [*data_folder.glob("pcs/*.pcs"), *data_folder.glob("aclib/*/*.pcs")]
    assert len(files) >= 14
    for path in files:
        imported = read_pcs(path)
        checker = PcsChecker(path.read_text(encoding="latin-1"))
        assert [p.name for p in imported.parameters] == list(checker.domains), path
        assert len(imported.forbidden) == len(checker.forbidden), path
        assert imported.warnings == () and imported.has_defaults and not imported.formats
        space = space_of(imported)
        assert checker.is_default(space.configuration(0)), path
        for k in range(min(CONFIGURATIONS, space.size or CONFIGURATIONS)):
            assert checker.problems(space.configuration(k)) == [], (path, k)


def test_real_files_with_windows_line_ends_mean_the_same(data_folder, tmp_path):
    path = data_folder / "pcs" / "clasp-3.1.4.pcs"
    assert read(tmp_path, path.read_bytes().replace(b"\n", b"\r\n")) == read_pcs(path)


def test_the_largest_real_file_takes_less_than_two_seconds(data_folder):
    start = time.process_time()
    read_pcs(data_folder / "pcs" / "SparrowToRiss-cssc14.pcs")
    assert time.process_time() - start < 2


def test_configurations_of_lingeling_come_fast(data_folder):
    """Some 6,000 in a second; this leaves room for slower machines."""
    space = space_of(read_pcs(data_folder / "pcs" / "lingeling-params.pcs"))
    start = time.process_time()
    space.configuration(CONFIGURATIONS)
    assert time.process_time() - start < CONFIGURATIONS / 1_000


# Declarations


@pytest.mark.parametrize(
    ("line", "kind", "low", "high", "default", "log"),
    [
        ("x [1,10] [5]", "real", 1.0, 10.0, 5.0, False),
        ("x[1,10][5]i", "integer", 1, 10, 5, False),
        ("x [1,10] [5]l", "real", 1.0, 10.0, 5.0, True),
        ("x [ 1 , 10 ] [ 5 ] il", "integer", 1, 10, 5, True),
        ("x [1,10][5]li # comment", "integer", 1, 10, 5, True),
        ("x [1.0,1e1] [5.0]i", "integer", 1, 10, 5, False),
        ("x [-.5,+2.] [.25]", "real", -0.5, 2.0, 0.25, False),
        ("x [1e-3,1E+3] [1]l", "real", 0.001, 1000.0, 1.0, True),
        ("x integer [1,10] [5]", "integer", 1, 10, 5, False),
        ("x int[1,10][5] log", "integer", 1, 10, 5, True),
        ("x\treal\t[1, 10]\t[5]log", "real", 1.0, 10.0, 5.0, True),
    ],
)
def test_numbers(tmp_path, line, kind, low, high, default, log):
    x = one(tmp_path, line)
    assert (x.kind, x.low, x.high, x.default, x.log) == (kind, low, high, default, log)
    assert type(x.default) is (int if kind == "integer" else float)


@pytest.mark.parametrize(
    ("line", "kind", "values", "default"),
    [
        ("x {a, b,c} [b]", "categorical", ("a", "b", "c"), "b"),
        ("x{0.10,1.0,1}[1.0]", "categorical", ("0.10", "1.0", "1"), "1.0"),
        ("x {'a', \"b\"} ['a']", "categorical", ("a", "b"), "a"),
        ("x {on}[on]", "categorical", ("on",), "on"),
        ("x {F,L,x,+,a|b} [ + ]", "categorical", ("F", "L", "x", "+", "a|b"), "+"),
        ("x categorical {true,false}[true]", "categorical", ("true", "false"), "true"),
        ("x cat{1,2}[2]", "categorical", ("1", "2"), "2"),
        ("x ordinal {lo, mid, hi} [mid]", "ordinal", ("lo", "mid", "hi"), "mid"),
        ("x ord {9,5} [5]", "ordinal", ("9", "5"), "5"),
    ],
)
def test_listed_values_stay_as_they_are_written(tmp_path, line, kind, values, default):
    x = one(tmp_path, line)
    assert (x.kind, x.values, x.default) == (kind, values, default)


@pytest.mark.parametrize("name", ["@1:S:del-grow", "a.b_c/d+e", "integer", "K-val", "1", "in"])
@pytest.mark.parametrize("rest", [" {a,b}[a]", "{a,b}[a]", "[1,2][1]", " real [1,2][1]"])
def test_names(tmp_path, name, rest):
    assert one(tmp_path, name + rest, name).name == name


def test_comments_headings_line_ends_and_encodings(tmp_path):
    text = b"\xef\xbb\xbf# x {a,b}[a]\r\n\r\nx {a,b}[b] # {a=b} | [\r\nConditionals:\r\nForbidden:"
    imported = read(tmp_path, text)
    assert [p.name for p in imported.parameters] == ["x"] and imported.warnings == ()
    assert one(tmp_path, b"# caf\xe9 d\xe9j\xe0\rx {a,b}[b]".decode("latin-1")).default == "b"
    assert read(tmp_path, b"# caf\xe9\nx {a,b}[b]\n").parameters[0].values == ("a", "b")
    assert read(tmp_path, b"x {caf\xe9,b}[b]\n").parameters[0].values == ("café", "b")
    # What is no heading either is not skipped in silence.
    assert read(tmp_path, "x {a}[a]\nsome words\n").warnings == (
        "params.pcs, line 2: 'some words': taken for a heading and skipped",
    )


def test_a_number_with_one_value_becomes_categorical(tmp_path):
    text = "x [5, 5] [5.0]i\ny real [1e3,1000][1000] log\nz {a,b}[a]\nw {a,b}[a]\n"
    rest = "z | x in {5.0}\nw | x > 4 && y != 7\n{y=1000.0, z=b}\n{x=6, z=a}\n{x - 4 > 0 && w == b}"
    imported = read(tmp_path, text + rest)
    x, y, z, w = imported.parameters
    assert (x.kind, x.values, x.default) == ("categorical", ("5",), "5")
    assert (y.kind, y.values, y.default) == ("categorical", ("1e3",), "1e3")
    assert z.when == {"x": ["5"]}
    assert text_of_expression(w.when) == 'x == "5" and y == "1e3"'
    assert [word for word in imported.warnings[0].split() if word in ("line", "always")]
    assert [w.split(":")[0] for w in imported.warnings] == [
        "params.pcs, line 1",
        "params.pcs, line 2",
        "params.pcs, line 6",
        "params.pcs, line 8",
    ]
    fixed = ("x", "5"), ("y", "1e3")
    assert all_of_space(imported) == {(*fixed, ("z", "a"), ("w", "a"))}


# Conditions


@pytest.mark.parametrize(
    ("lines", "when"),
    [
        ("x | c in {a}", {"c": ["a"]}),
        ("x|c in {b, a}", {"c": ["b", "a"]}),
        ("x | c in{a,c,a}", {"c": ["a", "c"]}),
        ("x | c == b", {"c": ["b"]}),
        ("x | o in {lo,hi} && i==3", {"o": ["lo", "hi"], "i": [3]}),
        ("x | i in {1.0, 2, 0.3e1}", {"i": [1, 2, 3]}),
        # Repeated lines for a child mean AND.
        ("x | c in {a,b}\nx | o in {hi}", {"c": ["a", "b"], "o": ["hi"]}),
        ("x | c in {a,b}\nx | c in {c,b}", {"c": ["b"]}),
        ("x | c in {a,b} && c in {c,b}", {"c": ["b"]}),
        ("x | i in {1,2}\nx | i == 2", {"i": [2]}),
        # A dialect is not a matter of the whole file.
        ("y ordinal {1,2}[1]\nx | y == 2", {"y": ["2"]}),
    ],
)
def test_conditions_as_tables(tmp_path, lines, when):
    assert one(tmp_path, PARENTS + lines).when == when


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ("x | c != a", 'c in {"b", "c"}'),
        ("x | o > lo", 'o in {"mid", "hi"}'),
        ("x | o < hi && o != lo", 'o in {"lo", "mid"} and o in {"mid", "hi"}'),
        ("x | i > 3", "i > 3"),
        ("x | i<3.5", "i < 3.5"),
        ("x | i != 3", "i != 3"),
        ("x | r == 0.50", "r == 0.5"),
        ("x | r in {0.25, 1}", "r in {0.25, 1.0}"),
        ("x | c == a || o == hi", 'c == "a" or o == "hi"'),
        # `&&` binds tighter than `||`.
        ("x | c == a || o == hi && i > 3", 'c == "a" or o == "hi" and i > 3'),
        ("x | c == a && o == hi || i > 3", 'c == "a" and o == "hi" or i > 3'),
        ("x | c == a || o == hi\nx | i > 3", '(c == "a" or o == "hi") and i > 3'),
        ("x | c in {a,b}\nx | i > 3", 'c in {"a", "b"} and i > 3'),
    ],
)
def test_conditions_as_expressions(tmp_path, lines, text):
    x = one(tmp_path, PARENTS + lines)
    assert text_of_expression(x.when) == text


def test_conditions_before_declarations(tmp_path):
    assert one(tmp_path, "x | c in {a}\n" + PARENTS).when == {"c": ["a"]}


def test_inactive_parents_deactivate_children(tmp_path):
    text = "a {0,1}[0]\nb {0,1}[0]\nc {0,1}[0]\nd {0,1}[0]\n"
    conditions = "b | a in {1}\nc | b in {0,1}\nd | b == 1 || a == 0\n"
    found = all_of_space(read(tmp_path, text + conditions))
    names = {tuple(name for name, _ in configuration) for configuration in found}
    # With a = 0, d is active, though one of its parents is not: the other one is enough.
    assert names == {("a", "d"), ("a", "b", "c"), ("a", "b", "c", "d")}
    assert len(found) == 2 + 2 + 4


def test_values_that_the_parent_does_not_have(tmp_path):
    imported = read(tmp_path, PARENTS + "x | c in {a,z} && i in {3,11,2.5} || c == q")
    assert imported.parameters[-1].when == {"c": ["a"], "i": [3]}
    text = "'x | c in {a,z} && i in {3,11,2.5} || c == q'"
    assert imported.warnings == (
        f"params.pcs, line 6: {text}: 'z' is not a value of 'c'; left out",
        f"params.pcs, line 6: {text}: '11' is not a value of 'i'; left out",
        f"params.pcs, line 6: {text}: '2.5' is not a value of 'i'; left out",
        f"params.pcs, line 6: {text}: 'q' is not a value of 'c'; left out",
        f"params.pcs, line 6: {text}: a part of it never holds and is left out",
    )
    # Texts are not numbers: 1.0 is not 1 where values are listed.
    listed = read(tmp_path, "c {1,2}[1]\nx {on}[on]\nx | c in {1.0,2}")
    assert listed.parameters[1].when == {"c": ["2"]} and len(listed.warnings) == 1
    never_equal = read(tmp_path, PARENTS + "x | c != z").parameters[-1]
    assert never_equal.when == Member(Name("c"), (Constant("a"), Constant("b"), Constant("c")))


def test_not_more_warnings_than_anybody_reads(tmp_path):
    warnings = read(tmp_path, PARENTS + "x | c in {a,z}\n" * 1_000).warnings
    assert len(warnings) == 101 and warnings[-1] == "... and 900 more warnings"


# Forbidden combinations


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("{a=1, b=y}", 'a == "1" and b == "y"'),
        ("{ a = 1 ,b=y , i=2.0}  # why", 'a == "1" and b == "y" and i == 2'),
        ("{b=y}", 'b == "y"'),
        ("{a == 1}", "number(a) == 1"),
        ("{a == 1 && b == y}", 'number(a) == 1 and b == "y"'),
        ("{a=1 && b=y}", 'number(a) == 1 and b == "y"'),
        ("{i>=2}", "i >= 2"),
        ("{a + i > 3}", "number(a) + i > 3"),
        ("{a*i>3||i!=0&&b==y}", 'number(a) * i > 3 or i != 0 and b == "y"'),
        ("{(a > 1 || i > 1) && b != x}", '(number(a) > 1 or i > 1) and b != "x"'),
        ("{sqrt(i^2 + 1) - abs(0 - a) % 2 > 3}", None),
        # What is left where one of several values cannot be.
        ("{a == 9 || i == 3}", "i == 3"),
    ],
)
def test_forbidden(tmp_path, line, text):
    imported = read(tmp_path, PAIR + line)
    assert len(imported.forbidden) == 1 and imported.warnings == ()
    if text is not None:
        assert text_of_expression(imported.forbidden[0]) == text


def test_values_that_look_like_expressions(tmp_path):
    text = "a {x,p|q,c=d,>=2,(1)}[x]\nb {0,1}[0]\nb | a in {p|q, (1)}\n"
    imported = read(tmp_path, text + "{a=c=d, b=1}\n{a=p|q, b=1}\n{a=>=2}\n{a=(1), b=0}")
    assert [text_of_expression(e) for e in imported.forbidden] == [
        'a == "c=d" and b == "1"',
        'a == "p|q" and b == "1"',
        'a == ">=2"',
        'a == "(1)" and b == "0"',
    ]
    assert imported.parameters[1].when == {"a": ["p|q", "(1)"]} and imported.warnings == ()


@pytest.mark.parametrize(
    "line",
    ["{a=9, b=y}", "{a=1, a=2}", "{i=2.5}", "{i=many}", "{b=X}", "{a == 9}", "{a == 9 && i > 1}"],
)
def test_forbidden_that_never_applies(tmp_path, line):
    imported = read(tmp_path, PAIR + line + "\n{a=1}")
    assert [text_of_expression(e) for e in imported.forbidden] == ['a == "1"']
    assert len(imported.warnings) == 1
    assert imported.warnings[0].startswith(f"params.pcs, line 4: '{line}': it never applies")


def test_forbidden_of_inactive_parameters(tmp_path):
    text = "a {0,1}[0]\nb {0,1}[0]\nb | a in {1}\n{b=0}\n{a == 1 && b > 2}\n"
    # The default, a = 0, is not forbidden: b is not active.
    assert all_of_space(read(tmp_path, text)) == {(("a", "0"),), (("a", "1"), ("b", "1"))}


def test_ordinals_in_expressions(tmp_path):
    text = "o ordinal {lo,mid,hi}[lo]\np ordinal {10,9,2}[10]\nq ordinal {2,9,10}[2]\n"
    imported = read(tmp_path, text + "{o > lo && p > 10 && q > 5}\n")
    assert text_of_expression(imported.forbidden[0]) == 'o > "lo" and p > "10" and number(q) > 5'
    allowed = all_of_space(imported)
    every = set(itertools.product(("lo", "mid", "hi"), ("10", "9", "2"), ("2", "9", "10")))
    bad = set(itertools.product(("mid", "hi"), ("9", "2"), ("9", "10")))
    assert {tuple(value for _, value in configuration) for configuration in allowed} == every - bad


def test_words_in_expressions(tmp_path):
    text = "a {été,😀,1}[1]\n1 [0,9][0]i\nin {0,1}[0]\n"
    forbidden = read(tmp_path, text + "{a == été && 1 < in || a==😀 || a==1 && in>0}").forbidden[0]
    expected = 'a == "été" and "1" < number(`in`) or a == "😀" or a == "1" and number(`in`) > 0'
    assert text_of_expression(forbidden) == expected


def test_names_that_look_like_arithmetic(tmp_path):
    text = "a {0,1}[0]\na-b [0,9][0]i\na/b+c [0,9][0]i\nb [0,9][0]i\n"
    line = "{a-b > 3 && a/b+c>a-b && a - b > 0-4}"
    forbidden = read(tmp_path, text + line).forbidden[0]
    expected = "`a-b` > 3 and `a/b+c` > `a-b` and number(a) - b > 0 - 4"
    assert text_of_expression(forbidden) == expected
    plain = read(tmp_path, text + "{a-b=3, a/b+c=4}").forbidden[0]
    assert plain == Operation(
        "and",
        (
            Operation("==", (Name("a-b"), Constant(3))),
            Operation("==", (Name("a/b+c"), Constant(4))),
        ),
    )


def test_nothing_commands_a_terminal(tmp_path):
    imported = read(tmp_path, "x {a,\x1b[31m}[a]\ny {a}[a]\n\x1b2J\ny | x in {a,\x1b]}")
    assert len(imported.warnings) == 2
    assert all(warning.isprintable() for warning in imported.warnings)
