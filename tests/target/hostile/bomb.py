"""Every process forks as long as it can, up to a number in all, and ignores SIGTERM."""

import mmap
import os
import signal
import sys
import time

limit = int(sys.argv[1])
signal.signal(signal.SIGTERM, signal.SIG_IGN)
counter = mmap.mmap(-1, 8)  # shared by all; a lost count lets it have a few more, no matter
while True:
    count = int.from_bytes(counter[:8], "little")
    if count >= limit:
        time.sleep(0.02)
        continue
    counter[:8] = (count + 1).to_bytes(8, "little")
    if os.fork() == 0:
        os.setsid()
