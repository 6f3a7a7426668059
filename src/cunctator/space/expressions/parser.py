"""Reading expressions, ours and those of PCS and irace files.

One grammar serves all three, because they hardly differ: `and`, `&&` and `&` mean the same, so do
`or`, `||` and `|`, `not` and `!`, `in {..}` and `%in% c(..)`, `%` and `%%`. Names may hold
characters that are operators elsewhere (`sp-var-dec`); so the longest known name wins, and any
name may be written in backticks.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from cunctator.base.errors import one_line
from cunctator.space.expressions.evaluation import FUNCTIONS
from cunctator.space.expressions.syntax import (
    BINDING,
    COMPARISONS,
    RESERVED,
    Call,
    Constant,
    Expression,
    Member,
    Name,
    Operation,
    all_of,
    any_of,
    depth_of,
)

DEEPEST = 50
"""Parentheses and signs within each other."""

MOST_TERMS = 100
"""Of a sum or a product."""

DEEPEST_TREE = 200
"""Parts within each other; a sum is as deep as it has signs."""

LONGEST = 100_000
"""Characters."""

LONGEST_NAME = 100
"""Characters of a name that is not in backticks."""

SAME = {
    "&&": "and",
    "&": "and",
    "||": "or",
    "|": "or",
    "!": "not",
    "%in%": "in",
    "%%": "%",
    "=": "==",
}
CONSTANTS = {"true": True, "TRUE": True, "T": True, "false": False, "FALSE": False, "F": False}
ALIASES = {"as.numeric": "number", "ceiling": "ceil"}

# Quantifiers are possessive (++, *+): what follows a long run of digits must not be looked for
# again and again from every digit of it.
TOKEN = re.compile(
    r"""
    (?P<number>(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?\d++)?+L?+(?![\w.]))
    | (?P<text>"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+')
    | (?P<quoted>`[^`]++`)
    | (?P<sign>%in%|%%|&&|\|\||==|!=|<=|>=|[-+*/^%<>=!&|(){},])
    """,
    re.VERBOSE | re.DOTALL,
)
SPACE = re.compile(r"\s*+")
WORD = re.compile(r"""[^\s()<>=!&|,{}+*/^%"'`]++""")
PLAIN = re.compile(r"[A-Za-z_.][A-Za-z0-9_.]*")
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class ExpressionError(ValueError):
    """What is wrong with an expression, in a few words without a full stop."""


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text."""

    kind: str
    """"number", "text", "name", "word" (unknown), "sign" or "end"."""
    text: str


def parse_expression(text: str, names: Collection[str]) -> Expression:
    """The tree of an expression over parameters of these names."""
    if len(text) > LONGEST:
        raise ExpressionError(f"it has more than {LONGEST:,} characters")
    reader = _Reader(_tokens(text, names))
    tree = reader.expression()
    reader.expect("end", "")
    if depth_of(tree) > DEEPEST_TREE:
        raise ExpressionError(f"more than {DEEPEST_TREE} of its parts are within each other")
    return tree


def _tokens(text: str, names: Collection[str]) -> list[Token]:
    known = frozenset(names)
    longest = _length_of_longest(known)
    tokens, place = [], 0
    while (place := _after(SPACE, text, place)) < len(text):
        found = TOKEN.match(text, place)
        name = _longest_known(text, place, known, longest)
        if name in RESERVED or (found and found["number"] and len(found[0]) >= len(name)):
            name = ""
        if name:
            tokens.append(Token("name", name))
            place += len(name)
        elif found:
            kind = found.lastgroup or ""
            tokens.append(_token(kind, found[kind]))
            place = found.end()
        elif plain := PLAIN.match(text, place):
            sign = SAME.get(plain[0], plain[0])
            tokens.append(Token("sign" if sign in ("and", "or", "not", "in") else "word", sign))
            place = plain.end()
        else:
            rest = one_line(text[place : place + 40].strip())
            raise ExpressionError(f"{rest!r} makes no sense here")
    return [*tokens, Token("end", "")]


@lru_cache(maxsize=16)  # a file with many expressions asks for the same names each time
def _length_of_longest(known: frozenset[str]) -> int:
    return min(max(map(len, known), default=0), LONGEST_NAME)


