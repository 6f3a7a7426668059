"""`compare`: SPC beside other procedures, on recorded runtimes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from cunctator.base.errors import InvalidSetting, one_line
from cunctator.base.units import counted, format_duration, parse_duration
from cunctator.cli.common import (
    INTERRUPTED,
    JsonFile,
    app,
    check_writable,
    quick_interrupt,
    readable_errors,
    room_for_data,
    save,
)

if TYPE_CHECKING:
    from cunctator.comparison.running import Comparison
    from cunctator.comparison.running import Progress as Now
    from cunctator.recorded.table import Table

DEFAULT_METHODS = "spc,sp,lb"
FIGURES = ("answers", "excess", "spent", "bound", "variation")
MOST_SEEDS, MOST_WORKERS = 10_000, 1024
RECORDED = "all jobs are recorded; the same command writes and draws what came of them"
Words = Annotated[str | None, typer.Option(help="Instead of the paper's grid, e.g. 0.1,0.3.")]


@app.command()
def compare(
    table: Annotated[Path, typer.Argument(help="Recorded runtimes, or minisat: those that ship.")],
    methods: Annotated[
        str, typer.Option(help="Names with commas between them; see docs/siblings.md.")
    ] = DEFAULT_METHODS,
    out: Annotated[
        Path, typer.Option(help="Folder of results; the same command goes on with them.")
    ] = Path("comparison"),
    seeds: Annotated[
        int, typer.Option(min=1, max=MOST_SEEDS, help="Orders of the instances to try.")
    ] = 3,
    first_cap: Annotated[str, typer.Option(help="Shortest cap, e.g. 100ms.")] = "100ms",
    cutoff: Annotated[str | None, typer.Option(help="Longest cap; default: the table's.")] = None,
    budget: Annotated[
        str | None, typer.Option(help="For each job; default: ten whole tables, or none.")
    ] = None,
    resample: Annotated[
        bool, typer.Option("--resample/--once", help="Draw instances with replacement, or not.")
    ] = True,
    epsilon: Words = None,
    delta: Words = None,
    given: Annotated[
        list[str] | None,
        typer.Option("--set", help="Other settings, e.g. spc.profile=tight,paper; repeatable."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, max=MOST_WORKERS, help="Default: all cores.")
    ] = None,
    configuration: Annotated[
        str | None,
        typer.Option(help="Name or row (from 0): whose lower bound is drawn; default: the best."),
    ] = None,
    formats: Annotated[str, typer.Option(help="Of figures: png, svg, pdf; or none.")] = "png",
    json_file: JsonFile = None,
) -> None:
    """Compare SPC with other procedures on recorded runtimes."""
    with readable_errors(), room_for_data(json_file):
        from cunctator.comparison.running import make_conditions, run_comparison
        from cunctator.formats.load import load_table
        from cunctator.scenario.models import cpus
        from cunctator.show.comparison_files import as_data, write_files
        from cunctator.siblings.registry import check_grid, check_methods, read_settings

        endings = _check_figures(formats)
        check_writable(json_file, table, out, *_files_of(out, endings))
        names = check_methods([name.strip() for name in methods.split(",")])
        settings = read_settings(names, given or [])
        recorded = load_table(table)
        index = _index_of(configuration, recorded)
        conditions = make_conditions(
            recorded,
            parse_duration(first_cap, "--first-cap"),
            None if cutoff is None else parse_duration(cutoff, "--cutoff"),
            None if budget is None else parse_duration(budget, "--budget"),
            resample,
        )
        grid = {"epsilon": _numbers("--epsilon", epsilon), "delta": _numbers("--delta", delta)}
        check_grid(names, grid)
        with _progress_display() as update:
            comparison = run_comparison(
                recorded,
                conditions,
                names,
                out,
                seeds=seeds,
                grid={name: values for name, values in grid.items() if values},
                workers=workers or cpus(),
                given=settings,
                prepare=partial(_prepare_kernels, names),
                progress=update,
            )
        with quick_interrupt(RECORDED):
            write_files(comparison, out)
            if endings:
                _draw(comparison, index, out, endings)
            save(as_data(comparison), json_file)
        _show(comparison, out)
        if all("error" in record for record in comparison.records):
            raise typer.Exit(1)


def _files_of(out: Path, endings: list[str]) -> list[Path]:
    """All that a comparison writes to its folder."""
    from cunctator.comparison.results_file import NAME, WRITTEN

    figures = [f"{name}.{ending}" for name in FIGURES for ending in endings]
    return [out / name for name in (NAME, *WRITTEN, *figures)]


def _prepare_kernels(names: list[str]) -> None:
    """Compile those of SPC here, once, and not in every process."""
    from cunctator.recorded.simulation import simulate
    from cunctator.show.comparison import OURS

    if OURS in names:
        with quick_interrupt():
            simulate([[1.0]])


@contextmanager
def _progress_display() -> Iterator[Any]:
    """A bar if somebody is looking; Ctrl-C says how to go on."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn("comparing"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
    )
    last: list[Now] = []
    console = Console(stderr=True)
    quiet = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=quiet) as bar:
        task = bar.add_task("", total=None)

        def update(now: Now) -> None:
            last[:] = [now]
            bar.update(task, completed=now.done, total=now.total, description=_time_left(now))

        try:
            yield update
        except KeyboardInterrupt:
            bar.stop()
            total = counted(last[0].total, "job") if last else ""
            done = f"recorded {last[0].done:,} of {total}; " if last else ""
            typer.echo(f"cunctator: {done}the same command goes on", err=True)
            raise typer.Exit(INTERRUPTED) from None


