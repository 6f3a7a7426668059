"""Takes CPU time to import."""

import time

start = time.process_time()
while time.process_time() - start < 0.3:
    pass


def nothing(configuration, instance, seed, cap):
    pass
