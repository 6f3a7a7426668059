"""Writing and reading PCS files, for the tests of them."""

from __future__ import annotations

from pathlib import Path

from cunctator.formats.imported import ImportedSpace
from cunctator.formats.pcs import read_pcs

PARENTS = """\
c {a,b,c}[a]
o ordinal {lo,mid,hi}[lo]
i [0,10][5]i
r [0,1][0.5]
x {on}[on]
"""
PAIR = "a {0,1,2}[0]\nb {x,y}[x]\ni [0,3][0]i\n"


def read(folder: Path, text: str | bytes) -> ImportedSpace:
    path = folder / "params.pcs"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_pcs(path)
