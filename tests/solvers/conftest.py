"""Programs that are found, and stand-ins for those that are not."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.solvers.installed import SOLVERS


@pytest.fixture(autouse=True)
def programs_of_this_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wheels put their programs beside Python, which need not be in PATH."""
    here = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", here + os.pathsep + os.environ["PATH"])


@pytest.fixture
def stand_ins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of each solver's name."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for solver in SOLVERS.values():
        if solver.program:
            (folder / solver.program).write_text("#!/bin/sh\nexit 1\n")
            (folder / solver.program).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
