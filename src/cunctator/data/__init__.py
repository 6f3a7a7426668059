"""Recorded runtimes that ship with the package; see `README.md` beside this file."""

from __future__ import annotations

from pathlib import Path

SHIPPED = {"minisat": Path(__file__).with_name("minisat.npz")}
"""Files by the names that `load_table` takes."""
