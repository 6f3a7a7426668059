"""Instances of irace: all files of a folder, or the lines of a file.

irace passes a line on as it is, with a folder before it if one is given. So a line need not be a
file: it may be the seed of a generator, or carry arguments. Lines that are files become a list of
files, which are checked and given to the target whole; other lines become names.
"""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from pathlib import Path

from cunctator.base.errors import InvalidScenario
from cunctator.base.units import counted
from cunctator.formats.imported import read_lines
from cunctator.formats.irace_lines import statements


@dataclass(frozen=True, slots=True)
class IracePlaces:
    """Where the files of a scenario are."""

    folder: Path
    """Of the scenario; what it says is relative to this."""
    execution: str
    """Where the target runs."""

    def exists(self, text: str) -> bool:
        """Whether there is such a file or folder."""
        try:
            return (self.folder / text).exists()
        except (OSError, ValueError):
            return False


def plain_path(text: str) -> str:
    """A path without detours; irace knows the home folder as ~."""
    return os.path.normpath(os.path.expanduser(text))  # noqa: PTH111 - that one raises


def read_irace_instances(
    places: IracePlaces, directory: str | None, file: str | None, warnings: list[str]
) -> dict[str, object] | None:
    """The table that says the same as a folder and a list of irace; None if there is neither."""
    if file is not None:
        return _from_file(places, directory, plain_path(file), warnings)
    if directory is None:
        return None
    plain = plain_path(directory)
    if not places.exists(plain):
        warnings.append(f"there is no folder {plain} with instances")
    return {"glob": os.path.join(glob.escape(plain), "**", "*")}  # noqa: PTH118 - not a path


def _from_file(
    places: IracePlaces, directory: str | None, file: str, warnings: list[str]
) -> dict[str, object]:
    if not places.exists(file):
        warnings.append(f"there is no file {file} with instances")
        return {"file": file}
    lines = _lines(places.folder / file, warnings)
    base = places.execution if directory is None else plain_path(directory)
    paths = [os.path.normpath(str(Path(base, line))) for line in lines]
    missing = [path for path in paths if not places.exists(path)]
    has_arguments = any(len(line.split()) > 1 for line in lines)
    if has_arguments or (directory is None and missing):
        return _names(places, directory, lines, has_arguments, warnings)
    if missing:
        warnings.append(f"{len(missing):,} of {len(paths):,} instances are missing: {missing[0]}")
    is_as_ours = paths == [
        line
        for line in read_lines(places.folder / file)
        if line.strip() and not line.startswith("#")
    ]
    return {"file": file} if is_as_ours else {"list": paths}


def _lines(path: Path, warnings: list[str]) -> list[str]:
    lines = []
    for at in statements(path):
        if "\0" in at.text:
            raise at.wrong("", f"{at.text!r} holds a NUL", "remove it")
        lines.append(at.text)
    if not lines:
        raise InvalidScenario(path, None, "", "there are no instances in it", "give one a line")
    different = list(dict.fromkeys(lines))
    if len(different) < len(lines):
        count = len(lines) - len(different)
        repeated = counted(count, "line is", "lines are")
        warnings.append(f"{path.name}: {repeated} repeated; each instance is used once")
    return different


def _names(
    places: IracePlaces,
    directory: str | None,
    lines: list[str],
    has_arguments: bool,
    warnings: list[str],
) -> dict[str, object]:
    """Lines as irace passes them on; names are not made whole by us, so the folder is."""
    if has_arguments:
        example = next(line for line in lines if len(line.split()) > 1)
        warnings.append(
            f"the instance {example!r} carries arguments: irace gives them to the runner one by"
            " one, here the line is one argument"
        )
    if directory is None:
        return {"names": lines}
    whole = os.path.realpath(places.folder / plain_path(directory))
    return {"names": [f"{whole}/{line}" for line in lines]}