def _after(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.match(text, place)
    return found.end() if found else place


def _longest_known(text: str, place: int, known: frozenset[str], longest: int) -> str:
    """The longest known name that begins here, up to an operator that may end it; else ""."""
    # One character more than any name has: a word that goes on is another word.
    word = WORD.match(text, place, place + longest + 1)
    end = len(word[0]) if word else 0
    if word and end > longest:
        end = word[0].rfind("-", 0, end)
    while word and end > 0:
        if word[0][:end] in known:
            return word[0][:end]
        end = word[0].rfind("-", 0, end)
    return ""


def _token(kind: str, text: str) -> Token:
    if kind == "text":
        return Token("text", ESCAPE.sub(_unescaped, text[1:-1]))
    if kind == "quoted":
        return Token("name", text[1:-1])
    if kind == "sign":
        return Token("sign", SAME.get(text, text))
    return Token(kind, text.rstrip("L"))


def _unescaped(found: re.Match[str]) -> str:
    letter = found[1]
    if len(letter) > 1:
        return chr(int(letter[1:], 16))
    return ESCAPES.get(letter, letter)


class _Reader:
    """Recursive descent; each method reads one level of `BINDING`."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._place = 0
        self._depth = 0

    def expression(self) -> Expression:
        self._deepen(1)
        parts = [self._conjunction()]
        while self._skip("or"):
            parts.append(self._conjunction())
        self._depth -= 1
        return any_of(parts)

    def _deepen(self, levels: int) -> None:
        self._depth += levels
        if self._depth > DEEPEST:
            raise ExpressionError(f"it is nested more than {DEEPEST} deep")

    def expect(self, kind: str, text: str) -> Token:
        token = self._tokens[self._place]
        if token.kind != kind or (text and token.text != text):
            found = repr(one_line(token.text)) if token.text else "the end"
            wanted = repr(text) if text else {"end": "the end"}.get(kind, f"a {kind}")
            raise ExpressionError(f"{found} where {wanted} was expected")
        self._place += 1
        return token

    def _skip(self, *signs: str) -> str:
        token = self._tokens[self._place]
        if token.kind == "sign" and token.text in signs:
            self._place += 1
            return token.text
        return ""

    def _conjunction(self) -> Expression:
        parts = [self._negation()]
        while self._skip("and"):
            parts.append(self._negation())
        return all_of(parts)

    def _negation(self) -> Expression:
        count = 0
        while self._skip("not"):
            count += 1
        self._deepen(count)
        tree = self._comparison()
        self._depth -= count
        for _ in range(count):
            tree = Operation("not", (tree,))
        return tree

    def _comparison(self) -> Expression:
        left = self._sum(BINDING["+"])
        if self._skip("in"):
            return Member(left, self._values())
        if sign := self._skip(*COMPARISONS):
            return Operation(sign, (left, self._sum(BINDING["+"])))
        return left

    def _values(self) -> tuple[Constant, ...]:
        """`{a, b}`, `c(a, b)`, `(a, b)` or a single value."""
        token = self._tokens[self._place]
        if token.text == "c" and token.kind in ("word", "name"):
            self._place += 1
            self.expect("sign", "(")
            closing = ")"
        elif opening := self._skip("{", "("):
            closing = {"{": "}", "(": ")"}[opening]
        else:
            return (self._value(bare=False),)
        values = [self._value(bare=closing == "}")]
        while self._skip(","):
            values.append(self._value(bare=closing == "}"))
        self.expect("sign", closing)
        return tuple(values)

    def _value(self, bare: bool) -> Constant:
        """One of a list; within braces words need no quotes."""
        token = self._tokens[self._place]
        if bare and token.kind in ("word", "name") and token.text not in CONSTANTS:
            self._place += 1
            return Constant(token.text)
        tree = self._sum(BINDING["+"])
        if not isinstance(tree, Constant):
            raise ExpressionError("a list of values must hold constants only")
        return tree

    def _sum(self, level: int) -> Expression:
        """Left-associative operators: sums of products."""
        deeper = self._power_or_sign if level == BINDING["*"] else lambda: self._sum(level + 1)
        signs = [sign for sign, own in BINDING.items() if own == level]
        tree, length = deeper(), 1
        while sign := self._skip(*signs):
            tree, length = Operation(sign, (tree, deeper())), length + 1
            if length > MOST_TERMS:
                raise ExpressionError(f"more than {MOST_TERMS} terms are added or multiplied")
        return tree

    def _power_or_sign(self) -> Expression:
        negative = False
        while sign := self._skip("-", "+"):
            negative ^= sign == "-"
        tree = self._atom()
        if self._skip("^"):
            self._deepen(1)
            tree = Operation("^", (tree, self._power_or_sign()))
            self._depth -= 1
        if not negative:
            return tree
        if isinstance(tree, Constant) and not isinstance(tree.value, str | bool):
            return Constant(-tree.value)
        return Operation("negative", (tree,))

    def _atom(self) -> Expression:
        if self._skip("("):
            tree = self.expression()
            self.expect("sign", ")")
            return tree
        token = self._tokens[self._place]
        self._place += 1
        if token.kind == "number":
            is_whole = token.text.isdigit() and len(token.text) < 300
            number = int(token.text) if is_whole else float(token.text)
            if abs(number) == float("inf"):
                raise ExpressionError(f"{token.text[:30]} is too large a number")
            return Constant(number)
        if token.kind == "text":
            return Constant(token.text)
        if token.kind == "name":
            return Name(token.text)
        if token.kind == "word":
            return self._word(token.text)
        found = repr(token.text) if token.text else "the end"
        raise ExpressionError(f"{found} where a value was expected")

    def _word(self, word: str) -> Expression:
        if word in CONSTANTS:
            return Constant(CONSTANTS[word])
        if not self._skip("("):
            raise ExpressionError(
                f"there is no parameter {one_line(word, 100)!r} (a text must be in quotes)"
            )
        function = ALIASES.get(word, word)
        if function not in FUNCTIONS:
            raise ExpressionError(f"there is no function {one_line(word, 100)!r}")
        arguments = [self.expression()]
        while self._skip(","):
            arguments.append(self.expression())
        self.expect("sign", ")")
        least, most = FUNCTIONS[function].arguments
        if not least <= len(arguments) <= most:
            raise ExpressionError(f"{word} does not take {len(arguments)} arguments")
        return Call(function, tuple(arguments))
