"""What tests that kill and watch drivers share."""

from __future__ import annotations

from contextlib import suppress

import psutil


def supervisors_of(driver):
    """Those who live; some may just have been killed, or be nobody's child any more."""
    found = []
    for child in psutil.Process(driver.pid).children():
        with suppress(psutil.Error):
            if "supervise.py" in " ".join(child.cmdline()):
                found.append(child)
    return found
