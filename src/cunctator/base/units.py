"""Times and sizes as people write them; seconds as floats and bytes as integers in code.

Times: `250ms`, `90s`, `15m` or `15min`, `2h`, `3d`, and several of these together, the largest unit
first: `2m30s`, `1h 30m`. Sizes: `500MB`, `2GB` (powers of ten), `2GiB` (of two).
"""

from __future__ import annotations

import math
import re
from itertools import pairwise

from cunctator.base.errors import InvalidSetting

BYTES = {
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KIB": 2**10,
    "MIB": 2**20,
    "GIB": 2**30,
    "TIB": 2**40,
}
SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
LARGEST_PENALTY = 1e6
"""What a timeout may count, in cutoffs: beyond, runs that are solved would be lost in rounding."""
PART = re.compile(r"([0-9.]+(?:e[+-]?[0-9]+)?)\s*(ms|min|m|s|h|d|)\s*")
"""A number and its unit; of the longer units first, since others begin like them."""


def parse_duration(text: str, setting: str) -> float:
    """Seconds of a duration such as `90s`, `1.5h`, `2m30s` or `30` (seconds)."""
    parts: list[tuple[str, str]] = []
    rest = text.lower().strip()
    while match := PART.match(rest):
        parts.append((match[1], match[2]))
        rest = rest[match.end() :]
    try:
        numbers = [float(number) for number, _ in parts]
    except ValueError:
        numbers = []
    if rest or not numbers:
        expected = "expected a time such as 250ms, 90s, 2m30s, 15m, 2h or 3d"
        raise InvalidSetting(setting, text, expected)
    if len(parts) == 1:
        return numbers[0] * SECONDS[parts[0][1] or "s"]
    for number, unit in parts:
        if not unit:
            expected = f"expected a time such as 2m30s: {number} has no unit"
            raise InvalidSetting(setting, text, expected)
    units = [SECONDS[unit] for _, unit in parts]
    if any(next_one >= one for one, next_one in pairwise(units)):
        expected = "expected a time such as 1d12h30m: the largest unit first, each once"
        raise InvalidSetting(setting, text, expected)
    return sum(number * unit for number, unit in zip(numbers, units, strict=True))


def parse_extension(text: str, setting: str) -> tuple[float, int]:
    """Seconds and runs of what is added to a budget: a time such as `2h`, or `500runs`."""
    if match := re.fullmatch(r"\s*([0-9]{1,18})\s*runs?\s*", text.lower()):
        return 0.0, int(match[1])
    try:
        return parse_duration(text, setting), 0
    except InvalidSetting:
        expected = "expected a time such as 90s, 15m, 2h or 3d, or runs such as 500runs"
        raise InvalidSetting(setting, text, expected) from None


def format_duration(seconds: float) -> str:
    """A duration for people: the largest unit that keeps it above two, to three figures."""
    for unit in ("d", "h", "min"):
        if abs(seconds) >= 2 * SECONDS[unit]:
            number = seconds / SECONDS[unit]
            return f"{number:,.0f} {unit}" if abs(number) >= 100 else f"{number:.3g} {unit}"
    if seconds == 0 or abs(seconds) >= 0.9995:  # which is 1 s, to three figures
        return f"{seconds:.3g} s"
    return f"{seconds * 1000:.3g} ms"


def parse_size(text: str, setting: str) -> int:
    """Bytes of a size such as `2GB` or `512 MiB`; the unit must be given."""
    match = re.fullmatch(r"\s*([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*([KMGT]?I?B)\s*", text.upper())
    if match and match[2] in BYTES:
        return round(float(match[1]) * BYTES[match[2]])
    raise InvalidSetting(setting, text, "expected a size with its unit, such as 500MB or 2GB")


def counted(number: int, one: str, many: str = "") -> str:
    """A number of things, such as `1 run` or `12,000 runs`."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def finite_or_none(number: float) -> float | None:
    """A number for JSON, which has no infinity."""
    return number if math.isfinite(number) else None
