"""Rows: arrays of records, which are stated once, as a class with annotations.

What the core knows of a configuration, a pool, a flight are some numbers with names. As one array
for each name, the state would be seventy-five arrays, and Numba's compiler takes time for each of
them in each kernel. So there is one array of records for each kind of thing, and single numbers
are records too. In kernels and in Python alike

    tester = state.testers[index]
    tester.started += 1

changes the array itself, and `state.testers["started"]` is a column, in Python only. (Numbers read
from a record in Python are NumPy's; the standard library's `ldexp` wants an `int`.)
"""

from __future__ import annotations

from typing import Annotated, Any, Protocol, TypeVar, get_args, get_origin, get_type_hints, overload

import numpy as np
from numpy.typing import NDArray

Row = TypeVar("Row")

Short = Annotated[int, np.int16]
Medium = Annotated[int, np.int32]

PLAIN: dict[Any, type[np.generic]] = {int: np.int64, float: np.float64, bool: np.bool_}


class Rows(Protocol[Row]):
    """An array of records; the type that a checker sees."""

    @property
    def size(self) -> int:
        """How many rows there are."""

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: str) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, place: slice) -> Rows[Row]: ...
    def __setitem__(self, place: slice | str, value: Any) -> None:
        """Change some rows, or a column."""

    def copy(self) -> Rows[Row]:
        """The same rows in an array of their own."""


def layout(row: type[Row]) -> np.dtype[Any]:
    """The records that a class describes.

    `int`, `float` and `bool` are themselves; `Annotated[NDArray[...], shape]` is an array inside
    the record, `Annotated[int, np.int32]` a smaller number.
    """
    fields: list[tuple[Any, ...]] = []
    for name, hint in get_type_hints(row, include_extras=True).items():
        # np.record finds its own attributes first.
        assert not hasattr(np.void, name), f"{row.__name__}.{name}: no name for a field"
        if get_origin(hint) is not Annotated:
            fields.append((name, PLAIN[hint]))
            continue
        plain, extra = get_args(hint)
        if plain is int:
            fields.append((name, extra))
        else:
            fields.append((name, scalar_of(plain), extra))
    return np.dtype((np.record, np.dtype(fields, align=True)))


def scalar_of(hint: Any) -> Any:
    """The innermost of `NDArray[scalar]`, which is an `ndarray[shape, dtype[scalar]]` or, from
    NumPy 2.5 on, a name of its own.
    """
    while arguments := get_args(hint):
        hint = arguments[-1]
    return hint


def new_rows(row: type[Row], size: int) -> Rows[Row]:
    """So many rows, all zero."""
    rows: Any = np.zeros(size, dtype=layout(row))
    return rows  # type: ignore[no-any-return]


def new_record(row: type[Row]) -> Row:
    """One record by itself, all zero."""
    return new_rows(row, 1)[0]


def continued(fresh: Any, before: Any) -> Any:
    """Make the first rows of an array those of another one, which is as long at most."""
    fresh[: before.shape[0]] = before
    return fresh


def longer(array: Any, extra: int = 0) -> Any:
    """A copy with half as many rows again, and `extra` more, which are zero."""
    rows = array.shape[0] + array.shape[0] // 2 + extra + 1
    return continued(np.zeros((rows, *array.shape[1:]), dtype=array.dtype), array)
