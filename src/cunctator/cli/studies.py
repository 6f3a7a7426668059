"""`init`, `check`, `run`, `resume`, `status`, `validate`: studies of real targets."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from cunctator.cli.common import (
    FAILED,
    INTERRUPTED,
    JsonFile,
    app,
    check_writable,
    quick_interrupt,
    readable_errors,
    save,
)
from cunctator.errors import InvalidSetting
from cunctator.units import format_duration, parse_duration

if TYPE_CHECKING:
    from cunctator.scenario import Scenario
    from cunctator.study import Study, View
    from cunctator.validation import Validation

CRASHES_SHOWN = 5
STALE = 10.0
"""Seconds without news after which `status` says that nobody works on a study."""

ScenarioFile = Annotated[Path, typer.Argument(help="The scenario, e.g. scenario.toml.")]
StudyFolder = Annotated[Path, typer.Argument(help="The folder of the study.")]


@app.command()
def init(
    scenario: Annotated[Path, typer.Argument(help="Where to write it.")] = Path("scenario.toml"),
) -> None:
    """Write a commented example of a scenario."""
    with readable_errors():
        from cunctator.scenario import template_text

        try:
            with scenario.open("x", encoding="utf-8") as file:
                file.write(template_text())
        except FileExistsError:
            fix = "there is such a file; give another name"
            raise InvalidSetting("scenario", str(scenario), fix) from None
        except OSError as error:
            fix = f"cannot write: {error.strerror}"
            raise InvalidSetting("scenario", str(scenario), fix) from None
        typer.echo(f"{scenario} is a commented example; edit it, then: cunctator check {scenario}")


@app.command()
def check(scenario: ScenarioFile) -> None:
    """Read a scenario, and run the default configuration on three instances."""
    with readable_errors():
        from cunctator.scenario import load_scenario
        from cunctator.trial import check_scenario, check_table

        loaded = load_scenario(scenario)
        console = Console()
        trials = check_scenario(loaded)
        console.print(check_table(loaded, trials))
        if not all(trial.is_good for trial in trials):
            raise typer.Exit(FAILED)


@app.command()
def run(
    scenario: ScenarioFile,
    directory: Annotated[
        Path | None, typer.Argument(help="A new folder for the study; default: named after it.")
    ] = None,
    json_file: JsonFile = None,
) -> None:
    """Begin a study: find the fastest configuration of a real target."""
    with readable_errors():
        from cunctator.scenario import load_scenario
        from cunctator.study_folder import begin_study

        check_writable(json_file)
        loaded = load_scenario(scenario)
        place = directory or scenario.with_suffix(".study")
        conduct(begin_study(loaded, place), place, json_file)


@app.command()
def resume(
    directory: StudyFolder,
    more: Annotated[str | None, typer.Option(help="Add this much to the budget, e.g. 2h.")] = None,
    json_file: JsonFile = None,
) -> None:
    """Go on with a study, wherever it ended and however."""
    with readable_errors():
        from cunctator.study_folder import resumed_study

        check_writable(json_file)
        extra = 0.0 if more is None else parse_duration(more, "--more")
        conduct(resumed_study(directory, extra), directory, json_file)


@app.command()
def validate(
    directory: StudyFolder,
    pairs: Annotated[
        int | None, typer.Option(help="How many; default: all test instances, or 100.", min=1)
    ] = None,
    json_file: JsonFile = None,
) -> None:
    """Run the answer and the default on the test instances, and compare them."""
    with readable_errors():
        from cunctator.journal import open_journal
        from cunctator.study_folder import scenario_of

        check_writable(json_file)
        journal = open_journal(directory, writing=False)
        try:
            scenario = scenario_of(directory, journal)
        finally:
            journal.close()
        validation = validated(scenario, directory, pairs)
        save(validation.as_data(), json_file)


def validated(scenario: Scenario, directory: Path, pairs: int | None) -> Validation:
    """Validate the answer of a study, with a bar while it runs and the table at the end."""
    from rich.progress import Progress

    from cunctator.study_folder import answer_of
    from cunctator.validation import validate as run_validation
    from cunctator.validation import validation_table

    index = answer_of(directory)
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("validating", total=None)

        def update(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        validation = run_validation(scenario, index, directory / "test-instances", pairs, update)
    Console().print(validation_table(validation))
    return validation


@app.command()
def status(directory: StudyFolder, json_file: JsonFile = None) -> None:
    """Show how far a study is, also while it runs."""
    with readable_errors():
        from cunctator.journal import open_journal

        check_writable(json_file)
        journal = open_journal(directory, writing=False)
        try:
            last = journal.last_progress()
        finally:
            journal.close()
        if last is None:
            typer.echo("Nothing has been done yet.")
            return
        at, data = last
        save(data, json_file)
        print_status(at, data)


@app.command()
def measure(
    scenario: ScenarioFile,
    out: Annotated[Path, typer.Option(help="The table: .npz, .csv or .parquet.")],
    configurations: Annotated[int, typer.Option(min=1, help="How many.")] = 100,
    pairs: Annotated[int, typer.Option(min=1, help="Of instance and seed; at most so many.")] = 100,
) -> None:
    """Record a full table of runtimes, which `simulate` reads; go on if it was interrupted."""
    with readable_errors():
        from rich.progress import Progress

        from cunctator.formats.save import check_ending, save_table
        from cunctator.measuring import measure as run_measurement
        from cunctator.scenario import load_scenario

        check_ending(out)
        loaded = load_scenario(scenario)
        beside = out.with_name(f"{out.name}.db")
        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("measuring", total=None)

            def update(done: int, total: int) -> None:
                bar.update(task, completed=done, total=total)

            table = run_measurement(loaded, configurations, pairs, beside, update)
        save_table(table, out)
        rows, columns = table.runtimes.shape
        typer.echo(f"{rows:,} configurations on {columns:,} pairs: {out}; all runs are in {beside}")


def print_status(at: float, data: dict[str, object]) -> None:
    """A few lines about a study."""
    from cunctator.display import printable

    age = time.time() - at
    incumbent, certificate = data["incumbent"], data["certificate"]
    assert isinstance(incumbent, dict) and isinstance(certificate, dict)
    if data["stop"]:
        state = f"stopped: {data['stop']}"
    else:
        state = "running" if age < STALE else f"no news for {format_duration(age)}: resume it"
    charged, wall = (format_duration(float(str(data[name]))) for name in ("charged", "wall"))
    typer.echo(f"{state}; {data['runs']:,} runs, {charged} charged, {wall} on the clock")
    settings = incumbent["configuration"]
    words = " ".join(f"{name}={value}" for name, value in settings.items())
    typer.echo(f"answer: configuration {incumbent['index']}: {printable(words)}")
    typer.echo(str(certificate["headline"]))


def conduct(
    opened: AbstractContextManager[Study], directory: Path, json_file: Path | None = None
) -> dict[str, object]:
    """Run a study to its end, with everything that people see of it; returns it as data."""
    from cunctator.study_display import watched

    console = Console(stderr=True)
    with quick_interrupt(), opened as study:
        with interruptible(study), watched(console, study.budget) as show:
            view = study.run(show)
        data = {**view.as_data(), "directory": str(directory)}
        save(data, json_file)
        print_end(study, view)
    finish(view)
    return data


def print_end(study: Study, view: View) -> None:
    """The tables, the story, and what went wrong."""
    from cunctator.study_display import comparison, crash_list, story

    console = Console()
    space = study.scenario.space
    if view.answer.started:
        console.print(comparison(space.default, space.configuration(view.answer.configuration)))
    console.print(story(view, answer_argv(study.scenario, view.answer.configuration)))
    for warning in study.warnings:
        console.print(f"Warning: {warning}", markup=False, highlight=False)
    if view.crashed:
        console.print(crash_list(study.crashes(CRASHES_SHOWN), view.crashed))


def answer_argv(scenario: Scenario, index: int) -> list[str]:
    """The command line of a configuration, to be used on any instance."""
    from cunctator.target.command import Command

    if scenario.target.function is not None:
        return []
    command = Command.from_scenario(scenario)
    cap = scenario.search.cutoff or 1e6
    return command.argv(scenario.space.configuration(index), "INSTANCE", 1, cap)


def finish(view: View) -> None:
    """Exit with 130 if it was interrupted, with 1 if the target prevented a result."""
    from cunctator.records import StopReason

    if view.stop is StopReason.INTERRUPTED:
        raise typer.Exit(INTERRUPTED)
    failures = (StopReason.ABORTED, StopReason.CONTRADICTION, StopReason.DEFAULT_CRASHES)
    if view.stop in failures:
        raise typer.Exit(FAILED)


@contextmanager
def interruptible(study: Study) -> Iterator[None]:
    """Ctrl-C once: end the study in good order. Twice: now; the journal is safe either way."""
    presses = 0

    def handle(number: int, frame: object) -> None:
        nonlocal presses
        presses += 1
        if presses > 1:
            os.write(2, b"cunctator: ended at once; everything recorded is kept, resume it\n")
            os._exit(INTERRUPTED)
        os.write(2, b"\ncunctator: ending; press Ctrl-C again to end at once\n")
        study.interrupt()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
