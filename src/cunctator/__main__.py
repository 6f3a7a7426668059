"""The command `cunctator`, also as `python -m cunctator`.

Apart from `cli`, so that Ctrl-C while that is being imported gives one line, as later on.
"""

import sys

from cunctator.streams import open_missing, say


def main() -> None:
    """Import the command line and run it."""
    open_missing()
    try:
        from cunctator.cli import main as run
    except KeyboardInterrupt:
        say("interrupted before there was anything to report")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
