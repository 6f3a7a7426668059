"""The demonstration on a real solver: its scenario, with formulas made for the occasion.

The parameter space is the one that ships for the solver; pools of configurations grow as time goes
by. Each formula is run with one seed, so a minute and a half is enough to run the answer and the
default on the whole set, and to say for certain how they compare on it.
"""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

from cunctator.base.errors import InvalidSetting
from cunctator.demo.formulas import write_formulas
from cunctator.scenario import Scenario, load_scenario
from cunctator.spaces import solver_text

SOLVERS = ("clasp", "minisat")
TRAINING, TESTING = 100, 60
SEARCH = """
[instances]
glob = "training/*.cnf"

[test_instances]
glob = "testing/*.cnf"

[search]
first_cap = "{first_cap}"
cutoff = "10s"
seed = {seed}

[budget]
wall = "{seconds}s"
"""
FIRST_CAPS = {"clasp": "40ms", "minisat": "20ms"}
"""A little more than the solver's start takes."""

LARGEST_SEED = 2**31


def demo_scenario(
    solver: str, seed: int, seconds: float, folder: Path, workers: int | None = None
) -> Scenario:
    """Write the formulas and the scenario into a folder, and read it back.

    Without a number of `workers` there is one for each CPU.
    """
    _check(solver, seed)
    write_formulas(folder / "training", TRAINING, seed)
    # Formulas of another seed: nothing that the search has seen.
    write_formulas(folder / "testing", TESTING, seed + LARGEST_SEED)
    search = SEARCH.format(first_cap=FIRST_CAPS[solver], seed=seed, seconds=seconds)
    path = folder / "scenario.toml"
    path.write_text(solver_text(solver) + search, encoding="utf-8")
    return load_scenario(path, changes={("search", "workers"): workers} if workers else None)


def _check(solver: str, seed: int) -> None:
    if solver not in SOLVERS:
        raise InvalidSetting("--solver", solver, f"expected one of {', '.join(SOLVERS)}, made-up")
    if not 0 <= seed < LARGEST_SEED:
        raise InvalidSetting("--seed", seed, f"expected 0 to {LARGEST_SEED - 1}")
    if solver == "clasp" and find_spec("clingo") is None:
        raise InvalidSetting("--solver", solver, "clasp is missing: pip install clingo")
    if solver == "minisat" and shutil.which("minisat") is None:
        raise InvalidSetting("--solver", solver, "minisat is missing: install Debian's minisat")
