"""`run`, `resume`, `status`, `validate`, `measure`: studies of real targets."""

from __future__ import annotations

import os
import shlex
import signal
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from cunctator.base.records import StopReason
from cunctator.base.standard_streams import say
from cunctator.base.units import counted, parse_duration, parse_extension
from cunctator.cli.common import (
    FAILED,
    INTERRUPTED,
    JsonFile,
    Penalty,
    app,
    check_writable,
    print_parts,
    quick_interrupt,
    readable_errors,
    room_for_data,
    save,
)
from cunctator.cli.scenarios import ScenarioFile, changes_of

if TYPE_CHECKING:
    from cunctator.scenario import Scenario
    from cunctator.study.journal.journal import Change
    from cunctator.study.loop import Study
    from cunctator.study.snapshot import Snapshot
    from cunctator.study.validate import Validation
    from cunctator.study.view import View

CRASHES_SHOWN = 5
STALE = 30.0
"""Seconds without news after which `status` says that nobody works on a study."""

StudyFolder = Annotated[Path, typer.Argument(help="The folder of the study.")]


@app.command()
def run(
    scenario: ScenarioFile,
    directory: Annotated[
        Path | None, typer.Argument(help="A new folder for the study; default: SCENARIO.study.")
    ] = None,
    budget: Annotated[
        str | None, typer.Option(help="Time of all runs together, e.g. 10m, or 500runs.")
    ] = None,
    wall: Annotated[str | None, typer.Option(help="Time on the clock.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Runs at the same time.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of configurations and pairs.")] = None,
    cutoff: Annotated[str | None, typer.Option(help="The longest run, e.g. 60s.")] = None,
    penalty: Penalty = None,
    warm: Annotated[
        Path | None, typer.Option(help="An earlier study: what it liked is tried first.")
    ] = None,
    json_file: JsonFile = None,
) -> None:
    """Begin a study: find the fastest configuration of a real target.

    Options take the place of what the scenario says, in the study's own copy of it.
    """
    with readable_errors(), room_for_data(json_file):
        from cunctator.scenario import load_scenario
        from cunctator.study.folder import begin_study
        from cunctator.study.warm import folder_of_copy, warm_configurations

        check_writable(json_file, scenario)
        changes = changes_of(budget, wall, workers, seed, cutoff, penalty)
        folder = folder_of_copy(scenario)
        loaded = load_scenario(scenario, folder, changes)
        if warm is not None:
            initial = warm_configurations(loaded, warm)
            loaded = load_scenario(scenario, folder, changes, initial)
            typer.echo(f"Tried first, from {warm}: {counted(len(initial), 'configuration')}.")
        place = directory or scenario.with_suffix(".study")
        conduct(begin_study(loaded, place), place, json_file)


@app.command()
def resume(
    directory: StudyFolder,
    more: Annotated[
        str | None, typer.Option(help="Add this much to the budget, e.g. 2h, or 500runs.")
    ] = None,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="If the journal is damaged, go on from before the damage."),
    ] = False,
    json_file: JsonFile = None,
) -> None:
    """Go on with a study, wherever it ended and however."""
    with readable_errors(), room_for_data(json_file):
        from cunctator.study.folder import resumed_study
        from cunctator.study.journal.file import FILE

        check_writable(json_file, directory / FILE)
        seconds, runs = (0.0, 0) if more is None else parse_extension(more, "--more")
        opened = resumed_study(directory, seconds, more_runs=runs, repair=repair)
        conduct(opened, directory, json_file)


@app.command()
def validate(
    directory: StudyFolder,
    pairs: Annotated[
        int | None,
        typer.Option(
            help="Runs of each; default: all test instances, with new seeds until 100.", min=1
        ),
    ] = None,
    cutoff: Annotated[str | None, typer.Option(help="The longest run; default: as in it.")] = None,
    json_file: JsonFile = None,
) -> None:
    """Compare the answer with the default on test instances."""
    with readable_errors(), room_for_data(json_file):
        from cunctator.study.folder import scenario_of
        from cunctator.study.journal.file import FILE
        from cunctator.study.journal.journal import open_journal

        check_writable(json_file, directory / FILE)
        journal = open_journal(directory, writing=False)
        try:
            journal.check()
            scenario = scenario_of(directory, journal)
        finally:
            journal.close()
        longest = None if cutoff is None else parse_duration(cutoff, "--cutoff")
        validation = validated(scenario, directory, pairs, longest)
        save({**validation.as_data(), "directory": str(directory)}, json_file)
        print_validation(validation)


