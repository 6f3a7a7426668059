"""The supervisor's process: a script that `supervisor.py` starts.

It is told where to import from, and imports next to nothing before: the driver may have found this
package, and functions to run, in ways that a new interpreter does not know of.
"""

from __future__ import annotations

import json
import os
import sys


def main(descriptor: str, settings: str) -> None:
    """Serve the driver at the other end of a channel until it hangs up."""
    channel = int(descriptor)
    os.set_inheritable(channel, False)
    path, folder, methods = json.loads(settings)
    sys.path[:] = path
    from cunctator.target.serve import serve

    serve(channel, folder, methods)


if __name__ == "__main__":
    main(*sys.argv[1:])
