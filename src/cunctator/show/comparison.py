"""What a comparison found, in words and as a table: for the terminal, for Markdown."""

from __future__ import annotations

import math
from importlib.metadata import version
from pathlib import Path

from rich.table import Table as RichTable

from cunctator.base.errors import one_line
from cunctator.base.units import counted, format_duration
from cunctator.comparison.running import Comparison
from cunctator.comparison.summary import SHARES, Line, problems, summary_lines, true_means

OURS = "spc"

FEW_SEEDS = 3
"""With fewer, the order of methods is mostly chance."""

HEADINGS = (
    "method",
    "settings",
    "first",
    *(f"within {share:.0%}" for share in SHARES),
    "ended",
    f"good to {SHARES[0]:.0%}",
)


HOW_TO_READ = (
    "Every figure is a median by itself (of two, the larger): over the seeds, and in lines of a"
    " median over the settings too."
    ' Jobs whose answer was not good to the end count as "never" within a share, but as long'
    ' as they took in "ended", which may thus be less.'
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


def conditions_in_words(comparison: Comparison) -> str:
    """What was compared on, in one line."""
    table, conditions = comparison.table, comparison.conditions
    instances = counted(len(table.instances), "instance")
    drawn = "drawn with replacement" if conditions.resample else "each at most once"
    seeds = len({record["seed"] for record in comparison.records})
    budget = conditions.budget or conditions.endless_budget
    who = "" if conditions.budget else " for methods that do not end by themselves"
    name = one_line(Path(table.source or "a table").name)
    return (
        f"{name}: {counted(len(table.configurations), 'configuration')} by {instances}, {drawn};"
        f" first cap {_time(conditions.first_cap)}, cutoff {_time(conditions.cutoff)}, budget"
        f" {_time(budget)}{who}; {counted(seeds, 'seed')}; cunctator {version('cunctator')}."
    )


def terminal_table(comparison: Comparison) -> RichTable:
    """The table for people at a terminal."""
    title = "Charged time until each method's answer was good, and stayed so"
    table = RichTable(title=title, caption=HOW_TO_READ, caption_justify="left")
    for place, heading in enumerate(HEADINGS):
        whole = place != 1  # settings may take several lines, names and times are not broken
        table.add_column(heading, justify="left" if place < 2 else "right", no_wrap=whole)
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
    count, mean = counted(means.size, "configuration"), _time(means[best])
    said = [f"The best of {count} has a mean of {mean}: {name}."]
    ours = next((line for line in lines if line.method == OURS), None)
    if ours is not None:
        goods = [
            f"never stays within {share:.0%} of the best"
            if math.isinf(time)
            else f"stays within {share:.0%} of the best from {_time(time)} on"
            for share, time in zip(SHARES, ours.settled, strict=True)
        ]
        first = "no answer" if math.isinf(ours.first) else f"an answer after {_time(ours.first)}"
        said.append(f"{_who(ours)} has {first}, {', '.join(goods)}.")
        # Of methods that failed altogether it is only said why.
        useful = {record["method"] for record in comparison.records if "error" not in record}
        others = [line for line in lines if line is not ours and line.method in useful]
        seeds = len({record["seed"] for record in comparison.records})
        if others and seeds < FEW_SEEDS:
            said.append(f"This is {counted(seeds, 'seed')}: much of it is chance; give more.")
        said.extend(_against(line, ours) for line in others)
    return said + problems(comparison)


def _who(line: Line) -> str:
    return f"{line.title} ({line.settings})" if line.settings else line.title


def _against(line: Line, ours: Line) -> str:
    who, theirs = _who(line), line.settled[0]
    if math.isinf(line.first):
        return f"{who}: no answer in the median."
    if math.isinf(theirs):
        end = f"not within {SHARES[0]:.0%} at the end"
    else:
        end = f"within {SHARES[0]:.0%} from {_time(theirs)} on, {_when(theirs, ours)}"
    return f"{who}: first answer after {_time(line.first)}, {end}."


def _when(theirs: float, ours: Line) -> str:
    """How soon a method was, beside SPC."""
    who, reached = _who(ours), ours.settled[0]
    if math.isinf(reached):
        return f"as {who} never is"
    if theirs == reached:
        return f"as soon as {who}"
    late, word = max(theirs, reached), "later" if theirs > reached else "sooner"
    times = late / min(theirs, reached) if min(theirs, reached) > 0 else math.inf
    if f"{times:.2g}" == "1":
        return f"a little {word} than {who}"
    if math.isinf(times):
        return f"{word} than {who}"
    number = f"{times:,.0f}" if times >= 100 else f"{times:.2g}"
    if theirs > reached:
        return f"{number} times as late as {who}"
    return f"sooner than {who}, in 1/{number} of its time"