def validated(
    scenario: Scenario, directory: Path, pairs: int | None, cutoff: float | None = None
) -> Validation:
    """Validate the answer of a study, with a bar while it runs."""
    from rich.progress import Progress

    from cunctator.study.folder import incumbent_of, is_driven
    from cunctator.study.validate import validate as run_validation

    answer = incumbent_of(directory)
    console = Console(stderr=True)
    if is_driven(directory):
        words = "is still at work: its answer may change, and these runs take time from it"
        typer.echo(f"{directory} {words}", err=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("validating", total=None)

        def update(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        place = directory / "test-instances"
        return run_validation(scenario, answer, place, pairs, cutoff, update)


def print_validation(validation: Validation) -> None:
    """The table and the sentence; exits with 130 if it was interrupted, 1 if one only crashed."""
    from cunctator.show.validation import validation_table

    Console().print(validation_table(validation))
    if validation.interrupted:
        typer.echo("Interrupted: this is about the runs that were complete.")
        raise typer.Exit(INTERRUPTED)
    if validation.default.size in validation.crashed:
        raise typer.Exit(FAILED)


@app.command()
def status(directory: StudyFolder, json_file: JsonFile = None) -> None:
    """Show how far a study is, also while it runs."""
    with readable_errors(), room_for_data(json_file):
        from cunctator.show.status import nothing_yet
        from cunctator.study.folder import is_driven
        from cunctator.study.journal.file import FILE
        from cunctator.study.journal.journal import open_journal

        check_writable(json_file, directory / FILE)
        journal = open_journal(directory, writing=False)
        try:
            journal.check()
            last = journal.last_progress()
            changes = journal.changes()
        finally:
            journal.close()
        if last is None:
            save({"runs": 0, "directory": str(directory)}, json_file)
            typer.echo(nothing_yet(directory, bool(is_driven(directory))))
            return
        at, snapshot = last
        save({**snapshot.as_data(), **shared_data(directory, changes)}, json_file)
        print_status(directory, at, snapshot)


@app.command()
def measure(
    scenario: ScenarioFile,
    out: Annotated[Path, typer.Option(help="The table: .npz, .csv or .parquet.")],
    configurations: Annotated[int, typer.Option(min=1, help="How many.")] = 100,
    pairs: Annotated[int, typer.Option(min=1, help="Of instance and seed; at most so many.")] = 100,
) -> None:
    """Record a full table of runtimes for `simulate`."""
    with readable_errors():
        from rich.progress import Progress

        from cunctator.formats.save import check_ending, save_table
        from cunctator.scenario import load_scenario
        from cunctator.study.measure import measure as run_measurement

        check_ending(out)
        # A table may have as many pairs as are asked for, however many a search is about.
        loaded = load_scenario(scenario, silent_is_endless=True)
        beside = out.with_name(f"{out.name}.db")
        console = Console(stderr=True)
        with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task("measuring", total=None)

            def update(done: int, total: int) -> None:
                bar.update(task, completed=done, total=total)

            try:
                table = run_measurement(loaded, configurations, pairs, beside, update)
            except KeyboardInterrupt:
                bar.stop()
                total = counted(int(bar.tasks[0].total or 0), "run")
                done = f"{bar.tasks[0].completed:,.0f} of {total}"
                typer.echo(f"cunctator: recorded {done}; the same command goes on", err=True)
                raise typer.Exit(INTERRUPTED) from None
        save_table(table, out)
        if table.measures and out.suffix != ".npz":
            names = ", ".join(table.measures)
            typer.echo(f"Measures are kept in .npz files only; {out} has no {names}", err=True)
        rows, columns = table.runtimes.shape
        size = f"{counted(rows, 'configuration')} on {counted(columns, 'pair')}"
        typer.echo(f"{size}: {out}; all runs are in {beside}")
        caps = f"--first-cap {loaded.search.first_cap:g}s --cutoff {loaded.search.cutoff:g}s"
        typer.echo(f"Search it: cunctator simulate {shlex.quote(str(out))} {caps}")


def shared_data(directory: Path, changes: list[Change]) -> dict[str, object]:
    """What `run`, `resume` and `status` add to a view's data for JSON."""
    return {"trajectory": [list(change) for change in changes], "directory": str(directory)}


def print_status(directory: Path, at: float, snapshot: Snapshot) -> None:
    """What the live display would show, and the answer."""
    from cunctator.show.status import status_parts
    from cunctator.study.folder import is_driven

    console, driven = Console(), is_driven(directory)
    if driven is None:
        driven = not snapshot.stop and time.time() - at < STALE
    print_parts(console, status_parts(directory, driven, snapshot))


def conduct(
    opened: AbstractContextManager[Study],
    directory: Path,
    json_file: Path | None = None,
    hints: bool = True,
) -> dict[str, object]:
    """Run a study to its end, with everything that people see of it; returns it as data."""
    from cunctator.show.status import what_next
    from cunctator.show.study import watched

    console = Console(stderr=True)
    with quick_interrupt(), opened as study:
        with interruptible(study, console), watched(console) as show:
            view = study.run(show)
        data = {**view.snapshot().as_data(), **shared_data(directory, study.trajectory)}
        save(data, json_file)
        print_end(study, view)
    if hints:
        for line in what_next(directory, view, study.scenario.test_instances is not None):
            typer.echo(line)
    finish(view)
    return data


def print_end(study: Study, view: View) -> None:
    """The tables, the story, and what went wrong."""
    from cunctator.show.study import comparison, crash_list, pool_table, story

    console = Console()
    space = study.scenario.space
    if view.has_incumbent:
        answer = space.configuration(view.incumbent.configuration)
        console.print(comparison(space.default, answer, len(space.parameters)))
    certificate = view.snapshot().certificate
    if certificate is not None and certificate.pools:
        console.print(pool_table(certificate.pools))
    argv = incumbent_argv(study.scenario, view.incumbent.configuration)
    print_parts(console, story(view, argv))
    for warning in study.warnings:
        console.print(f"Warning: {warning}", markup=False, highlight=False)
    if study.more_warnings:
        typer.echo(f"{counted(study.more_warnings, 'more warning')} in study.log.")
    if view.crashed:
        print_parts(console, crash_list(study.crashes(CRASHES_SHOWN), view.crashed))


def incumbent_argv(scenario: Scenario, index: int) -> list[str]:
    """The command line of a configuration, to be used on any instance."""
    if scenario.target.function is not None:
        return []
    cap = scenario.search.cutoff or 1e6
    return scenario.command.argv(scenario.space.configuration(index), "INSTANCE", "SEED", cap)


def finish(view: View) -> None:
    """Exit with 130 if it was interrupted, with 1 if the target prevented a result."""
    if view.stop is StopReason.INTERRUPTED:
        raise typer.Exit(INTERRUPTED)
    if view.stop is StopReason.ABORTED or not view.has_incumbent:
        raise typer.Exit(FAILED)


@contextmanager
def interruptible(study: Study, console: Console) -> Iterator[None]:
    """Ctrl-C once: end the study in good order. Twice: now; the journal is safe either way."""
    presses = 0

    def handle(number: int, frame: object) -> None:
        nonlocal presses
        presses += 1
        study.interrupt()
        if presses > 1:
            say("ended at once; everything recorded is kept, resume it")
            os._exit(INTERRUPTED)
        if console.is_terminal:
            # Above the live display, which would write over it; it may be writing just now.
            with suppress(OSError, RuntimeError):
                console.print("cunctator: ending; press Ctrl-C again to end at once")
        else:
            say("ending; press Ctrl-C again to end at once")

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
