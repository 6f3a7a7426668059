"""A word to the user when kernels are being compiled.

The first use after an installation or an update compiles for about a minute; later ones load
the result in a blink. Silence for that long looks like a hang, so after a second it is announced.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

log = logging.getLogger("cunctator")

PATIENCE = 1.0
"""Seconds. Loading compiled kernels takes a fraction of this."""


@contextmanager
def announced_compilation() -> Iterator[None]:
    """Log a warning if what happens inside takes longer than loading compiled kernels would."""
    message = "compiling the kernels: about a minute, once after each installation or update"
    timer = threading.Timer(PATIENCE, log.warning, [message])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
