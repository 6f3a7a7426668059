"""What a person sees of a simulation: progress while it runs, a table when it ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.table import Table as Grid
from rich.text import Text

from cunctator.base.units import counted, format_duration
from cunctator.core.outlook import close_in_words, faster_in_words
from cunctator.core.statement import counting_note, headline, versus_default
from cunctator.recorded.result import BEST_SHOWN, Result
from cunctator.recorded.simulation import Simulation
from cunctator.show.text import printable, sentence, shorten

SHARES_SHOWN = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
BAR_WIDTH = 14


@contextmanager
def progress_display(console: Console, budget: float) -> Iterator[Callable[[Simulation], None]]:
    """A live line that the yielded function updates; the bar fills towards the budget, if any."""
    name_width = max(12, console.width - 62)
    columns = (
        BarColumn(bar_width=14),
        TaskProgressColumn() if math.isfinite(budget) else TextColumn(""),
        TextColumn("{task.fields[step]:>16} {task.fields[spent]:>8} charged, best"),
        TextColumn("{task.fields[best]}", markup=False),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        total = budget if math.isfinite(budget) else None
        task = progress.add_task("", total=total, step="0 runs", spent="0 s", best="")

        def update(simulation: Simulation) -> None:
            progress.update(
                task,
                completed=min(simulation.charged, budget),
                step=counted(simulation.steps, "run"),
                spent=format_duration(simulation.charged),
                best=shorten(simulation.table.configurations[simulation.incumbent], name_width),
            )

        yield update


def summary(result: Result) -> RenderableType:
    """The final table of the best five, and the story around it."""
    names = result.table.configurations
    grid = Grid(title=f"The answer, and the most started others of {len(names):,}")
    grid.add_column("name", overflow="fold", min_width=12)
    for heading in ("started", "known to", "of time", "pairs", "its mean", "answer's"):
        grid.add_column(heading, justify="right", no_wrap=True)
    for rank, standing in enumerate(result.ranking()[:BEST_SHOWN]):
        exact, both = standing.exact, result.beside[standing.configuration]
        grid.add_row(
            Text(printable(names[standing.configuration])),
            f"{standing.started:,}",
            "the end" if exact else _known_to(standing.known_cap, result.cutoff),
            f"{standing.charged / result.charged:.2%}" if result.charged else "-",
            f"{both.pairs:,}",
            _seconds(both.one) if both.pairs else "-",
            _seconds(both.other) if both.pairs else "-",
            style="bold" if rank == 0 else None,
        )
    if len(names) > 1:
        grid.caption = (
            "means over the pairs that both it and the answer have run, up to a cap that both are"
            " known to: others do not compare"
        )
    lines = [f"Answer: {printable(result.name)}", *_story(result)]
    return Group(grid, *(Text(line) for line in lines))


def _story(result: Result) -> Iterator[str]:
    """What happened, in sentences."""
    yield f"Stopped: {result.stop.value}."
    if len(result.standings) > 1:
        yield versus_default(result.certificate)
        if result.forecast.faster:
            yield sentence(faster_in_words(result.forecast.faster))
    yield headline(result.certificate, result.asked_delta)
    if result.forecast.close:
        yield sentence(close_in_words(result.forecast.close))
    if note := counting_note(result.certificate):
        yield note
    yield (
        f"{counted(result.steps, 'run')} charged {format_duration(result.charged)} of target time"
        f" ({format_duration(result.charged_resumed)} had runs been resumed);"
        f" running everything once takes {format_duration(result.whole_cost)}."
    )
    if float(result.table.runtimes.max()) <= result.first_cap:
        yield "No run takes longer than the first cap: nothing tells these apart; lower it."
    if result.cutoff is not None and float(result.table.runtimes.min()) >= result.cutoff:
        yield "No run ends before the cutoff: nothing tells these apart."
    yield f"Computed in {format_duration(result.scheduler_seconds)}."


def history(result: Result) -> RenderableType:
    """How good the answer was after each share of the table's cost, by the table's true means."""
    means = result.table.mean_runtimes
    incumbents = []
    for share in SHARES_SHOWN:
        spent = share * result.whole_cost
        known = [index for charged, _, index in result.trajectory if charged <= spent]
        if known and spent <= result.charged:
            incumbents.append((share, float(means[known[-1]])))
    grid = Grid(title="How good the answer was, by the true means")
    for heading in ("charged", "of table's cost", "answer's mean", "above the best"):
        grid.add_column(heading, justify="right", no_wrap=True)
    grid.add_column("", no_wrap=True)
    worst = max((mean for _, mean in incumbents), default=0.0)
    for share, mean in incumbents:
        grid.add_row(
            format_duration(share * result.whole_cost),
            f"{share:.5%}",
            _seconds(mean),
            f"{mean / means.min() - 1:.1%}",
            "█" * round(BAR_WIDTH * (mean - means.min()) / worst),
        )
    return grid


def _known_to(cap: float, cutoff: float | None) -> str:
    return "cutoff" if cap == cutoff else _seconds(cap)


def _seconds(value: float) -> str:
    return "never" if math.isinf(value) else format_duration(value)
