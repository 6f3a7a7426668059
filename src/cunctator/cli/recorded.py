"""`simulate`: SPC on recorded runtimes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from cunctator.base.errors import InvalidSetting
from cunctator.base.notices import log
from cunctator.base.units import parse_duration
from cunctator.cli.common import (
    INTERRUPTED,
    JsonFile,
    Penalty,
    app,
    check_writable,
    quick_interrupt,
    readable_errors,
    room_for_data,
    save,
)

if TYPE_CHECKING:
    from cunctator.recorded.result import Result
    from cunctator.recorded.simulation import Simulation

ProfileName = Annotated[str, typer.Option(help="The bounds of SPC: tight, proved or paper.")]
Seed = Annotated[int, typer.Option(help="Seed of the order of the instances.")]


@app.command()
def simulate(
    table: Annotated[Path, typer.Argument(help="Recorded runtimes: see the guide for formats.")],
    profile: ProfileName = "tight",
    first_cap: Annotated[str, typer.Option(help="Shortest cap, e.g. 100ms.")] = "100ms",
    cutoff: Annotated[str | None, typer.Option(help="Longest cap; default: the table's.")] = None,
    budget: Annotated[str | None, typer.Option(help="Target time to spend, e.g. 10d.")] = None,
    seed: Seed = 0,
    penalty: Penalty = None,
    confidence: Annotated[float, typer.Option(help="Of everything that is certified.")] = 0.95,
    epsilon: Annotated[
        float | None, typer.Option(help="With --delta: stop when this is certified.")
    ] = None,
    delta: Annotated[float | None, typer.Option(help="With --epsilon: see there.")] = None,
    json_file: JsonFile = None,
) -> None:
    """Run SPC on recorded runtimes."""
    with readable_errors(), room_for_data(json_file):
        from cunctator.formats.load import load_table
        from cunctator.recorded.simulation import Simulation
        from cunctator.show.simulation import summary

        check_writable(json_file, table)
        recorded = load_table(table)
        with quick_interrupt():
            simulation = Simulation(
                recorded,
                profile=profile,
                first_cap=parse_duration(first_cap, "--first-cap"),
                cutoff=None if cutoff is None else parse_duration(cutoff, "--cutoff"),
                budget=math.inf if budget is None else parse_duration(budget, "--budget"),
                penalty=1.0 if penalty is None else penalty,
                seed=seed,
                confidence=confidence,
                stop_at=target(epsilon, delta),
            )
        if simulation.problem:
            log.warning("%s", simulation.problem)
        result = watch(simulation)
        save(result.as_data(), json_file)
        Console().print(summary(result))
        finish(result)


def watch(simulation: Simulation) -> Result:
    """Run a simulation, with a live line if somebody is looking."""
    from cunctator.show.simulation import progress_display

    console = Console(stderr=True)
    if not console.is_terminal:
        return simulation.run()
    with progress_display(console, simulation.budget) as update:
        return simulation.run(update)


def finish(result: Result) -> None:
    """Exit with 130 if it was interrupted."""
    from cunctator.base.records import StopReason

    if result.stop is StopReason.INTERRUPTED:
        raise typer.Exit(INTERRUPTED)


def target(epsilon: float | None, delta: float | None) -> tuple[float, float] | None:
    """Both or neither of --epsilon and --delta."""
    if epsilon is None and delta is None:
        return None
    if epsilon is None or delta is None:
        missing = "--epsilon" if epsilon is None else "--delta"
        other = "--delta" if epsilon is None else "--epsilon"
        raise InvalidSetting(other, epsilon or delta, f"give {missing} as well, or neither")
    return epsilon, delta
