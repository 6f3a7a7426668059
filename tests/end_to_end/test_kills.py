"""Kills of everything at once, at the worst moments: nothing lost, doubled or left running."""

from __future__ import annotations

import logging
import os
import random
import signal
import sqlite3
import statistics
import subprocess
import time
import uuid
from contextlib import closing, suppress
from pathlib import Path

import pytest

from cunctator.base.records import Status
from cunctator.core.scheduler import STATUS_CODE
from cunctator.core.sentinels import ASKED
from cunctator.study.journal.journal import FILE, is_begun
from cunctator.target.tree import status_fields
from tests.end_to_end.driving import (
    SCENARIO,
    check_nothing_lost,
    events_of,
    solvers_of,
    supervisors_of,
    told_in,
)
from tests.end_to_end.test_command_line import COMMAND
from tests.target.hostility import MARK, Lateness, guards_of, is_alive, marked

logger = logging.getLogger(__name__)

SOLVER = """
import os, random, signal, sys, time
if os.fork() == 0:  # an orphan in a session of its own, which does not listen and does not end
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        time.sleep(1000)
    os._exit(0)
os.wait()
speed, instance, seed = float(sys.argv[1]), sys.argv[2], sys.argv[3]
end = time.process_time() + speed * random.Random(instance + seed).expovariate(1 / 0.02)
while time.process_time() < end:
    pass
with open("finished", "a") as log:
    log.write(".")
"""
START = 60.0
"""Seconds until a driver must have begun to write, on a machine that has other things to do."""

FATES = (
    *("driver", "driver and targets"),
    *("driver and supervisors", "driver, supervisors and targets"),
)
MOMENTS = ("run", "start", "write", "write")
"""During runs, while a study is begun or resumed, right after its journal has been written to."""


class Victim:
    """A driver, and all who are there because of it."""

    def __init__(self, folder, words) -> None:
        self.folder = folder
        self.mark = uuid.uuid4().hex
        self.process = subprocess.Popen(
            [*COMMAND, *words],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, MARK: self.mark},
        )

    def await_write(self):
        """Return right after the journal has changed; False if there was nothing to wait for."""
        log = self.folder / "study" / f"{FILE}-wal"
        before, until = sign_of(log), time.monotonic() + START
        while self.process.poll() is None and time.monotonic() < until:
            now = sign_of(log)
            if now != before and now is not None:
                return True
        return False

    def harass(self, chance):
        """Kill one or all targets or supervisors, now and then; returns how many times.

        Supervisors only twice: a study ends if a slot never answers in three tries.
        """
        done = 0
        kinds = ["target"] * chance.randrange(4) + ["supervisor"] * chance.randrange(3)
        for kind in chance.sample(kinds, len(kinds)):
            time.sleep(chance.uniform(0, 0.3))
            is_target = kind == "target"
            found = solvers_of(self.folder) if is_target else supervisors_of(self.process)
            count = chance.choice([1, len(found)])
            done += kill_together([each.pid for each in found[:count]]) > 0
        return done

    def kill(self, fate):
        """Kill the driver and others at once; how many seconds later nobody was left."""
        victims = [self.process.pid]
        if "supervisors" in fate:
            victims += [each.pid for each in supervisors_of(self.process)]
        if "targets" in fate:
            victims += [each.pid for each in solvers_of(self.folder)]
        guards = guards_of(self.process.pid)
        with Lateness() as late:
            kill_together(victims)
            begun = time.monotonic()
            late_ones = []
            while left := [*marked(self.mark), *filter(is_alive, guards)]:
                took = time.monotonic() - begun
                assert took < 20, f"{words_of(left)} were left behind"
                if took > 1.0:
                    late_ones = words_of(left)
                time.sleep(0.005)
            took = time.monotonic() - begun
        assert "Traceback" not in self.process.communicate()[1]
        assert took < 1.0 + 10 * late.worst, (fate, late_ones)
        return took


def sign_of(path):
    with suppress(OSError):
        found = path.stat()
        return found.st_mtime_ns, found.st_size
    return None


def words_of(processes):
    """Who processes are, as far as they are still there."""
    found = []
    for process in processes:
        with suppress(OSError):
            command = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")[:4]
            found.append((process, status_fields(process)[:2], command))
    return found


def kill_together(processes):
    """None of them can do anything about the end of another; how many there were."""
    found = 0
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, number)
                found += number == signal.SIGKILL
    return found


def committed(study):
    """How many events anybody could read just now: these must not be lost any more."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(study / FILE, timeout=0)) as journal:
        return journal.execute("select count(*) from events").fetchone()[0]
    return 0


def check_journal(study, at_least):
    """It is whole, and no run was asked for or told twice."""
    with closing(sqlite3.connect(study / FILE)) as journal:
        assert journal.execute("pragma integrity_check").fetchall() == [("ok",)]
        assert journal.execute("select count(*) from events").fetchone()[0] >= at_least
        twice = "select count(*) from events where status {} ? group by number having count(*) > 1"
        for comparison in ("=", "!="):
            assert journal.execute(twice.format(comparison), [ASKED]).fetchall() == []


def wait_for(moment, driver, chance):
    """Let a driver live until a moment of some kind; what could be read of its journal then."""
    if moment == "start":
        time.sleep(chance.uniform(0, 4.0))
    elif driver.await_write():
        if moment == "write":
            for _ in range(chance.randrange(8)):  # not always the first write of a session
                driver.await_write()
            time.sleep(chance.choice([0.0, 0.0, 0.0005, 0.002]))
        else:
            time.sleep(chance.uniform(0, 1.0))
    return committed(driver.folder / "study")


@pytest.mark.parametrize("kills", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_harsh_kills_lose_double_and_leave_nothing(tmp_path, kills):
    chance = random.Random(kills)
    study = tmp_path / "study"
    (tmp_path / "solver.py").write_text(SOLVER)
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    before, words = None, ["run", "scenario.toml", "study"]
    small, silences = 0, []
    while small + len(silences) < kills or len(silences) < len(FATES) or told_in(before) < 20:
        lives = len(silences)
        assert lives < 10 * kills, "no driver gets anywhere"
        driver = Victim(tmp_path, words)
        moment = MOMENTS[lives % len(MOMENTS)]
        read = wait_for(moment, driver, chance)
        if moment != "start":
            small += driver.harass(chance)
            read = max(read, wait_for("write", driver, chance))
        fate = FATES[(lives + lives // len(MOMENTS)) % len(FATES)]  # each at each moment
        silences.append(driver.kill(fate))
        if is_begun(study):
            words = ["resume", "study"]
            check_journal(study, read)
            before = check_nothing_lost(before, events_of(study))
    log = tmp_path / "finished"
    finished = len(log.read_text()) if log.exists() else 0
    solved = int((before.status == STATUS_CODE[Status.SOLVED]).sum())
    # Each kill takes two runs at most with it, which may have finished a moment before.
    assert solved <= finished <= told_in(before) + 2 * (len(silences) + small)
    # A run has crashed if it was hit three times.
    crashed = int((before.status == STATUS_CODE[Status.CRASHED]).sum())
    assert crashed <= 2 * small // 3
    logger.info(  # to be seen with --log-cli-level=INFO
        "%d kills, %d of them with the driver; %d outcomes recorded, %d of them crashes; silence"
        " after %.3f s (median) and %.3f s (longest)",
        small + len(silences),
        len(silences),
        told_in(before),
        crashed,
        statistics.median(silences),
        max(silences),
    )
