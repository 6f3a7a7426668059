"""Other tools' files: what kind they are, what they say, and where the paths in them lead.

Names of files say little: parameters and scenarios are all called .txt. So the lines are looked
at, and the kind that most of them belong to is taken.
"""

from __future__ import annotations

import dataclasses
import glob
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cunctator.base.errors import InvalidKey, InvalidScenario, one_line
from cunctator.base.units import counted
from cunctator.formats import irace_options, smac_keys
from cunctator.formats.configspace import CONFIGSPACE_ENDINGS, read_configspace
from cunctator.formats.imported import ImportedScenario, ImportedSpace, read_lines
from cunctator.formats.irace import read_irace_parameters
from cunctator.formats.irace_lines import HEAD
from cunctator.formats.irace_scenario import read_irace_scenario
from cunctator.formats.pcs import read_pcs
from cunctator.formats.scenario_text import scenario_text, space_text
from cunctator.formats.smac_places import exists
from cunctator.formats.smac_scenario import read_smac_scenario
from cunctator.space.parameters import text_of
from cunctator.space.space import LARGEST_COUNTED, Space
from cunctator.target.command import RUN_PLACEHOLDERS

Imported = ImportedSpace | ImportedScenario

ASSIGNMENT = re.compile(r"\s*([A-Za-z.][\w.]*)\s*(?:<-|=)")
PCS_LINE = re.compile(r"[\[{][^\[\]{}]*[\]}]\s*\[[^\[\]]*\]\s*[a-z]*\s*(?:#|$)")
"""A domain and a default, at the end of a line."""
LONGEST_DEFAULT = 2000
"""Characters of it that a summary shows."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file may be."""

    name: str
    read: Callable[[Path], Imported]


CONFIGSPACE = Kind("a space of ConfigSpace", read_configspace)
IRACE_PARAMETERS = Kind("a parameter file of irace", read_irace_parameters)
IRACE_SCENARIO = Kind("a scenario of irace", read_irace_scenario)
SMAC_SCENARIO = Kind("a scenario of SMAC, ParamILS or AClib", read_smac_scenario)
PCS = Kind("a parameter file in PCS", read_pcs)
KINDS = (IRACE_PARAMETERS, IRACE_SCENARIO, SMAC_SCENARIO, PCS)
"""Those that are told apart by their lines; the first of these if as many lines speak for two."""


def kind_of(path: Path) -> Kind:
    """What a file is, by its name and its lines; PCS if nothing speaks for anything."""
    if path.suffix.lower() in CONFIGSPACE_ENDINGS:
        return CONFIGSPACE
    return voted_kind(path) or PCS


def voted_kind(path: Path) -> Kind | None:
    """The same of a file that may be anything; None if nothing speaks for anything."""
    lines = read_lines(path)
    if path.suffix.lower() in CONFIGSPACE_ENDINGS:
        return CONFIGSPACE if any("hyperparameters" in line for line in lines) else None
    votes = Counter(kind.name for line in lines for kind in _kinds_of(line))
    best = max(KINDS, key=lambda kind: votes[kind.name])
    return best if votes[best.name] else None


def import_file(path: Path) -> Imported:
    """What another tool's file says; raises InvalidScenario, which tells what it was taken for."""
    kind = kind_of(path)
    try:
        return kind.read(path)
    except InvalidScenario as error:
        fix = f"{error.fix} ({path.name} was taken for {kind.name})"
        raise InvalidScenario(error.path, error.line, error.key, error.problem, fix) from None


def text_of_import(imported: Imported, path: Path, kind: Kind) -> str:
    """What was read from a file, as a scenario of ours; raises InvalidScenario."""
    source = f"{path.name}, {kind.name}"
    try:
        if isinstance(imported, ImportedScenario):
            return scenario_text(imported, source)
        return space_text(imported, source)
    except InvalidKey as error:
        key = ".".join(str(part) for part in error.key)
        raise InvalidScenario(path, None, key, error.problem, error.fix) from None


