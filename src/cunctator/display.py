"""What a person sees of a simulation: progress while it runs, a table when it ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn
from rich.table import Table as Grid
from rich.text import Text

from cunctator.core.guarantee import appendix_delta
from cunctator.simulation import Result, Simulation
from cunctator.units import format_duration

SHARES_SHOWN = (1e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
EPSILON_SHOWN = 0.5
BAR_WIDTH = 14


@contextmanager
def progress_display(console: Console, total: float) -> Iterator[Callable[[Simulation], None]]:
    """A live line that the yielded function updates; `total` is the charged time it may take."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.fields[step]:>11,} runs"),
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        TextColumn("{task.fields[spent]:>8} charged"),
        TextColumn("best: {task.fields[best]}", markup=False),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=total, step=0, spent="0 s", best="")

        def update(simulation: Simulation) -> None:
            progress.update(
                task,
                completed=min(simulation.charged, total),
                step=simulation.steps,
                spent=format_duration(simulation.charged),
                best=shorten(simulation.table.configurations[simulation.incumbent]),
            )

        yield update


def summary(result: Result) -> RenderableType:
    """The final table of the best five, and the story around it."""
    table = result.table
    grid = Grid(title=f"Most started of {len(table.configurations):,} configurations")
    grid.add_column("configuration", overflow="fold")
    for heading in ("started", "known mean", "lower bound", "share of time"):
        grid.add_column(heading, justify="right", no_wrap=True)
    for rank, standing in enumerate(result.ranking()[:5]):
        grid.add_row(
            Text(table.configurations[standing.configuration]),
            f"{standing.started:,}",
            _seconds(standing.mean),
            _seconds(standing.lower),
            f"{standing.charged / result.charged:.1%}" if result.charged else "-",
            style="bold" if rank == 0 else None,
        )
    lines = [
        f"Stopped: {result.stop.value}.",
        f"{result.steps:,} runs charged {format_duration(result.charged)} of target time"
        f" ({format_duration(result.charged_resumed)} had runs been resumed);"
        f" the whole table costs {format_duration(float(table.runtimes.sum()))}.",
        _appendix_line(result),
        f"Computed in {format_duration(result.scheduler_seconds)}.",
    ]
    return Group(grid, *(Text(line) for line in lines))


def history(result: Result) -> RenderableType:
    """How good the answer was after each share of the table's cost, by the table's true means."""
    means = result.table.mean_runtimes
    cost = float(result.table.runtimes.sum())
    answers = []
    for share in SHARES_SHOWN:
        known = [index for charged, _, index in result.trajectory if charged <= share * cost]
        if known and share * cost <= result.charged:
            answers.append((share, float(means[known[-1]])))
    grid = Grid(title="How the answer improved (true means, known here since it is a table)")
    for heading in ("charged", "of table's cost", "answer's mean", "above the best"):
        grid.add_column(heading, justify="right", no_wrap=True)
    grid.add_column("", no_wrap=True)
    worst = max((mean for _, mean in answers), default=0.0)
    for share, mean in answers:
        grid.add_row(
            format_duration(share * cost),
            f"{share:.3%}",
            _seconds(mean),
            f"{mean / means.min() - 1:.1%}",
            "█" * round(BAR_WIDTH * (mean - means.min()) / worst),
        )
    return grid


def shorten(name: str, width: int = 40) -> str:
    """A name that fits on a progress line."""
    return name if len(name) <= width else name[: width - 1] + "…"


def _seconds(value: float) -> str:
    return "never" if math.isinf(value) else f"{value:.4g} s"


def _appendix_line(result: Result) -> str:
    best = result.standings[result.incumbent]
    configurations = len(result.standings)
    claim = appendix_delta(EPSILON_SHOWN, best.started, result.steps, configurations)
    if result.profile != "proved" or claim is None:
        return f"Appendix lemma at epsilon = {EPSILON_SHOWN:g}: no guarantee yet."
    return (
        f"Appendix lemma: epsilon = {claim.epsilon:g}, delta = {claim.delta:.3g}"
        f" with probability {math.floor(claim.probability * 1e4) / 1e4:.2%}."
    )
