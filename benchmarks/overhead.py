"""What a study costs beside its runs: the driver's CPU time, and how busy the slots are.

A target that uses 50 ms of CPU time, on two slots; Python's own start is part of the 50 ms. The
driver is this process. `make bench` does not run it: it measures this machine, and wants it quiet.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from rich.console import Console

from cunctator.scenario import load_scenario
from cunctator.study_folder import begin_study

SECONDS = 20
SOLVER = "import time\nwhile time.process_time() < 0.05:\n    pass\n"
SCENARIO = f"""
[target]
command = ["{{python}}", "-S", "-E", "solver.py", "{{level}}", "{{instance}}", "{{seed}}"]
[parameters.level]
type = "integer"
low = 1
high = 1000
default = 1
[instances]
names = ["a"]
[search]
first_cap = "200ms"
cutoff = "1s"
configurations = 50
workers = 2
[budget]
wall = "{SECONDS}s"
"""


def main() -> None:
    """Run a study and show what it cost."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "solver.py").write_text(SOLVER)
        (folder / "scenario.toml").write_text(SCENARIO)
        with begin_study(load_scenario(folder / "scenario.toml"), folder / "study") as study:
            study.view()  # load the kernels before anything is measured
            begun, used = time.monotonic(), time.process_time()
            view = study.run()
            wall, own = time.monotonic() - begun, time.process_time() - used
    charged = view.spent.charged
    console = Console()
    console.print(
        f"{view.spent.runs} runs of {1000 * charged / view.spent.runs:.1f} ms; driver"
        f" {own / charged:.2%} of the charged time; slots busy {view.busy:.1%};"
        f" charged {charged / wall / 2:.1%} of two slots' time"
    )


if __name__ == "__main__":
    main()
