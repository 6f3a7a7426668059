"""PCS files that are refused: which line, and in which words."""

from __future__ import annotations

import pytest

from cunctator.base.errors import InvalidScenario
from cunctator.formats.pcs import read_pcs
from tests.formats.pcs_files import PAIR, PARENTS, read

BAD = [
    ("", None, ["it declares no parameters"]),
    ("# nothing\nConditionals:\n", None, ["it declares no parameters"]),
    ("{a=1}\n", 1, ["there is no parameter 'a'"]),
    # Declarations
    ("\nx [1,10]", 2, ["not the declaration of a number", "[DEFAULT]"]),
    ("x [1,10] []", 1, ["not the declaration of a number"]),
    ("x [1,10,20] [5]", 1, ["not the declaration of a number"]),
    ("x [1;10] [5]", 1, ["not the declaration of a number"]),
    ("x [1,ten] [5]", 1, ["not the declaration of a number"]),
    ("x [1,10] [5]f", 1, ["'f' behind the default", "i, l or il"]),
    ("x [1,10] [5]log", 1, ["'log' behind the default"]),
    ("x real [1,10] [5]il", 1, ["'il' behind the default", "only log"]),
    ("x float [1,10] [5]", 1, ["not the declaration of a number"]),
    ("x y z [1,10] [5]", 1, ["not the declaration of a number"]),
    ("[1,10] [5]", 1, ["not the declaration of a number"]),
    ("x [1,10] [11]", 1, ["the default: 11.0 is outside 1.0 to 10.0"]),
    ("x [1,10] [5.5]i", 1, ["the default: 5.5 is not a whole number"]),
    ("x [1.5,10] [5]i", 1, ["1.5 is not a whole number"]),
    ("x [1.5,1.5] [1.5]i", 1, ["1.5 is not a whole number"]),
    ("x [10,1] [5]", 1, ["low is 10.0 and high is 1.0"]),
    ("x [3,3] [4]i", 1, ["the default: 4 is not 3"]),
    ("x [0,10] [5]l", 1, ["a logarithmic scale cannot begin at 0"]),
    ("x [0,0] [0]l", 1, ["a logarithmic scale cannot begin at 0"]),
    ("x integer [-1,10] [5] log", 1, ["a logarithmic scale cannot begin at -1"]),
    ("x [0,1e999] [5]", 1, ["inf is not a finite number"]),
    ("x [0,99999999999999999999] [5]i", 1, ["is not a whole number up to 2^53"]),
    ("x [1e999,1e999] [1e999]", 1, ["inf is not a finite number"]),
    ("x [0," + "9" * 5000 + "] [5]", 1, ["inf is not a finite number"]),
    ("a {1}[1]\nx {a,b}", 2, ["not the declaration of a parameter with listed values"]),
    ("x {a,b} [c]", 1, ["the default: 'c' is not a value of it", "a, b"]),
    ("x {a,b} []", 1, ["the default: '' is not a value of it"]),
    ("x {a,b} [a,b]", 1, ["the default: 'a,b' is not a value of it"]),
    ("x {a,b} [a] i", 1, ["not the declaration of a parameter with listed values"]),
    ("x {a,,b} [a]", 1, ["one of the values is empty"]),
    ("x {} [a]", 1, ["one of the values is empty"]),
    ("x {a,b,a} [a]", 1, ["'a' is given twice"]),
    ("x {a,b [a]", 1, ["not the declaration of a parameter with listed values"]),
    ("x (1,2) [1]", 1, ["not the declaration of a number"]),
    ("x enum {a,b} [a]", 1, ["not the declaration of a parameter with listed values"]),
    ("x {a}[a]\ny {a}[a]\nx [1,2][1]", 3, ["'x' is declared on line 1 already"]),
    ("x }", 1, ["not the declaration of a parameter with listed values"]),
    ("x\x07 {a}[a]", 1, ["cannot be a parameter's name"]),
    # Conditions
    (PARENTS + "y | c in {a}", 6, ["there is no parameter 'y'"]),
    (PARENTS + "x | d in {a}", 6, ["there is no parameter 'd'"]),
    (PARENTS + "x | i > big", 6, ["'i' is a number", "'big'"]),
    (PARENTS + "x | i < 1e999", 6, ["'i' is a number", "'1e999'"]),
    (PARENTS + "x | c > a", 6, ["'c' is categorical: its values have no order"]),
    (PARENTS + "x | c in a", 6, ["'c in a' is not a condition", "in {VALUE, VALUE}"]),
    (PARENTS + "x | c = a", 6, ["'c = a' is not a condition"]),
    (PARENTS + "x | c", 6, ["'c' is not a condition"]),
    (PARENTS + "x |", 6, ["'' is not a condition"]),
    (PARENTS + "| c in {a}", 6, ["'' is not the name of a parameter"]),
    (PARENTS + "x y | c in {a}", 6, ["'x y' is not the name of a parameter"]),
    (PARENTS + "x | c == a &&", 6, ["'' is not a condition"]),
    (PARENTS + "x | (c == a)", 6, ["'(c == a)' is not a condition"]),
    (PARENTS + "x | c in {a", 6, ["is not a condition"]),
    (PARENTS + "x | c in {a} o in {hi}", 6, ["is not a condition"]),
    (PARENTS + "x | x in {on}", 6, ["x depends on x"]),
    ("a {1}[1]\nb {1}[1]\na | b in {1}\nb | a == 1 || b == 1", (3, 4), ["depends on"]),
    ("a {1}[1]\nb {1}[1]\nc {1}[1]\na|b in {1}\nb|c in {1}\nc|a in {1}", (4, 5, 6), ["depends on"]),
    # Forbidden combinations
    (PAIR + "{a=0}", 4, ["the default configuration is forbidden"]),
    (PAIR + "{a=1}\n{a=0, b=x}\n{b=x}", 5, ["the default configuration is forbidden"]),
    (PAIR + "{i < 1}", 4, ["the default configuration is forbidden"]),
    (PAIR + "{c=0}", 4, ["there is no parameter 'c'"]),
    (PAIR + "{a=1", 4, ["no }"]),
    (PAIR + "{a=1} {b=x}", 4, ["'}' where the end was expected"]),
    (PAIR + "{}", 4, ["a value was expected"]),
    (PAIR + "{a}, b=y}", 4, []),
    (PAIR + "{a=1,}", 4, []),
    (PAIR + "{a=1, b}", 4, []),
    (PAIR + "{b > x}", 4, ["'b' is categorical: its values have no order"]),
    (PAIR + "{a + c > 1}", 4, ["there is no parameter 'c'"]),
    (PAIR + "{nothing(a) > 1}", 4, ["there is no function 'nothing'"]),
    (PAIR + "{(a > 1}", 4, ["')'"]),
    (PAIR + "{a > 1) }", 4, ["the end"]),
    (PAIR + "{`d` > 1 && a > 1}", 4, ["there is no parameter 'd'"]),
    (PAIR + "{!(b == Z)}", 4, ["'Z'"]),
]


@pytest.mark.parametrize(("text", "line", "words"), BAD)
def test_refused_with_the_line_and_its_text(tmp_path, text, line, words):
    with pytest.raises(InvalidScenario) as caught:
        read(tmp_path, text)
    error = caught.value
    message = str(error)
    assert message.isprintable() and len(message) < 1_500
    assert error.line in (line if isinstance(line, tuple) else (line,)), message
    for word in words:
        assert word in message
    if error.line is not None:
        written = text.split("\n")[error.line - 1].strip()
        assert repr(written)[:60] in message
        assert f"params.pcs, line {error.line}: " in message


def test_files_that_are_none(tmp_path):
    for path in (tmp_path / "nowhere.pcs", tmp_path):
        with pytest.raises(InvalidScenario) as caught:
            read_pcs(path)
        assert str(path) in str(caught.value)
