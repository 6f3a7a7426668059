"""The lines of irace's parameter files, taken apart: what each says, and where."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from cunctator.base.errors import InvalidScenario
from cunctator.formats.imported import read_lines, wrong_line
from cunctator.space.parameters import DIGITS, LISTED, Kind

HEAD = re.compile(r'([\w.]+)\s+"([^"]*)"\s+(i,log|r,log|[cior])\s+\(')
REST = re.compile(r'((?:[^|"]|"[^"]*")*)\)\s*(?:\|(.*))?')
"""The domain, up to the last parenthesis before a condition, and the condition."""
VALUE = re.compile(r'\s*"([^"]*)"\s*(?:,|\Z)|([^,"]*)(?:,|\Z)')
BRACKET = re.compile(r'"[^"]*"|[(),]')
DIGITS_LINE = re.compile(r"digits\s*=\s*([0-9]{1,9})")

FIX = 'write name "label" type (values) | condition; types are c, o, i, r, i,log and r,log'
KINDS: dict[str, Kind] = {"c": "categorical", "o": "ordinal", "i": "integer", "r": "real"}
FORBIDDEN, GLOBAL = "[forbidden]", "[global]"


@dataclass(frozen=True, slots=True)
class Statement:
    """A line that says something, without its comment."""

    path: Path
    line: int
    text: str

    @property
    def place(self) -> str:
        """Where it stands, for warnings."""
        return f"{self.path.name}, line {self.line}"

    def wrong(self, key: str, problem: str, fix: str) -> InvalidScenario:
        """The error of what is said here."""
        return InvalidScenario(self.path, self.line, key, problem, fix)


@dataclass(frozen=True, slots=True)
class IraceDeclaration:
    """The line of a parameter."""

    at: Statement
    name: str
    label: str
    kind: Kind
    is_log: bool
    domain: str
    """What is between the parentheses."""
    condition: str
    """Empty if there is none."""

    @property
    def is_listed(self) -> bool:
        """Whether it has values instead of bounds."""
        return self.kind in LISTED

    def wrong(self, problem: str, fix: str) -> InvalidScenario:
        """The error of what is said here."""
        return self.at.wrong(self.name, problem, fix)


@dataclass(frozen=True, slots=True)
class Sections:
    """A parameter file, line by line."""

    parameters: dict[str, IraceDeclaration]
    forbidden: list[Statement]
    warnings: list[str]


def read_sections(path: Path) -> Sections:
    """A parameter file; `[forbidden]` and `[global]` begin sections of their own."""
    found = Sections({}, [], [])
    section = ""
    for at in statements(path):
        if at.text in (FORBIDDEN, GLOBAL):
            section = at.text
        elif section == FORBIDDEN:
            found.forbidden.append(at)
        elif section == GLOBAL:
            _check_digits(at)
            warning = f"{at.text} is not used: reals are drawn with {DIGITS} digits"
            found.warnings.append(f"{at.place}: {warning}")
        else:
            declaration = _declaration(at)
            before = found.parameters.get(declaration.name)
            if before is not None:
                problem = f"this name is given on line {before.at.line} already"
                raise declaration.wrong(problem, "rename one of the two")
            found.parameters[declaration.name] = declaration
    if not found.parameters:
        raise InvalidScenario(path, None, "", "there are no parameters in it", FIX)
    return found


def statements(path: Path) -> list[Statement]:
    """The lines of a file that say something; irace cuts off comments first, even in quotes."""
    found = []
    for number, line in enumerate(read_lines(path), 1):
        text = line.partition("#")[0].strip()
        if text:
            found.append(Statement(path, number, text))
    return found


def listed_values(declaration: IraceDeclaration) -> tuple[str, ...]:
    """The values between commas, in quotes or bare."""
    values: list[str] = []
    domain, place, is_open = declaration.domain, 0, True
    while is_open:
        found = VALUE.match(domain, place)
        bare = found[2].strip() if found and found[2] is not None else None
        if found is None or bare == "":
            problem = f"its values make no sense from {domain[place : place + 40]!r} on"
            raise declaration.wrong(problem, 'write (a, b, "with blank", "")')
        values.append(found[1] if bare is None else bare)
        place = found.end()
        is_open = found[0].endswith(",")
    return tuple(values)


def two_bounds(declaration: IraceDeclaration) -> tuple[str, str]:
    """The ends of a range; quotes around them make no difference."""
    domain = declaration.domain
    parts, start, depth = [], 0, 0
    for found in BRACKET.finditer(domain):
        depth += (found[0] == "(") - (found[0] == ")")
        if found[0] == "," and depth == 0:
            parts.append(domain[start : found.start()])
            start = found.end()
    parts.append(domain[start:])
    if len(parts) != 2:
        raise declaration.wrong(f"({domain}) is no range", "give two bounds, e.g. (1, 10)")
    return _unquoted(parts[0].strip()), _unquoted(parts[1].strip())


def _unquoted(text: str) -> str:
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if is_quoted else text


def _check_digits(at: Statement) -> None:
    digits = DIGITS_LINE.fullmatch(at.text)
    if digits is None or not 1 <= int(digits[1]) <= 15:
        raise wrong_line(at.path, at.line, at.text, "expected digits = N, N from 1 to 15")


def _declaration(at: Statement) -> IraceDeclaration:
    head = HEAD.match(at.text)
    rest = REST.fullmatch(at.text, head.end()) if head else None
    if head is None or rest is None or "\0" in at.text:
        raise wrong_line(at.path, at.line, at.text, FIX)
    name, label, kind = head.groups()
    condition = rest[2]
    if condition is not None and not condition.strip():
        raise wrong_line(at.path, at.line, at.text, "give a condition after |, or remove it")
    is_log = kind.endswith(",log")
    return IraceDeclaration(at, name, label, KINDS[kind[0]], is_log, rest[1], condition or "")
