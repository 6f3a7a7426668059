"""A second reading of PCS files, to check the importer against: slow, plain, and on its own.

Written from the definition of the format. Nothing of the importer is used, so that a misreading of
its author's would have to be made twice.
"""

from __future__ import annotations

import math

OPERATORS = ("==", "!=", "<=", ">=", "<", ">")
LEVELS = (("||",), ("&&",), OPERATORS, ("+", "-"), ("*", "/", "%"), ("^",))


class PcsChecker:
    """What a file says, and whether configurations obey it."""

    def __init__(self, text: str) -> None:
        self.domains: dict[str, dict] = {}
        self.conditions: dict[str, list] = {}
        self.forbidden: list[str] = []
        for written in text.replace("\r", "\n").split("\n"):
            line = written.split("#")[0].replace('"', "").replace("'", "").strip()
            if not line or not set(line) & set("{}[]|"):
                continue
            if line[0] == "{":
                self.forbidden.append(line[1:-1])
            elif "|" in line.split("{")[0].split("[")[0]:
                child, condition = line.split("|", 1)
                self.conditions.setdefault(child.strip(), []).append(alternatives(condition))
            else:
                self.declare(line)

    def declare(self, line: str) -> None:
        is_list = "{" in line
        head, rest = line.split("{" if is_list else "[", 1)
        inside, rest = rest.split("}" if is_list else "]", 1)
        default, flags = rest.split("[", 1)[1].split("]", 1)
        words = head.split()
        kind = words[1][:3] if len(words) == 2 else ""
        items = [item.strip() for item in inside.split(",")]
        domain = {"default": default.strip(), "is_list": is_list}
        if is_list:
            domain |= {"values": items, "has_order": kind == "ord"}
        else:
            domain |= {"low": float(items[0]), "high": float(items[1]), "has_order": True}
            domain["whole"] = kind == "int" or (kind == "" and "i" in flags)
        self.domains[words[0]] = domain

    def same(self, name: str, value: object, text: str) -> bool:
        """Whether a parameter's value is what a text says."""
        if self.domains[name]["is_list"]:
            return str(value) == text
        try:
            return float(str(value)) == float(text)
        except ValueError:
            return False

    def holds(self, comparison: tuple, configuration: dict) -> bool:
        """An inactive parent fulfils nothing."""
        parent, sign, values = comparison
        if not self.is_active(parent, configuration) or parent not in configuration:
            return False
        value = configuration[parent]
        if sign in ("in", "=="):
            return any(self.same(parent, value, text) for text in values)
        if sign == "!=":
            return not self.same(parent, value, values[0])
        domain = self.domains[parent]
        if domain["is_list"]:
            if values[0] not in domain["values"]:
                return False
            left, right = (domain["values"].index(str(v)) for v in (value, values[0]))
        else:
            left, right = float(str(value)), float(values[0])
        return is_so(left, sign, right)

    def is_active(self, name: str, configuration: dict) -> bool:
        """All lines for a child must hold; of a line, all of one of its alternatives."""
        return all(
            any(all(self.holds(one, configuration) for one in clause) for clause in clauses)
            for clauses in self.conditions.get(name, [])
        )

    def is_forbidden(self, inside: str, configuration: dict) -> bool:
        pairs = [pair.split("=") for pair in inside.split(",")]
        if all(len(pair) == 2 and pair[0].strip() in self.domains for pair in pairs):
            return all(
                name.strip() in configuration
                and self.same(name.strip(), configuration[name.strip()], value.strip())
                for name, value in pairs
            )
        result = self.value_of(pieces_of(inside), configuration)
        return result is not None and not isinstance(result, str) and bool(result)

    def value_of(self, pieces: list[str], configuration: dict):
        """The value of an expression whose pieces have blanks around them; None if unknown."""
        if len(pieces) == 1:
            return self.value_of_word(pieces[0], configuration)
        for level in LEVELS:
            depth = 0
            for place in range(len(pieces) - 1, 0, -1):
                depth += (pieces[place] == ")") - (pieces[place] == "(")
                if depth == 0 and pieces[place] in level:
                    left = self.value_of(pieces[:place], configuration)
                    right = self.value_of(pieces[place + 1 :], configuration)
                    return self.combined(left, pieces[place], right)
        assert pieces[0] == "(" and pieces[-1] == ")", pieces
        return self.value_of(pieces[1:-1], configuration)

    def value_of_word(self, word: str, configuration: dict):
        if word not in self.domains:
            return number(word)
        if word not in configuration:
            return None
        domain, value = self.domains[word], configuration[word]
        is_text = domain["is_list"] and any(
            isinstance(number(text), str) for text in domain["values"]
        )
        return str(value) if is_text else number(str(value))

    def combined(self, left, sign: str, right):
        if sign in ("&&", "||"):
            known = [None if side is None else bool(side) for side in (left, right)]
            decisive = sign == "||"
            if decisive in known:
                return decisive
            return None if None in known else not decisive
        if left is None or right is None:
            return None
        if sign in OPERATORS:
            return is_so(left, sign, right)
        results = {
            "+": lambda: left + right,
            "-": lambda: left - right,
            "*": lambda: left * right,
            "/": lambda: left / right,
            "%": lambda: left % right,
            "^": lambda: left**right,
        }
        try:
            return results[sign]()
        except ArithmeticError:
            return None

    def problems(self, configuration: dict) -> list[str]:
        """What a configuration gets wrong."""
        found = []
        for name, domain in self.domains.items():
            is_active = self.is_active(name, configuration)
            if is_active != (name in configuration):
                found.append(f"{name} should be {'active' if is_active else 'inactive'}")
            if name not in configuration:
                continue
            value = configuration[name]
            if domain["is_list"]:
                good = value in domain["values"]
            else:
                good = domain["low"] <= float(value) <= domain["high"]
                good = good and (not domain["whole"] or float(value) == math.floor(float(value)))
            if not good:
                found.append(f"{name} cannot be {value!r}")
        found += [f"forbidden: {f}" for f in self.forbidden if self.is_forbidden(f, configuration)]
        found += [f"there is no {name}" for name in configuration if name not in self.domains]
        return found

    def is_default(self, configuration: dict) -> bool:
        """Whether all active parameters have their defaults; `problems` says which must be."""
        return all(
            self.same(name, value, self.domains[name]["default"])
            for name, value in configuration.items()
        )


def alternatives(condition: str) -> list[list[tuple]]:
    """`&&` binds tighter than `||`."""
    return [[comparison(one) for one in c.split("&&")] for c in condition.split("||")]


def comparison(text: str) -> tuple[str, str, list[str]]:
    if "{" in text:
        parent, inside = text.split("{")
        values = inside.split("}")[0].split(",")
        return parent.strip().removesuffix("in").strip(), "in", [v.strip() for v in values]
    sign = next(sign for sign in OPERATORS if sign in text)
    parent, value = text.split(sign)
    return parent.strip(), sign, [value.strip()]


def is_so(left, sign: str, right) -> bool:
    if isinstance(left, str) != isinstance(right, str):
        left, right = str(left), str(right)
    results = {
        "==": lambda: left == right,
        "!=": lambda: left != right,
        "<": lambda: left < right,
        ">": lambda: left > right,
        "<=": lambda: left <= right,
        ">=": lambda: left >= right,
    }
    return results[sign]()


def number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def pieces_of(text: str) -> list[str]:
    return text.replace("(", " ( ").replace(")", " ) ").split()
