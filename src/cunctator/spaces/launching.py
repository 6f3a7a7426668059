"""What the launchers have in common: how they are called, and how they end.

A launcher is a small program for a solver that has none of its own, or whose own cannot be used
as a target. It is called as `python -P -m cunctator.spaces.run_NAME --option=value ... FILE`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

SOLVED, UNSOLVED, MISUSED, MISSING = 0, 1, 2, 33
"""Exit codes: of a proved answer, of none, of a call that makes no sense, of no such solver."""


class Misused(Exception):
    """The call makes no sense; says why."""


class Missing(Exception):
    """The solver is not there; says what to install."""


Main = Callable[[dict[str, str], str], int]


def launch(main: Main, arguments: Sequence[str]) -> int:
    """Run a launcher on a command line; returns its exit code, problems as a line on stderr."""
    try:
        options, file = read_arguments(arguments)
        return main(options, file)
    except Misused as problem:
        sys.stderr.write(f"{problem}\n")
        return MISUSED
    except Missing as problem:
        sys.stderr.write(f"{problem}\n")
        return MISSING


def read_arguments(arguments: Sequence[str]) -> tuple[dict[str, str], str]:
    """The options by name, and the file, which comes last."""
    if not arguments or arguments[-1].startswith("--"):
        raise Misused("there is no file; call it as --option=value ... FILE")
    options: dict[str, str] = {}
    for argument in arguments[:-1]:
        name, sign, value = argument.removeprefix("--").partition("=")
        if not argument.startswith("--") or not name or not sign:
            raise Misused(f"{argument!r} makes no sense; write --option=value")
        if name in options:
            raise Misused(f"--{name} is given twice; keep one of them")
        options[name] = value
    return options, arguments[-1]


def report(status: str, objective: float | None = None) -> None:
    """Print what a solver of optimisation problems has found."""
    sys.stdout.write(f"status: {status}\n")
    if objective is not None:
        sys.stdout.write(f"objective: {objective!r}\n")
