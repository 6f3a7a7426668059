"""Expressions: how they are read, what they say, and that they are written as they are read."""

from __future__ import annotations

import itertools
import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cunctator.base.errors import InvalidKey
from cunctator.space.expressions import (
    Call,
    Constant,
    ExpressionError,
    Member,
    Name,
    Operation,
    evaluator,
    names_in,
    parse_expression,
    text_of_expression,
)
from cunctator.space.expressions.checks import check_expression
from cunctator.space.expressions.evaluation import FUNCTIONS, truth
from cunctator.space.parameters import make_parameter

PARAMETERS = {
    p.name: p
    for p in (
        make_parameter("c", "categorical", "a", values=["a", "b", "10", "9"]),
        make_parameter("n", "categorical", 1, values=[1, 2.0, True]),
        make_parameter("o", "ordinal", "lo", values=["lo", "mid", "hi"]),
        make_parameter("i", "integer", 1, low=-10, high=100),
        make_parameter("r", "real", 0.5, low=-10, high=10),
        make_parameter("sp-var", "integer", 1, low=0, high=9),
        make_parameter("sp", "integer", 1, low=0, high=9),
        make_parameter("var", "integer", 1, low=0, high=9),
    )
}


def parse(text: str):
    return parse_expression(text, PARAMETERS)


def value(text: str, **active):
    names = {name.replace("_", "-"): given for name, given in active.items()}
    return evaluator(parse(text), PARAMETERS)(names)


# Reading


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("i == 1 or i == 2 and r > 3", "i == 1 or (i == 2 and r > 3)"),
        ("i == 1 and i == 2 or r > 3", "(i == 1 and i == 2) or r > 3"),
        ("not i == 1 and r > 3", "(not (i == 1)) and (r > 3)"),
        ("not not i", "not (not i)"),
        ("i + 2 * r", "i + (2 * r)"),
        ("i - 2 - r", "(i - 2) - r"),
        ("i / 2 * r % 3", "((i / 2) * r) % 3"),
        ("i ^ 2 ^ r", "i ^ (2 ^ r)"),
        ("-i ^ 2", "-(i ^ 2)"),
        ("2 ^ -i", "2 ^ (-i)"),
        ("-i * r", "(-i) * r"),
        ("--i", "i"),
        ("- + - - i", "-i"),
        ("i - -2", "i - (-2)"),
        ("i + 1 < r * 2", "(i + 1) < (r * 2)"),
        ("i + 1 in {1, 2} or r", "((i + 1) in {1, 2}) or r"),
        ("not i in {1}", "not (i in {1})"),
        ("i in 3", "i in {3}"),
        ("i in (1, 2)", "i in {1, 2}"),
        ("c in {a, b, 10}", "c in {'a', \"b\", 10}"),
        ("i in {-1, +2}", "i in {-1, 2}"),
        # The notation of PCS and of R.
        ("i==1&&r>2||c=='a'", "i == 1 and r > 2 or c == 'a'"),
        ("i==1 & r>2 | c == 'a'", "i == 1 and r > 2 or c == 'a'"),
        ("!(i = 1)", "not (i == 1)"),
        ("! i == 1", "not (i == 1)"),
        ('c %in% c("a", "b")', "c in {'a', 'b'}"),
        ('!(c %in% c("a"))', "not c in {'a'}"),
        ("i %% 2 == 0L", "i % 2 == 0"),
        ("as.numeric(c) > ceiling(r)", "number(c) > ceil(r)"),
        ("TRUE & T | FALSE & F", "true and true or false and false"),
        ("i in c(1, 2)", "i in {1, 2}"),
        # Names with dashes: the longest that is known.
        ("sp-var > 1", "`sp-var` > 1"),
        ("sp - var > 1", "sp - `var` > 1"),
        ("sp-var-1 > 1", "`sp-var` - 1 > 1"),
        ("sp-1 > 1", "sp - 1 > 1"),
        ("sp-var-sp-var", "`sp-var` - `sp-var`"),
        ("-sp-var", "-`sp-var`"),
        ("var-sp", "`var` - sp"),
    ],
)
def test_meaning_the_same(text, same):
    assert repr(parse(text)) == repr(parse(same))


