"""Conditions and bounds that irace's files state in R, read into our trees without R.

Our grammar reads R's notation; what is left is what R means by it. To R the values of categorical
and ordinal parameters are texts, so "10" is less than "5", and a number that is compared with them
is written out first. Our trees compare ordinals by place, so comparisons with texts become equality
with the values that fulfil them; whatever is said of an inactive parameter stays unknown.

In one point the intention counts more than R: it writes 0.0001 as 1e-04, which never equals the
value "0.0001" that the same file gives. Such numbers are compared as numbers, with a warning.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from cunctator.formats.r_literals import NUMBER, text_in_r
from cunctator.space.expressions import (
    Call,
    Constant,
    Expression,
    ExpressionError,
    Member,
    Name,
    Operation,
    all_of,
    any_of,
    evaluator,
    names_in,
    parse_expression,
)
from cunctator.space.expressions.evaluation import COMPARE, number_of
from cunctator.space.expressions.syntax import children_of
from cunctator.space.parameters import Value

DEEPEST = 100
"""Operations within each other; a sum of many terms is one within the next."""

LONGEST_ORDER = 1_000
"""Values of a parameter that may be compared as texts."""

MOST_ORDERED = 100_000
"""The same, of all comparisons of a file."""

TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?L?(?![\w.]))
    | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<quoted>`[^`]+`)
    | (?P<word>[\w.]+)
    | (?P<arrow><<?-|->)
    | (?P<sign>%[^%\s]*%|&&|\|\||==|!=|<=|>=|[-+*/^<>=!&|(),])
    )""",
    re.VERBOSE,
)
MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
LOOSER = {"%%": {"*"}, "%in%": {"*", "+"}}
"""Operators that bind less tightly in R, but not in our grammar."""

WHOLE_CALLS = {"ceil", "floor", "trunc"}
WHOLE_IF_ALL_ARE = {"min", "max", "round", "abs", "+", "-", "*", "%", "negative"}


