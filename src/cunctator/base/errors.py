"""The errors that users may meet. Each carries its data and says what to do about it.

The command line prints them as one line and exits with code 2; a traceback is never a user's
business. Errors in our own logic are plain `AssertionError`s and stay loud.
"""

from __future__ import annotations

from pathlib import Path

LONGEST_PROBLEM = 300
"""Characters of a message that quotes a file."""


def one_line(text: str, longest: int = LONGEST_PROBLEM) -> str:
    """Text fit for a message: on one line, not too long, unable to command a terminal."""
    clean = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return clean if len(clean) <= longest else clean[:longest] + "..."


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
    """A file, or a figure, needs an optional package."""

    def __init__(self, path: Path | str, package: str, instead: str = "") -> None:
        """`instead` is what else could be done."""
        self.path = path
        self.package = package
        super().__init__(f"{path}: this needs {package}; pip install {package}{instead}")


class InvalidKey(CunctatorError):
    """A key of a scenario is wrong; whoever knows the file makes an `InvalidScenario` of it."""

    def __init__(self, key: tuple[str | int, ...], problem: str, fix: str) -> None:
        self.key = key
        self.problem = one_line(problem)
        self.fix = one_line(fix)
        name = one_line(".".join(str(part) for part in key))
        super().__init__(f"{name + ': ' if name else ''}{self.problem}; {self.fix}")


class InvalidOption(CunctatorError):
    """What an option puts into a scenario is wrong there."""

    def __init__(self, option: str, problem: str, fix: str) -> None:
        self.option = option
        super().__init__(f"{option}: {one_line(problem)}; {one_line(fix)}")


class InvalidScenario(CunctatorError):
    """A scenario file cannot be used as it is."""

    def __init__(
        self, path: Path | str, line: int | None, key: str, problem: str, fix: str
    ) -> None:
        self.path = path
        self.line = line
        self.key = one_line(key)
        self.problem = one_line(problem)
        self.fix = one_line(fix)
        place = one_line(str(path), 1000) + (f", line {line}" if line else "")
        super().__init__(f"{place}: {self.key + ': ' if key else ''}{self.problem}; {self.fix}")


class MissingInstance(CunctatorError):
    """An instance was there when the study began and is not any more."""

    def __init__(self, instance: str) -> None:
        self.instance = instance
        name = one_line(instance, 1000)
        super().__init__(f"{name}: this instance has vanished; put it back and resume the study")


class GeneratorFailed(CunctatorError):
    """The command that makes instances did not make one."""

    def __init__(self, command: str, problem: str) -> None:
        self.command = command
        self.problem = one_line(problem)
        text = one_line(command, 1000)
        super().__init__(f"{self.problem}; run this command by hand to see why: {text}")


class DifferentReplay(CunctatorError):
    """A journal does not fit the scheduler it is put through."""

    def __init__(self, event: int, number: int) -> None:
        self.event = event
        self.number = number
        super().__init__(
            f"run {number} (event {event + 1}) was not what this version would ask for; resume with"
            " the version and the scenario that began the study"
        )


class StudyProblem(CunctatorError):
    """A study's folder cannot be used as it is."""

    def __init__(self, directory: Path | str, problem: str, fix: str) -> None:
        self.directory = directory
        self.problem = one_line(problem)
        self.fix = fix
        super().__init__(f"{one_line(str(directory), 1000)}: {self.problem}; {fix}")
