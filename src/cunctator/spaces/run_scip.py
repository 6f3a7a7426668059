"""Runs SCIP from the wheel `pyscipopt`, which ships no program.

Options are SCIP's parameters by their full names. `heuristics/emphasis`, `presolving/emphasis`
and `separating/emphasis` are what `set heuristics emphasis` and so on are in SCIP's own shell:
they change many parameters at once, before all others are set. Prints the status, and the
objective of an optimum.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from cunctator.spaces.launching import SOLVED, UNSOLVED, Missing, Misused, launch, report

PROVED = {
    "optimal": "optimal",
    "infeasible": "infeasible",
    "unbounded": "unbounded",
    "inforunbd": "infeasible or unbounded",
}
"""What SCIP can prove, in our words."""

EMPHASES = {
    "heuristics/emphasis": "setHeuristics",
    "presolving/emphasis": "setPresolve",
    "separating/emphasis": "setSeparating",
}
BOOLEANS = {"true": True, "false": False}
SEED, SEEDS = "randomization/randomseedshift", 2**30
"""SCIP fails on the largest seeds that it takes: it adds to them in problems within the problem."""


def solve(options: dict[str, str], file: str) -> int:
    """Solve the problem of a file."""
    try:
        pyscipopt = import_module("pyscipopt")
    except ImportError:
        raise Missing("SCIP is missing; pip install pyscipopt") from None
    model = pyscipopt.Model()
    model.hideOutput()
    for name in sorted(options, key=lambda name: name not in EMPHASES):
        try:
            _set(model, name, options[name], pyscipopt.SCIP_PARAMSETTING)
        except (ValueError, LookupError, AttributeError):
            problem = f"SCIP refuses --{name}={options[name]}; check its name and range"
            raise Misused(problem) from None
    try:
        model.readProblem(file)
    except OSError:
        raise Misused(f"SCIP cannot read {file!r}; give an MPS or LP file") from None
    try:
        model.optimize()
    except Exception as problem:  # whatever error of SCIP's has come through
        sys.stderr.write(f"SCIP failed: {problem}\n")
        return UNSOLVED
    status = model.getStatus()
    if status not in PROVED:
        report(status)
        return UNSOLVED
    report(PROVED[status], model.getObjVal() if status == "optimal" else None)
    return SOLVED


def _set(model: Any, name: str, value: str, settings: Any) -> None:
    """Set a parameter as the type that SCIP has it in."""
    if name in EMPHASES:
        getattr(model, EMPHASES[name])(getattr(settings, value.upper()))
        return
    if name == SEED:
        value = str(int(value) % SEEDS)
    kind = type(model.getParam(name))
    model.setParam(name, BOOLEANS[value.lower()] if kind is bool else kind(value))


if __name__ == "__main__":
    sys.exit(launch(solve, sys.argv[1:]))
