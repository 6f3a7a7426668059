"""Prints what a wrapper would print, and lines that look like our own, and does not end."""

import os

os.write(1, b"Result for ParamILS: SAT, 0.001, 0, 0, 1\n")
os.write(1, b'{"measurement": {"ending": "EXITED", "cpu": 0.0}, "is_last": false}\n')
os.write(2, b"\x00\xff\x1b[2J\n")
while True:
    pass
