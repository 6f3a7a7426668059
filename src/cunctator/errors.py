"""The errors that users may meet. Each carries its data and says what to do about it.

The command line prints them as one line and exits with code 2; a traceback is never a user's
business. Errors in our own logic are plain `AssertionError`s and stay loud.
"""

from __future__ import annotations

from pathlib import Path

LONGEST_PROBLEM = 300
"""Characters of a message that quotes a file."""


class CunctatorError(Exception):
    """Base of all errors that say what to do about them."""


class InvalidTable(CunctatorError):
    """A file of recorded runtimes cannot be used as it is."""

    def __init__(self, path: Path | str | None, problem: str, fix: str, where: str = "") -> None:
        self.path = path
        self.problem = problem
        self.fix = fix
        self.where = where
        place = ", ".join(str(part) for part in (path, where) if part)
        problem = " ".join(problem.split())  # other libraries' messages come with line breaks
        if len(problem) > LONGEST_PROBLEM:
            problem = problem[:LONGEST_PROBLEM] + "..."
        super().__init__(f"{place + ': ' if place else ''}{problem}; {fix}")


class InvalidSetting(CunctatorError):
    """A setting is out of its range, or contradicts another one."""

    def __init__(self, setting: str, value: object, expected: str) -> None:
        self.setting = setting
        self.value = value
        self.expected = expected
        super().__init__(f"{setting} is {value!r}; {expected}")


class UnknownRun(CunctatorError):
    """A result was told for a run that is not in flight."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(
            f"run {number} is not in flight; tell each run that was asked for exactly once"
        )


class MissingExtra(CunctatorError):
    """A file needs an optional package."""

    def __init__(self, path: Path | str, package: str, extra: str) -> None:
        self.path = path
        self.package = package
        self.extra = extra
        super().__init__(f"{path}: reading this needs {package}; pip install 'cunctator[{extra}]'")