def test_trees():
    assert parse("c == 'a'") == Operation("==", (Name("c"), Constant("a")))
    assert parse("i in {1, 2.5}") == Member(Name("i"), (Constant(1), Constant(2.5)))
    assert parse("max(i, 2, r)") == Call("max", (Name("i"), Constant(2), Name("r")))
    three = parse("i and r and c")
    assert three == Operation("and", (Name("i"), Name("r"), Name("c")))
    assert sorted(names_in(parse("i + i > r or c in {1}"))) == ["c", "i", "i", "r"]
    assert parse(r'c == "\"\\\u00e9\n"') == Operation("==", (Name("c"), Constant('"\\é\n')))
    numbers = [parse(text) for text in ("5", "5.", ".5", "1e3", "1E-3", "007")]
    assert [type(n.value) for n in numbers] == [int, float, float, float, float, int]
    # A parameter may be called T or log; one called in, true or 1 must be in backticks.
    names = ["T", "log", "in", "true", "1"]
    assert parse_expression("T > log", names) == Operation(">", (Name("T"), Name("log")))
    assert parse_expression("`in` > `1`", names) == Operation(">", (Name("in"), Name("1")))
    assert parse_expression("true > 1", names) == Operation(">", (Constant(True), Constant(1)))
    assert parse_expression("T in {1}", names) == Member(Name("T"), (Constant(1),))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["the end where a value was expected"]),
        ("i ==", ["the end where a value was expected"]),
        ("i == == 1", ["'==' where a value was expected"]),
        ("i 1", ["'1' where the end was expected"]),
        ("(i", ["the end where ')' was expected"]),
        ("i)", ["')' where the end was expected"]),
        ("1 < i < 3", ["'<' where the end was expected"]),
        ("i in {1", ["the end where '}' was expected"]),
        ("i in {1,}", ["'}' where a value was expected"]),
        ("i in {}", ["'}' where a value was expected"]),
        ("i in {r + 1}", ["'+' where '}' was expected"]),
        ("i in c(r)", ["constants only"]),
        ("j > 1", ["there is no parameter 'j'", "quotes"]),
        ("c == green", ["there is no parameter 'green'", "quotes"]),
        ("spx > 1", ["there is no parameter 'spx'"]),
        ("system('ls')", ["there is no function 'system'"]),
        ("__import__('os')", ["there is no function '__import__'"]),
        ("i.real > 1", ["there is no parameter 'i.real'"]),
        ("i[0]", ["makes no sense", "[0]"]),
        ("i; r", ["makes no sense", "; r"]),
        ("abs()", ["')' where a value was expected"]),
        ("abs(1, 2)", ["abs does not take 2 arguments"]),
        ("max(1)", ["max does not take 1 arguments"]),
        ("'abc", ["makes no sense"]),
        ("5x > 1", ["makes no sense"]),
        ("1.2.3", ["makes no sense"]),
        ("1e999 > i", ["too large a number"]),
        ("9" * 400 + " > i", ["too large a number"]),
        ("\x1b[31m > 1", ["makes no sense"]),
        ("``", ["makes no sense"]),
        ("lambda: 1", ["makes no sense", ": 1"]),
    ],
)
def test_refused_in_a_few_words(text, words):
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    message = str(caught.value)
    assert message.isprintable() and len(message) < 400
    for word in words:
        assert word in message


DEEP = {
    "parentheses": "(" * 40_000 + "i" + ")" * 40_000,
    "opened only": "(" * 90_000,
    "functions": "abs(" * 20_000 + "i" + ")" * 20_000,
    "functions, not so deep": "abs(" * 95 + "i" + ")" * 95,
    "parentheses, not so deep": "(" * 95 + "i" + ")" * 95,
    "powers": "^".join(["i"] * 40_000),
    "powers, not so deep": "^".join(["i"] * 95),
    "not": "not " * 20_000 + "i",
    "not, in several levels": ("not " * 95 + "(") * 50 + "i" + ")" * 50,
    "not, !": "!" * 90_000 + "i",
    "sum": " + ".join(["i"] * 20_000),
    "sum, not so long": " + ".join(["i"] * 1_500),
    "sums within each other": "(" * 40 + "i" + (" + i" * 99 + ")") * 40,
    "differences without blanks": "1-" * 40_000 + "1",
    "differences without blanks, not so long": "1-" * 4_000 + "1",
    "minus": "-" * 90_000 + "i",
    "minus, not so long": "-" * 9_000 + "i",
    "digits": "1" * 90_000 + "x",
    "digits, not so long": "1" * 9_000 + "x",
    "dots": "1." * 40_000,
    "blanks": " " * 90_000 + "@",
    "quotes": '"' * 90_001,
    "backslashes": '"' + "\\" * 90_000,
    "a word": "i" * 90_000,
    "words with dashes": "i-" * 4_000 + "j",
    "commas": "max(" + "i," * 3_000 + "i)",
    "alternatives": " or ".join(["i == 1"] * 900),
    "values": "i in {" + ",".join(map(str, range(1_000))) + "}",
    "too long": "i" + " " * 1_000_000,
}


