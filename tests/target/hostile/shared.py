"""Several processes that share most of their memory; all of it may be looked at for a while."""

import os
import time

data = b"x" * (60 << 20)
for _ in range(4):
    if os.fork() == 0:
        break
time.sleep(0.3)
