"""A Python function as a target: called in a forked child, limited and measured like a command.

The supervisor imports it once; runs are forks of the supervisor, so neither the start of an
interpreter nor imports are charged to them.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import Any

from cunctator.base.errors import CunctatorError
from cunctator.target.measurement import FunctionCall

LONGEST_IMPORT = 120.0
"""Seconds that a function's module may take to be imported."""

SOLVED, CRASHED = 0, 1
"""Exit codes."""

Function = Callable[[dict[str, Any], str, int, float], object]
"""(configuration, instance, seed, cap): returns None or True if it solved the instance. False, or
any exception, means that it failed."""


class InvalidFunction(CunctatorError):
    """A name does not lead to a function that can be called."""

    def __init__(self, name: str, problem: str, fix: str) -> None:
        self.name = name
        self.problem = problem
        self.fix = fix
        super().__init__(f"function {name!r}: {' '.join(problem.split())}; {fix}")


@cache
def load_function(name: str) -> Function:
    """Import the function called "package.module:name"."""
    module_name, _, path = name.partition(":")
    if not module_name or not path:
        raise InvalidFunction(name, "not a module and a name", "write it as package.module:name")
    try:
        module = import_module(module_name)
    except (Exception, SystemExit) as error:  # whatever its own code raises
        problem = f"{module_name} cannot be imported ({type(error).__name__}: {error})"
        raise InvalidFunction(name, problem, "check the name and the module") from error
    try:
        function = attrgetter(path)(module)
    except AttributeError:
        problem = f"there is no {path} in {module_name}"
        raise InvalidFunction(name, problem, "check the name") from None
    if not callable(function):
        problem = f"{path} is of type {type(function).__name__} and cannot be called"
        raise InvalidFunction(name, problem, "name a function") from None
    called: Function = function
    return called


def load_in_time(name: str) -> None:
    """The same in a supervisor: not for ever, and not longer than there is a driver.

    The driver's end comes as SIGCONT (`launch.wake_at_drivers_death`), but so may other things. The
    alarm comes again each second, in case the module takes it for an error of its own.
    """
    driver = os.getppid()

    def give_up(number: int, frame: object) -> None:
        if number == signal.SIGALRM or os.getppid() != driver:
            raise TimeoutError(f"it took more than {LONGEST_IMPORT:g} s, or nobody waits for it")

    numbers = (signal.SIGALRM, signal.SIGCONT)
    for number in numbers:
        signal.signal(number, give_up)
    signal.setitimer(signal.ITIMER_REAL, LONGEST_IMPORT, 1.0)
    try:
        load_function(name)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number in numbers:
            if signal.getsignal(number) is give_up:  # else the module has one of its own
                signal.signal(number, signal.SIG_DFL)


def call_function(function: Function, call: FunctionCall) -> int:
    """Call it and return the exit code of the process; what went wrong goes to stderr."""
    code = CRASHED
    try:
        returned = function(call.configuration, call.instance, call.seed, call.cap)
        if returned is None or returned is True:
            code = SOLVED
        else:
            meaning = "" if returned is False else "; expected None, True or False"
            sys.stderr.write(f"{call.function} returned {returned!r}{meaning}\n")
    except BaseException:
        import traceback  # here: what the supervisor imports makes each of its forks dearer

        with suppress(Exception):
            traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # it may have closed or replaced them
            stream.flush()
    return code
