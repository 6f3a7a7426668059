# ruff: noqa: T201
"""Three generations use known amounts of CPU time; prints what the kernel says they used.

The middle one of the three is orphaned if asked for: then nobody but the supervisor reaps it.
"""

import os
import resource
import sys
import time

seconds = float(sys.argv[1])
orphaned = sys.argv[2] == "orphaned"


def burn():
    start = time.process_time()
    while time.process_time() - start < seconds:
        pass


def used():
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    usages = [resource.getrusage(who) for who in both]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


reading, writing = os.pipe()
if os.fork() == 0:
    os.close(reading)
    if os.fork() == 0:
        burn()
        if orphaned:
            os.write(writing, str(used()).encode())
        os._exit(0)
    if orphaned:
        os._exit(0)
    os.wait()
    burn()
    os._exit(0)
os.close(writing)
os.wait()
burn()
alone = os.read(reading, 100)
print(used() + float(alone or 0))
