"""A word to the user when kernels are being compiled.

The first use after an installation or an update compiles for about a minute; later ones load
the result in a blink, or in seconds on a machine that is busy. Silence for that long looks like a
hang, so after two seconds it is announced, in words that are true of both.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

log = logging.getLogger("cunctator")

PATIENCE = 2.0
"""Seconds. Loading compiled kernels usually takes a fraction of this."""


@contextmanager
def announced_compilation() -> Iterator[None]:
    """Log a warning if what happens inside takes longer than loading compiled kernels would."""
    message = "preparing kernels: after an installation or update they are compiled, for a minute"
    timer = threading.Timer(PATIENCE, log.warning, [message])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
