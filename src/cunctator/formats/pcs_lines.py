"""What the lines of a PCS file say, each by itself.

There is an old format (SMAC up to 2.08, AClib, ParamILS) and a new one (SMAC 2.10, AClib 2). They
are told apart line by line, as SMAC does: a declaration in the new one has a word for the type
between the name and the brackets, and the other lines of the old one mean the same in the new one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cunctator.base.errors import InvalidScenario, one_line
from cunctator.formats.imported import read_lines
from cunctator.space.parameters import Kind

LONGEST_QUOTE = 80
"""Characters of a line that a message repeats."""

BRACKETS = "{}[]|"
"""Every line that says something has one of these; the others are headings."""

# These must not go back over the same text again and again: files may be hostile.
NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
NAME = r"[^\s,(){}\[\]|]+"
NUMERIC = re.compile(
    rf"({NAME})(?:\s+(integer|int|real))?\s*"
    rf"\[\s*({NUMBER})\s*,\s*({NUMBER})\s*\]\s*\[\s*({NUMBER})\s*\]\s*([a-z]*)"
)
LISTED = re.compile(
    rf"({NAME})(?:\s+(categorical|cat|ordinal|ord))?\s*\{{([^{{}}]*)\}}\s*\[([^\[\]]*)\]"
)
COMPARISON = re.compile(
    r"([^\s,(){}\[\]|<>=!&]+)(?:\s+in\s*\{([^{}]*)\}|\s*(==|!=|<=|>=|<|>)\s*(\S+))"
)
JOINING = re.compile(r"\{[^{}]*\}|\|\||&&")
WHOLE = re.compile(r"[+-]?[0-9]{1,300}")
UNQUOTED = str.maketrans("", "", "\"'")

LISTED_FIX = "write NAME {VALUE, VALUE} [DEFAULT] or NAME categorical {VALUE, VALUE} [DEFAULT]"
NUMERIC_FIX = "write NAME [LOW, HIGH] [DEFAULT] or NAME real [LOW, HIGH] [DEFAULT]"
CONDITION_FIX = (
    "write CHILD | PARENT in {VALUE, VALUE} or CHILD | PARENT == VALUE && PARENT < VALUE"
)
FORBIDDEN_FIX = "write {NAME=VALUE, NAME=VALUE}"


@dataclass(frozen=True, slots=True)
class PcsLine:
    """A line without its comment and without quotes."""

    path: Path
    number: int
    text: str

    def wrong(self, problem: str, fix: str) -> InvalidScenario:
        """The error of this line."""
        return InvalidScenario(self.path, self.number, self._quoted, problem, fix)

    def warning(self, problem: str) -> str:
        """What to tell the user about this line."""
        return one_line(f"{self.path.name}, line {self.number}: {self._quoted}: {problem}")

    @property
    def _quoted(self) -> str:
        is_long = len(self.text) > LONGEST_QUOTE
        return repr(self.text[:LONGEST_QUOTE] + "..." if is_long else self.text)


@dataclass(frozen=True, slots=True)
class PcsDeclaration:
    """A parameter, in the words of the file."""

    line: PcsLine
    name: str
    kind: Kind
    default: str
    values: tuple[str, ...] = ()
    low: str = ""
    high: str = ""
    log: bool = False


@dataclass(frozen=True, slots=True)
class ParentComparison:
    """What is asked of a parent."""

    parent: str
    sign: str
    """`in` or an operator."""
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConditionLine:
    """When a parameter is active: all comparisons of one of the clauses must hold."""

    line: PcsLine
    child: str
    clauses: tuple[tuple[ParentComparison, ...], ...]


@dataclass(frozen=True, slots=True)
class ForbiddenLine:
    """What must not be: the text between the braces."""

    line: PcsLine
    inside: str


Statement = PcsDeclaration | ConditionLine | ForbiddenLine


def read_statements(path: Path, warnings: list[str]) -> Iterator[Statement]:
    """What the file says, line by line; headings are skipped."""
    for number, written in enumerate(read_lines(path), start=1):
        line = PcsLine(path, number, written.partition("#")[0].translate(UNQUOTED).strip())
        if any(bracket in line.text for bracket in BRACKETS):
            yield _statement(line)
        elif line.text and not line.text.endswith(":"):
            warnings.append(line.warning("taken for a heading and skipped"))


def number_in(text: str) -> int | float | None:
    """The number that a text is, if it is one."""
    if WHOLE.fullmatch(text):
        return int(text)
    return float(text) if re.fullmatch(NUMBER, text) else None


def values_in(text: str) -> tuple[str, ...]:
    """The values of a list."""
    return tuple(value.strip() for value in text.split(","))


def _statement(line: PcsLine) -> Statement:
    if line.text.startswith("{"):
        if not line.text.endswith("}"):
            raise line.wrong("it begins like a forbidden combination but has no }", FORBIDDEN_FIX)
        return ForbiddenLine(line, line.text[1:-1].strip())
    first = next(letter for letter in line.text if letter in BRACKETS)
    if first == "|":
        return _condition(line)
    return _numeric(line) if first == "[" else _listed(line)


def _numeric(line: PcsLine) -> PcsDeclaration:
    found = NUMERIC.fullmatch(line.text)
    if found is None:
        raise line.wrong("not the declaration of a number", NUMERIC_FIX)
    name, word, low, high, default, flags = found.groups()
    if word is None:
        good, is_integer, log = set(flags) <= set("il"), "i" in flags, "l" in flags
    else:
        good, is_integer, log = flags in ("", "log"), word != "real", flags == "log"
    if not good:
        allowed = "i, l or il" if word is None else "log"
        raise line.wrong(f"{flags!r} behind the default", f"only {allowed} may stand there")
    kind: Kind = "integer" if is_integer else "real"
    return PcsDeclaration(line, name, kind, default, low=low, high=high, log=log)


def _listed(line: PcsLine) -> PcsDeclaration:
    found = LISTED.fullmatch(line.text)
    if found is None:
        raise line.wrong("not the declaration of a parameter with listed values", LISTED_FIX)
    name, word, inside, default = found.groups()
    values = values_in(inside)
    if "" in values:
        raise line.wrong("one of the values is empty", LISTED_FIX)
    kind: Kind = "ordinal" if word in ("ordinal", "ord") else "categorical"
    return PcsDeclaration(line, name, kind, default.strip(), values)


def _condition(line: PcsLine) -> ConditionLine:
    child, _, rest = line.text.partition("|")
    if re.fullmatch(NAME, child.strip()) is None:
        raise line.wrong(f"{child.strip()!r} is not the name of a parameter", CONDITION_FIX)
    # `&&` binds tighter than `||`; within braces neither means anything.
    clauses: list[list[ParentComparison]] = [[]]
    start = 0
    for joint in JOINING.finditer(rest):
        if not joint[0].startswith("{"):
            clauses[-1].append(_comparison(line, rest[start : joint.start()]))
            start = joint.end()
            if joint[0] == "||":
                clauses.append([])
    clauses[-1].append(_comparison(line, rest[start:]))
    return ConditionLine(line, child.strip(), tuple(tuple(clause) for clause in clauses))


def _comparison(line: PcsLine, text: str) -> ParentComparison:
    found = COMPARISON.fullmatch(text.strip())
    if found is None:
        raise line.wrong(f"{one_line(text.strip(), 40)!r} is not a condition", CONDITION_FIX)
    parent, inside, sign, value = found.groups()
    if sign is None:
        return ParentComparison(parent, "in", values_in(inside))
    return ParentComparison(parent, sign, (value,))
