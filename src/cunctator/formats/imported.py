"""What is read from other tools' files, before it becomes a scenario of ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cunctator.base.errors import InvalidScenario
from cunctator.space.expressions import Expression
from cunctator.space.parameters import Parameter, Value
from cunctator.target.template import RawFormat

LARGEST_FILE = 64 * 2**20
"""Bytes; more than that is no parameter file."""


@dataclass(frozen=True, slots=True)
class ImportedSpace:
    """A parameter file, understood."""

    parameters: tuple[Parameter, ...]
    forbidden: tuple[Expression, ...] = ()
    formats: Mapping[str, RawFormat] = field(default_factory=dict)
    """How parameters appear on a command line, if the file says so."""
    has_defaults: bool = True
    """Whether the file gives them; else they are placeholders, and others must be found."""
    warnings: tuple[str, ...] = ()
    """What was not understood or not used, a line each."""
    left_out: frozenset[str] = frozenset()
    """Parameters of the file that are never active."""


@dataclass(frozen=True, slots=True)
class ImportedScenario:
    """A scenario file, understood; tables are as in a scenario.toml of ours."""

    space: ImportedSpace
    target: Mapping[str, Any]
    instances: Mapping[str, Any]
    test_instances: Mapping[str, Any] | None = None
    search: Mapping[str, Any] = field(default_factory=dict)
    budget: Mapping[str, Any] = field(default_factory=dict)
    initial: tuple[Mapping[str, Value], ...] = ()
    """Configurations to begin with, after the default."""
    warnings: tuple[str, ...] = ()


def read_lines(path: Path) -> list[str]:
    """The lines of a text file, without their ends; raises InvalidScenario.

    A file that is not UTF-8 is read as Latin-1, which is what older tools wrote.
    """
    try:
        if path.exists() and not path.is_file():
            raise InvalidScenario(path, None, "", "this is not a file", "give a file")
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise InvalidScenario(path, None, "", problem, "check the path") from None
    if len(content) > LARGEST_FILE:
        raise InvalidScenario(path, None, "", "too large", "give a file of at most 64 MB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def wrong_line(path: Path, number: int, text: str, expected: str) -> InvalidScenario:
    """The error of a line that makes no sense, with its number, from 1."""
    return InvalidScenario(path, number, "", f"{text.strip()!r} makes no sense", expected)