@pytest.mark.parametrize("what", DEEP)
def test_deep_and_long_input_is_read_or_refused_fast(what):
    """Whatever can be read can also be evaluated and written."""
    start = time.process_time()
    try:
        tree = parse(DEEP[what])
    except ExpressionError as error:
        assert str(error).isprintable() and len(str(error)) < 400
    else:
        check_expression(tree, PARAMETERS, ("when",))
        evaluator(tree, PARAMETERS)({"i": 1})
        assert parse(text_of_expression(tree)) == tree
    assert time.process_time() - start < 5


def test_a_long_name_makes_nothing_slow():
    start = time.process_time()
    with pytest.raises(ExpressionError):
        parse_expression("a-" * 4_000 + "1 +", ["i", "a-" * 1_000])
    assert time.process_time() - start < 5


def test_what_people_write_is_not_too_deep():
    parse("(" * 20 + "i" + ")" * 20)
    tree = parse(" + ".join(["i"] * 60) + " > 30")
    assert evaluator(tree, PARAMETERS)({"i": 1}) is True
    tree = parse(" or ".join(f"i == {k} and r > {k}" for k in range(300)))
    assert evaluator(tree, PARAMETERS)({"i": 299, "r": 300.0}) is True


# What they say


@pytest.mark.parametrize(
    ("text", "active", "expected"),
    [
        # Texts are equal as texts, numbers as numbers.
        ("c == 'a'", {"c": "a"}, True),
        ("c != 'a'", {"c": "a"}, False),
        ("c == 10", {"c": "10"}, True),
        ("c == 10.0", {"c": "10"}, False),
        ("i == 10.0", {"i": 10}, True),
        ("i == '10'", {"i": 10}, True),
        ("r == 0.1", {"r": 0.1}, True),
        ("n == 2.0", {"n": 2.0}, True),
        ("n == true", {"n": True}, True),
        ("n == 1", {"n": True}, False),
        # Order: of an ordinal by place, of other listed values as text, of numbers by number.
        ("o < 'hi'", {"o": "mid"}, True),
        ("o >= 'mid'", {"o": "lo"}, False),
        ("'lo' < o", {"o": "mid"}, True),
        ("o > 'unheard'", {"o": "mid"}, None),
        ("c < '9'", {"c": "10"}, True),
        ("number(c) < 9", {"c": "10"}, False),
        ("i < 9", {"i": 10}, False),
        ("i < r", {"i": 1, "r": 1.5}, True),
        # Members.
        ("c in {a, 10}", {"c": "10"}, True),
        ("c in {a, 10}", {"c": "b"}, False),
        ("i in {1, 2.0}", {"i": 2}, True),
        ("i + 1 in {3}", {"i": 2}, True),
        ("n in {1}", {"n": 1}, True),
        ("n in {1}", {"n": True}, False),
        # Inactive parameters.
        ("i == 1", {}, None),
        ("not i == 1", {}, None),
        ("i + 1", {}, None),
        ("i in {1}", {}, False),
        ("c in {a}", {}, False),
        ("not c in {a}", {}, True),
        ("i == 1 or r > 0", {"r": 1.0}, True),
        ("i == 1 or r > 0", {"r": -1.0}, None),
        ("i == 1 and r > 0", {"r": 1.0}, None),
        ("i == 1 and r > 0", {"r": -1.0}, False),
        ("max(i, r)", {"i": 1}, None),
        # Numbers other than 0 are true, texts are neither.
        ("i and r", {"i": 2, "r": 0.5}, True),
        ("i and r", {"i": 2, "r": 0.0}, False),
        ("not i", {"i": 0}, True),
        ("not c", {"c": "a"}, None),
        # Arithmetic.
        ("i + r * 2", {"i": 1, "r": 2.0}, 5),
        ("7 % i", {"i": 4}, 3),
        ("-7 % i", {"i": 4}, 1),
        ("7 / i", {"i": 2}, 3.5),
        ("i / 0", {"i": 1}, None),
        ("i % 0", {"i": 1}, None),
        ("0 ^ -1", {}, None),
        ("(0 - 8) ^ 0.5", {}, None),
        ("10 ^ 400", {}, None),
        ("1e308 * 10", {}, None),
        ("sqrt(0 - 1)", {}, None),
        ("log(0)", {}, None),
        ("log(8, 2)", {}, 3),
        ("log10(1000)", {}, 3),
        ("exp(1000)", {}, None),
        ("round(2.567, 1)", {}, 2.6),
        ("min(3, i, 2)", {"i": 1}, 1),
        ("abs(-3)", {}, 3),
        ("ceil(1.2) + floor(1.8) + trunc(-1.5)", {}, 2),
        ("cbrt(27)", {}, 3.0),
        ("number('1e2')", {}, 100),
        ("number('many')", {}, None),
        ("number('nan')", {}, None),
        ("c + 1", {"c": "10"}, 11),
        ("c + 1", {"c": "a"}, None),
        ("sp-var + 1", {"sp_var": 2}, 3),
    ],
)
def test_values(text, active, expected):
    found = value(text, **active)
    assert found == pytest.approx(expected) if isinstance(expected, float) else found == expected
    assert (found is None) == (expected is None)
    assert isinstance(found, bool) == isinstance(expected, bool)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_never_raise(name):
    least, _ = FUNCTIONS[name].arguments
    for numbers in itertools.product((-1e308, -1.5, 0, 0.5, 1, 1e308), repeat=least):
        text = f"{name}({', '.join(f'({number!r})' for number in numbers)})"
        found = value(text)
        assert found is None or math.isfinite(found)


