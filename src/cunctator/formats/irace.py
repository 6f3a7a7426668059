"""Parameter files of irace: `name "label" type (domain) [| condition]`, a line each.

Conditions, forbidden combinations and bounds are R expressions; `irace_expressions.py` reads them.
The format has no defaults, but a space needs one. The placeholders are the first value and the
middle of a range; if these are not allowed together, a draw that is.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cunctator.base.errors import InvalidKey, InvalidScenario, one_line
from cunctator.formats.imported import ImportedSpace
from cunctator.formats.irace_expressions import RReader
from cunctator.formats.irace_lines import (
    IraceDeclaration,
    Sections,
    Statement,
    listed_values,
    read_sections,
    statements,
    two_bounds,
)
from cunctator.formats.placeholders import allowed_draw
from cunctator.formats.reachable import Reached, reachable
from cunctator.formats.shell_words import format_of, needs_shell
from cunctator.space.expressions import (
    Expression,
    ExpressionError,
    Name,
    Operation,
    all_of,
    names_in,
)
from cunctator.space.parameters import DIGITS, Kind, Parameter, Value, between, make_parameter
from cunctator.space.space import Space
from cunctator.target.template import RawFormat

Bounds = tuple[float | Expression, float | Expression]

MOST_WARNINGS = 100


def read_irace_parameters(path: Path, forbidden_file: Path | None = None) -> ImportedSpace:
    """The parameters of a file, and what it forbids; raises InvalidScenario.

    Before irace 4, forbidden combinations were in a file of their own.
    """
    sections = read_sections(path)
    if forbidden_file is not None:
        sections.forbidden.extend(statements(forbidden_file))
    declared = sections.parameters.values()
    values = {d.name: listed_values(d) for d in declared if d.is_listed}
    reader = RReader(
        values,
        [d.name for d in declared if d.kind == "integer"],
        [d.name for d in declared if d.kind == "real"],
    )
    bounds = {d.name: _bounds(d, reader) for d in declared if not d.is_listed}
    warnings = sections.warnings
    conditions = {d.name: _conditions(d, reader, bounds, sections) for d in declared}
    parameters = [
        _make_parameter(d, values.get(d.name), bounds.get(d.name), conditions[d.name])
        for d in declared
    ]
    forbidden = [
        _condition(reader, at, at.text, "forbidden", warnings) for at in sections.forbidden
    ]
    formats = {d.name: _make_format(d, values.get(d.name), warnings) for d in declared}
    reached = reachable(parameters, forbidden)
    warnings.extend(_what_is_left_out(sections, reached))
    # From here on, clauses and their places in the file belong together.
    rules = list(zip(sections.forbidden, reached.forbidden, strict=True))
    sections.forbidden[:] = [at for at, rule in rules if rule is not None]
    kept = [rule for _, rule in rules if rule is not None]
    return ImportedSpace(
        parameters=_with_defaults(path, sections, reached.parameters, kept),
        forbidden=tuple(kept),
        formats={name: one for name, one in formats.items() if name not in reached.gone},
        has_defaults=False,
        warnings=shortened(warnings),
        left_out=frozenset(reached.gone),
    )


def _what_is_left_out(sections: Sections, reached: Reached) -> Iterator[str]:
    for name, reason in reached.gone.items():
        place = sections.parameters[name].at.place
        yield f"{place}: {name} is never active and is left out: {reason}"
    for at, rule in zip(sections.forbidden, reached.forbidden, strict=True):
        if rule is None:
            yield f"{at.place}: it never applies, and is left out"


def shortened(warnings: Sequence[str]) -> tuple[str, ...]:
    """Not more of them than anybody reads."""
    shown = [one_line(warning) for warning in warnings[:MOST_WARNINGS]]
    if len(warnings) > MOST_WARNINGS:
        shown.append(f"... and {len(warnings) - MOST_WARNINGS:,} more warnings")
    return tuple(shown)


def _bounds(declaration: IraceDeclaration, reader: RReader) -> Bounds:
    low, high = two_bounds(declaration)
    return _bound(declaration, low, reader), _bound(declaration, high, reader)


def _bound(declaration: IraceDeclaration, text: str, reader: RReader) -> float | Expression:
    try:
        return reader.bound(text, declaration.kind == "integer")
    except ExpressionError as error:
        fix = 'give a number, or e.g. "2 * x" or "min(x, 10)"'
        raise declaration.wrong(f"in {_quoted(text)}: {error}", fix) from None


def _conditions(
    declaration: IraceDeclaration, reader: RReader, bounds: Mapping[str, Bounds], sections: Sections
) -> list[Expression]:
    """All that must hold for a parameter to be active.

    irace takes it for granted that what the bounds depend on is active. In our words, it equals
    itself: of an inactive parameter that is unknown.
    """
    found = []
    if declaration.condition:
        at, text = declaration.at, declaration.condition
        found.append(_condition(reader, at, text, declaration.name, sections.warnings))
    for name in _names_in_bounds(bounds.get(declaration.name, ())):
        other = sections.parameters.get(name)
        if other is not None and (other.condition or _names_in_bounds(bounds[name])):
            found.append(Operation("==", (Name(name), Name(name))))
    return found


def _names_in_bounds(bounds: Sequence[float | Expression]) -> list[str]:
    trees = [bound for bound in bounds if not isinstance(bound, int | float)]
    return list(dict.fromkeys(name for tree in trees for name in names_in(tree)))


def _condition(
    reader: RReader, at: Statement, text: str, key: str, warnings: list[str]
) -> Expression:
    notes: list[str] = []
    try:
        tree = reader.condition(text, notes)
    except ExpressionError as error:
        fix = 'write R such as a == "x" & (b > 1 | c %in% c(1, 2))'
        raise at.wrong(key, f"in {_quoted(text)}: {error}", fix) from None
    warnings.extend(f"{at.place}: {note}" for note in notes)
    return tree


def _quoted(text: str) -> str:
    """The beginning of an expression, for a message that says more than that."""
    return repr(one_line(text.strip(), 100))


def _make_parameter(
    declaration: IraceDeclaration,
    values: tuple[str, ...] | None,
    bounds: Bounds | None,
    conditions: Sequence[Expression],
) -> Parameter:
    low, high = bounds or (None, None)
    kind, is_log = declaration.kind, declaration.is_log
    try:
        return make_parameter(
            declaration.name,
            kind,
            values[0] if values else _middle(kind, is_log, bounds or ()),
            values=values,
            low=low,
            high=high,
            log=is_log,
            when=all_of(conditions) if conditions else None,
        )
    except InvalidKey as error:
        raise declaration.wrong(error.problem, error.fix) from None


def _middle(kind: Kind, is_log: bool, bounds: Sequence[float | Expression]) -> Value:
    """The middle of a range; where an end depends on others, the other end."""
    fixed = [bound for bound in bounds if isinstance(bound, int | float)]
    if len(fixed) < 2:
        return fixed[0] if fixed else 1
    low, high = fixed
    if not low < high or (is_log and low <= 0):
        return low  # that is no range, and whoever makes the parameter says so
    middle = between(low, high, 0.5, is_log)
    chosen = math.floor(middle) if kind == "integer" else float(f"{middle:.{DIGITS}g}")
    return min(max(chosen, low), high)


def _make_format(
    declaration: IraceDeclaration, values: tuple[str, ...] | None, warnings: list[str]
) -> RawFormat:
    try:
        found = format_of(declaration.label, values)
    except ValueError as error:
        raise declaration.wrong(str(error), "close the quote, or remove it") from None
    for text in (declaration.label, *(values or ())):
        if needs_shell(text):
            warnings.append(
                f"{declaration.at.place}: {text!r} holds what a shell would expand;"
                " irace uses one, here it is passed as it is"
            )
            break
    return found


def _with_defaults(
    path: Path,
    sections: Sections,
    parameters: Sequence[Parameter],
    forbidden: Sequence[Expression],
) -> tuple[Parameter, ...]:
    """The parameters, checked as a space, with defaults that are allowed together."""
    try:
        Space(parameters, forbidden=forbidden)
        return tuple(parameters)
    except InvalidKey as error:
        if error.key != ("forbidden",) and error.key[2:] != ("default",):
            raise _located(path, sections, error) from None
    found = allowed_draw(parameters, forbidden)
    if found is None:
        line = sections.forbidden[0].line if sections.forbidden else None
        problem = "no configuration that is allowed was found"
        raise InvalidScenario(path, line, "", problem, "forbid less, or correct the bounds")
    return tuple(
        dataclasses.replace(parameter, default=found.get(parameter.name, parameter.default))
        for parameter in parameters
    )


def _located(path: Path, sections: Sections, error: InvalidKey) -> InvalidScenario:
    """An error of the space, with the line that it is about."""
    table, name = str(error.key[0]), str(error.key[1])
    if table == "forbidden":
        return sections.forbidden[int(name)].wrong(table, error.problem, error.fix)
    return sections.parameters[name].wrong(error.problem, error.fix)
