"""Reading a scenario: from a TOML file to what is checked whole and frozen.

Whatever is wrong with the file becomes one line that names it, the line, the key and what to do.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cunctator.base.errors import InvalidKey, InvalidOption, InvalidScenario
from cunctator.scenario.changes import Changes, option_of, with_changes, with_initial
from cunctator.scenario.commands import make_command
from cunctator.scenario.digest import digests_of
from cunctator.scenario.instance_files import check_program, make_instances
from cunctator.scenario.lines import line_of, too_deep
from cunctator.scenario.models import Document, ParameterTable
from cunctator.scenario.refusals import in_words
from cunctator.scenario.scenario import Scenario
from cunctator.space.expressions import Expression, ExpressionError, parse_expression
from cunctator.space.parameters import Parameter, Value, make_parameter
from cunctator.space.space import Space
from cunctator.target.template import fill

LARGEST_FILE = 32 * 2**20
"""Bytes; more than that is not a scenario."""


def load_scenario(
    path: str | PathLike[str],
    folder: Path | None = None,
    changes: Changes | None = None,
    initial: Sequence[Mapping[str, Value]] = (),
    silent_is_endless: bool = False,
) -> Scenario:
    """Read and check a scenario file; raises InvalidScenario, which says what to do.

    Paths in it are relative to `folder`, by default that of the file. `changes` are put into its
    text, and `initial` configurations after those that it has. `silent_is_endless`: of a randomised
    target's pairs there is no end if it does not say how many seeds there are.
    """
    place = Path(path)
    text = _read(place)
    if (line := too_deep(text)) is not None:
        raise InvalidScenario(place, line, "", "nested too deeply", "write it flat")
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(place, text, str(error)) from None
    except ValueError:
        # Python's own limit, against numbers that take hours to convert.
        raise InvalidScenario(
            place, None, "", "a number has too many digits", "shorten it"
        ) from None
    is_changed = False
    try:
        if changes or initial:
            text = with_initial(with_changes(text, changes or {}), initial)
            data = tomllib.loads(text)
            is_changed = True
        _check_numbers(data, ())
        return _build(place, text, data, (folder or place.parent).resolve(), silent_is_endless)
    except InvalidKey as error:
        option = option_of(error.key, changes or {}) if is_changed else None
        if option is not None:
            raise InvalidOption(option, error.problem, error.fix) from None
        line = line_of(text, error.key)
        name = ".".join(str(part) for part in error.key)
        raise InvalidScenario(place, line, name, error.problem, error.fix) from None


def _check_numbers(given: object, key: tuple[str | int, ...]) -> None:
    """Python reads whole numbers of any length, TOML has those of 64 bits."""
    if isinstance(given, int) and not -(2**63) <= given < 2**63:
        problem = "a whole number that is too large for TOML"
        raise InvalidKey(key, problem, "give one of at most 64 bits")
    parts: Iterable[tuple[str | int, object]] = ()
    if isinstance(given, dict):
        parts = given.items()
    elif isinstance(given, list):
        parts = enumerate(given)
    for name, part in parts:
        _check_numbers(part, (*key, name))


def template_text() -> str:
    """The commented example that `cunctator init` writes."""
    return resources.files(__package__).joinpath("template.toml").read_text(encoding="utf-8")


def _read(place: Path) -> str:
    try:
        if place.exists() and not place.is_file():
            raise InvalidScenario(place, None, "", "this is not a file", "give a scenario file")
        with place.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        fix = "check the path; cunctator init writes an example"
        raise InvalidScenario(place, None, "", problem, fix) from None
    except ValueError:
        raise InvalidScenario(place, None, "", "this is no path", "check the path") from None
    if len(content) > LARGEST_FILE:
        fix = "put long lists of instances into a file of their own"
        raise InvalidScenario(place, None, "", "too large for a scenario", fix)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = f"not UTF-8 (byte 0x{content[error.start]:02x})"
        raise InvalidScenario(place, line, "", problem, "save the file as UTF-8") from None


def _not_toml(place: Path, text: str, message: str) -> InvalidScenario:
    found = re.search(r"at line (\d+)", message)
    line = int(found[1]) if found else text.rstrip().count("\n") + 1
    problem = re.sub(r"\s*\(at [^()]*\)$", "", message)
    if problem.startswith(("Cannot overwrite", "Cannot declare", "Duplicate", "Cannot mutate")):
        return InvalidScenario(place, line, "", "this is given twice", "keep one of the two")
    return InvalidScenario(place, line, "", f"not TOML: {problem}", "correct this line")


def _build(
    place: Path, text: str, data: dict[str, Any], folder: Path, silent_is_endless: bool
) -> Scenario:
    try:
        document = Document.model_validate(data)
    except ValidationError as error:
        raise in_words(error, Document) from None
    directory = folder / document.target.directory
    if not os.path.isdir(directory):  # noqa: PTH112  (that of paths raises for long ones)
        problem = f"there is no folder {str(directory)!r}"
        raise InvalidKey(("target", "directory"), problem, "make it, or correct the path")
    seed = document.search.seed
    space = _make_space(document)
    tables = document.parameters.items()
    formats = {name: table.format for name, table in tables if table.format is not None}
    command = make_command(
        document.target,
        space.parameters,
        formats,
        objective=document.search.objective,
        has_cutoff=document.search.cutoff is not None,
    )
    program = fill(command.items[0], {"python": sys.executable}) if command.items else None
    if program is not None:
        check_program(program, directory, ("target", "command"))
    takes_seed = command.takes_seed
    instances, names = make_instances(
        document.instances, folder, seed, takes_seed, False, silent_is_endless
    )
    test_instances = None
    if document.test_instances is not None:
        table = document.test_instances
        test_instances, _ = make_instances(table, folder, seed, takes_seed, True)
    return Scenario(
        path=place,
        text=text,
        folder=folder,
        target=document.target,
        directory=directory,
        space=space,
        command=command,
        instances=instances,
        test_instances=test_instances,
        search=document.search,
        budget=document.budget,
        digests=digests_of(document, names, instances.seeds),
    )


def _make_space(document: Document) -> Space:
    names = document.parameters.keys()
    parameters = [
        _make_parameter(name, names, table) for name, table in document.parameters.items()
    ]
    forbidden = [
        _expression(text, names, ("forbidden", str(place)))
        for place, text in enumerate(document.forbidden)
    ]
    return Space(parameters, document.search.seed, forbidden, document.initial)


def _make_parameter(name: str, names: Collection[str], table: ParameterTable) -> Parameter:
    """Texts stand for expressions where numbers or a table could be."""
    given = {
        word: _expression(value, names, ("parameters", name, word))
        if isinstance(value, str)
        else value
        for word, value in (("low", table.low), ("high", table.high), ("when", table.when))
    }
    return make_parameter(
        name, table.type, table.default, values=table.values, log=table.log, **given
    )


def _expression(text: str, names: Collection[str], key: tuple[str, ...]) -> Expression:
    try:
        return parse_expression(text, names)
    except ExpressionError as error:
        fix = """write e.g. "solver == 'cdcl' and (restarts > 10 or not luby)\""""
        raise InvalidKey(key, str(error), fix) from None
