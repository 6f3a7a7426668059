"""What a comparison found, in words and as a table: for the terminal, for Markdown."""

from __future__ import annotations

import math

from rich.table import Table as RichTable

from cunctator.comparison.running import Comparison
from cunctator.comparison.summary import SHARES, Line, problems, summary_lines, true_means
from cunctator.errors import one_line
from cunctator.units import format_duration

OURS = "spc"
HEADINGS = (
    "method",
    "settings",
    "first",
    *(f"within {share:.0%}" for share in SHARES),
    "ended",
    f"good to {SHARES[0]:.0%}",
)


def rows(lines: list[Line]) -> list[tuple[str, ...]]:
    """The cells of the table."""
    return [
        (
            line.title,
            line.settings or "-",
            _time(line.first),
            *map(_time, line.settled),
            _time(line.ended),
            f"{line.good[0]} of {line.jobs}",
        )
        for line in lines
    ]


def _time(seconds: float) -> str:
    return format_duration(seconds) if math.isfinite(seconds) else "never"


def terminal_table(comparison: Comparison) -> RichTable:
    """The table for people at a terminal."""
    table = RichTable(title="Charged time until each method's answer was good, and stayed so")
    for place, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="left" if place < 2 else "right")
    lines = summary_lines(comparison)
    for line, row in zip(lines, rows(lines), strict=True):
        table.add_row(line.method, *row[1:])
    return table


def markdown_table(comparison: Comparison) -> str:
    """The same for Markdown."""
    lines = ["| " + " | ".join(HEADINGS) + " |", "|---|---|" + "---:|" * (len(HEADINGS) - 2)]
    lines += ["| " + " | ".join(row) + " |" for row in rows(summary_lines(comparison))]
    return "\n".join(lines)


def sentences(comparison: Comparison) -> list[str]:
    """Who reached what when, against SPC, with ratios; then what went wrong."""
    lines = summary_lines(comparison)
    means = true_means(comparison)
    best = int(means.argmin())
    name = one_line(comparison.table.configurations[best])
    count, mean = f"{means.size:,}", _time(means[best])
    said = [f"The best of {count} configurations has a mean of {mean}: {name}."]
    ours = next((line for line in lines if line.method == OURS), None)
    if ours is not None:
        goods = [
            f"never stays within {share:.0%} of the best"
            if math.isinf(time)
            else f"stays within {share:.0%} of the best from {_time(time)} on"
            for share, time in zip(SHARES, ours.settled, strict=True)
        ]
        first = "no answer" if math.isinf(ours.first) else f"an answer after {_time(ours.first)}"
        said.append(f"{ours.title} has {first}, {', '.join(goods)}.")
        said.extend(_against(line, ours) for line in lines if line.method != OURS)
    return said + problems(comparison)


def _against(line: Line, ours: Line) -> str:
    who = f"{line.title} ({line.settings})" if line.settings else line.title
    reached, theirs = ours.settled[0], line.settled[0]
    if math.isinf(line.first):
        return f"{who}: no answer in the median."
    if math.isinf(theirs):
        end = f"not within {SHARES[0]:.0%} at the end"
    else:
        end = f"within {SHARES[0]:.0%} from {_time(theirs)} on"
        if 0 < reached < math.inf:
            end += f", {theirs / reached:.3g} times {ours.title}'s time"
    return f"{who}: first answer after {_time(line.first)}, {end}."
