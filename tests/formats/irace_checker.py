"""A second opinion on irace's parameter files: is this configuration one of them?

Written apart from the importer, after irace's own rules, and without any of its code: a grammar of
R's expressions with R's precedences, where None stands for NA. In one point it is not R: a number
equals a text that looks like it, where R compares 1e-04 with 0.0001.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path

LINE = re.compile(
    r'^([._A-Za-z0-9]+)\s+"([^"]*)"\s+(i,log|r,log|[cior])\s+\(([^|]+)\)\s*(?:\|\s*(.+))?$'
)
TOKEN = re.compile(
    r"\s*(?:([0-9.]+(?:[eE][+-]?[0-9]+)?L?(?![\w.]))|(\"[^\"]*\"|'[^']*')|([\w.]+)"
    r"|(%in%|%%|&&|\|\||==|!=|<=|>=|[-+*/^<>!&|(),]))"
)
BINARY = {
    **dict.fromkeys(["|", "||"], 1),
    **dict.fromkeys(["&", "&&"], 2),
    **dict.fromkeys(["==", "!=", "<", "<=", ">", ">="], 4),
    **dict.fromkeys(["+", "-"], 5),
    **dict.fromkeys(["*", "/"], 6),
    **dict.fromkeys(["%in%", "%%"], 7),
    "^": 9,
}
NOT, MINUS = 3, 8


@dataclass
class Line:
    name: str
    label: str
    type: str
    domain: list[str]
    condition: str


@dataclass
class File:
    lines: list[Line] = field(default_factory=list)
    forbidden: list[str] = field(default_factory=list)

    def complaints(self, configuration: dict[str, object]) -> list[str]:
        """What is wrong with a configuration, which names the active parameters only."""
        found = [f"{n} is unknown" for n in configuration if n not in {p.name for p in self.lines}]
        values = {line.name: configuration.get(line.name) for line in self.lines}
        for line in self.lines:
            found.extend(self._about(line, values))
        found.extend(
            f"forbidden: {text}" for text in self.forbidden if truth(evaluate(text, values))
        )
        return found

    def _about(self, line: Line, values: dict[str, object]) -> list[str]:
        value = values[line.name]
        active = not line.condition or truth(evaluate(line.condition, values)) is True
        bounds = []
        if line.type[0] in "ir":
            bounds = [evaluate(part, values) for part in line.domain]
            active = active and None not in bounds
        if active != (value is not None):
            return [f"{line.name} should {'' if active else 'not '}be active"]
        if value is None:
            return []
        if not bounds:
            return [] if value in line.domain else [f"{line.name} is never {value!r}"]
        if line.type[0] == "i":
            bounds = [math.trunc(bound) for bound in bounds]
            if not isinstance(value, int):
                return [f"{line.name} is not whole"]
        within = bounds[0] <= value <= bounds[1]
        return [] if within else [f"{line.name} is {value}, outside {bounds}"]


def read(path: Path) -> File:
    file, section = File(), ""
    for raw in path.read_text(encoding="utf-8-sig").splitlines():
        text = raw.split("#")[0].strip()
        if text in ("[forbidden]", "[global]"):
            section = text
        elif text and section == "[forbidden]":
            file.forbidden.append(text)
        elif text and not section:
            name, label, kind, domain, condition = LINE.match(text).groups()
            parts = [part.strip('"') for part in _parts(domain, kind[0] in "ir")]
            file.lines.append(Line(name, label, kind, parts, condition or ""))
    return file


def _parts(domain: str, are_bounds: bool) -> list[str]:
    parts, depth, quoted = [""], 0, False
    for letter in domain:
        quoted ^= letter == '"'
        if are_bounds and not quoted:
            depth += (letter == "(") - (letter == ")")
        if letter == "," and not quoted and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def evaluate(text: str, values: dict[str, object]) -> object:
    reader = Reader([m.groups() for m in TOKEN.finditer(text)], values)
    result = reader.expression(0)
    assert reader.place == len(reader.tokens), text
    return result


class Reader:
    """Precedence climbing that computes as it goes."""

    def __init__(self, tokens: list[tuple], values: dict[str, object]) -> None:
        self.tokens, self.values, self.place = tokens, values, 0

    def sign(self) -> str | None:
        return self.tokens[self.place][3] if self.place < len(self.tokens) else None

    def expression(self, least: int) -> object:
        left = self.first()
        while (sign := self.sign()) in BINARY and BINARY[sign] >= least:
            self.place += 1
            right = self.expression(BINARY[sign] + (sign != "^"))
            left = combine(sign, left, right)
        return left

    def first(self) -> object:
        number, text, word, sign = self.tokens[self.place]
        self.place += 1
        if number is not None:
            return float(number.rstrip("L"))
        if text is not None:
            return text[1:-1]
        if sign == "!":
            inner = truth(self.expression(NOT))
            return None if inner is None else not inner
        if sign in ("-", "+"):
            inner = self.expression(MINUS)
            return inner if sign == "+" or inner is None else -inner
        if sign == "(":
            inner = self.expression(0)
            self.place += 1
            return inner
        assert word is not None, self.tokens
        if self.sign() == "(" and word not in self.values:
            return self.call(word)
        return self.values[word] if word in self.values else {"TRUE": True, "FALSE": False}[word]

    def call(self, name: str) -> object:
        arguments = []
        while self.sign() != ")":
            self.place += 1
            arguments.append(self.expression(0))
        self.place += 1
        if name == "c":
            return arguments
        if None in arguments:
            return None
        return {
            "min": min,
            "max": max,
            "round": round,
            "floor": math.floor,
            "ceiling": math.ceil,
            "trunc": math.trunc,
            "as.numeric": float,
        }[name](*arguments)


def combine(sign: str, left: object, right: object) -> object:
    if sign in ("|", "||", "&", "&&"):
        known, stop = (truth(left), truth(right)), "|" in sign
        return stop if stop in known else None if None in known else not stop
    if sign == "%in%":
        members = right if isinstance(right, list) else [right]
        return left is not None and any(same(left, member) for member in members)
    if left is None or right is None:
        return None
    if sign in ("==", "!="):
        return same(left, right) == (sign == "==")
    if sign in BINARY and BINARY[sign] == 4:
        if isinstance(left, str) or isinstance(right, str):
            left, right = written(left), written(right)
        return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[
            sign
        ]
    return {
        "+": lambda: left + right,
        "-": lambda: left - right,
        "*": lambda: left * right,
        "/": lambda: left / right,
        "%%": lambda: left % right,
        "^": lambda: left**right,
    }[sign]()


def truth(value: object) -> bool | None:
    assert not isinstance(value, str), value
    return None if value is None else bool(value)


def same(left: object, right: object) -> bool:
    if isinstance(left, str) == isinstance(right, str):
        return left == right
    text, number = (left, right) if isinstance(left, str) else (right, left)
    if isinstance(number, bool):
        return text == written(number)
    try:
        return text == written(number) or float(text) == number
    except ValueError:
        return False


def written(value: object) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    return f"{value:.15g}" if isinstance(value, int | float) else str(value)
