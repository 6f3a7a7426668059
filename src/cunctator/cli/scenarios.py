"""`init` and `check`: scenarios, before there is a study; and what options change in them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from cunctator.base.errors import InvalidSetting
from cunctator.base.notices import announced_compilation
from cunctator.base.units import parse_duration, parse_extension
from cunctator.cli.common import FAILED, app, print_parts, readable_errors

ScenarioFile = Annotated[Path, typer.Argument(help="The scenario, e.g. scenario.toml.")]


@app.command()
def init(
    scenario: Annotated[Path, typer.Argument(help="Where to write it.")] = Path("scenario.toml"),
    solver: Annotated[str | None, typer.Option(help="For a solver, e.g. kissat.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")] = False,
) -> None:
    """Write a commented example of a scenario."""
    with readable_errors():
        from cunctator.scenario import template_text
        from cunctator.spaces import scenario_text

        text = template_text() if solver is None else scenario_text(solver)
        try:
            with scenario.open("w" if force else "x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            fix = "that exists already; give another name, or --force"
            raise InvalidSetting("scenario", str(scenario), fix) from None
        except OSError as error:
            fix = f"cannot write: {error.strerror}"
            raise InvalidSetting("scenario", str(scenario), fix) from None
        typer.echo(f"{scenario} is a commented example; edit it, then: cunctator check {scenario}")


@app.command()
def check(scenario: ScenarioFile) -> None:
    """Try a scenario: read it, and make four runs."""
    with readable_errors():
        from cunctator.scenario import load_scenario
        from cunctator.show.trial import check_parts
        from cunctator.study.folder import new_scheduler, warn_of_reach, will_close
        from cunctator.study.trial import check_scenario, contradiction_in

        loaded = load_scenario(scenario)
        if loaded.instances.count is not None:  # of an endless stream enough can be had
            with announced_compilation():
                warn_of_reach(new_scheduler(loaded, will_close(loaded)), loaded)
        console = Console()
        trials = check_scenario(loaded)
        print_parts(console, check_parts(loaded, trials))
        if not all(trial.is_good for trial in trials) or contradiction_in(trials) is not None:
            raise typer.Exit(FAILED)


def changes_of(
    budget: str | None,
    wall: str | None,
    workers: int | None,
    seed: int | None,
    cutoff: str | None,
    penalty: float | None,
) -> dict[tuple[str, str], str | float]:
    """What options change in a scenario, by table and key."""
    changes: dict[tuple[str, str], str | float] = {}
    if budget is not None:
        _, runs = parse_extension(budget, "--budget")
        key, value = ("runs", runs) if runs else ("charged", budget)
        changes["budget", key] = value
    for option, table, text in (("wall", "budget", wall), ("cutoff", "search", cutoff)):
        if text is not None:
            parse_duration(text, f"--{option}")
            changes[table, option] = text
    if penalty is not None and not math.isfinite(penalty):
        raise InvalidSetting("--penalty", penalty, "expected a number of at least 1, e.g. 10")
    for option, number in (("workers", workers), ("seed", seed), ("penalty", penalty)):
        if number is not None:
            changes["search", option] = number
    return changes
