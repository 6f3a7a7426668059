"""The core has no clock, file, process or random state: it imports nothing to get one."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import cunctator

CORE = Path(cunctator.__file__).parent / "core"
ALLOWED = {"__future__", "array", "collections", "dataclasses", "enum", "math", "typing"}
ALLOWED |= {"numpy", "numba"}
OURS = ("cunctator.core", "cunctator.base.records", "cunctator.base.errors", "cunctator.base.units")
COMPILER = {"hashlib", "shutil", "pathlib", "contextlib", "pickle", "tempfile"}
"""compiled.py looks after the disk cache of compiled code: no state of a study is in it."""


@pytest.mark.parametrize("path", sorted(CORE.glob("*.py")), ids=lambda path: path.name)
def test_imports(path):
    allowed = ALLOWED | (COMPILER if path.name == "compiled.py" else set())
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module]
        for name in names:
            assert name.split(".")[0] in allowed or name.startswith(OURS), f"{path.name}: {name}"
        if isinstance(node, ast.Attribute):
            assert node.attr != "random", f"{path.name} touches a random state"
