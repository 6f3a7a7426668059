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
# Python ignores two signals itself. 32 and 33 are the C library's own: whoever starts us by
# posix_spawn (make does) leaves them ignored, and no program can change that through the library.
not_ours = sum(1 << (number - 1) for number in (signal.SIGPIPE, signal.SIGXFSZ, 32, 33))
print(
    json.dumps(
        {
            "arguments": sys.argv[1:],
            "session": os.getsid(0) == os.getpid(),
            "descriptors": descriptors,
            "stdin": os.read(0, 10).decode(),
            "blocked": int(masks["SigBlk:"], 16),
            "ignored": int(masks["SigIgn:"], 16) & ~not_ours,
            "core": resource.getrlimit(resource.RLIMIT_CORE),
            "directory": os.getcwd(),
            "temporary": os.listdir(os.environ["TMPDIR"]),
            "given": os.environ.get("GIVEN"),
        }
    )
)
