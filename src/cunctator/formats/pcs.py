"""Parameter files of SMAC, AClib and ParamILS (PCS): what their lines mean together.

Values are texts in these files. Where a parent is a number, they are compared as numbers.
Conditions become tables of values where those can say it, else expressions. All lines for the same
child must hold. An inactive parent fulfils no condition and no forbidden combination.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from cunctator.base.errors import InvalidKey, InvalidScenario
from cunctator.formats.imported import ImportedSpace
from cunctator.formats.irace import shortened
from cunctator.formats.pcs_lines import (
    FORBIDDEN_FIX,
    ConditionLine,
    ForbiddenLine,
    ParentComparison,
    PcsDeclaration,
    PcsLine,
    number_in,
    read_statements,
)
from cunctator.formats.pcs_values import (
    ORDERED,
    Domain,
    Part,
    is_possible,
    joined,
    table_of,
    understood,
    unknown_values,
)
from cunctator.formats.reachable import Reached, reachable
from cunctator.space.expressions import (
    Call,
    Constant,
    Expression,
    ExpressionError,
    Name,
    Operation,
    all_of,
    any_of,
    evaluator,
    parse_expression,
)
from cunctator.space.expressions.evaluation import truth
from cunctator.space.expressions.reduction import NEVER
from cunctator.space.parameters import LISTED, Parameter, Value, make_parameter
from cunctator.space.space import Space

NEVER_APPLIES = "it never applies, because no parameters have these values, and is left out"
RUN = re.compile(r"[^\s(){},<>=!&|]+")
"""In an expression: a name, a value, or arithmetic without blanks."""


def read_pcs(path: Path) -> ImportedSpace:
    """The space that a PCS file describes; raises InvalidScenario."""
    return _Importer(path).space()


class _Importer:
    """Collects what one file says."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._warnings: list[str] = []
        self._domains: dict[str, Domain] = {}
        self._conditions: dict[str, list[ConditionLine]] = {}
        self._forbidden: list[tuple[PcsLine, Expression]] = []
        self._never: dict[str, tuple[PcsLine, str]] = {}
        """Children whose own conditions cannot hold: on which line, and why."""

    def space(self) -> ImportedSpace:
        """All lines together, checked."""
        forbidden: list[ForbiddenLine] = []
        for statement in read_statements(self._path, self._warnings):
            match statement:
                case PcsDeclaration():
                    self._declare(statement)
                case ConditionLine(child=child):
                    self._conditions.setdefault(child, []).append(statement)
                case ForbiddenLine():
                    forbidden.append(statement)
        for child, lines in self._conditions.items():
            self._domain(lines[0].line, child)
        parameters = tuple(self._conditional(domain) for domain in self._domains.values())
        for each in forbidden:
            expression = self._forbids(each)
            if expression is not None:
                self._forbidden.append((each.line, expression))
        reached = self._reached(parameters)
        expressions = tuple(expression for _, expression in self._forbidden)
        self._check(reached.parameters, expressions)
        return ImportedSpace(
            reached.parameters,
            expressions,
            warnings=shortened(self._warnings),
            left_out=frozenset(reached.gone),
        )

    def _reached(self, parameters: tuple[Parameter, ...]) -> Reached:
        """The space without what is never active, which is warned of."""
        reached = reachable(parameters, [expression for _, expression in self._forbidden])
        for name, reason in reached.gone.items():
            line, why = self._never.get(name, (self._conditions[name][-1].line, reason))
            self._warnings.append(line.warning(f"{why}; {name} is never active and is left out"))
        kept = []
        for (line, _), rule in zip(self._forbidden, reached.forbidden, strict=True):
            if rule is None:
                self._warnings.append(line.warning(NEVER_APPLIES))
            else:
                kept.append((line, rule))
        self._forbidden = kept
        return reached

    def _domain(self, line: PcsLine, name: str) -> Domain:
        if name not in self._domains:
            raise line.wrong(f"there is no parameter {name!r}", "declare it, or correct the name")
        return self._domains[name]

    # Declarations

    def _declare(self, said: PcsDeclaration) -> None:
        before = self._domains.get(said.name)
        if before is not None:
            problem = f"{said.name!r} is declared on line {before.line.number} already"
            raise said.line.wrong(problem, "keep one of the two")
        try:
            if said.kind in LISTED:
                made = make_parameter(said.name, said.kind, said.default, values=said.values)
                self._domains[said.name] = Domain(said.line, made)
            else:
                self._domains[said.name] = self._number(said)
        except InvalidKey as error:
            raise _at(said.line, error) from None

    def _number(self, said: PcsDeclaration) -> Domain:
        low, high, default = (number_in(text) for text in (said.low, said.high, said.default))
        assert low is not None and high is not None and default is not None
        if said.log and low <= 0:
            fix = "give a positive lower bound, or no logarithmic scale"
            raise said.line.wrong(f"a logarithmic scale cannot begin at {said.low}", fix)
        if low == high and _is_of_kind(low, said):
            return self._fixed(said, low, default)
        made = make_parameter(said.name, said.kind, default, low=low, high=high, log=said.log)
        return Domain(said.line, made)

    def _fixed(self, said: PcsDeclaration, only: float, default: float) -> Domain:
        """A number with one value; our own numbers have at least two."""
        if default != only:
            fix = f"give {said.low}, or a wider range"
            raise said.line.wrong(f"the default: {said.default} is not {said.low}", fix)
        problem = f"always {said.low}, so taken as a categorical parameter with one value"
        self._warnings.append(said.line.warning(problem))
        made = make_parameter(said.name, "categorical", said.low, values=[said.low])
        return Domain(said.line, made, fixed=only)

    # Conditions

    def _conditional(self, domain: Domain) -> Parameter:
        """The parameter with all its conditions."""
        lines = self._conditions.get(domain.name)
        if lines is None:
            return domain.parameter
        alternatives = [self._possible_clauses(said) for said in lines]
        if not all(alternatives):
            return replace(domain.parameter, when=NEVER)
        if all(len(clauses) == 1 for clauses in alternatives):
            parts = [part for clauses in alternatives for part in clauses[0]]
            if not is_possible(parts):
                problem = "it never holds together with the other conditions of this parameter"
                self._never[domain.name] = lines[-1].line, problem
                return replace(domain.parameter, when=NEVER)
            if all(part.is_plain for part in parts):
                return replace(domain.parameter, when=table_of(parts))
        when = all_of([any_of([joined(clause) for clause in one]) for one in alternatives])
        return replace(domain.parameter, when=when)

    def _possible_clauses(self, said: ConditionLine) -> list[list[Part]]:
        """One of these must hold; a clause holds if all its parts do. Without any, none can."""
        clauses = [[self._part(said.line, one) for one in clause] for clause in said.clauses]
        unknown = [
            f"{text!r} is not a value of {one.parent!r}"
            for clause in said.clauses
            for one in clause
            for text in unknown_values(one, self._domains[one.parent])
        ]
        kept = [clause for clause in clauses if is_possible(clause)]
        if not kept:
            why = f": {unknown[0]}" if unknown else ""
            self._never.setdefault(said.child, (said.line, f"it never holds{why}"))
            return []
        self._warnings.extend(said.line.warning(f"{one}; left out") for one in unknown)
        if len(kept) < len(clauses):
            self._warnings.append(said.line.warning("a part of it never holds and is left out"))
        return kept

    def _part(self, line: PcsLine, said: ParentComparison) -> Part:
        return understood(said, self._domain(line, said.parent), line)

    # Forbidden combinations

    def _forbids(self, said: ForbiddenLine) -> Expression | None:
        """None if it can never apply."""
        pairs = [pair.partition("=") for pair in said.inside.split(",")]
        settings = [(name.strip(), value.strip()) for name, _, value in pairs]
        if all(self._is_setting(name, value) for name, value in settings):
            parts = [self._part(said.line, ParentComparison(n, "==", (v,))) for n, v in settings]
            expression = joined(parts) if is_possible(parts) else None
        else:
            expression = self._possible(said.line, self._advanced(said))
        if expression is None:
            self._warnings.append(said.line.warning(NEVER_APPLIES))
        return expression

    def _is_setting(self, name: str, value: str) -> bool:
        """Whether `name=value` is no more than that: not `a==1`, `a>=1` or `a=1 && b=2`."""
        if name in self._domains and self._domains[name].member(value) is not None:
            return True
        return RUN.fullmatch(name) is not None and RUN.fullmatch(value) is not None

    def _advanced(self, said: ForbiddenLine) -> Expression:
        """An expression over parameters; the words in it are values if they are no names."""

        def marked(found: re.Match[str]) -> str:
            if found[0] in self._names:
                return f"`{found[0]}`"
            is_value = found[0] in self._words
            return json.dumps(found[0], ensure_ascii=False) if is_value else found[0]

        try:
            tree = parse_expression(RUN.sub(marked, said.inside), self._names)
        except ExpressionError as error:
            raise said.line.wrong(str(error), f"correct it, or {FORBIDDEN_FIX}") from None
        return self._with_numbers(said.line, tree)

    @cached_property
    def _names(self) -> frozenset[str]:
        """Of parameters; a number is a number, also if a parameter is called so."""
        return frozenset(name for name in self._domains if number_in(name) is None)

    @cached_property
    def _words(self) -> frozenset[Value]:
        """Values of parameters that are not all numbers."""
        domains = (d for d in self._domains.values() if d.is_listed and d.numbers is None)
        return frozenset(value for domain in domains for value in domain.parameter.values)

    def _with_numbers(self, line: PcsLine, tree: Expression) -> Expression:
        """Listed values count as numbers in expressions, if all of them are numbers."""
        match tree:
            case Name(name):
                is_number = self._domain(line, name).numbers is not None
                return Call("number", (tree,)) if is_number else tree
            case Operation(sign, operands):
                parts = tuple(self._with_numbers(line, part) for part in operands)
                for part in parts if sign in ORDERED else ():
                    if isinstance(part, Name) and not self._domains[part.name].is_ordered:
                        problem = f"{part.name!r} is categorical: its values have no order"
                        raise line.wrong(problem, "compare with == or !=")
                return Operation(sign, parts)
            case Call(function, arguments):
                return Call(function, tuple(self._with_numbers(line, a) for a in arguments))
        return tree

    def _possible(self, line: PcsLine, tree: Expression) -> Expression | None:
        """What is left of alternatives without those that never hold; None if nothing is."""
        match tree:
            case Operation("and" | "or" as word, operands):
                parts = [self._possible(line, operand) for operand in operands]
                kept = [part for part in parts if part is not None]
                if not kept or (word == "and" and len(kept) < len(parts)):
                    return None
                return all_of(kept) if word == "and" else any_of(kept)
            case Operation("==", (side, Constant(value)) | (Constant(value), side)):
                match side:
                    case Name(name) | Call("number", (Name(name),)):
                        return tree if self._domains[name].can_equal(value) else None
        return tree

    # The whole

    def _check(self, parameters: tuple[Parameter, ...], forbidden: tuple[Expression, ...]) -> None:
        """Find what is wrong with all of it together, and on which line."""
        if not parameters:
            fix = "give a PCS file"
            raise InvalidScenario(self._path, None, "", "it declares no parameters", fix)
        try:
            Space(parameters, forbidden=forbidden)
        except InvalidKey as error:
            raise _at(self._line_of(error.key, parameters), error) from None

    def _line_of(self, key: tuple[str | int, ...], parameters: tuple[Parameter, ...]) -> PcsLine:
        match key:
            case ("parameters", str(name), "when", *parents):
                lines = self._conditions[name]
                about = [said.line for said in lines if _parents(said) & set(parents)]
                return (about or [lines[-1].line])[-1]
            case ("parameters", str(name), *_):
                return self._domains[name].line
            case ("forbidden", str(place)):
                return self._forbidden[int(place)][0]
        # The default is forbidden.
        default = Space(parameters).default
        by_name = {parameter.name: parameter for parameter in parameters}
        rules = ((line, evaluator(one, by_name)) for line, one in self._forbidden)
        return next(line for line, rule in rules if truth(rule(default)))


def _is_of_kind(number: float, said: PcsDeclaration) -> bool:
    """Whether a parameter may have this number at all."""
    return abs(number) < math.inf and (said.kind == "real" or number == int(number))


def _parents(said: ConditionLine) -> set[str]:
    return {one.parent for clause in said.clauses for one in clause}


def _at(line: PcsLine, error: InvalidKey) -> InvalidScenario:
    """The error of a parameter, on the line that it comes from."""
    about = "the default: " if error.key[-1] == "default" else ""
    return line.wrong(about + error.problem, error.fix)
