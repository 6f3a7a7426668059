# ruff: noqa: PTH123, T201
"""Leaves its control group for the one above, or for one of its own below; then misbehaves."""

import os
import signal
import sys
import time

direction, deed = sys.argv[1:]


def ask(number, frame):
    print("asked to end", flush=True)
    os._exit(0)


with open("/proc/self/cgroup") as lines:
    own = next(line.strip()[3:] for line in lines if line.startswith("0::"))
with open("/proc/self/mountinfo") as lines:
    place = next(line.split()[4] for line in lines if " - cgroup2 " in line)
folder = os.path.dirname(place + own) if direction == "above" else place + own + "/own"  # noqa: PTH120
if direction == "below":
    os.mkdir(folder)  # noqa: PTH102
with open(folder + "/cgroup.procs", "w") as processes:
    processes.write("0")
signal.signal(signal.SIGTERM, ask)
print("gone", flush=True)
if deed == "burn":
    while time.process_time() < 1000:
        pass
hoard = []
while deed == "hoard":
    hoard.append(b"x" * (1 << 20))
if deed == "sleep":
    time.sleep(1000)
if deed == "bear":  # a child whose end nobody counts
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    reading, writing = os.pipe()
    if os.fork() == 0:
        while time.process_time() < 0.5:
            pass
        os._exit(0)
    os.close(writing)
    os.read(reading, 1)
