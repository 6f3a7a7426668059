"""The supervisor's process: a script that `supervisor.py` starts.

It is told where to import from, and imports next to nothing before: the driver may have found this
package, and functions to run, in ways that a new interpreter does not know of.
"""

from __future__ import annotations

import json
import os
import sys


def main(descriptor: str, settings: str) -> None:
    """Serve the driver at the other end of a channel until it hangs up; then end at once.

    A function's module may have started threads, for which the interpreter would wait.
    """
    channel = int(descriptor)
    os.set_inheritable(channel, False)
    path, prefix, methods = json.loads(settings)
    sys.path[:] = path
    from cunctator.target.serve import serve

    code = 1
    try:
        serve(channel, prefix, methods)
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
