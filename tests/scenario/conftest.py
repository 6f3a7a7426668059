"""A small scenario, and files that differ from it."""

from __future__ import annotations

from pathlib import Path

import pytest

BASE = """\
[target]
command = ["{python}", "-s={seed}", "{parameters}", "{instance}"]

[parameters.restarts]
type = "categorical"
values = ["luby", "geometric"]
default = "luby"

[parameters.factor]
type = "real"
low = 1.0
high = 4.0
default = 2.0
when = {restarts = "geometric"}

[instances]
list = ["a.cnf", "b.cnf"]

[search]
cutoff = "60s"

[budget]
runs = 100
"""


@pytest.fixture
def write(tmp_path):
    for name in ("a.cnf", "b.cnf"):
        (tmp_path / name).write_text("p cnf 0 0\n")

    def write(*changes: tuple[str, str], text: str = BASE) -> Path:
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        place = tmp_path / "scenario.toml"
        place.write_bytes(text.encode())
        return place

    return write
