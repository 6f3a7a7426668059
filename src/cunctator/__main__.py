"""The command `cunctator`, also as `python -m cunctator`.

Apart from `cli`, so that Ctrl-C while that is being imported is as quiet as later on.
"""

import sys


def main() -> None:
    """Import the command line and run it."""
    try:
        from cunctator.cli import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
