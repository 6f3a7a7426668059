"""Literals of R: how R writes values, and files that assign them to names.

Scenario files of irace are R programs. Only assignments of literals are read, and nothing is ever
run: whatever else there is, is refused with its line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from cunctator.base.errors import InvalidScenario
from cunctator.formats.imported import read_lines
from cunctator.space.parameters import Value

NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?L?")
ASSIGNMENT = re.compile(
    r"""\s*(?P<name>[A-Za-z.][\w.]*)\s*(?:<-|=)\s*(?:
    (?P<text>"(?:[^"\\\0]|\\[^\0])*"|'(?:[^'\\\0]|\\[^\0])*')
    | (?P<number>[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?L?)
    | (?P<word>TRUE|FALSE|T|F|NULL|NA(?:_[a-z]+_)?)
    )\s*(?:;|\#.*|\Z)""",
    re.VERBOSE,
)
NOTHING = re.compile(r"[\s;]*(?:#.*)?")
ESCAPE = re.compile(r"\\(.)")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
WORDS = {"TRUE": True, "T": True, "FALSE": False, "F": False}


@dataclass(frozen=True, slots=True)
class Assignment:
    """A literal that a name is set to."""

    value: Value | None
    """None of NA, NULL and the empty text, which all mean that nothing is set."""
    line: int


def read_assignments(path: Path) -> dict[str, Assignment]:
    """What the names of a file are set to, the last time; raises InvalidScenario."""
    found: dict[str, Assignment] = {}
    for number, line in enumerate(read_lines(path), 1):
        place = 0
        while not NOTHING.fullmatch(line, place):
            one = ASSIGNMENT.match(line, place)
            if one is None:
                problem = f"{line[place:].strip()!r} is not a name and a literal"
                fix = "write name = value with a text in quotes, a number, TRUE, FALSE or NA;"
                raise InvalidScenario(path, number, "", problem, f"{fix} R code is never run")
            place = one.end()
            found[one["name"]] = Assignment(_value(one), number)
    return found


def _value(found: re.Match[str]) -> Value | None:
    if found["text"] is not None:
        text = ESCAPE.sub(lambda escape: ESCAPES.get(escape[1], escape[1]), found["text"][1:-1])
        return text or None
    if found["number"] is not None:
        return float(found["number"].rstrip("L"))
    return WORDS.get(found["word"])


def text_in_r(value: Value) -> str:
    """A value as R writes it: with 15 digits, and an exponent where that is shorter."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return value
    scientific = f"{float(value):.14e}"
    digits, exponent = scientific.split("e")
    short = f"{digits.rstrip('0').rstrip('.')}e{int(exponent):+03d}"
    fixed = format(Decimal(scientific).normalize(), "f")
    return fixed if len(fixed) <= len(short) else short
