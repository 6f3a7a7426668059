"""Which solvers are here, of which version, and what the tests of their spaces share."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from cunctator.scenario import Scenario, load_scenario
from cunctator.spaces import solver_text

REST = '\n[instances]\nnames = ["x"]\n[budget]\nruns = 1\n'
KNAPSACK = """maximize
 profit: 12 a + 9 b + 14 c + 7 d + 10 e + 5 f + 11 g + 6 h
subject to
 weight: 7 a + 5 b + 9 c + 4 d + 6 e + 3 f + 8 g + 4 h <= 23
 volume: 3 a + 6 b + 4 c + 5 d + 2 e + 7 f + 3 g + 4 h <= 19
 {more}
binary
 a b c d e f g h
end
"""


@dataclass(frozen=True)
class Solver:
    """Where a solver is found, and which version its space is for."""

    install: str
    program: str = ""
    module: str = ""
    version: str = ""
    """The beginning of what it says, if it says anything."""


SOLVERS = {
    "cadical": Solver("Debian's cadical", "cadical", version="sc2021"),  # which is 1.5.3
    "clasp": Solver("the wheel clingo", module="clingo", version="5."),
    "cryptominisat": Solver("Debian's cryptominisat", "cryptominisat5", version="5.11"),
    "fast-downward": Solver("Fast Downward", "fast-downward.py", version="26"),
    "glucose": Solver("Glucose 4.2", "glucose"),
    "highs": Solver("the wheel highspy", module="highspy", version="1.15"),
    "kissat": Solver("Kissat 4", "kissat", version="4."),
    "minisat": Solver("Debian's minisat", "minisat"),
    "scip": Solver("the wheel pyscipopt", module="pyscipopt", version="6."),
    "z3": Solver("the wheel z3-solver", "z3", version="5.4"),
}
LOGICAL = ("cadical", "clasp", "cryptominisat", "glucose", "kissat", "minisat", "z3")
"""Those that read formulas."""


def run(*command: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)


def need(name: str) -> None:
    """Skip the test if the solver is not there, or is another version."""
    solver = SOLVERS[name]
    if solver.module:
        script = f"from importlib.metadata import version; print(version({solver.module!r}))"
        said = run(sys.executable, "-c", script).stdout
    elif shutil.which(solver.program) is None:
        said = ""
    else:
        said = run(solver.program, "--version").stdout if solver.version else "there"
    if not said:
        pytest.skip(f"install {solver.install} to test its space")
    if solver.version and not re.search(rf"(^|\s){re.escape(solver.version)}", said):
        pytest.skip(f"the space of {name} is for {solver.version}; this is {said.split()[:4]}")


def load(name: str, folder: Path) -> Scenario:
    path = folder / "scenario.toml"
    path.write_text(solver_text(name) + REST)
    return load_scenario(path)
