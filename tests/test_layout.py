"""Which folder may import which: a table, and nothing else goes.

It reads from the bottom up: each folder comes after all that it may import, so there is no cycle.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import cunctator

PACKAGE = Path(cunctator.__file__).parent

MAY_IMPORT = {
    "base": "",
    "core": "base",
    "space": "base",
    "propose": "space",
    "spaces": "base",
    "target": "base space",
    "scenario": "base core space target",
    "recorded": "base core target",
    "study": "base core space propose target scenario recorded",
    "siblings": "base core target recorded",
    "comparison": "base core space target recorded siblings",
    "demo": "base scenario spaces recorded",
    "data": "demo",
    "formats": "base space target scenario recorded data",
    "show": "base core space target scenario recorded study siblings comparison",
    "cli": "base spaces target scenario recorded study siblings comparison demo formats show",
}
"""`cunctator/__init__.py` and `__main__.py` may import anything."""


def folder_of(module: str) -> str:
    """The folder of a module of ours; "" for the package itself."""
    return [*module.split("."), ""][1]


def imports_of(path: Path) -> set[str]:
    """All modules of ours that a file imports, wherever in it, and for types too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports are not used here"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in found if name.split(".")[0] == "cunctator"}


def test_the_table_has_no_cycle():
    seen: set[str] = set()
    for folder, others in MAY_IMPORT.items():
        assert set(others.split()) <= seen, folder
        seen.add(folder)


def test_the_table_has_all_folders():
    assert {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()} == set(
        MAY_IMPORT
    )
    assert {path.name for path in PACKAGE.glob("*.py")} == {"__init__.py", "__main__.py"}


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_imports(folder: str):
    allowed = {folder, *MAY_IMPORT[folder].split()}
    used = set()
    for path in (PACKAGE / folder).rglob("*.py"):
        for name in imports_of(path):
            if name == "cunctator.__version__":
                continue
            assert folder_of(name) in allowed, f"{path.relative_to(PACKAGE)} imports {name}"
            used.add(folder_of(name))
    assert allowed - {folder} <= used, "the table allows what nobody needs"


def test_no_two_classes_have_the_same_name():
    """A word means one thing. Private ones are nobody else's business."""
    homes: dict[str, list[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(str(path.relative_to(PACKAGE)))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}