class RReader:
    """Reads R's expressions over the parameters of one file."""

    def __init__(
        self, listed: Mapping[str, Sequence[str]], integers: Collection[str], reals: Collection[str]
    ) -> None:
        """`listed` are the values of the categorical and ordinal ones."""
        names = (*listed, *integers, *reals)
        # A name like 10 cannot be meant where R reads a number.
        self._names = frozenset(name for name in names if not NUMBER.fullmatch(name))
        self._listed = listed
        self._integers = frozenset(integers)
        self._texts = {name: frozenset(values) for name, values in listed.items()}
        self._numbers: dict[str, dict[float, list[str]]] = {}
        self._ordered = 0

    def condition(self, text: str, notes: list[str]) -> Expression:
        """What is true or false of a configuration; raises ExpressionError."""
        tree = self._translated(self._parsed(text), notes)
        self._check_logical([tree])
        return tree

    def bound(self, text: str, is_integer: bool) -> float | Expression:
        """A number, or an expression over numbers; raises ExpressionError."""
        tree = self._parsed(text)
        for name in names_in(tree):
            if name in self._listed:
                raise ExpressionError(f"a bound cannot depend on {name}, which is no number")
        number = constant_value(tree)
        if number is not None:
            return number
        if next(names_in(tree), None) is None:
            raise ExpressionError(f"{text!r} is no number")
        # irace cuts off the decimals of such bounds, also of lower ones.
        return Call("trunc", (tree,)) if is_integer and not self._is_whole(tree) else tree

    def _parsed(self, text: str) -> Expression:
        tree = parse_expression(spaced(text), self._names)
        if _is_too_deep(tree):
            raise ExpressionError(f"it is nested more than {DEEPEST} deep")
        return tree

    def _translated(self, tree: Expression, notes: list[str]) -> Expression:
        match tree:
            case Member(Name(name), values) if name in self._listed:
                return self._member(name, values, notes)
            case Member(operand, values):
                return Member(self._translated(operand, notes), values)
            case Call(function, arguments):
                return Call(function, tuple(self._translated(a, notes) for a in arguments))
            case Operation(sign, (left, right)) if sign in COMPARE:
                one, other = self._translated(left, notes), self._translated(right, notes)
                return self._comparison(sign, one, other, notes)
            case Operation(sign, operands):
                if sign in ("and", "or", "not"):
                    self._check_logical(operands)
                return Operation(sign, tuple(self._translated(o, notes) for o in operands))
        return tree

    def _check_logical(self, parts: Iterable[Expression]) -> None:
        for part in parts:
            is_text = isinstance(part, Constant) and isinstance(part.value, str)
            if is_text or (isinstance(part, Name) and part.name in self._listed):
                raise ExpressionError("a text is neither true nor false: compare it with a value")

    def _member(self, name: str, values: Sequence[Constant], notes: list[str]) -> Expression:
        """Among no values at all, a parameter never is, active or not."""
        chosen = [text for value in values for text in self._equal(name, value.value, notes)]
        if not chosen:
            return Constant(False)
        return Member(Name(name), tuple(Constant(text) for text in dict.fromkeys(chosen)))

    def _comparison(
        self, sign: str, left: Expression, right: Expression, notes: list[str]
    ) -> Expression:
        if isinstance(right, Name) and not isinstance(left, Name):
            sign, left, right = MIRRORED[sign], right, left
        if not isinstance(left, Name):
            for side in (left, right):
                if isinstance(side, Constant) and isinstance(side.value, str):
                    problem = f"only a parameter can be compared with the text {side.value!r}"
                    raise ExpressionError(problem)
            return Operation(sign, (left, right))
        if left.name not in self._listed:
            return self._with_number(sign, left, right)
        if isinstance(right, Name):
            return self._between_names(sign, left, right)
        value = right.value if isinstance(right, Constant) else constant_value(right)
        if value is None:
            raise ExpressionError(f"{left.name} is a text to R: compare it with a value")
        if sign not in ("==", "!="):
            return self._one_of(left.name, self._in_order(left.name, sign, value, notes))
        chosen = self._equal(left.name, value, notes)
        if sign == "!=" and len(chosen) == 1:
            return Operation("!=", (left, Constant(chosen[0])))
        tree = self._one_of(left.name, chosen)
        return tree if sign == "==" else Operation("not", (tree,))

    def _with_number(self, sign: str, left: Name, right: Expression) -> Expression:
        """A comparison of a number, which may be with a number in quotes."""
        if isinstance(right, Name):
            return self._between_names(sign, left, right)
        if isinstance(right, Constant) and isinstance(right.value, str):
            if not NUMBER.fullmatch(right.value):
                raise ExpressionError(f"{left.name} is a number and never {right.value!r}")
            right = Constant(float(right.value.rstrip("L")))
        return Operation(sign, (left, right))

    def _between_names(self, sign: str, left: Name, right: Name) -> Expression:
        are_texts = left.name in self._listed or right.name in self._listed
        if are_texts and sign not in ("==", "!="):
            problem = f"{left.name} {sign} {right.name} compares texts"
            raise ExpressionError(f"{problem}: compare each with a value, or as.numeric of both")
        return Operation(sign, (left, right))

    def _equal(self, name: str, value: Value, notes: list[str]) -> list[str]:
        """The values of a parameter that equal this one."""
        wanted = text_in_r(value)
        if wanted in self._texts[name]:
            return [wanted]
        same: list[str] = []
        if isinstance(value, int | float) and not isinstance(value, bool):
            same = self._by_number(name).get(float(value), [])
        if same:
            notes.append(
                f"{name} is compared with the number {same[0]}, which R writes as {wanted!r}:"
                " irace finds them different, here they are the same"
            )
        else:
            notes.append(f"{wanted!r} is not a value of {name}")
        return same

    def _by_number(self, name: str) -> dict[float, list[str]]:
        """The values of a parameter that look like numbers."""
        if name not in self._numbers:
            found: dict[float, list[str]] = {}
            for text in self._listed[name]:
                if NUMBER.fullmatch(text):
                    found.setdefault(float(text.rstrip("L")), []).append(text)
            self._numbers[name] = found
        return self._numbers[name]

    def _in_order(self, name: str, sign: str, value: Value, notes: list[str]) -> list[str]:
        """The values of a parameter that are less, or more, than a text.

        R orders texts by the rules of a language; ours are ordered by their characters, as in
        the "C" locale, since the file does not say which language it was meant for.
        """
        values, wanted = self._listed[name], text_in_r(value)
        self._ordered += len(values)
        if len(values) > LONGEST_ORDER or self._ordered > MOST_ORDERED:
            raise ExpressionError(f"{name} has too many values to be compared by {sign}")
        compare = COMPARE[sign]
        chosen = [text for text in values if compare(text, wanted)]
        expected = chosen
        if NUMBER.fullmatch(wanted) and all(NUMBER.fullmatch(text) for text in values):
            limit = float(wanted.rstrip("L"))
            expected = [text for text in values if compare(float(text.rstrip("L")), limit)]
        elif wanted in self._texts[name]:
            place = values.index(wanted)
            expected = [text for other, text in enumerate(values) if compare(other, place)]
        if chosen != expected:
            shown = ", ".join(chosen[:10]) or "no value"
            notes.append(f"{name} {sign} {wanted} compares texts, as in irace: true for {shown}")
        return chosen

    def _one_of(self, name: str, chosen: Sequence[str]) -> Expression:
        """Whether a parameter has one of these values, unknown if it is not active."""
        parameter = Name(name)
        if chosen:
            return any_of([Operation("==", (parameter, Constant(text))) for text in chosen])
        sides = (parameter, Constant(self._listed[name][0]))
        return all_of([Operation("==", sides), Operation("!=", sides)])

    def _is_whole(self, tree: Expression) -> bool:
        """Whether it gives whole numbers only."""
        match tree:
            case Constant(value):
                return isinstance(value, int)
            case Name(name):
                return name in self._integers
            case Call(function, arguments):
                if function in WHOLE_CALLS or (function == "round" and len(arguments) == 1):
                    return True
                return function in WHOLE_IF_ALL_ARE and all(map(self._is_whole, arguments))
            case Operation(sign, operands):
                return sign in WHOLE_IF_ALL_ARE and all(map(self._is_whole, operands))
        return False


