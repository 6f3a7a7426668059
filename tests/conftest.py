from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Compiling kernels may happen inside an example: time is no measure of anything here.
settings.register_profile(
    "cunctator",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("cunctator")

# Under nohup, whatever is started ignores hang-ups, and in the background of a script interrupts
# and SIGQUIT; tests of these would be about that.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Third-party files to test against; they are not part of the project."""
    named = os.environ.get("CUNCTATOR_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("no data folder: set CUNCTATOR_DATA to test against real files")
    return folder
