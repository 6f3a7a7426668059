"""Forks twice and leaves session and process group; the grandchild uses CPU time without end."""

import os
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        while True:
            pass
    os._exit(0)
time.sleep(1000)
