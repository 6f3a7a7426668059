"""A driver with two slots that runs a target without end; to be killed."""

import sys
import threading
from pathlib import Path

from cunctator.target.process import Call, Request
from cunctator.target.supervisor import Supervisor

METHOD, FUNCTION = (*sys.argv[1:], "")[:2]
STUBBORN = (sys.executable, "-S", "-E", str(Path(__file__).with_name("stubborn.py")))


def work():
    with Supervisor() as supervisor:
        supervisor._methods = (METHOD,)
        target = Call(FUNCTION, {}, "", 0, 1000.0) if FUNCTION else STUBBORN
        here = str(Path(__file__).parents[1])
        supervisor.run(Request(target, cap=1000, directory=here))


threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
