"""Instance lists of SMAC, ParamILS and AClib, made into the tables of ours.

A line is `name`, `seed name`, `name specifics` or `seed name specifics`, between blanks or as
cells in double quotes. We draw seeds ourselves, and wrappers are given no specifics. Names are
seen from the folder where the target runs, because wrappers are given them as they are written.
"""

from __future__ import annotations

import csv
import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path

from cunctator.base.errors import InvalidScenario
from cunctator.base.units import counted
from cunctator.formats.imported import read_lines, wrong_line
from cunctator.formats.smac_keys import Settings
from cunctator.formats.smac_places import SmacPlaces, exists

INTEGER = re.compile(r"[+-]?[0-9]+")
NO_INSTANCE = "no_instance"
"""What SMAC gives to wrappers that take no instance."""


def read_instances(
    settings: Settings, name: str, places: SmacPlaces, directory: Path
) -> dict[str, object] | None:
    """The table that says the same as a list or a folder; None if there is neither."""
    text = settings.text(name)
    if text is None:
        return None
    key = settings.entries[name][-1].key
    place = places.find_file(text, key)
    written = places.written(place, text)
    if not exists(place):
        places.warnings.append(f"{key}: there is no file {place}: put it there")
        return {"file": written}
    if place.is_dir():
        suffix = settings.text(name.replace("file", "suffix")) or ""
        pattern = os.path.join(glob.escape(written), "**", f"*{glob.escape(suffix)}")  # noqa: PTH118
        return {"glob": pattern}
    bases = list(dict.fromkeys((directory, *places.roots)))
    names = _names(place, bases, places.warnings)
    base = next((base for base in bases if exists(base / names[0])), directory)
    paths = [places.written(base / name, name) for name in names]
    missing = [path for path in paths if not exists(places.folder / path)]
    if missing:
        count = f"{len(missing):,} of {len(paths):,} instances are missing"
        where = os.path.normpath(places.folder / missing[0])
        places.warnings.append(f"{place.name}: {count}: put them in place, e.g. {where}")
    return {"file": written} if paths == _our_lines(place) else {"list": paths}


def _our_lines(place: Path) -> list[str]:
    """What our own scenarios would read from this list."""
    return [line for line in read_lines(place) if line.strip() and not line.startswith("#")]


def _names(place: Path, bases: Sequence[Path], warnings: list[str]) -> list[str]:
    """The instances of a list, each once."""
    rows = _rows(place, bases)
    if not rows:
        raise InvalidScenario(place, None, "", "there are no instances in it", "give one a line")
    has_seed = all(len(row) > 1 and INTEGER.fullmatch(row[0]) for row in rows)
    if has_seed:
        warnings.append(f"{place.name}: its seeds are not used, because Cunctator draws its own")
        rows = [row[1:] for row in rows]
    example = next((row for row in rows if len(row) > 1), None)
    if example is not None:
        rest = " ".join(example[1:])
        what = f"specifics of instances, such as {rest!r}, are not used"
        warnings.append(f"{place.name}: {what}; wrappers are given 0")
    names = list(dict.fromkeys(row[0] for row in rows))
    if len(names) < len(rows):
        lines = counted(len(rows) - len(names), "line is", "lines are")
        warnings.append(f"{place.name}: {lines} repeated; each instance is used once")
    return names


def _rows(place: Path, bases: Sequence[Path]) -> list[list[str]]:
    """The cells of each line; blanks may also be part of a file's name."""
    lines = [(number, line.strip()) for number, line in enumerate(read_lines(place), 1)]
    lines = [(number, line) for number, line in lines if line and not line.startswith("#")]
    is_table = all(line.startswith('"') for _, line in lines)
    rows = []
    for number, line in lines:
        if is_table:
            row = _cells(place, number, line)
        else:
            row = line.split()
            if len(row) > 1 and any(exists(base / line) for base in bases):
                row = [line]
        if not row or not row[0] or "\0" in line:
            raise wrong_line(place, number, line, "give the file of an instance")
        rows.append(row)
    return rows


def _cells(place: Path, number: int, line: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], strict=True))]
    except csv.Error:
        raise wrong_line(place, number, line, 'write "cell","cell"') from None
