"""Recorded runtimes that ship with the package; see `README.md` beside this file."""
