"""Uses no CPU time and does not end."""

import time

time.sleep(1000)
