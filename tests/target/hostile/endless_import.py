"""Cannot be imported in any time; who tries leaves a file in the folder IMPORTING, if it is set."""

import os
import time
from pathlib import Path

if "IMPORTING" in os.environ:
    Path(os.environ["IMPORTING"], str(os.getpid())).touch()
time.sleep(1000)


def nothing(configuration, instance, seed, cap):
    pass
