# ruff: noqa: PTH109, PTH123, PTH208, T201
"""Prints as JSON what a target can see of how it was started."""

import json
import os
import resource
import signal
import sys

descriptors = []
for number in range(256):
    try:
        os.fstat(number)
        descriptors.append(number)
    except OSError:
        pass
with open("/proc/self/status") as status:
    masks = dict(line.split() for line in status if line.startswith(("SigBlk", "SigIgn")))
python_ignores = 1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGXFSZ - 1)
print(
    json.dumps(
        {
            "arguments": sys.argv[1:],
            "session": os.getsid(0) == os.getpid(),
            "descriptors": descriptors,
            "stdin": os.read(0, 10).decode(),
            "blocked": int(masks["SigBlk:"], 16),
            "ignored": int(masks["SigIgn:"], 16) & ~python_ignores,
            "core": resource.getrlimit(resource.RLIMIT_CORE),
            "directory": os.getcwd(),
            "temporary": os.listdir(os.environ["TMPDIR"]),
            "given": os.environ.get("GIVEN"),
        }
    )
)
