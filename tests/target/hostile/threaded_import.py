"""Starts a thread for which an interpreter would wait."""

import threading
import time

threading.Thread(target=time.sleep, args=(1000,)).start()


def nothing(configuration, instance, seed, cap):
    pass
