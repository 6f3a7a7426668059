"""The command line. The only place that prints or exits.

Exit codes: 0 done, 1 the target prevented a result, 2 the input is wrong (one line says what to
do), 130 interrupted (what was found so far has been printed and saved).
"""

from __future__ import annotations

import logging
import os
import sys
from contextlib import suppress
from typing import Annotated

import typer

import cunctator.cli.compare  # these make the commands
import cunctator.cli.demo
import cunctator.cli.importing
import cunctator.cli.recorded
import cunctator.cli.scenarios
import cunctator.cli.studies  # noqa: F401
from cunctator.base.errors import one_line
from cunctator.base.standard_streams import make_patient
from cunctator.cli.common import FAILED, INPUT_IS_WRONG, INTERRUPTED, NOTHING_YET, UsageError, app

__all__ = ["main"]

ORDER = [
    *("demo", "init", "import", "check", "run", "resume", "status", "validate"),
    *("measure", "simulate", "compare"),
]
"""Of the commands in the help: as people come to need them."""

app.registered_commands.sort(
    key=lambda one: ORDER.index(str(one.name or getattr(one.callback, "__name__", "")))
)


def main() -> None:
    """Entry point: whatever is wrong with the input becomes one line and exit code 2."""
    make_patient()
    logging.basicConfig(format="cunctator: %(message)s", level=logging.WARNING)
    try:
        code = app(standalone_mode=False)
    except UsageError as error:
        message = error.format_message().rstrip(".?")
        typer.echo(f"cunctator: {message}; see cunctator --help", err=True)
        code = INPUT_IS_WRONG
    except OSError as error:
        # Without a file's name it is what is printed that cannot be written; the JSON has been.
        what = one_line(str(error.filename)) if error.filename else "cannot print"
        with suppress(OSError):
            typer.echo(f"cunctator: {what}: {error.strerror or error}", err=True)
        os._exit(INPUT_IS_WRONG if error.filename else FAILED)
    except (KeyboardInterrupt, typer.Abort):
        typer.echo(f"cunctator: {NOTHING_YET}", err=True)
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
