"""A child uses some CPU time while its parent ignores SIGCHLD: so nobody reaps it."""

import os
import signal
import sys
import time

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
reading, writing = os.pipe()
if os.fork() == 0:
    while time.process_time() < float(sys.argv[1]):
        pass
    os._exit(0)
os.close(writing)
os.read(reading, 1)
time.sleep(0.05)
