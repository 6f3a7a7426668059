"""Python functions as targets: what they are given, what they return, how they are limited."""

from __future__ import annotations

import json
import os
import signal
import time
import uuid

import pytest

from cunctator.target.function import InvalidFunction, load_function, load_in_time
from cunctator.target.process import Ending, FunctionCall, Request
from cunctator.target.supervisor import Supervisor
from tests.target.hostility import MARK, marked

CPUS = os.cpu_count() or 1
FUNCTIONS = "tests.target.hostile.functions"


def call(name: str, cap: float = 10.0, mark: str = "", **configuration: object) -> Request:
    function = name if ":" in name else f"{FUNCTIONS}:{name}"
    target = FunctionCall(function, configuration, "some instance", 42, cap)
    return Request(target, cap=cap, wall_cap=30.0, environment={MARK: mark})


def test_arguments_and_output(supervisor):
    measurement = supervisor.run(call("note", x=1, y=0.5, z="ü"))
    assert measurement.ending is Ending.EXITED and measurement.exit_code == 0
    given = [{"x": 1, "y": 0.5, "z": "ü"}, "some instance", 42, 10.0]
    assert json.loads(measurement.stdout) == [*given, True]


def test_function_has_no_access_to_the_channel(supervisor):
    for _ in range(2):
        assert supervisor.run(call("sockets")).stdout == b"3 False\n"
        # What is open since a program was started, such as a generator, is not for functions.
        assert supervisor.run(Request(("/bin/true",), cap=10.0)).exit_code == 0


@pytest.mark.parametrize(("answer", "code"), [(None, 0), (True, 0), (False, 1), (3, 1), ("", 1)])
def test_answers(supervisor, answer, code):
    measurement = supervisor.run(call("answers", answer=answer))
    assert measurement.ending is Ending.EXITED and measurement.exit_code == code
    is_odd = b"expected None, True or False" in measurement.stderr
    assert is_odd == (answer not in (None, True, False))
    assert (b"returned" in measurement.stderr) == (code != 0), "a crash says why"


@pytest.mark.parametrize(("name", "code"), [("closes", 0), ("closes_and_fails", 1)])
def test_closed_streams_are_no_crash(supervisor, name, code):
    measurement = supervisor.run(call(name))
    assert measurement.ending is Ending.EXITED and measurement.exit_code == code


def test_exceptions_are_shown(supervisor):
    measurement = supervisor.run(call("fails"))
    assert measurement.exit_code == 1
    assert b"in fails" in measurement.stderr
    assert measurement.stderr.endswith(b"RuntimeError: this went wrong\n")
    assert supervisor.run(call("leaves")).exit_code == 1


def test_cap(supervisor):
    measurement = supervisor.run(call("busy", cap=0.05))
    assert measurement.ending is Ending.CAP
    assert 0.05 <= measurement.cpu < 0.15


def test_hostile_function_leaves_nothing(supervisor):
    mark = uuid.uuid4().hex
    measurement = supervisor.run(call("stubborn", cap=0.1, mark=mark))
    assert measurement.ending is Ending.CAP
    assert 0.1 <= measurement.cpu < 0.1 + 0.1 * CPUS + 0.1
    assert marked(mark) == []


def test_cpu_time_is_that_of_the_call(supervisor):
    measurement = supervisor.run(call("burns", seconds=0.2))
    assert measurement.exit_code == 0
    assert measurement.cpu == pytest.approx(0.2, rel=0.02, abs=0.005)


def test_import_is_not_charged():
    with Supervisor() as supervisor:
        measurement = supervisor.run(call("tests.target.hostile.slow_import:nothing"))
        assert measurement.exit_code == 0 and measurement.cpu < 0.1


def test_an_import_that_hangs_is_given_up(monkeypatch):
    monkeypatch.setattr("cunctator.target.function.LONGEST_IMPORT", 0.3)
    with pytest.raises(InvalidFunction, match="it took more than"):
        load_in_time("tests.target.hostile.endless_import:nothing")
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_threads_of_a_module_do_not_delay_the_end():
    with Supervisor() as supervisor:
        assert supervisor.run(call("tests.target.hostile.threaded_import:nothing")).exit_code == 0
        worker = supervisor._worker
        begun = time.monotonic()
    assert worker._process.returncode == 0 and time.monotonic() - begun < 5


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("json", "not a module and a name; write it as package.module:name"),
        (":loads", "not a module and a name"),
        ("no.such.module:f", "no.such.module cannot be imported.*No module named 'no'"),
        ("tests.target.hostile.broken_import:f", "cannot be imported .ValueError: not today"),
        (f"{FUNCTIONS}:absent", f"there is no absent in {FUNCTIONS}"),
        (f"{FUNCTIONS}:not_a_function", "not_a_function is of type int"),
    ],
)
def test_wrong_names(supervisor, name, problem):
    with pytest.raises(InvalidFunction, match=problem):
        load_function(name)
    target = FunctionCall(name, {}, "", 0, 1.0)
    measurement = supervisor.run(Request(target, cap=1.0))
    assert measurement.ending is Ending.FAILED_TO_START
    assert name in measurement.problem and "\n" not in measurement.problem


def test_methods_are_functions_too():
    assert load_function("json:JSONDecoder.decode") is json.JSONDecoder.decode
