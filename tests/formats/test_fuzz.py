"""Damaged files of all kinds are imported, or refused with one clear line; see `fuzz.py`."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from cunctator.formats.configspace import CONFIGSPACE_ENDINGS
from tests.formats.fuzz import OWN, fuzz, outcome, put_out
from tests.optional import need

TIMES = 1500


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_are_imported_or_refused(seed: int, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    ends = fuzz(TIMES, random.Random(seed), folder)
    assert set(ends) == {"imported", "refused"}, ends
    assert min(ends.values()) > 50, "too few of one kind to mean anything"


@pytest.mark.extra
@pytest.mark.parametrize("name", OWN)
def test_undamaged_ones_are_imported(name: str, tmp_path: Path) -> None:
    if name.endswith(CONFIGSPACE_ENDINGS):
        need("ConfigSpace")
    put_out(tmp_path)
    assert outcome(tmp_path / name, tmp_path.parent) == "imported"
