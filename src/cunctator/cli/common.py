"""What all commands share: the application, its options, exit codes, errors as one line."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType
from rich.text import Text

from cunctator.base.errors import CunctatorError, InvalidSetting
from cunctator.base.standard_streams import say
from cunctator.target.replies import ContradictingReplies

app = typer.Typer(
    help="Find the fastest configuration of a solver, and say how close to the best it is.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

FAILED, INPUT_IS_WRONG, INTERRUPTED = 1, 2, 130
"""Exit codes: the target or the output failed; one line says what to do; it was interrupted."""

NOTHING_YET = "interrupted before there was anything to report"

UsageError: Any = typer.BadParameter.__mro__[1]
"""What the options' parser raises; Typer carries its own copy of click and does not export it."""

JsonFile = Annotated[
    Path | None, typer.Option("--json", help="Write the result here as JSON; - prints it alone.")
]

Penalty = Annotated[
    float | None,
    typer.Option(help="Runs that reach the cutoff count as so many times the cutoff, e.g. 10."),
]

STANDARD_OUTPUT = Path("-")
"""In the place of a file for the result as data."""


def save(data: dict[str, object], json_file: Path | None) -> None:
    """Write the result, before anything is printed; a file that exists is replaced whole."""
    if json_file is None:
        return
    text = json.dumps(data, allow_nan=False, indent=1) + "\n"
    if json_file == STANDARD_OUTPUT:
        assert sys.__stdout__ is not None
        sys.__stdout__.write(text)
        sys.__stdout__.flush()
        return
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


def check_writable(json_file: Path | None, *others: Path) -> None:
    """Complain before the work, not after it, if the result could not be saved.

    Nor may it take the place of other files: what is read, or kept.
    """
    if json_file is None or json_file == STANDARD_OUTPUT:
        return
    # Not Path.resolve, which fails on links that go in circles.
    if os.path.realpath(json_file) in {os.path.realpath(other) for other in others}:
        raise InvalidSetting("--json", str(json_file), "expected another file: this one is needed")
    try:
        good = json_file.parent.is_dir() and not json_file.is_dir()
        good = good and os.access(json_file.parent, os.W_OK)
    except OSError:
        good = False
    if not good:
        expected = "expected a file in a folder that exists and can be written to"
        raise InvalidSetting("--json", str(json_file), expected)


@contextmanager
def room_for_data(json_file: Path | None) -> Iterator[None]:
    """If the result as data goes to standard output, it alone: words for people to the other."""
    if json_file != STANDARD_OUTPUT:
        yield
        return
    with redirect_stdout(sys.stderr):
        yield


@contextmanager
def quick_interrupt(words: str = NOTHING_YET) -> Iterator[None]:
    """While kernels are compiled or figures drawn, let Ctrl-C end the process at once.

    Compilers and fonts call back into Python and swallow exceptions there, KeyboardInterrupt too;
    and there is nothing to save yet, or any more.
    """

    def leave(number: int, frame: object) -> None:
        say(words)
        os._exit(INTERRUPTED)

    before = signal.signal(signal.SIGINT, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def readable_errors() -> Iterator[None]:
    """Turn errors that say what to do into one line and exit code 2; Ctrl-C into one and 130."""
    try:
        yield
    except CunctatorError as error:
        typer.echo(f"cunctator: {' '.join(str(error).split())}", err=True)
        code = FAILED if isinstance(error, ContradictingReplies) else INPUT_IS_WRONG
        raise typer.Exit(code) from None
    except KeyboardInterrupt:
        typer.echo(f"cunctator: {NOTHING_YET}", err=True)
        raise typer.Exit(INTERRUPTED) from None


def print_parts(console: Console, parts: Iterable[RenderableType]) -> None:
    """Print what `show` has made; lines that are not to be wrapped go on beyond the edge."""
    for part in parts:
        is_whole = isinstance(part, Text) and part.no_wrap is True
        console.print(part, soft_wrap=is_whole, markup=False, highlight=False)
