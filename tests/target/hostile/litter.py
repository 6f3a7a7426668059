# ruff: noqa: PTH101, PTH102, PTH211
"""Fills its temporary folder: many files, a deep chain, unreadable folders, links elsewhere."""

import os
import sys

os.chdir(os.environ["TMPDIR"])
for number in range(2000):
    os.close(os.open(f"file{number}", os.O_CREAT | os.O_WRONLY))
os.symlink(sys.argv[1], "link")
os.mkfifo("pipe")
os.mkdir("locked")
os.mkdir("locked/inner")
os.close(os.open("locked/inner/file", os.O_CREAT | os.O_WRONLY, 0))
os.chmod("locked/inner", 0)
os.chmod("locked", 0)
for _ in range(40):  # its path is longer than any path may be
    os.mkdir("deep" * 50)
    os.chdir("deep" * 50)
os.close(os.open("bottom", os.O_CREAT | os.O_WRONLY))
