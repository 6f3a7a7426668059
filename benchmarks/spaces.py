"""How fast other tools' spaces are read and drawn from: every PCS file of the data folder.

    python benchmarks/spaces.py

The folder is named by `CUNCTATOR_DATA`. CPU seconds of this process, the median of several goes.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from cunctator.formats.imported import ImportedSpace
from cunctator.formats.pcs import read_pcs
from cunctator.space.space import Space

GOES, DRAWS = 5, 4000


def data_folder() -> Path:
    """Where parameter files are looked for."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("CUNCTATOR_DATA") or default)


def cpu_seconds(work: Callable[[int], object]) -> float:
    """Median over goes; each is told its number."""
    found = []
    for go in range(GOES):
        begun = time.process_time()
        work(go)
        found.append(time.process_time() - begun)
    return statistics.median(found)


def main() -> None:
    """Measure all of them, and show a table."""
    table = Table("file", "parameters", "read", "configurations a second")
    for path in sorted((data_folder() / "pcs").glob("*.pcs")):
        imported = read_pcs(path)

        def draw(go: int, imported: ImportedSpace = imported) -> None:
            space = Space(imported.parameters, forbidden=imported.forbidden, seed=go)
            for number in range(DRAWS):
                space.configuration(number)

        def read(go: int, path: Path = path) -> None:
            read_pcs(path)

        reading = cpu_seconds(read)
        speed = DRAWS / cpu_seconds(draw)
        count = str(len(imported.parameters))
        table.add_row(path.name, count, f"{1e3 * reading:.0f} ms", f"{speed:,.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
