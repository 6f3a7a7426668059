"""Closes all its pipes and goes on."""

import os

os.closerange(0, 100)
while True:
    pass
