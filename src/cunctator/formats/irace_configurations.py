"""Tables of configurations that irace is to begin with.

They are what R reads as a table with a heading: cells between blanks, in quotes or not, NA where a
parameter is not active. A value for what is not active is left out: irace refuses it, but its own
examples have some.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cunctator.base.errors import CunctatorError, InvalidKey, InvalidScenario
from cunctator.formats.imported import ImportedSpace, read_lines, wrong_line
from cunctator.formats.r_literals import NUMBER
from cunctator.space.parameters import LISTED, Parameter, Value
from cunctator.space.space import Space

CELL = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s"'#]+))(?=[\s#]|\Z)""")
END = re.compile(r"\s*(?:#.*)?")
ESCAPE = re.compile(r"\\(.)")
MISSING = ("NA", "<NA>")


@dataclass(frozen=True, slots=True)
class Cell:
    """A piece of a table."""

    text: str
    is_quoted: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table."""

    line: int
    values: Mapping[str, Value]


def read_irace_configurations(path: Path, space: ImportedSpace) -> list[dict[str, Value]]:
    """The configurations of a file, in its order, checked; raises InvalidScenario."""
    return configurations_with_warnings(path, space)[0]


def configurations_with_warnings(
    path: Path, space: ImportedSpace
) -> tuple[list[dict[str, Value]], list[str]]:
    """The same, and what was left out."""
    by_name = {parameter.name: parameter for parameter in space.parameters}
    table = [
        (number, cells)
        for number, line in enumerate(read_lines(path), 1)
        if (cells := _cells(path, number, line))
    ]
    if len(table) < 2:
        fix = "give the parameters' names on the first line, then a configuration on each"
        raise InvalidScenario(path, None, "", "there are no configurations in it", fix)
    names = _heading(path, *table[0], by_name, space.left_out)
    rows = [_row(path, number, names, cells, by_name) for number, cells in table[1:]]
    warnings: list[str] = []
    return _checked(path, rows, space, warnings), warnings


def _cells(path: Path, number: int, line: str) -> list[Cell]:
    cells: list[Cell] = []
    place = 0
    while not END.fullmatch(line, place):
        found = CELL.match(line, place)
        if found is None or "\0" in found[0]:
            expected = "write cells between blanks, those with blanks in quotes"
            raise wrong_line(path, number, line[place:], expected)
        quoted = found[1] if found[1] is not None else found[2]
        text = found[3] if quoted is None else ESCAPE.sub(r"\1", quoted)
        cells.append(Cell(text, quoted is not None))
        place = found.end()
    return cells


def _heading(
    path: Path,
    number: int,
    cells: list[Cell],
    by_name: Mapping[str, Parameter],
    left_out: frozenset[str],
) -> list[str]:
    names = [cell.text for cell in cells]
    if len(set(names)) < len(names):
        raise InvalidScenario(path, number, "", "a name is there twice", "keep one of the two")
    for name in names:
        if name not in by_name and name not in left_out:
            problem, fix = "there is no such parameter", "name those of the parameter file"
            raise InvalidScenario(path, number, name, problem, fix)
    given = set(names)
    for parameter in by_name.values():
        if parameter.name not in given and len(parameter.values) != 1:
            problem, fix = "there is no column for it", "add one, with NA where it is not active"
            raise InvalidScenario(path, number, parameter.name, problem, fix)
    return names


def _row(
    path: Path, number: int, names: list[str], cells: list[Cell], by_name: Mapping[str, Parameter]
) -> Row:
    """One more cell than there are names is, as to R, the name of the row."""
    if len(cells) == len(names) + 1:
        cells = cells[1:]
    if len(cells) != len(names):
        problem = f"{len(cells)} cells where the first line has {len(names)}"
        raise InvalidScenario(path, number, "", problem, "give each parameter a value or NA")
    values: dict[str, Value] = {}
    for name, cell in zip(names, cells, strict=True):
        parameter = by_name.get(name)
        if parameter is None:  # it is never active
            continue
        is_value = cell.is_quoted and cell.text in parameter.values
        if cell.text in MISSING and not is_value:
            continue
        values[name] = _value(path, number, parameter, cell.text)
    return Row(number, values)


def _value(path: Path, number: int, parameter: Parameter, text: str) -> Value:
    if parameter.kind in LISTED:
        return text
    if not NUMBER.fullmatch(text):
        problem = f"{text!r} is not a number"
        raise InvalidScenario(path, number, parameter.name, problem, "give a number or NA")
    value = float(text.rstrip("L"))
    return int(value) if parameter.kind == "integer" and value.is_integer() else value


def _checked(
    path: Path, rows: list[Row], space: ImportedSpace, warnings: list[str]
) -> list[dict[str, Value]]:
    """The rows as the space takes them: it leaves out what is not active."""
    try:
        checked = Space(
            space.parameters, forbidden=space.forbidden, initial=[row.values for row in rows]
        )
    except InvalidKey as error:
        name = str(error.key[2]) if len(error.key) > 2 else ""
        line = rows[int(error.key[1])].line
        raise InvalidScenario(path, line, name, error.problem, error.fix) from None
    number = 1
    found = []
    for row in rows:
        # The space numbers them in this order, but for repeated ones and the default.
        taken = _configuration(checked, number)
        if taken is not None and _agree(taken, row, space):
            number += 1
        else:
            taken = _alone(row, space)
        found.append(taken)
        left_out = [name for name in row.values if name not in taken]
        if left_out:
            what = f"{', '.join(left_out)}: not active there, so not used"
            warnings.append(f"{path.name}, line {row.line}: {what}")
    return found


def _configuration(space: Space, number: int) -> dict[str, Value] | None:
    """None if the space has no such configuration."""
    try:
        return space.configuration(number)
    except CunctatorError:
        return None


def _agree(configuration: Mapping[str, Value], row: Row, space: ImportedSpace) -> bool:
    """Whether a configuration is that of a row, which may leave out fixed parameters."""
    fixed = {p.name for p in space.parameters if len(p.values) == 1}
    return all(
        row.values[name] == value if name in row.values else name in fixed
        for name, value in configuration.items()
    )


def _alone(row: Row, space: ImportedSpace) -> dict[str, Value]:
    """The configuration of a row, as the default of a space of its own."""
    parameters = [
        dataclasses.replace(p, default=row.values.get(p.name, p.default)) for p in space.parameters
    ]
    return Space(parameters, forbidden=space.forbidden).default
