"""Scenarios that were written from imported files, read back and compared."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from cunctator.base.errors import CunctatorError
from cunctator.formats.imported import ImportedSpace
from cunctator.scenario import Scenario
from cunctator.scenario.models import Document
from cunctator.space.parameters import Parameter, Value
from cunctator.space.space import Space

CONFIGURATIONS = 200


def write(place: Path, text: str) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    return place


def completed(text: str, has_wrapper: bool = False) -> str:
    """The text of a space with its tables filled in, as a user would."""
    text = re.sub(r"^# (\[|\w+ = )", r"\1", text, flags=re.MULTILINE)
    words = [sys.executable] if has_wrapper else [sys.executable, "{parameters}", "{instance}"]
    changes = {
        'command = ["./solver", "{parameters}", "{instance}"]': f"command = {words}",
        'glob = "instances/*"': 'names = ["one"]',
    }
    if has_wrapper:
        changes['format = "--{name}={value}"'] = 'protocol = "smac"'
    for old, new in changes.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


def provide(path: Path) -> None:
    """Make the folders, programs and instances that a scenario asks for, and a limit."""
    folder = path.parent
    text = path.read_text(encoding="utf-8")
    data = tomllib.loads(text)
    directory = folder / data["target"].get("directory", ".")
    directory.mkdir(parents=True, exist_ok=True)
    program = data["target"]["command"][0]
    if "/" in program:
        write(directory / program, "#!/bin/sh\n").chmod(0o755)
    else:  # we have no such program, but another one
        write(path, text.replace(f'"{program}"', f'"{sys.executable}"', 1))
    for table in ("instances", "test_instances"):
        source = data.get(table, {})
        names = source.get("list", [])
        if "file" in source:
            names = (folder / source["file"]).read_text().split()
        if "glob" in source:
            names = [source["glob"].replace("**", "some").replace("*", "one")]
        for name in names:
            write(folder / name, "")


def same(loaded: Scenario, space: ImportedSpace, initial: tuple[Any, ...] = ()) -> None:
    """Assert that a scenario has this space, down to what is drawn from it."""
    assert [_plain(p) for p in loaded.space.parameters] == [_plain(p) for p in space.parameters]
    assert loaded.space.forbidden == space.forbidden
    tables = Document.model_validate(tomllib.loads(loaded.text)).parameters
    formats = {name: table.format for name, table in tables.items() if table.format is not None}
    assert formats == space.formats
    expected = Space(space.parameters, loaded.search.seed, space.forbidden, initial)
    assert loaded.space.default == expected.default
    seen: list[dict[str, Value]] = []
    for number in range(min(CONFIGURATIONS, expected.size or CONFIGURATIONS)):
        try:
            configuration = expected.configuration(number)
        except CunctatorError:  # hardly anything is allowed
            with pytest.raises(CunctatorError):
                loaded.space.configuration(number)
            break
        assert loaded.space.configuration(number) == configuration
        if configuration in seen:  # endless spaces may have few different ones, found slowly
            break
        seen.append(configuration)


def _plain(parameter: Parameter) -> tuple[object, ...]:
    """What a parameter says; values of different types are different, lists are tuples."""
    when: object = parameter.when
    if isinstance(when, dict):
        when = {
            parent: tuple(wanted) if isinstance(wanted, list | tuple) else wanted
            for parent, wanted in when.items()
        }
    numbers = [parameter.low, parameter.high]
    typed = [(type(v), v) for v in (*numbers, parameter.default, *parameter.values)]
    bounds = (parameter.low_expression, parameter.high_expression)
    return parameter.name, parameter.kind, parameter.log, when, bounds, typed
