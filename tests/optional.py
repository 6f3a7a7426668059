"""Packages that tests can do without: what needs one is skipped, and says what to install."""

from __future__ import annotations

from typing import Any

import pytest


def need(module: str) -> Any:
    """The module; without it, the test (or the file of tests) is skipped."""
    return pytest.importorskip(module, reason=f"pip install {module.partition('.')[0]}")
