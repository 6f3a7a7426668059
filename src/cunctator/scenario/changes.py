"""Settings and configurations given on the command line, written into the text of a scenario.

The text is what a study keeps and goes by when it is resumed, so what is given must be in it. The
rest of it stays as it is, comments included.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from cunctator.base.errors import InvalidKey
from cunctator.scenario.lines import line_of
from cunctator.scenario.toml_text import toml_pair
from cunctator.space.parameters import Value

Changes = Mapping[tuple[str, str], str | float]
"""New values by table and key."""


BUDGETS = ("charged", "runs")
"""Keys that `--budget` gives, whichever it is."""


def option_of(key: tuple[str | int, ...], changes: Changes) -> str | None:
    """The option that gave what a key holds, if one did."""
    if key[:2] not in changes:
        return None
    return "--budget" if key[1] in BUDGETS else f"--{key[1]}"


def with_changes(text: str, changes: Changes) -> str:
    """The text of a scenario, which is known to be TOML, with other values for some keys."""
    for (table, key), value in changes.items():
        text = _with_change(text, table, key, value)
    return text


def _with_change(text: str, table: str, key: str, value: str | float) -> str:
    before = tomllib.loads(text)
    wanted = {**before, table: {**_table(before, table), key: value}}
    changed = f"{toml_pair(key, value)}  # given on the command line"
    lines = text.split("\n")
    place = line_of(text, (table, key))
    if place is None:
        lines.extend([f"[{table}]", changed, ""])
    elif key in _table(before, table):
        lines[place - 1] = f"{changed}, instead of: {lines[place - 1].strip()}"
    else:
        lines.insert(place, changed)
    made = "\n".join(lines)
    if not _says(made, wanted):
        problem = f"it cannot be changed from the command line as [{table}] is written here"
        raise InvalidKey((table, key), problem, f"write [{table}] on a line, and a key on each")
    return made


def with_initial(text: str, configurations: Sequence[Mapping[str, Value]]) -> str:
    """The text of a scenario, which is known to be TOML, with more `[[initial]]` at its end."""
    if not configurations:
        return text
    before = tomllib.loads(text)
    wanted = {**before, "initial": [*before.get("initial", []), *configurations]}
    parts = [text.rstrip("\n")]
    for one in configurations:
        parts += ["", "[[initial]]  # from an earlier study", *map(toml_pair, one, one.values())]
    made = "\n".join([*parts, ""])
    if not _says(made, wanted):
        problem = "none can be added as they are written here"
        raise InvalidKey(("initial",), problem, "write each as a table [[initial]]")
    return made


def _says(text: str, wanted: Mapping[str, Any]) -> bool:
    """Whether a text is TOML, and says this."""
    try:
        return tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:
        return False


def _table(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = data.get(name)
    return found if isinstance(found, dict) else {}