def _show(comparison: Comparison, out: Path) -> None:
    """Print the table, and what it says in words."""
    from cunctator.show.comparison import sentences, terminal_table

    console = Console()
    console.print(terminal_table(comparison))
    for sentence in [*sentences(comparison), f"Everything is in {one_line(str(out))}"]:
        console.print(sentence, markup=False, highlight=False)


def _time_left(now: Now) -> str:
    if now.left is None:
        return ""
    return f"{'at least' if now.is_least else 'about'} {format_duration(round(now.left))} left"


def _draw(comparison: Comparison, chosen: int | None, out: Path, endings: list[str]) -> None:
    from cunctator.comparison.summary import true_means
    from cunctator.show.figures.comparison_figures import (
        excess_figure,
        incumbents_figure,
        spent_figure,
    )
    from cunctator.show.figures.style import save_figure
    from cunctator.show.figures.table_figures import bound_figure, variation_figure

    table, conditions = comparison.table, comparison.conditions
    if any(record.get("trajectory") for record in comparison.records):
        save_figure(incumbents_figure(comparison), out / "answers", endings)
        save_figure(excess_figure(comparison), out / "excess", endings)
        save_figure(spent_figure(comparison), out / "spent", endings)
    index = int(true_means(comparison).argmin()) if chosen is None else chosen
    save_figure(bound_figure(table, conditions, index), out / "bound", endings)
    save_figure(variation_figure(table, conditions), out / "variation", endings)


def _check_figures(text: str) -> list[str]:
    if text == "none":
        return []
    from cunctator.show.figures.style import check_formats

    return check_formats([name.strip() for name in text.split(",")])


def _index_of(configuration: str | None, table: Table) -> int | None:
    """The row of a configuration that is given by its name or its number."""
    if configuration is None:
        return None
    names = table.configurations
    if configuration in names:
        return names.index(configuration)
    if re.fullmatch(r"[0-9]{1,18}", configuration) and int(configuration) < len(names):
        return int(configuration)
    expected = f"expected a name, or a row from 0 to {len(names) - 1}"
    raise InvalidSetting("--configuration", configuration, expected)


def _numbers(option: str, text: str | None) -> tuple[float, ...]:
    """Shares between 0 and 1; none if nothing is given."""
    if text is None:
        return ()
    try:
        numbers = tuple(float(word) for word in text.split(","))
    except ValueError:
        numbers = (0.0,)
    if not all(0 < number < 1 for number in numbers):
        expected = "expected numbers between 0 and 1 with commas between them, e.g. 0.1,0.3"
        raise InvalidSetting(option, text, expected)
    return tuple(dict.fromkeys(numbers))
