"""Recorded runtimes in general formats: NumPy archives, CSV, Parquet."""

from __future__ import annotations

import csv
import gzip
import math
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import numpy as np

from cunctator.base.errors import InvalidTable, MissingExtra
from cunctator.recorded.table import LONGEST, Table, make_table

NAME_LABELS = {"", "configuration", "config", "id", "name", "algorithm", "solver"}
"""Headings that mark the first column as names."""

MEASURE = "measure_"
"""What the names of such arrays begin with."""

MAKE_AGAIN = "write the file again"
NOT_EMPTY = "give at least one configuration and one instance"


def load_npz(path: Path) -> Table:
    """A NumPy archive with `runtimes`, optionally `configurations`, `instances`, `cutoff`.

    Arrays whose names begin with `measure_` are other numbers of the same runs.
    """
    try:
        with path.open("rb") as file:
            archive = np.load(file, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise ValueError("one array, not an archive")
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, zipfile.BadZipFile, zlib.error, EOFError, KeyError) as error:
        problem = f"not a complete NumPy archive of plain arrays ({error})"
        raise InvalidTable(path, problem, "write it with numpy.savez") from None
    if "runtimes" not in arrays:
        found = ", ".join(sorted(arrays)) or "nothing"
        raise InvalidTable(path, f"no array 'runtimes' (found: {found})", "name the array so")
    cutoff = arrays.get("cutoff")
    if cutoff is not None and (cutoff.size != 1 or not np.issubdtype(cutoff.dtype, np.number)):
        raise InvalidTable(path, "'cutoff' is not one number", "give seconds, or leave it out")
    return make_table(
        arrays["runtimes"],
        arrays.get("configurations"),
        arrays.get("instances"),
        None if cutoff is None else float(cutoff.reshape(())),
        str(path),
        {name.removeprefix(MEASURE): arrays[name] for name in arrays if name.startswith(MEASURE)},
    )


def load_csv(path: Path) -> Table:
    """One row a configuration, one column an instance; headings and a column of names optional."""
    try:
        with _open_text(path) as lines:
            rows = list(_rows(path, lines))
    except (UnicodeDecodeError, csv.Error, EOFError, zlib.error) as error:
        raise InvalidTable(path, f"not readable as CSV ({error})", MAKE_AGAIN) from None
    except gzip.BadGzipFile as error:
        raise InvalidTable(path, f"not a gzip file ({error})", MAKE_AGAIN) from None
    instances: list[str] | None = None
    label_column = False
    if rows and _is_heading(rows[0][1]):
        instances = rows.pop(0)[1]
        label_column = instances[0].strip().lower() in NAME_LABELS
    if not rows:
        raise InvalidTable(path, "the table is empty", NOT_EMPTY)
    if len(rows[0][1]) == 1 and any(mark in rows[0][1][0] for mark in ";\t"):
        raise InvalidTable(path, "one cell a line", "separate the cells by commas", "line 1")
    label_column = label_column or any(not _is_number(cells[0]) for _, cells in rows)
    first = 1 if label_column else 0
    names = [cells[0].strip() for _, cells in rows] if label_column else None
    numbers = [_numbers(path, line, cells, first) for line, cells in rows]
    return make_table(numbers, names, instances and instances[first:], None, str(path))


def load_parquet(path: Path) -> Table:
    """One row a configuration, one column an instance; a text column holds the names."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra(path, "pyarrow") from None
    try:
        data = pyarrow.parquet.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        problem = f"not a complete Parquet file ({str(error).splitlines()[0]})"
        raise InvalidTable(path, problem, MAKE_AGAIN) from None
    names: list[str] | None = None
    columns, titles = [], []
    for field, column in zip(data.schema, data.columns, strict=True):
        if pyarrow.types.is_integer(field.type) or pyarrow.types.is_floating(field.type):
            columns.append(column.to_numpy().astype(np.float64))
            titles.append(field.name)
        elif names is None and pyarrow.types.is_string(field.type):
            names = column.to_pylist()
        else:
            fix = "give one text column with names and numbers otherwise"
            raise InvalidTable(path, f"column {field.name!r} is {field.type}", fix)
    if not columns:
        raise InvalidTable(path, "the table is empty", NOT_EMPTY)
    noted = (data.schema.metadata or {}).get(b"cutoff")
    cutoff = None
    if noted is not None:
        try:
            cutoff = float(noted)
        except ValueError:
            problem, fix = "its note 'cutoff' is no number", "give seconds, or leave it out"
            raise InvalidTable(path, problem, fix) from None
    return make_table(np.column_stack(columns), names, titles, cutoff, str(path))


def _open_text(path: Path) -> TextIO:
    if path.name.lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _rows(path: Path, lines: TextIO) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of each line that is not blank; all must be as wide as the first."""
    reader = csv.reader(lines)
    width = 0
    for cells in reader:
        if not any(cell.strip() for cell in cells):
            continue
        width = width or len(cells)
        if len(cells) != width:
            problem = f"{len(cells)} cells where the first line has {width}"
            fix = "give every configuration a runtime for every instance"
            raise InvalidTable(path, problem, fix, f"line {reader.line_num}")
        yield reader.line_num, cells


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _is_runtime(cell: str) -> bool:
    return _is_number(cell) and 0 <= float(cell) <= LONGEST


def _is_heading(cells: list[str]) -> bool:
    """Whether the first line names the instances: no cell, but for the first, is a number.

    Where some are and some are not, it is taken as data, so that a typing error is not taken for a
    heading; a heading like that must begin with one of NAME_LABELS.
    """
    known_label = cells[0].strip().lower() in NAME_LABELS
    return known_label or not any(_is_number(cell) for cell in cells[1:] or cells)


def _numbers(path: Path, line: int, cells: list[str], first: int) -> list[float]:
    try:
        numbers = [float(cell) for cell in cells[first:]]
        if min(numbers) >= 0 and max(numbers) <= LONGEST and not math.isnan(sum(numbers)):
            return numbers
    except ValueError:
        pass
    column = next(k for k in range(first, len(cells)) if not _is_runtime(cells[k]))
    problem = f"{cells[column][:40]!r} is not a runtime" if cells[column].strip() else "empty cell"
    fix = "give seconds, 0 or more; write runs that were not solved as the cutoff"
    raise InvalidTable(path, problem, fix, f"line {line}, column {column + 1}")