def spaced(text: str) -> str:
    """The expression with a blank between its tokens, after a check that R reads it as we do."""
    words: list[str] = []
    levels: list[set[str]] = [set()]
    place, is_after_operand = 0, False
    text = text.strip()
    while place < len(text):
        found = TOKEN.match(text, place)
        kind = found.lastgroup if found else None
        if found is None or kind is None:
            raise ExpressionError(f"{text[place : place + 40].strip()!r} makes no sense here")
        place, word = found.end(), found[kind]
        if kind == "arrow":
            raise ExpressionError(f"{word} assigns a value in R: write < - or > with a blank")
        if kind == "sign":
            _follow(word, levels, is_after_operand)
        is_after_operand = kind != "sign" or word == ")"
        words.append(word)
    return " ".join(words)


def _follow(sign: str, levels: list[set[str]], is_after_operand: bool) -> None:
    """Note a sign among those that came before it, within the same parentheses."""
    before = levels[-1]
    if sign == "(":
        levels.append(set())
    elif sign == ")":
        if len(levels) == 1:
            raise ExpressionError("')' without a '('")
        levels.pop()
    elif sign in ("+", "-"):
        if is_after_operand:
            before.discard("*")
            before.add("+")
    elif sign in ("*", "/"):
        before.add("*")
    elif sign.startswith("%"):
        if sign not in LOOSER:
            raise ExpressionError(f"there is no operator {sign}")
        if before & LOOSER[sign]:
            raise ExpressionError(f"to R, {sign} comes before + - * /: add parentheses")
    elif sign != "^":
        before.clear()


def constant_value(tree: Expression) -> float | None:
    """The number that an expression always is, if it names no parameter."""
    if next(names_in(tree), None) is not None:
        return None
    value = evaluator(tree, {})({})
    return None if isinstance(value, str | bool) else number_of(value)


def _is_too_deep(tree: Expression) -> bool:
    level, depth = [tree], 0
    while level and depth <= DEEPEST:
        level = [child for part in level for child in children_of(part)]
        depth += 1
    return bool(level)
