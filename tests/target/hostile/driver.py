"""A driver with two slots that runs a target without end; to be killed."""

import sys
import threading
from pathlib import Path

from cunctator.target.process import Request
from cunctator.target.supervisor import Supervisor


def work():
    with Supervisor() as supervisor:
        supervisor._methods = (sys.argv[1],)
        stubborn = Path(__file__).with_name("stubborn.py")
        supervisor.run(Request((sys.executable, "-S", "-E", str(stubborn)), cap=1000))


threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
