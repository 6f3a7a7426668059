"""Which file of a folder is to be imported.

AClib has a folder for each scenario, `scenarios/TYPE/ALGORITHM_SET/scenario.txt`, and irace's users
have one with `scenario.txt` and `parameters.txt`. The scenario is wanted, and without one the
parameters; where there are several to choose from, they are named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from cunctator.base.errors import InvalidScenario
from cunctator.formats.configspace import CONFIGSPACE_ENDINGS
from cunctator.formats.importing import IRACE_SCENARIO, SMAC_SCENARIO, voted_kind

ENDINGS = (".txt", ".pcs", ".params", ".scenario", "")
"""Of files that are looked into; data and programs are not."""
LARGEST = 2**20
"""Bytes of a file that is looked into."""
MOST_FILES = 2000
USUAL = ("scenario.txt", "parameters.txt", "params.pcs")
"""Names by which one of several is told."""
DEEPEST = 3
"""Levels below a folder in which AClib keeps scenarios, seen from its root."""
SHOWN = 5


def file_in(folder: Path) -> Path:
    """The file to import from a folder; raises InvalidScenario."""
    try:
        here = sorted(path for path in folder.iterdir() if path.is_file())
        deeper = list(islice(_below(folder), MOST_FILES))
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise InvalidScenario(folder, None, "", problem, "check the path") from None
    scenarios, spaces = _looked_through(here[:MOST_FILES])
    for found in (scenarios, spaces, deeper):
        usual = [path for path in found if path.name in USUAL]
        if len(found) == 1 or (len(usual) == 1 and found is not deeper):
            return (usual or found)[0]
        if found:
            raise _several(folder, found)
    problem = "there is neither a scenario nor a parameter file in it"
    raise InvalidScenario(folder, None, "", problem, "give a file")


def _below(folder: Path) -> Iterator[Path]:
    """Files called `scenario.txt` in the folders below, near ones first."""
    for depth in range(1, DEEPEST + 1):
        yield from sorted(folder.glob("*/" * depth + "scenario.txt"))


def _looked_through(files: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """The scenarios among some files, and the parameter files."""
    scenarios, spaces = [], []
    for path in files:
        ending = path.suffix.lower()
        if path.stat().st_size > LARGEST or ending not in (*ENDINGS, *CONFIGSPACE_ENDINGS):
            continue
        kind = voted_kind(path)
        if kind in (IRACE_SCENARIO, SMAC_SCENARIO):
            scenarios.append(path)
        elif kind is not None:
            spaces.append(path)
    return scenarios, spaces


def _several(folder: Path, found: Sequence[Path]) -> InvalidScenario:
    shown = ", ".join(str(path.relative_to(folder)) for path in found[:SHOWN])
    more = f" and {len(found) - SHOWN:,} more" if len(found) > SHOWN else ""
    problem = f"there are several files to choose from: {shown}{more}"
    return InvalidScenario(folder, None, "", problem, "give one of them")
