"""The library that some formats are of."""

from __future__ import annotations

from typing import Any

import pytest

from tests.optional import need


@pytest.fixture(scope="session")
def library() -> Any:
    return need("ConfigSpace")
