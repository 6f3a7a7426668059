"""Who reached what when: the figures behind the table, the words and the pictures.

An answer is judged by its true mean over the table, cut off at the cutoff, against the best of
the table. It has *settled* within 5% at the charged time from which on it was never worse. For a
method that answers once, that is when it returned.

Methods that must be told epsilon and delta are shown twice: at the pair that was quickest to settle
in hindsight, which nobody knows in advance, and at the median pair. Others are shown at each of
the settings that they were given. Jobs that failed count as those that have no answer. When a
method ends matters: one that went on might have changed its mind.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cunctator.base.units import counted
from cunctator.comparison.jobs import NEEDED, Record, short_text
from cunctator.comparison.running import Comparison
from cunctator.siblings.registry import METHODS

SHARES = (0.05, 0.01)
"""How much worse than the best an answer may be."""


def true_means(comparison: Comparison) -> NDArray[np.float64]:
    """Of each configuration over the whole table, cut off at the cutoff."""
    cutoff = comparison.conditions.cutoff
    means: NDArray[np.float64] = comparison.table.runtimes.clip(max=cutoff).mean(axis=1)
    return means


def excess(trajectory: Sequence[Sequence[float]], means: NDArray[np.float64]) -> float:
    """How much slower than the best the last answer is; infinite without one."""
    if not trajectory:
        return math.inf
    own, best = float(means[int(trajectory[-1][1])]), float(means.min())
    if best == 0.0:
        return 0.0 if own == 0.0 else math.inf
    return own / best - 1.0


def settled(
    trajectory: Sequence[Sequence[float]], means: NDArray[np.float64], share: float
) -> float:
    """Charged time from which on the answer is within a share of the best; infinite if never."""
    limit, since = (1.0 + share) * float(means.min()), math.inf
    for charged, index in trajectory:
        since = math.inf if means[int(index)] > limit else min(since, charged)
    return since


@dataclass(frozen=True)
class Line:
    """A method at one pair, or at the median one: medians over the seeds."""

    method: str
    title: str
    settings: str
    first: float
    """Charged seconds until there was an answer."""
    settled: tuple[float, ...]
    """Charged seconds until it had settled, for each of SHARES."""
    ended: float
    """Charged seconds in all."""
    excess: float
    """Of the last answer."""
    good: tuple[int, ...]
    """Jobs whose last answer was good, for each of SHARES."""
    jobs: int


def summary_lines(comparison: Comparison) -> list[Line]:
    """One line for each setting of methods without a grid, two for the others."""
    means = true_means(comparison)
    lines: list[Line] = []
    for name, own in by_method(comparison.records).items():
        best, found = quickest(name, own, means)
        if len(found) > 1 and all("error" in record for record in own):
            lines.append(replace(_median(name, found), settings=f"all of {len(found)} failed"))
            continue
        if len(found) == 1 or not METHODS[name].grid:
            lines.extend(found)
            continue
        lines.append(replace(best, settings=f"best of {len(found)}: {best.settings}"))
        lines.append(_median(name, found))
    return lines


def quickest(
    name: str, records: list[Record], means: NDArray[np.float64]
) -> tuple[Line, list[Line]]:
    """Of a method's records, the settings that were quickest to be good; and all of them."""
    groups = by_settings(records)
    found = [_line(name, settings, group, means) for settings, group in groups.items()]
    return min(found, key=lambda line: (line.settled[0], line.ended)), found


def by_method(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Records by the names of their methods."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record["method"], []).append(record)
    return groups


def by_settings(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Records of one method by what it was told, in words."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(words_of(record["settings"]), []).append(record)
    return groups


def title_of(name: str) -> str:
    """A method's title; others pay for a run from its start each time they try it."""
    method = METHODS[name]
    return f"{method.title} (resumed)" if method.charges == "resume" else method.title


def incumbents_of(record: Record) -> list[list[float]]:
    """The trajectory of a job; empty if it failed."""
    found: list[list[float]] = record.get("trajectory", [])
    return found


def words_of(settings: dict[str, float | str]) -> str:
    """Settings as tables and pictures have them, such as `epsilon 0.1, delta 0.5`."""
    return ", ".join(f"{name} {short_text(value)}" for name, value in settings.items())


def _line(name: str, settings: str, group: list[Record], means: NDArray[np.float64]) -> Line:
    trajectories = [incumbents_of(record) for record in group]
    times = [tuple(settled(one, means, share) for share in SHARES) for one in trajectories]
    return Line(
        method=name,
        title=title_of(name),
        settings=settings,
        first=_middle(one[0][0] if one else math.inf for one in trajectories),
        settled=tuple(_middle(column) for column in zip(*times, strict=True)),
        ended=_middle(record.get("charged", math.inf) for record in group),
        excess=_middle(excess(one, means) for one in trajectories),
        good=tuple(sum(map(math.isfinite, column)) for column in zip(*times, strict=True)),
        jobs=len(group),
    )


def _median(name: str, found: list[Line]) -> Line:
    """The median pair, of each number by itself."""
    return Line(
        method=name,
        title=title_of(name),
        settings=f"median of {len(found)}",
        first=_middle(line.first for line in found),
        settled=tuple(_middle(line.settled[k] for line in found) for k in range(len(SHARES))),
        ended=_middle(line.ended for line in found),
        excess=_middle(line.excess for line in found),
        good=tuple(sum(line.good[k] for line in found) for k in range(len(SHARES))),
        jobs=sum(line.jobs for line in found),
    )


def _middle(numbers: Iterable[float]) -> float:
    """The upper median: of two, the larger, so that infinity is not averaged."""
    ordered = sorted(numbers)
    return ordered[len(ordered) // 2]


def problems(comparison: Comparison) -> list[str]:
    """Why jobs gave nothing: for each method, each kind of reason once, with an example.

    The example is the job that lacked least: what it is short of, others are too.
    """
    found: dict[tuple[str, str], list[Record]] = {}
    for record in comparison.records:
        if "error" in record:
            kind = re.sub(r"[\d.,]+", "", record["error"].partition(";")[0])
            found.setdefault((record["method"], kind), []).append(record)
    lines = []
    for (name, _), failed in found.items():
        total = sum(record["method"] == name for record in comparison.records)
        least = min(failed, key=lambda record: record.get(NEEDED, 0))
        words = words_of(least["settings"])
        where = f" (with {words})" if words and NEEDED in least else ""
        said = f"{METHODS[name].title}: {len(failed)} of {counted(total, 'job')} failed"
        lines.append(f"{said}: {least['error']}{where}")
    return lines
