"""Forks children that use CPU time without end, and waits for them."""

import os

for _ in range(3):
    if os.fork() == 0:
        while True:
            pass
for _ in range(3):
    os.wait()
