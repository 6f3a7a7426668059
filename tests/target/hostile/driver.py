"""A driver with two slots that runs a target without end; to be killed.

In place of a function, it may be given a command to run; with FORK set, it has a child that holds
all its descriptors.
"""

import os
import shlex
import sys
import threading
import time
from pathlib import Path

from cunctator.target.process import FunctionCall, Request
from cunctator.target.supervisor import Supervisor

METHOD, FUNCTION = (*sys.argv[1:], "")[:2]
STUBBORN = (sys.executable, "-S", "-E", str(Path(__file__).with_name("stubborn.py")))


def work():
    with Supervisor() as supervisor:
        supervisor._methods = (METHOD,)
        target = tuple(shlex.split(FUNCTION)) or STUBBORN
        if ":" in FUNCTION:
            target = FunctionCall(FUNCTION, {}, "", 0, 1000.0)
        here = str(Path(__file__).parents[1])
        supervisor.run(Request(target, cap=1000, directory=here))


threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
if "FORK" in os.environ:
    time.sleep(0.5)
    if os.fork() == 0:
        time.sleep(float(os.environ["FORK"]))
        os._exit(0)
for thread in threads:
    thread.join()
