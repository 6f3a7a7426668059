"""ASlib scenarios: recorded runtimes of whole solvers, each one a configuration.

A scenario is a folder with `description.txt` (YAML) and `algorithm_runs.arff`. Repetitions are
separate (instance, seed) pairs; every run that did not end "ok" counts as cut off.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from cunctator.base.errors import InvalidTable
from cunctator.formats.plain_yaml import read_yaml
from cunctator.recorded.table import Table, make_table

NEEDED = ("instance_id", "repetition", "algorithm", "runstatus")

DESCRIPTION = "description.txt"
"""The file that tells a scenario from other folders."""


def load(folder: Path) -> Table:
    """The table of an ASlib scenario folder."""
    description = folder / DESCRIPTION
    runs = folder / "algorithm_runs.arff"
    for needed in (description, runs):
        if not needed.is_file():
            problem = f"no {needed.name}, so this is not an ASlib scenario"
            fix = "give a scenario folder, or a .npz, .csv or .parquet file"
            raise InvalidTable(folder, problem, fix)
    measure, cutoff = _read_description(description)
    runtimes: dict[tuple[str, str], dict[str, float]] = {}
    algorithms: dict[str, int] = {}
    for line, row in _read_arff(runs, (*NEEDED, measure)):
        pair = (row["instance_id"], row["repetition"])
        algorithm = row["algorithm"]
        algorithms.setdefault(algorithm, len(algorithms))
        results = runtimes.setdefault(pair, {})
        if algorithm in results:
            problem = f"a second run of {algorithm!r} on {pair[0]!r}, repetition {pair[1]}"
            raise InvalidTable(runs, problem, "remove one of them", f"line {line}")
        results[algorithm] = _runtime(runs, line, row, measure, cutoff)
    return _assemble(folder, runs, runtimes, list(algorithms), cutoff)


def _assemble(
    folder: Path,
    runs: Path,
    runtimes: dict[tuple[str, str], dict[str, float]],
    algorithms: list[str],
    cutoff: float,
) -> Table:
    table = np.empty((len(algorithms), len(runtimes)))
    for column, (pair, results) in enumerate(runtimes.items()):
        for row, algorithm in enumerate(algorithms):
            if algorithm not in results:
                problem = f"no run of {algorithm!r} on {pair[0]!r}, repetition {pair[1]}"
                raise InvalidTable(runs, problem, "add it, or remove the others on that instance")
            table[row, column] = results[algorithm]
    repeated = len({instance for instance, _ in runtimes}) < len(runtimes)
    names = [f"{name}#{repetition}" if repeated else name for name, repetition in runtimes]
    return make_table(table, algorithms, names, cutoff, str(folder))


def _read_description(path: Path) -> tuple[str, float]:
    """The name of the runtime column and the cutoff."""
    try:
        data = read_yaml(path.read_text(encoding="utf-8"))
    except ValueError as error:
        problem = f"not valid YAML ({' '.join(str(error).split())})"
        raise InvalidTable(path, problem, "correct the file") from None
    if not isinstance(data, dict):
        raise InvalidTable(path, "no keys in it", "give a complete ASlib description")
    kind = _first(data.get("performance_type"))
    if kind != "runtime":
        problem = f"performance_type is {kind!r}"
        raise InvalidTable(path, problem, "give a scenario that measures runtime")
    measure = _first(data.get("performance_measures"))
    if not isinstance(measure, str):
        raise InvalidTable(path, "performance_measures names no column", "name one")
    try:
        cutoff = float(data.get("algorithm_cutoff_time"))  # type: ignore[arg-type]
    except OverflowError:
        problem = "algorithm_cutoff_time is more than any number of seconds"
        raise InvalidTable(path, problem, "give the cutoff in seconds") from None
    except (TypeError, ValueError):
        problem = f"algorithm_cutoff_time is {data.get('algorithm_cutoff_time')!r}"
        raise InvalidTable(path, problem, "give the cutoff in seconds") from None
    return measure, cutoff


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else value


def _runtime(path: Path, line: int, row: dict[str, str], measure: str, cutoff: float) -> float:
    if row["runstatus"].lower() != "ok":
        return cutoff
    try:
        return min(float(row[measure]), cutoff)
    except ValueError:
        problem = f"{measure} is {row[measure]!r} in a run that ended ok"
        raise InvalidTable(path, problem, "give seconds", f"line {line}") from None


def _read_arff(path: Path, needed: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and needed values of each data row of an ARFF file."""
    names: list[str] = []
    in_data = False
    places: dict[str, int] = {}
    try:
        with path.open(encoding="utf-8") as lines:
            for line, raw in enumerate(lines, 1):
                text = raw.strip()
                if not text or text.startswith("%"):
                    continue
                if in_data:
                    cells = _cells(text)
                    if len(cells) != len(names):
                        problem = f"{len(cells)} values for {len(names)} attributes"
                        raise InvalidTable(path, problem, "correct the line", f"line {line}")
                    yield line, {name: cells[place] for name, place in places.items()}
                elif text.lower().startswith("@attribute"):
                    names.append(_cells(text.split(None, 1)[1], " \t")[0].lower())
                elif text.lower().startswith("@data"):
                    in_data = True
                    places = _places(path, names, needed)
    except UnicodeDecodeError as error:
        raise InvalidTable(path, f"not UTF-8 ({error})", "convert the file") from None
    if not in_data:
        raise InvalidTable(path, "no @DATA section", "give a complete ARFF file")


def _places(path: Path, names: list[str], needed: tuple[str, ...]) -> dict[str, int]:
    for name in needed:
        if name.lower() not in names:
            problem = f"no attribute {name!r} (found: {', '.join(names) or 'none'})"
            raise InvalidTable(path, problem, "give a complete ASlib scenario")
    return {name: names.index(name.lower()) for name in needed}


def _cells(text: str, separators: str = ",") -> list[str]:
    """The values of one ARFF line; single or double quotes keep separators inside a value."""
    quote = '"' if '"' in text else "'"
    for separator in separators[1:]:
        text = text.replace(separator, separators[0])
    reader = csv.reader(
        [text], delimiter=separators[0], quotechar=quote, escapechar="\\", skipinitialspace=True
    )
    return [cell.strip() for cell in next(reader)]
