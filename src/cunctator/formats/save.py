"""Recorded runtimes, written so that `load_table` reads them back as they were."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np

from cunctator.base.errors import InvalidSetting, MissingExtra
from cunctator.formats.tables import MEASURE
from cunctator.recorded.table import Table

CUTOFF = b"cutoff"
"""Key of a Parquet file's own notes."""

ENDINGS = (".npz", ".csv", ".parquet")


def check_ending(path: Path) -> None:
    """Complain before the work, not after it."""
    if path.suffix.lower() not in ENDINGS:
        raise InvalidSetting(
            "--out", str(path), f"expected a name that ends in {', '.join(ENDINGS)}"
        )
    if not path.parent.is_dir():
        raise InvalidSetting("--out", str(path), "expected a file in a folder that exists")


def save_table(table: Table, path: Path) -> None:
    """Write a table; a file that exists is replaced whole. CSV has no place for the cutoff,
    and only NumPy archives have one for other measures.
    """
    beside = path.with_name(f".{os.getpid()}{path.suffix.lower()}")
    try:
        if beside.suffix == ".npz":
            _save_npz(table, beside)
        elif beside.suffix == ".csv":
            _save_csv(table, beside)
        else:
            _save_parquet(table, beside)
        beside.replace(path)
    except OSError as error:
        raise InvalidSetting("--out", str(path), f"cannot write: {error.strerror}") from None
    finally:
        beside.unlink(missing_ok=True)


def _save_npz(table: Table, path: Path) -> None:
    arrays = {
        "runtimes": table.runtimes,
        "configurations": np.array(table.configurations),
        "instances": np.array(table.instances),
    }
    if table.cutoff is not None:
        arrays["cutoff"] = np.array(table.cutoff)
    for name, values in table.measures.items():
        arrays[f"{MEASURE}{name}"] = values
    np.savez_compressed(path, allow_pickle=False, **arrays)


def _save_csv(table: Table, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["configuration", *map(_as_unicode, table.instances)])
        for name, row in zip(
            map(_as_unicode, table.configurations), table.runtimes.tolist(), strict=True
        ):
            writer.writerow([name, *map(repr, row)])


def _save_parquet(table: Table, path: Path) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra(path, "pyarrow") from None
    names = [_as_unicode(name) for name in table.configurations]
    columns = {"configuration": pyarrow.array(names)}
    for place, name in enumerate(table.instances):
        columns[_as_unicode(name)] = pyarrow.array(table.runtimes[:, place])
    data = pyarrow.table(columns)
    if table.cutoff is not None:
        data = data.replace_schema_metadata({CUTOFF: repr(table.cutoff).encode()})
    with path.open("wb") as file:  # given a path, it insists on UTF-8
        pyarrow.parquet.write_table(data, file)


def _as_unicode(name: str) -> str:
    r"""A name as these formats can hold it: a byte that is not UTF-8 becomes e.g. `\udcff`."""
    return name.encode(errors="backslashreplace").decode()
