"""Runs HiGHS from the wheel `highspy`, which ships no program.

Options are those of HiGHS. Prints the status, and the objective of an optimum.
"""

from __future__ import annotations

import sys
from importlib import import_module

from cunctator.spaces.launching import SOLVED, UNSOLVED, Missing, Misused, launch, report

PROVED = {
    "kOptimal": "optimal",
    "kInfeasible": "infeasible",
    "kUnbounded": "unbounded",
    "kUnboundedOrInfeasible": "infeasible or unbounded",
}
"""What HiGHS can prove, in our words."""


def solve(options: dict[str, str], file: str) -> int:
    """Solve the model of a file."""
    try:
        highspy = import_module("highspy")
    except ImportError:
        raise Missing("HiGHS is missing; pip install highspy") from None
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    for name, value in options.items():
        if solver.setOptionValue(name, value) != highspy.HighsStatus.kOk:
            raise Misused(f"HiGHS refuses --{name}={value}; check its name and range")
    if solver.readModel(file) == highspy.HighsStatus.kError:
        raise Misused(f"HiGHS cannot read {file!r}; give an MPS or LP file")
    solver.run()
    status = solver.getModelStatus()
    if status.name not in PROVED:
        report(solver.modelStatusToString(status))
        return UNSOLVED
    is_optimal = status == highspy.HighsModelStatus.kOptimal
    report(PROVED[status.name], solver.getInfo().objective_function_value if is_optimal else None)
    return SOLVED


if __name__ == "__main__":
    sys.exit(launch(solve, sys.argv[1:]))
