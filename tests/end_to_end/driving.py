"""What tests that kill and watch drivers share."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import psutil

from cunctator.core.sentinels import ASKED
from cunctator.study.journal.journal import open_journal

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


def supervisors_of(driver):
    """Those who live; some may just have been killed, or be nobody's child any more."""
    found = []
    for child in psutil.Process(driver.pid).children():
        with suppress(psutil.Error):
            if "supervise.py" in " ".join(child.cmdline()):
                found.append(child)
    return found


def solvers_of(folder):
    """Processes of the target that run in a folder."""
    found = []
    for process in psutil.process_iter(["cwd", "cmdline"]):
        words = process.info["cmdline"] or []
        if process.info["cwd"] == str(folder) and "solver.py" in words:
            found.append(process)
    return found


def events_of(study):
    journal = open_journal(study, writing=False)
    journal.check()
    events = journal.events()
    journal.close()
    return events


def told_in(events):
    return 0 if events is None else int((events.status != ASKED).sum())


def check_nothing_lost(before, after):
    """What the journal had is still what it begins with."""
    if before is not None:
        for old, new in zip(before, after, strict=True):
            np.testing.assert_array_equal(new[: old.size], old)
    return after
