"""One door for all files of recorded runtimes: the format is told from the name."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path

from cunctator.base.errors import InvalidTable, MissingExtra
from cunctator.data import SHIPPED
from cunctator.formats import aslib, measurements, tables
from cunctator.recorded.table import Table


def load_table(path: str | PathLike[str]) -> Table:
    """Load recorded runtimes.

    `.npz` (arrays `runtimes`, optionally `configurations`, `instances`, `cutoff`), `.csv` and
    `.csv.gz` (one row a configuration, one column an instance), `.parquet` (the same), a folder
    (an ASlib scenario), or any other name: the measurements dump of the LeapsAndBounds
    experiments, a pickle, plain or gzipped, read without executing anything in it. Where there is
    no such file or scenario, `minisat` is the table that ships with the package.
    """
    place = Path(path)
    if str(path) in SHIPPED and not (place.is_file() or (place / aslib.DESCRIPTION).exists()):
        return replace(load_table(SHIPPED[str(path)]), source=str(path))
    try:
        if place.is_dir():
            return aslib.load(place)
        if not place.exists():
            raise InvalidTable(place, "there is no such file or folder", "check the path")
        if not place.is_file():
            raise InvalidTable(place, "neither a file nor a folder", "save it as a file first")
        name = place.name.lower()
        if name.endswith(".npz"):
            return tables.load_npz(place)
        if name.endswith((".csv", ".csv.gz")):
            return tables.load_csv(place)
        if name.endswith(".parquet"):
            return tables.load_parquet(place)
        return measurements.load(place)
    except (InvalidTable, MissingExtra):
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise InvalidTable(place, f"cannot be read ({reason})", "check the file") from None
    except MemoryError:
        raise InvalidTable(place, "too large for this machine's memory", "give less") from None
    except Exception as error:
        # A broken file makes the libraries that read it raise anything at all.
        problem = f"cannot be read ({type(error).__name__}: {error})"
        raise InvalidTable(place, problem, "check the file") from error
