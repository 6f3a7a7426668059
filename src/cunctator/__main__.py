"""The command `cunctator`, also as `python -m cunctator`.

Apart from `cli`, so that Ctrl-C while that is being imported gives one line, as later on.
"""

import sys


def main() -> None:
    """Import the command line and run it."""
    try:
        from cunctator.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("cunctator: interrupted before there was anything to report\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
