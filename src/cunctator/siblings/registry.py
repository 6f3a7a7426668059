"""All methods that can be compared, by name, in the order in which they are listed."""

from __future__ import annotations

from cunctator.errors import InvalidSetting
from cunctator.siblings.ac_band import AC_BAND
from cunctator.siblings.confidence import PROCRASTINATION_WITH_CONFIDENCE
from cunctator.siblings.halving import HYPERBAND, SUCCESSIVE_HALVING
from cunctator.siblings.leaps_and_bounds import LEAPS_AND_BOUNDS
from cunctator.siblings.structured_procrastination import STRUCTURED_PROCRASTINATION
from cunctator.siblings.uniform import UNIFORM

METHODS = {
    method.name: method
    for method in (
        PROCRASTINATION_WITH_CONFIDENCE,
        STRUCTURED_PROCRASTINATION,
        LEAPS_AND_BOUNDS,
        AC_BAND,
        SUCCESSIVE_HALVING,
        HYPERBAND,
        UNIFORM,
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