def _kinds_of(line: str) -> Iterator[Kind]:
    """The kinds that a line speaks for; what two tools have in common speaks for neither."""
    if line.lstrip().startswith("#"):
        return
    if HEAD.match(line.strip()):
        yield IRACE_PARAMETERS
        return
    if PCS_LINE.search(line):
        yield PCS
        return
    found = ASSIGNMENT.match(line)
    if found and found[1] in irace_options.USED | irace_options.NOT_USED:
        yield IRACE_SCENARIO
    key = smac_keys.key_in(line)
    if key in smac_keys.USED or key in smac_keys.NOT_USED:
        yield SMAC_SCENARIO


# Paths


def moved(imported: ImportedScenario, source: Path, destination: Path) -> ImportedScenario:
    """A scenario whose paths, seen from the folder `source` so far, are seen from `destination`."""
    start, end = source.resolve(), destination.resolve()
    if start == end:
        return imported
    warnings = list(imported.warnings)
    target = dict(imported.target)
    target["directory"] = _seen(target.get("directory", "."), start, end)
    tests = imported.test_instances
    return dataclasses.replace(
        imported,
        target=target,
        instances=_moved_instances(imported.instances, start, end, warnings),
        test_instances=None if tests is None else _moved_instances(tests, start, end, warnings),
        warnings=tuple(warnings),
    )


def _moved_instances(
    table: Mapping[str, Any], start: Path, end: Path, warnings: list[str]
) -> dict[str, Any]:
    """Lines of a file are paths as well, so it becomes a list."""
    match table:
        case {"glob": pattern}:
            # Only the pattern is one: the folders before it are what they are.
            before = glob.escape(os.path.relpath(start, end))
            return {"glob": os.path.normpath(Path(before, pattern))}
        case {"list": paths}:
            return {"list": [_seen(path, start, end) for path in paths]}
        case {"file": file} if not exists(start / file):
            warnings.append(f"{file}: paths in it will be seen from {end}")
            return {"file": _seen(file, start, end)}
        case {"file": file}:
            lines = read_lines(start / file)
            paths = [line for line in lines if line.strip() and not line.startswith("#")]
            return {"list": [_seen(path, start, end) for path in paths]}
    return dict(table)


def _seen(path: str, start: Path, end: Path) -> str:
    """A path as it is seen from another folder; whole ones stay so."""
    if os.path.isabs(path):  # noqa: PTH117 - a text, not a place
        return path
    return os.path.relpath(start / path, end)


# Summary


def summary(imported: Imported, kind: Kind) -> list[str]:
    """What was understood and what was not, in lines for people."""
    space = imported.space if isinstance(imported, ImportedScenario) else imported
    made = Space(space.parameters, forbidden=space.forbidden)
    kinds = Counter(parameter.kind for parameter in space.parameters)
    conditions = sum(bool(parameter.when) for parameter in space.parameters)
    types = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
    default = " ".join(f"{name}={text_of(value)}" for name, value in made.default.items())
    lines = [
        f"taken for {kind.name}",
        f"{counted(len(space.parameters), 'parameter')}: {types}",
        f"{counted(conditions, 'of them conditional', 'of them conditional')},"
        f" {counted(len(space.forbidden), 'forbidden clause')}",
        f"configurations: {_size(made)}",
        f"default: {one_line(default, LONGEST_DEFAULT)}",
    ]
    if not space.has_defaults:
        lines.append(
            "The defaults are placeholders: this format has none. Edit them in the scenario, or"
            " give a configurationsFile in the irace scenario and import that"
        )
    booleans = [p.name for p in space.parameters if any(isinstance(v, bool) for v in p.values)]
    if booleans and isinstance(imported, ImportedSpace):
        lines.append(
            f"{one_line(', '.join(booleans))}: a Python function gets True and False, a command"
            ' true and false; other words by a format = {yes = "--x=on", no = "--x=off"}'
        )
    warnings = list(space.warnings)
    if isinstance(imported, ImportedScenario):
        warnings += imported.warnings
    else:
        warnings += (
            f"{{{parameter.name}}} means something else in a command: rename this parameter, and"
            " let its format write the name; or give a wrapper with its protocol"
            for parameter in space.parameters
            if parameter.name in RUN_PLACEHOLDERS
        )
    return [*lines, *(f"Warning: {one_line(warning, 1000)}" for warning in warnings)]


def _size(space: Space) -> str:
    if space.size is not None:
        return f"{space.size:,}"
    is_endless = any(parameter.kind == "real" for parameter in space.parameters)
    return "endless" if is_endless else f"more than {LARGEST_COUNTED:,}"
