"""Every key of a scenario with every kind of value: accepted, or refused in one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cunctator.base.errors import InvalidScenario
from cunctator.scenario import load_scenario
from tests.scenario.conftest import BASE

FULL = (
    BASE.replace(
        "[target]",
        """[target]
format = "-{name}={value}"
protocol = "native"
success = [0]
success_pattern = "a"
failure_pattern = "b"
answer = "c"
measures = {d = "(e)"}
memory = "1GB"
directory = "."
""",
    )
    .replace(
        'type = "categorical"',
        """type = "categorical"
format = {luby = "a", geometric = ""}""",
    )
    .replace(
        "high = 4.0",
        """high = 4.0
log = true""",
    )
    .replace(
        "[search]",
        """[test_instances]
glob = "*.cnf"

[search]
first_cap = 0.1
objective = "wall"
workers = 2
seed = 1
configurations = 10
confidence = 0.9
profile = "proved"
stop_at = {epsilon = 0.1, delta = 0.1}""",
    )
    .replace(
        "runs = 100",
        """runs = 100
charged = "1h"
wall = "1h"
""",
    )
)

HOSTILE = [
    "1", "-1", "0", "0.5", "nan", "inf", "-inf", "1" + "0" * 400, "1e308", '""', '"a\\nb"',
    '"\\u0000"', '"*"', "true", "[]", "{}", "2020-01-01", '["\\u0000"]', "[1, 2]", '["{x}"]',
    "[[[]]]", "{a = 1}", '{restarts = "\\u001b"}', '{factor = "> 1e999"}',
    "{factor = 1" + "0" * 400 + "}",
    '"' + "(" * 50 + '"', '"(?P<a"', '"' + "*" * 100 + '"', "1" + "0" * 5000,
]  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_every_key_with_every_kind_of_value(write, value):
    load_scenario(write(text=FULL))
    for line in FULL.splitlines():
        name, equals, _ = line.partition(" = ")
        if not equals:
            continue
        try:
            load_scenario(write((line, f"{name} = {value}"), text=FULL))
        except InvalidScenario as error:
            assert "\n" not in str(error) and "\x1b" not in str(error) and len(str(error)) < 2500
            assert "cannot be used" not in error.problem  # no problem without words for it


@pytest.mark.parametrize("source", ["file", "generator", "glob", "list", "names"])
@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_every_source_with_every_kind_of_value(write, source, value):
    place = write(('list = ["a.cnf", "b.cnf"]', f"{source} = {value}"))
    try:
        load_scenario(place)
    except InvalidScenario as error:
        assert "\n" not in str(error)


@given(st.binary(max_size=60))
def test_no_file_makes_it_fall_over(tmp_path_factory, noise):
    place = tmp_path_factory.mktemp("noise") / "scenario.toml"
    half = len(BASE) // 2
    place.write_bytes(BASE[:half].encode() + noise + BASE[half:].encode())
    try:
        load_scenario(place)
    except InvalidScenario as error:
        assert "\n" not in str(error)
