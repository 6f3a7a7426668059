"""Spaces as ConfigSpace writes them, piece by piece, and as they are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cunctator.formats.imported import ImportedSpace
from cunctator.space.parameters import Value
from cunctator.space.space import Space


def save(folder: Path, data: Any, name: str = "space.json") -> Path:
    path = folder / name
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


def space_of(imported: ImportedSpace) -> Space:
    return Space(imported.parameters, forbidden=imported.forbidden)


def all_of(imported: ImportedSpace) -> list[dict[str, Value]]:
    space = space_of(imported)
    assert space.size is not None
    return [space.configuration(number) for number in range(space.size)]


def categorical(name: str, *choices: Any, **more: Any) -> dict[str, Any]:
    return {"type": "categorical", "name": name, "choices": list(choices), **more}


def integer(name: str, lower: int, upper: int, **more: Any) -> dict[str, Any]:
    return {"type": "uniform_int", "name": name, "lower": lower, "upper": upper, **more}


def real(name: str, lower: float, upper: float, **more: Any) -> dict[str, Any]:
    return {"type": "uniform_float", "name": name, "lower": lower, "upper": upper, **more}


def ordinal(name: str, *sequence: Any, **more: Any) -> dict[str, Any]:
    return {"type": "ordinal", "name": name, "sequence": list(sequence), **more}


def clause(kind: str, name: str, value: Any) -> dict[str, Any]:
    return {"type": kind, "name": name, "values" if kind == "IN" else "value": value}


def relation(kind: str, left: str, right: str) -> dict[str, Any]:
    return {"type": kind, "left": left, "right": right}
