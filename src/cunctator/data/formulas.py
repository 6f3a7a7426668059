"""The formulas of the data set: as those of the demonstration, but smaller and of all kinds.

Most take minisat some hundredths of a second and some take a hundred times as long, as is usual in
sets of formulas; nothing was chosen by how configurations do on them.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from cunctator.demo import circuits, combinatorial
from cunctator.demo.formulas import Family, write_formulas

SEED, COUNT = 20261116, 500

FAMILIES = (
    Family("random", 0.18, combinatorial.random_3_sat),
    Family("colouring", 0.16, combinatorial.colouring),
    Family("fuzz", 0.16, circuits.fuzz),
    Family("accumulator", 0.14, circuits.accumulator),
    Family("factoring", 0.14, circuits.factoring),
    Family("miter", 0.08, partial(circuits.miter, fewest=4, most=6)),
    Family("pigeons", 0.07, partial(combinatorial.pigeons, fewest=6, most=8)),
    Family("parity", 0.07, partial(combinatorial.parity, fewest=12, most=20)),
)

if __name__ == "__main__":
    write_formulas(Path(sys.argv[1]), COUNT, SEED, FAMILIES)
