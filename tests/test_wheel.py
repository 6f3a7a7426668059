"""The wheel, as somebody gets it who has nothing but Python and a package index."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.optional import need

pytestmark = pytest.mark.extra

PROJECT = Path(__file__).parents[1]
PACKAGE = PROJECT / "src" / "cunctator"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need("build.env")
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, PROJECT, at=folder)
    (path,) = folder.glob("*.whl")
    return path


def run(*words: str | Path, at: Path) -> str:
    """What a command prints in a folder, where nothing of this environment helps it."""
    ours = ("PYTHON", "VIRTUAL_ENV", "NUMBA")
    environment = {name: word for name, word in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run(
        list(map(str, words)), cwd=at, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_all_files_of_the_package_are_in_it_and_no_others(wheel: Path) -> None:
    files = {path for path in PACKAGE.rglob("*") if path.is_file()}
    wanted = {
        path.relative_to(PACKAGE.parent).as_posix()
        for path in files
        if "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert found == wanted
    for name in ("py.typed", "data/minisat.npz", "scenario/template.toml", "spaces/clasp.toml"):
        assert f"cunctator/{name}" in found


def test_it_works_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", tmp_path / "venv", at=tmp_path)
    programs, folder = tmp_path / "venv" / "bin", tmp_path / "empty"
    folder.mkdir()
    run(programs / "pip", "install", "--quiet", wheel, at=folder)
    shown = run(programs / "cunctator", "demo", "--solver", "made-up", at=folder)
    assert "Stopped: proved optimal on this instance set." in shown
    assert run(programs / "cunctator", "init", "--solver", "clasp", at=folder)
    assert [path.name for path in folder.iterdir()] == ["scenario.toml"]
