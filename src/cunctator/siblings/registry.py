"""All methods that can be compared, by name, in the order in which they are listed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from cunctator.base.errors import InvalidSetting
from cunctator.siblings.ac_band import AC_BAND
from cunctator.siblings.caps_and_runs import CAPS_AND_RUNS
from cunctator.siblings.confidence import PROCRASTINATION_WITH_CONFIDENCE
from cunctator.siblings.coup import COUP
from cunctator.siblings.focused_ils import FOCUSED_ILS
from cunctator.siblings.genetic import GGA
from cunctator.siblings.halving import HYPERBAND, SUCCESSIVE_HALVING
from cunctator.siblings.impatient import IMPATIENT_CAPS_AND_RUNS
from cunctator.siblings.leaps_and_bounds import LEAPS_AND_BOUNDS
from cunctator.siblings.structured_procrastination import STRUCTURED_PROCRASTINATION
from cunctator.siblings.uniform import UNIFORM
from cunctator.siblings.utilitarian import OUP, UP

METHODS = {
    method.name: method
    for method in (
        PROCRASTINATION_WITH_CONFIDENCE,
        STRUCTURED_PROCRASTINATION,
        LEAPS_AND_BOUNDS,
        CAPS_AND_RUNS,
        IMPATIENT_CAPS_AND_RUNS,
        UP,
        OUP,
        COUP,
        AC_BAND,
        SUCCESSIVE_HALVING,
        HYPERBAND,
        UNIFORM,
        FOCUSED_ILS,
        GGA,
    )
}


def check_methods(names: list[str]) -> list[str]:
    """Complain about names that are unknown or given twice."""
    for name in names:
        if name not in METHODS:
            expected = f"expected some of {', '.join(METHODS)}"
            raise InvalidSetting("--methods", name, expected)
    if len(set(names)) < len(names):
        raise InvalidSetting("--methods", ",".join(names), "give each method once")
    return names


def check_grid(names: list[str], grid: Mapping[str, Sequence[float]]) -> None:
    """Complain about values that no method would be tried with."""
    for setting, values in grid.items():
        if values and not any(setting in METHODS[name].grid for name in names):
            with_it = [name for name in METHODS if setting in METHODS[name].grid]
            expected = f"it is for {', '.join(with_it)}; others take --set METHOD.{setting}=VALUE"
            raise InvalidSetting(f"--{setting}", ",".join(map(str, values)), expected)


def read_settings(
    names: list[str], words: list[str]
) -> dict[str, dict[str, tuple[float | str, ...]]]:
    """Settings by method, from words such as `spc.profile=tight,paper`: all of them are tried."""
    found: dict[str, dict[str, tuple[float | str, ...]]] = {}
    for word in words:
        place, equals, value = word.partition("=")
        name, dot, setting = place.partition(".")
        if not equals or not dot:
            raise InvalidSetting("--set", word, "expected METHOD.SETTING=VALUE")
        if name not in names:
            expected = f"expected one of the methods that are compared: {', '.join(names)}"
            raise InvalidSetting("--set", word, expected)
        defaults = METHODS[name].defaults
        if setting not in defaults:
            known = ", ".join(defaults) or "none"
            raise InvalidSetting("--set", word, f"the settings of {name} are: {known}")
        own = found.setdefault(name, {})
        if setting in own:
            expected = "give a setting once, several values with commas between them"
            raise InvalidSetting("--set", word, expected)
        values = [_value(word, part.strip(), defaults[setting]) for part in value.split(",")]
        own[setting] = tuple(dict.fromkeys(values))
    return found


def _value(word: str, value: str, default: float | str) -> float | str:
    """As the default is: a number, or a text."""
    if isinstance(default, str):
        return value
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidSetting("--set", word, "expected a number")
    return number
