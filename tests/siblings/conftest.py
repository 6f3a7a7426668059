"""Streams of a million draws are enough here; four take a twentieth of a second to draw."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _short_streams(monkeypatch):
    monkeypatch.setattr("cunctator.siblings.problem.CHUNKS", 1)
