"""The command `cunctator`, also as `python -m cunctator`.

Apart from `cli`, so that Ctrl-C while that is being imported gives one line, as later on; and so
does too little memory, of which the libraries that are imported may not even say that they fail.
"""

import resource
import sys

from cunctator.base.standard_streams import open_missing, say

LEAST_ADDRESS_SPACE = 1500 * 10**6
"""Bytes. Compiling the kernels takes 1.26 GB on two cores, and each core some more; with less,
libraries wait for threads that could not be made, or end the process without a word."""


def main() -> None:
    """Import the command line and run it."""
    open_missing()
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < LEAST_ADDRESS_SPACE:
        say(
            f"memory is limited to {limit / 1e9:.2g} GB of addresses (ulimit -v);"
            f" at least {LEAST_ADDRESS_SPACE / 1e9:g} GB are needed: raise the limit"
        )
        sys.exit(2)
    try:
        from cunctator.cli import main as run
    except KeyboardInterrupt:
        say("interrupted before there was anything to report")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
