"""Sleeps now and then, and uses a third of a CPU all in all."""

import sys
import time

end = time.process_time() + float(sys.argv[1])
while time.process_time() < end:
    pause = time.process_time() + 0.01
    while time.process_time() < pause:
        pass
    time.sleep(0.02)
