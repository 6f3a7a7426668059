"""Kills at random moments, of the driver, of what it runs, of both: nothing finished is lost."""

from __future__ import annotations

import random
import subprocess
import time

import numpy as np
import psutil
import pytest

from cunctator.base.records import Status
from cunctator.core.scheduler import STATUS_CODE
from cunctator.core.sentinels import ASKED
from cunctator.study.journal.journal import is_begun, open_journal
from tests.end_to_end.driving import supervisors_of
from tests.end_to_end.test_command_line import COMMAND

SOLVER = """
import os, random, sys, time
speed, instance, seed = float(sys.argv[1]), sys.argv[2], sys.argv[3]
end = time.process_time() + speed * random.Random(instance + seed).expovariate(1 / 0.02)
while time.process_time() < end:
    pass
with open("finished", "a") as log:
    log.write(".")
"""
SCENARIO = """
[target]
command = ["{python}", "-S", "-E", "solver.py", "{speed}", "{instance}", "{seed}"]
[parameters.speed]
type = "real"
low = 0.2
high = 5.0
log = true
default = 1.0
[instances]
names = ["a", "b"]
[search]
first_cap = "10ms"
cutoff = "1s"
configurations = 8
workers = 2
[budget]
wall = "1h"
"""
LONGEST_WAIT = 3.0
"""Seconds until a driver is killed; the first one or two go by before its first run."""


def events_of(study):
    journal = open_journal(study, writing=False)
    journal.check()
    events = journal.events()
    journal.close()
    return events


def solvers_of(folder):
    """Processes of the target that run in a folder."""
    found = []
    for process in psutil.process_iter(["cwd", "cmdline"]):
        words = process.info["cmdline"] or []
        if process.info["cwd"] == str(folder) and "solver.py" in words:
            found.append(process)
    return found


def kill_one(processes, chance):
    """Returns how many were killed: none, if there is none or it ended first."""
    if not processes:
        return 0
    try:
        chance.choice(processes).kill()
    except psutil.NoSuchProcess:
        return 0
    return 1


def harass(driver, folder, chance):
    """Kill something of a driver, or the driver, or both at once; returns (of it, driver)."""
    time.sleep(chance.uniform(0, LONGEST_WAIT))
    fate = chance.choice(["driver", "target", "supervisor", "target and driver"])
    small = 0
    if fate in ("target", "target and driver"):
        small = kill_one(solvers_of(folder), chance)
    elif fate == "supervisor":
        small = kill_one(supervisors_of(driver), chance)
    if "driver" not in fate:
        time.sleep(chance.uniform(0, 0.3))
    driver.kill()
    assert "Traceback" not in driver.communicate()[1]
    return small, 1


@pytest.mark.parametrize("kills", [6, pytest.param(200, marks=pytest.mark.slow)])
def test_kills_lose_no_finished_run(tmp_path, kills):
    chance = random.Random(kills)
    study = tmp_path / "study"
    (tmp_path / "solver.py").write_text(SOLVER)
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    done, before, words = [0, 0], None, ["run", "scenario.toml", "study"]
    while sum(done) < kills or told_in(before) < 20:
        assert sum(done) < 10 * kills, "no driver gets anywhere"
        driver = subprocess.Popen(
            [*COMMAND, *words],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        done = [old + new for old, new in zip(done, harass(driver, tmp_path, chance), strict=True)]
        await_silence(tmp_path)
        if is_begun(study):
            words = ["resume", "study"]
            before = check_nothing_lost(before, events_of(study))
    events, told = before, told_in(before)
    log = tmp_path / "finished"
    finished = len(log.read_text()) if log.exists() else 0
    # A driver that is killed takes two runs with it, which may have finished a moment before.
    assert finished <= told + 2 * done[1] + done[0]
    assert not (events.status == STATUS_CODE[Status.CRASHED]).any()


def told_in(events):
    return 0 if events is None else int((events.status != ASKED).sum())


def await_silence(folder):
    """Without their driver, supervisors end what they run."""
    deadline = time.monotonic() + 10
    while solvers_of(folder):
        assert time.monotonic() < deadline, "a process was left behind"
        time.sleep(0.02)


def check_nothing_lost(before, after):
    """What the journal had is still what it begins with."""
    if before is not None:
        for old, new in zip(before, after, strict=True):
            np.testing.assert_array_equal(new[: old.size], old)
    return after
