"""The line of a key in a TOML file, for messages."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cunctator.scenario.lines import line_of


def test_tables_of_the_same_name_have_lines_of_their_own():
    text = "[[initial]]\na = 1\n\n[[initial]]\na = 2\nb = 3\n[other]\na = 4\n"
    assert [line_of(text, ["initial", str(k), "a"]) for k in (0, 1)] == [2, 5]
    assert line_of(text, ["initial", "1", "c"]) == 4 and line_of(text, ["initial"]) == 1
    assert line_of(text, ["other", "a"]) == 8


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4), st.integers(0, 5))
def test_lines_of_any_key(path, comments):
    quoted = ".".join('"' + "".join(f"\\U{ord(c):08x}" for c in part) + '"' for part in path)
    text = 'a = """\n[x]\n"""\nb = [\n1, # ]\n2]\n' + "# c = [\n" * comments
    assert line_of(text + f"{quoted} = 1\n", path) in (7 + comments, {"a": 1, "b": 4}.get(path[0]))
    assert line_of(text + f"[{quoted}]\n  'x y' = 1\n", [*path, "x y"]) == 8 + comments
