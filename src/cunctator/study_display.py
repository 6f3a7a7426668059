"""What a person sees of a study: a live line while it runs, tables and the story when it ends."""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table as Grid
from rich.text import Text

from cunctator.core.scheduler import Standing
from cunctator.display import printable
from cunctator.journal import Crash
from cunctator.statement import floor_note, headline, versus_default
from cunctator.study import Budget, View
from cunctator.units import format_duration

PLAIN_EVERY = 10.0
"""Seconds between lines if nobody watches."""


@contextmanager
def watched(console: Console, budget: Budget) -> Iterator[Callable[[View], None]]:
    """A live display that the yielded function updates; plain lines if this is no terminal."""
    if not console.is_terminal:
        last = [-math.inf]

        def print_line(view: View) -> None:
            if time.monotonic() - last[0] >= PLAIN_EVERY:
                last[0] = time.monotonic()
                console.print(" | ".join(_facts(view, budget)), highlight=False, soft_wrap=True)

        yield print_line
        return
    with Live(console=console, transient=True, refresh_per_second=4) as live:
        yield lambda view: live.update(Group(*(Text(line) for line in _facts(view, budget))))


def _facts(view: View, budget: Budget) -> Iterator[str]:
    """What is going on, a line each."""
    spent = view.spent
    charged = _of(format_duration(spent.charged), budget.charged, format_duration)
    wall = _of(format_duration(spent.wall), budget.wall, format_duration)
    runs = _of(f"{spent.runs:,}", budget.runs, lambda most: f"{most:,.0f}")
    rate = spent.runs / spent.wall if spent.wall else 0.0
    yield f"{charged} charged, {wall} on the clock, {runs} runs ({rate:.3g} a second)"
    yield f"slots {view.busy:.0%} busy, {_own(view)}"
    yield f"answer: configuration {view.answer.configuration}, {_mean(view)}"
    yield headline(view.certificate, view.asked_delta)


def _own(view: View) -> str:
    crashes = f"{view.crashed:,} crashes"
    if not view.spent.charged:
        return crashes
    share = view.own_seconds / view.spent.charged
    return f"{share:.1%} of the charged time for scheduling, {crashes}"


def _of(spent: str, most: float, words: Callable[[float], str]) -> str:
    return spent if math.isinf(most) else f"{spent} of {words(most)}"


def _mean(view: View) -> str:
    answer, default = view.answer, view.default
    if answer.configuration == default.configuration:
        return f"the default, {_so_far(answer)}"
    return f"{_so_far(answer)}; the default's: {_so_far(default)}"


def _so_far(standing: Standing) -> str:
    """Runs count up to a cap, so this is no estimate of the mean to the end."""
    if not standing.started:
        return "not run yet"
    words = f"mean {_seconds(standing.mean)} over {standing.started:,} runs"
    return words if standing.exact else f"{words}, up to {format_duration(standing.known_cap)} each"


def _seconds(value: float) -> str:
    return "infinity" if math.isinf(value) else format_duration(value)


def comparison(default: Mapping[str, object], answer: Mapping[str, object]) -> RenderableType:
    """Both configurations side by side; what differs stands out."""
    grid = Grid(title="The answer beside the default")
    for heading in ("parameter", "default", "answer"):
        grid.add_column(heading, overflow="fold")
    for name in [*default, *(name for name in answer if name not in default)]:
        before, after = (_value(settings, name) for settings in (default, answer))
        style = "bold" if before != after else "dim"
        grid.add_row(Text(printable(name)), Text(before), Text(after), style=style)
    return grid


def _value(settings: Mapping[str, object], name: str) -> str:
    if name not in settings:
        return "-"
    value = settings[name]
    return f"{value:.6g}" if isinstance(value, float) else printable(str(value))


def story(view: View, argv: list[str]) -> RenderableType:
    """How it ended, in sentences, with the answer as a command line."""
    lines = [f"Stopped: {view.stop.value if view.stop else 'not yet'}."]
    if view.problem:
        lines.append(printable(view.problem))
    if view.answer.started:
        lines.append(f"Answer: configuration {view.answer.configuration}, {_mean(view)}.")
        lines.append(headline(view.certificate, view.asked_delta))
        if view.answer.configuration:
            lines.append(versus_default(view.certificate))
        if note := floor_note(view.certificate):
            lines.append(note)
    spent = view.spent
    lines.append(
        f"{spent.runs:,} runs charged {format_duration(spent.charged)} in"
        f" {format_duration(spent.wall)}; {_own(view)}."
    )
    if argv:
        lines.append(f"Command: {printable(shlex.join(argv))}")
    return Group(*(Text(line) for line in lines))


def crash_list(crashes: list[tuple[Crash, list[str]]], total: int) -> RenderableType:
    """Runs that crashed, each with the command that does it again."""
    lines = [f"{total:,} runs crashed" + (", the first of them:" if total > len(crashes) else ":")]
    for crash, argv in crashes:
        lines.append(
            f"  configuration {crash.configuration}, pair {crash.pair}:"
            f" {printable(crash.problem) or 'no message'}"
        )
        if argv:
            lines.append(f"    {printable(shlex.join(argv))}")
    return Group(*(Text(line) for line in lines))
