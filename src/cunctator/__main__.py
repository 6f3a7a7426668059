"""`python -m cunctator` is the command `cunctator`."""

from cunctator.cli import main

main()
