"""`import`: scenarios from other tools' files."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from cunctator.base.errors import InvalidSetting, one_line
from cunctator.cli.common import app, readable_errors


@app.command("import")
def import_(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help="A file of SMAC, ParamILS, AClib, irace or ConfigSpace, or a folder with one.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Where to write it.")] = Path("scenario.toml"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")] = False,
) -> None:
    """Make a scenario from other tools' files."""
    with readable_errors():
        from cunctator.formats.folders import file_in
        from cunctator.formats.imported import ImportedScenario
        from cunctator.formats.importing import (
            import_file,
            kind_of,
            moved,
            summary,
            text_of_import,
        )

        check_free(out, force)
        if file.is_dir():
            file = file_in(file)
            typer.echo(f"{one_line(str(file), 1000)} is imported")
        kind = kind_of(file)
        imported = import_file(file)
        todo = "fill in [target], [instances], [search] and [budget] in it"
        if isinstance(imported, ImportedScenario):
            imported = moved(imported, file.parent, out.parent)
            todo = f"try it: cunctator check {shlex.quote(str(out))}"
        write(out, text_of_import(imported, file, kind), force)
        for line in summary(imported, kind):
            typer.echo(line)
        typer.echo(f"{one_line(str(out), 1000)} is written; {todo}")


def check_free(out: Path, force: bool) -> None:
    """Complain before the work if the file must not be written."""
    if not force and os.path.lexists(out):
        fix = "that exists already; give another name, or --force"
        raise InvalidSetting("--out", str(out), fix)


def write(out: Path, text: str, force: bool) -> None:
    """Write the scenario; a file that has appeared meanwhile is left alone."""
    try:
        with out.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise InvalidSetting("--out", str(out), f"cannot write: {error.strerror}") from None
