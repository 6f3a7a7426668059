"""A table as a space to search: parameters' values, read from the names of its configurations.

Names are what a target is given: words such as `var-decay=0.95`, `-var-decay=0.95` or
`--var-decay=0.95`. A word with a dash and without a value is a switch: `-luby` is `luby=true` and
`-no-luby` is `luby=false`, as MiniSat writes them. Only rows of the table can be run, and they need
not be a full grid: a neighbour is another row, and whatever is not a row becomes the nearest one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import numpy as np
from numpy.typing import NDArray

from cunctator.base.errors import InvalidTable, one_line
from cunctator.recorded.table import Table

VALUED = re.compile(r"-{0,2}([^\s=-][^\s=]*)=(.*)")
SWITCH = re.compile(r"--?(no-)?([A-Za-z_][^\s=]*)")
EXPECTED = "name every configuration by words such as decay=0.95, -decay=0.95, -luby or -no-luby"


@dataclass(frozen=True, eq=False)
class TableSpace:
    """Parameters of which the table has several values; all others say nothing."""

    parameters: tuple[str, ...]
    """In the order in which names mention them."""
    values: NDArray[np.int64]
    """One row a configuration, one column a parameter: places in the order of its values."""
    sizes: NDArray[np.int64]
    """How many values each parameter has; "absent" is one, if there are rows without it."""
    ordered: NDArray[np.bool_]
    """Whether all of a parameter's values are numbers, and so their order means something."""

    def neighbours(self) -> list[NDArray[np.int64]]:
        """Of each row, the others that differ from it in exactly one parameter."""
        found: list[list[NDArray[np.int64]]] = [[] for _ in self.values]
        for column in range(len(self.parameters)):
            others = np.delete(self.values, column, axis=1)
            group = np.unique(others, axis=0, return_inverse=True)[1].ravel()
            order = np.argsort(group, kind="stable")
            ends = np.flatnonzero(np.diff(group[order])) + 1
            for members in np.split(order, ends):
                for row in members if members.size > 1 else ():
                    found[row].append(members[members != row])
        nobody = np.zeros(0, dtype=np.int64)
        return [np.sort(np.concatenate([nobody, *parts])) for parts in found]

    def nearest(self, wanted: NDArray[np.int64], random: np.random.Generator) -> int:
        """The row that differs from these values in the fewest parameters; ties at random."""
        different = np.count_nonzero(self.values != wanted, axis=1)
        rows = np.flatnonzero(different == different.min())
        return int(rows[0] if rows.size == 1 else random.choice(rows))


def read_parameters(table: Table) -> TableSpace:
    """The parameters and values that the table's names tell; InvalidTable if they tell none."""
    rows = [_settings(table, row) for row in range(len(table.configurations))]
    names = list(dict.fromkeys(name for settings in rows for name in settings))
    columns = {name: _places([settings.get(name) for settings in rows]) for name in names}
    columns = {name: found for name, found in columns.items() if found[0].max() > 0}
    if len(columns) < 2:
        varying = f"only {' '.join(columns)} varies" if columns else "no parameter varies"
        fix = f"give a table in which two parameters or more do; {EXPECTED}"
        raise InvalidTable(table.source, f"the names tell too little: {varying}", fix)
    values = np.stack([places for places, _ in columns.values()], axis=1)
    _refuse_twins(table, values)
    return TableSpace(
        parameters=tuple(columns),
        values=values,
        sizes=values.max(axis=0) + 1,
        ordered=np.array([is_ordered for _, is_ordered in columns.values()]),
    )


def read_neighbours(table: Table) -> list[NDArray[np.int64]]:
    """Of each row, those that differ in one parameter; InvalidTable if no two rows do."""
    found = read_parameters(table).neighbours()
    if any(rows.size for rows in found):
        return found
    fix = "give a table over a grid of values: a local search changes one parameter at a time"
    raise InvalidTable(table.source, "no two configurations differ in exactly one parameter", fix)


def _settings(table: Table, row: int) -> dict[str, str]:
    """Values by parameter, of one row."""
    found: dict[str, str] = {}
    for word in table.configurations[row].split():
        if valued := VALUED.fullmatch(word):
            name, value = valued.groups()
        elif switch := SWITCH.fullmatch(word):
            name, value = switch[2], "false" if switch[1] else "true"
        else:
            raise _bad_name(table, row, f"{word!r} is not a parameter and its value")
        if name in found:
            raise _bad_name(table, row, f"{name!r} is given twice")
        found[name] = value
    return found


def _bad_name(table: Table, row: int, problem: str) -> InvalidTable:
    where = f"row {row + 1}, {one_line(table.configurations[row], 100)!r}"
    return InvalidTable(table.source, problem, EXPECTED, where)


def _places(texts: list[str | None]) -> tuple[NDArray[np.int64], bool]:
    """Of each text, its place among all that differ, and whether all of them are numbers.

    Numbers come by size, `0.5` and `0.50` being one; texts by their letters; what is absent last.
    """
    numbers = {text: _number(text) for text in texts if text is not None}
    are_numbers = None not in numbers.values()
    keys = {
        text: (number, "") if number is not None and are_numbers else (Decimal(0), text)
        for text, number in numbers.items()
    }
    order = {key: place for place, key in enumerate(sorted(set(keys.values())))}
    places = [len(order) if text is None else order[keys[text]] for text in texts]
    return np.array(places, dtype=np.int64), are_numbers and None not in texts


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _refuse_twins(table: Table, values: NDArray[np.int64]) -> None:
    seen: dict[bytes, int] = {}
    for row, places in enumerate(values):
        first = seen.setdefault(places.tobytes(), row)
        if first != row:
            problem = f"its parameters' values are those of row {first + 1}"
            raise _bad_name(table, row, problem)
