"""Recorded runtimes as a target: a table of n configurations by m (instance, seed) pairs.

The clock is virtual: a run under a cap costs min(runtime, cap) seconds of it and no time here.
Loading tables from files is the business of `formats/`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cunctator.base.errors import InvalidTable
from cunctator.base.units import counted

LONGEST = 1e15
"""Seconds, some 30 million years: anything longer is a mistake in the file."""


@dataclass(frozen=True, eq=False)
class Table:
    """Runtimes in seconds, one row a configuration, one column an (instance, seed) pair."""

    runtimes: NDArray[np.float64]
    configurations: tuple[str, ...]
    instances: tuple[str, ...]
    cutoff: float | None = None
    """Runs were stopped here when they were recorded: this value and above mean "not solved"."""
    source: str = ""
    """Where it came from, for messages."""
    measures: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    """Other numbers of the same runs, such as conflicts; NaN where a run has none."""

    def __repr__(self) -> str:
        rows, columns = self.runtimes.shape
        size = f"{counted(rows, 'configuration')} by {counted(columns, 'instance')}"
        return f"<Table: {size}, cutoff {self.cutoff}>"

    @property
    def mean_runtimes(self) -> NDArray[np.float64]:
        """The true mean of each configuration over the table, runs cut off at the cutoff."""
        means: NDArray[np.float64] = self.runtimes.mean(axis=1)
        return means

    @property
    def unsolved_share(self) -> float:
        """Share of the runs that reached the cutoff; 0 if none is known."""
        if self.cutoff is None:
            return 0.0
        return float((self.runtimes >= self.cutoff).mean())


def make_table(
    runtimes: object,
    configurations: object = None,
    instances: object = None,
    cutoff: float | None = None,
    source: str = "",
    measures: Mapping[str, object] | None = None,
) -> Table:
    """A table, after checking every number and name in it; names default to c0.. and i0.. ."""
    numbers = _numbers(runtimes, source)
    rows, columns = numbers.shape
    if cutoff is not None and not (math.isfinite(cutoff) and cutoff > 0):
        raise InvalidTable(source, f"cutoff is {cutoff}", "give a positive number of seconds")
    if cutoff is not None:
        numbers = np.minimum(numbers, cutoff)
    return Table(
        runtimes=np.ascontiguousarray(numbers),
        configurations=_names(configurations, rows, "configuration", "row", source),
        instances=_names(instances, columns, "instance", "column", source),
        cutoff=None if cutoff is None else float(cutoff),
        source=source,
        measures=_measures(measures or {}, numbers.shape, source),
    )


def _measures(
    measures: Mapping[str, object], shape: tuple[int, ...], source: str
) -> dict[str, NDArray[np.float64]]:
    found = {}
    for name, values in measures.items():
        given = np.asarray(values)
        if given.dtype.kind not in "biuf" or given.shape != shape:
            problem = f"{name!r} is not a table of numbers like the runtimes"
            raise InvalidTable(source, problem, "give one number for each runtime, or NaN")
        found[name] = given.astype(np.float64)
    return found


def _numbers(runtimes: object, source: str) -> NDArray[np.float64]:
    try:
        given = np.asarray(runtimes)
        if given.dtype.kind not in "biuf":
            raise TypeError(f"type {given.dtype}")
        with np.errstate(over="ignore"):  # becomes infinite, and is refused below
            numbers = given.astype(np.float64)
    except (TypeError, ValueError) as error:
        fix = "give the same number of numbers in every row"
        raise InvalidTable(source, f"not a table of numbers ({error})", fix) from None
    if numbers.ndim != 2:
        fix = "give one row a configuration and one column an instance"
        raise InvalidTable(source, f"{numbers.ndim} dimensions instead of 2", fix)
    if numbers.size == 0:
        fix = "give at least one configuration and one instance"
        raise InvalidTable(source, "the table is empty", fix)
    bad = np.argwhere(~((numbers >= 0) & (numbers <= LONGEST)))
    if bad.size:
        row, column = (int(k) for k in bad[0])
        problem = f"runtime is {numbers[row, column]:g} ({len(bad)} such in all)"
        fix = "give seconds, 0 or more; write runs that were not solved as the cutoff"
        where = f"row {row + 1}, column {column + 1}"
        raise InvalidTable(source, problem, fix, where)
    return numbers


def _names(names: object, size: int, what: str, line: str, source: str) -> tuple[str, ...]:
    if names is None:
        return tuple(f"{what[0]}{k}" for k in range(size))
    texts = tuple(str(name) for name in np.asarray(names, dtype=object).ravel())
    if len(texts) != size:
        fix = f"give one name for each {line}"
        raise InvalidTable(source, f"{len(texts)} {what} names for {size} {line}s", fix)
    seen: dict[str, int] = {}
    for k, text in enumerate(texts):
        if text in seen:
            problem = f"{what} name {text!r} is that of {line} {seen[text] + 1} too"
            raise InvalidTable(source, problem, f"give each {what} one name", f"{line} {k + 1}")
        seen[text] = k
    return texts
