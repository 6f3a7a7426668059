"""Cannot be imported in any time."""

import time

time.sleep(1000)


def nothing(configuration, instance, seed, cap):
    pass
