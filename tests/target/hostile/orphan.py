"""Ends at once, but leaves a grandchild that holds its pipes open and uses CPU time."""

import os

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            pass
    os._exit(0)
os.wait()
os.write(1, b"result\n")
os._exit(7)
