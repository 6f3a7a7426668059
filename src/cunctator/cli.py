"""The command line. The only place that prints or exits.

Exit codes: 0 done, 2 the input is wrong (one line says what to do), 130 interrupted (what was
found so far has been printed and saved).
"""

from __future__ import annotations

import io
import json
import logging
import math
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from cunctator.errors import CunctatorError, InvalidSetting
from cunctator.units import parse_duration

if TYPE_CHECKING:
    from cunctator.simulation import Result, Simulation

app = typer.Typer(
    help="Find the fastest configuration of a solver, and say how close to the best it is.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

CANNOT_PRINT, INPUT_IS_WRONG, INTERRUPTED = 1, 2, 130

UsageError: Any = typer.BadParameter.__mro__[1]
"""What the options' parser raises; Typer carries its own copy of click and does not export it."""

JsonFile = Annotated[Path | None, typer.Option("--json", help="Write the result here as JSON.")]
ProfileName = Annotated[str, typer.Option(help="The bounds of SPC: tight, proved or paper.")]
Seed = Annotated[int, typer.Option(help="Seed of the order of the instances.")]


def main() -> None:
    """Entry point: whatever is wrong with the input becomes one line and exit code 2."""
    logging.basicConfig(format="cunctator: %(message)s", level=logging.WARNING)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names may hold anything
    try:
        code = app(standalone_mode=False)
    except UsageError as error:
        message = error.format_message().rstrip(".")
        typer.echo(f"cunctator: {message}; see cunctator --help", err=True)
        code = INPUT_IS_WRONG
    except OSError as error:  # what is printed cannot be written; the JSON has been by now
        with suppress(OSError):
            typer.echo(f"cunctator: cannot print: {error.strerror}", err=True)
        os._exit(CANNOT_PRINT)
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("cunctator: interrupted before there was anything to report", err=True)
        code = INTERRUPTED
    sys.exit(code)


@app.callback(invoke_without_command=True)
def top(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Cunctator: algorithm configuration by putting long runs off."""
    if version:
        from cunctator import __version__

        typer.echo(f"cunctator {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(INPUT_IS_WRONG)


@app.command()
def simulate(
    table: Annotated[Path, typer.Argument(help="Recorded runtimes: see the guide for formats.")],
    profile: ProfileName = "tight",
    first_cap: Annotated[str, typer.Option(help="Shortest cap, e.g. 100ms.")] = "100ms",
    cutoff: Annotated[str | None, typer.Option(help="Longest cap; default: the table's.")] = None,
    budget: Annotated[str | None, typer.Option(help="Target time to spend, e.g. 10d.")] = None,
    seed: Seed = 0,
    confidence: Annotated[float, typer.Option(help="Of everything that is certified.")] = 0.95,
    epsilon: Annotated[
        float | None, typer.Option(help="With --delta: stop when this is certified.")
    ] = None,
    delta: Annotated[float | None, typer.Option(help="With --epsilon: see there.")] = None,
    json_file: JsonFile = None,
) -> None:
    """Run SPC on recorded runtimes."""
    with readable_errors():
        from cunctator.display import summary
        from cunctator.formats.load import load_table
        from cunctator.simulation import Simulation

        check_writable(json_file)
        recorded = load_table(table)
        with quick_interrupt():
            simulation = Simulation(
                recorded,
                profile=profile,
                first_cap=parse_duration(first_cap, "--first-cap"),
                cutoff=None if cutoff is None else parse_duration(cutoff, "--cutoff"),
                budget=math.inf if budget is None else parse_duration(budget, "--budget"),
                seed=seed,
                confidence=confidence,
                stop_at=target(epsilon, delta),
            )
        result = watch(simulation)
        save(result, json_file)
        Console().print(summary(result))
        finish(result)


@app.command()
def demo(
    profile: ProfileName = "tight",
    seed: Annotated[int, typer.Option(help="Seed of the made-up solver and the order.")] = 0,
    json_file: JsonFile = None,
) -> None:
    """Show it at work on a made-up solver: 200 configurations, 1,000 instances."""
    with readable_errors():
        from cunctator.demo.synthetic import synthetic_table
        from cunctator.display import history, summary
        from cunctator.simulation import Simulation

        check_writable(json_file)
        table = synthetic_table(seed=seed)
        console = Console()
        console.print(
            "A made-up solver: 200 configurations, 1,000 instances with 20 seeds each, all runtimes"
            " recorded. The search sees a runtime only by paying for it."
        )
        with quick_interrupt():
            simulation = Simulation(table, profile=profile, seed=seed)
        result = watch(simulation)
        save(result, json_file)
        console.print(history(result))
        console.print(summary(result))
        finish(result)


def watch(simulation: Simulation) -> Result:
    """Run a simulation, with a live line if somebody is looking."""
    from cunctator.display import progress_display

    console = Console(stderr=True)
    if not console.is_terminal:
        return simulation.run()
    with progress_display(console, simulation.budget) as update:
        return simulation.run(update)


def save(result: Result, json_file: Path | None) -> None:
    """Write the result, before anything is printed; a file that exists is replaced whole."""
    if json_file is None:
        return
    text = json.dumps(result.as_data(), allow_nan=False) + "\n"
    try:
        if json_file.exists() and not json_file.is_file():
            json_file.write_text(text, encoding="utf-8")  # a device or a pipe
            return
        beside = json_file.with_name(f".{os.getpid()}.part")
        try:
            beside.write_text(text, encoding="utf-8")
            beside.replace(json_file)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        expected = f"cannot write: {error.strerror}"
        raise InvalidSetting("--json", str(json_file), expected) from None


def finish(result: Result) -> None:
    """Exit with 130 if it was interrupted."""
    from cunctator.records import StopReason

    if result.stop is StopReason.INTERRUPTED:
        raise typer.Exit(INTERRUPTED)


def target(epsilon: float | None, delta: float | None) -> tuple[float, float] | None:
    """Both or neither of --epsilon and --delta."""
    if epsilon is None and delta is None:
        return None
    if epsilon is None or delta is None:
        missing = "--epsilon" if epsilon is None else "--delta"
        raise InvalidSetting(missing, None, "give both --epsilon and --delta, or neither")
    return epsilon, delta


def check_writable(json_file: Path | None) -> None:
    """Complain before the work, not after it, if the result could not be saved."""
    if json_file is None:
        return
    try:
        good = json_file.parent.is_dir() and not json_file.is_dir()
        good = good and os.access(json_file.parent, os.W_OK)
    except OSError:
        good = False
    if not good:
        expected = "expected a file in a folder that exists and can be written to"
        raise InvalidSetting("--json", str(json_file), expected)


@contextmanager
def quick_interrupt() -> Iterator[None]:
    """While kernels are compiled, let Ctrl-C end the process at once.

    The compiler calls back into Python and swallows exceptions there, KeyboardInterrupt too; and
    there is nothing to save yet.
    """

    def leave(number: int, frame: object) -> None:
        os.write(2, b"cunctator: interrupted before there was anything to report\n")
        os._exit(INTERRUPTED)

    before = signal.signal(signal.SIGINT, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def readable_errors() -> Iterator[None]:
    """Turn errors that say what to do into one line and exit code 2."""
    try:
        yield
    except CunctatorError as error:
        typer.echo(f"cunctator: {' '.join(str(error).split())}", err=True)
        raise typer.Exit(INPUT_IS_WRONG) from None
