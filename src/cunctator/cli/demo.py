"""`demo`: the whole thing at work, on a real solver or on a made-up one."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from cunctator.base.errors import InvalidSetting
from cunctator.base.units import counted, parse_duration
from cunctator.cli.common import (
    JsonFile,
    app,
    check_writable,
    quick_interrupt,
    readable_errors,
    room_for_data,
    save,
)
from cunctator.cli.recorded import finish, watch
from cunctator.cli.studies import conduct, print_validation, validated

MADE_UP = "made-up"


@app.command()
def demo(
    solver: Annotated[str, typer.Option(help="clasp, minisat, or made-up.")] = "clasp",
    time: Annotated[str, typer.Option(help="How long to search, on the clock.")] = "90s",
    seed: Annotated[int, typer.Option(help="Of the formulas and the search.")] = 0,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Runs at the same time; default: all CPUs.")
    ] = None,
    profile: Annotated[str, typer.Option(help="The bounds, for made-up only.")] = "tight",
    json_file: JsonFile = None,
) -> None:
    """Configure a real SAT solver, to see it at work."""
    with readable_errors(), room_for_data(json_file):
        check_writable(json_file)
        if solver == MADE_UP and workers is not None:
            raise InvalidSetting("--workers", workers, "made-up runs nothing: leave it out")
        if solver == MADE_UP:
            show_made_up(profile, seed, json_file)
        elif profile != "tight":
            raise InvalidSetting("--profile", profile, "give it with --solver made-up only")
        else:
            show_real(solver, seed, parse_duration(time, "--time"), workers, json_file)


def show_real(
    solver: str, seed: int, seconds: float, workers: int | None, json_file: Path | None
) -> None:
    """A study of a real solver in a folder that is gone afterwards, and its validation."""
    from cunctator.demo.real import TESTING, TRAINING, demo_scenario
    from cunctator.study.folder import begin_study

    console = Console()
    with tempfile.TemporaryDirectory(prefix="cunctator-demo-") as name:
        folder = Path(name)
        scenario = demo_scenario(solver, seed, seconds, folder, workers)
        console.print(
            f"{solver}, {counted(len(scenario.space.parameters), 'parameter')},"
            f" pools of configurations that grow; {TRAINING} generated formulas, one"
            f" seed each; {seconds:g} s on {counted(scenario.search.workers, 'slot')}."
            f" Then {TESTING} fresh formulas for the answer and the default.",
            highlight=False,
        )
        study = folder / "study"
        data = conduct(begin_study(scenario, study), study, hints=False)
        validation = validated(scenario, study, TESTING)
        save({**data, "validation": validation.as_data()}, json_file)
        print_validation(validation)


def show_made_up(profile: str, seed: int, json_file: Path | None) -> None:
    """A simulation of 200 configurations, with the truth beside it."""
    from cunctator.demo.synthetic import synthetic_table
    from cunctator.recorded.simulation import Simulation
    from cunctator.show.simulation import history, summary

    table = synthetic_table(seed=seed)
    console = Console()
    console.print(
        "A made-up solver: 200 configurations, 1,000 instances with 20 seeds each, all runtimes"
        " recorded. The search sees a runtime only by paying for it."
    )
    with quick_interrupt():
        simulation = Simulation(table, profile=profile, seed=seed)
    result = watch(simulation)
    save(result.as_data(), json_file)
    console.print(history(result))
    console.print(summary(result))
    finish(result)
