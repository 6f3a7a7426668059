"""Takes memory without end, with a child that does so too."""

import os

os.fork()
hoard = []
while True:
    hoard.append(b"x" * (1 << 20))
