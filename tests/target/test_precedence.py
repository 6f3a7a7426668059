"""Targets that want to come before others, their supervisor among them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from cunctator.target.process import Ending, FunctionCall, Request
from tests.target.hostility import command

CPUS = len(os.sched_getaffinity(0))

SOON = 0.1
"""CPU seconds by which a cap may be missed on each CPU."""

POLICY = """
import os, sys
from cunctator.target.process import Request
from cunctator.target.supervisor import Supervisor
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
except PermissionError:
    sys.exit(77)
shown = "import os; print(os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0))"
with Supervisor() as supervisor:
    made = supervisor.run(Request((sys.executable, "-c", shown), cap=10.0))
    print(os.sched_getscheduler(supervisor._worker._process.pid) & 7, made.stdout.decode())
"""


@pytest.mark.parametrize("way", ["fifo", "rr", "deadline", "nice"])
def test_no_target_comes_before_its_supervisor(supervisor, way):
    wanted = Request(command("urgent", way), cap=0.1, wall_cap=20.0, grace=0.0)
    measurement = supervisor.run(wanted)
    assert measurement.stdout == b"" and measurement.ending is Ending.CAP
    assert measurement.overshoot < SOON * CPUS


def test_nor_does_a_function(supervisor):
    call = FunctionCall("tests.target.hostile.functions:precedes", {}, "", 0, 10.0)
    measurement = supervisor.run(Request(call, cap=10.0))
    assert measurement.exit_code == 0, measurement.stderr


def test_targets_do_not_inherit_the_schedule_of_their_driver():
    script = [sys.executable, "-c", POLICY]
    made = subprocess.run(script, capture_output=True, text=True, check=False)
    if made.returncode == 77:
        pytest.skip("only root may have a real-time schedule")
    assert made.stdout.split() == [str(os.SCHED_FIFO), str(os.SCHED_OTHER), "0"], made.stderr
