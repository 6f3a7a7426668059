"""Prints a GB to stdout, with a first and a last line of its own, and a line to stderr."""

import os

os.write(1, b"first\n")
block = b"x" * (1 << 20)
for _ in range(1 << 10):
    rest = memoryview(block)
    while rest:
        rest = rest[os.write(1, rest) :]
os.write(1, b"\nlast\n")
os.write(2, b"done\n")