LEAVES = [Operation("==", (Name(name), Constant("yes"))) for name in "abc"]
SWITCHES = {n: make_parameter(n, "categorical", "no", values=["yes", "no"]) for n in "abc"}


def logic(depth: int):
    """Trees of and, or and not over three parameters."""
    leaves = st.sampled_from(LEAVES)
    if depth == 0:
        return leaves
    inner = logic(depth - 1)
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        leaves,
        st.builds(Operation, st.sampled_from(["and", "or"]), several),
        st.builds(Operation, st.just("not"), st.tuples(inner)),
    )


def kleene(tree: Operation, values: dict[str, float]) -> float:
    """The logic of three values as numbers: false is 0, unknown 1/2, true 1."""
    parts = tree.operands
    if tree.operator == "==":
        assert isinstance(parts[0], Name)
        return values[parts[0].name]
    results = [kleene(part, values) for part in parts]
    if tree.operator == "not":
        return 1 - results[0]
    return min(results) if tree.operator == "and" else max(results)


@given(logic(3))
def test_three_valued_logic(tree):
    decide = evaluator(tree, SWITCHES)
    for row in itertools.product((("no", 0.0), (None, 0.5), ("yes", 1.0)), repeat=3):
        active = {n: word for n, (word, _) in zip("abc", row, strict=True) if word is not None}
        expected = kleene(tree, {n: number for n, (_, number) in zip("abc", row, strict=True)})
        assert truth(decide(active)) is {0.0: False, 0.5: None, 1.0: True}[expected]


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from([*"()+-*/^%<>=!&|{},.'\"`019ei \n", "in", "not", "or", "x-y", "c("]))
)
def test_random_text_is_read_or_refused(pieces):
    names = {"i": PARAMETERS["i"], "x-y": make_parameter("x-y", "integer", 1, low=0, high=9)}
    try:
        tree = parse_expression("".join(pieces), names)
    except ExpressionError as error:
        assert str(error).isprintable()
        return
    for name in names_in(tree):  # anything may stand in backticks
        if name not in names:
            return
    assert repr(parse_expression(text_of_expression(tree), names)) == repr(tree)
    evaluator(tree, names)({"i": 3})


# What can be said of them beforehand


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("`j` > 1", ["there is no parameter 'j'"]),
        ("c == 'x'", ["'x' is not a value of it", "a, b, 10, 9"]),
        ("'x' == c", ["'x' is not a value of it"]),
        ("i == 1 or not (r > 2 and c in {a, x})", ["'x' is not a value of it"]),
        ("o < 'high'", ["'high' is not a value of it"]),
        ("c == 10.0", ["'10.0' is not a value of it"]),
    ],
)
def test_checks(text, words):
    with pytest.raises(InvalidKey) as caught:
        check_expression(parse(text), PARAMETERS, ("parameters", "p", "when"))
    for word in words:
        assert word in str(caught.value)
    assert str(caught.value).startswith("parameters.p.when: ")


def test_what_passes_the_checks():
    for text in ("i == 1000", "c == 10", "n == true", "number(c) == 7", "o in {lo, hi}", "c == o"):
        check_expression(parse(text), PARAMETERS, ("when",))
