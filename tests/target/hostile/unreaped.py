# ruff: noqa: T201
"""Children use some CPU time while their parent does not want to know: so nobody reaps them.

Arguments: seconds of each child, how many there are one after the other, how the parent says so,
and whether it ends at once when they have. Prints what they have used.
"""

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress

from looks import await_looks

seconds, children, how, is_hasty = float(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:5]
NO_ZOMBIES = 2
"""SA_NOCLDWAIT."""


class Action(ctypes.Structure):
    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_char * 128),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


if how == "ignores":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
elif how == "default":
    assert (
        ctypes.CDLL(None).sigaction(signal.SIGCHLD, ctypes.byref(Action(flags=NO_ZOMBIES)), None)
        == 0
    )
used = 0.0
for _ in range(children):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        begun = time.process_time()
        while time.process_time() - begun < seconds:
            pass
        os.write(writing, str(time.process_time()).encode())
        os._exit(0)
    os.close(writing)
    used += float(os.read(reading, 100))
    os.close(reading)
    with suppress(ChildProcessError):  # whom nobody reaps is waited for and then not to be found
        os.waitpid(child, 0)
print(used)
if is_hasty != "hasty":
    await_looks()
