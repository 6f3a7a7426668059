"""Parameter spaces of well-known solvers: the first part of a scenario, ready to be completed.

A fragment is a scenario file without `[instances]`, `[search]` and `[budget]`: how the solver is
called, what its answers look like, and the parameters that matter for its runtime. What would
change the problem, the meaning of the answer or only the output is left out, and so are limits of
time and memory, which are Cunctator's own business.

Launchers within this package start with it, so importing it must cost next to nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["scenario_text", "solver_names", "solver_text"]


@dataclass(frozen=True, slots=True)
class Usual:
    """What the rest of a scenario usually says for a kind of solver."""

    instances: str = "cnf/*.cnf"
    """A pattern."""
    about: str = "DIMACS files"
    """What the pattern is for."""
    first_cap: str = "10ms"
    """A little more than a start takes."""


USUAL = {
    "clasp": Usual(first_cap="50ms"),
    "fast-downward": Usual(
        "tasks/p*.pddl", "PDDL tasks; the planner finds domain.pddl beside them", "500ms"
    ),
    "highs": Usual("models/*.mps", "MPS or LP files, plain or gzipped", "300ms"),
    "scip": Usual("models/*.mps", "files in any format that SCIP reads", "300ms"),
    "z3": Usual(first_cap="20ms"),
}

REST = """
[instances]
glob = "{instances}"      # {about}

# Other instances, for `cunctator validate`; the same keys.
# [test_instances]
# glob = "test/*"

[search]
first_cap = "{first_cap}"        # the shortest cap; faster runs all count as this long
cutoff = "60s"             # the longest cap; slower runs all count as this long
objective = "cpu"          # or "wall"
# configurations = 100     # a fixed number of them. Default: pools that grow as time allows
confidence = 0.95          # of everything that is certified
seed = 0                   # of configurations and instances
# workers = 2              # runs at the same time. Default: the number of CPUs

# The search ends when one of these is spent.
[budget]
charged = "10h"            # time of all runs together
wall = "5h"                # time on the clock
# runs = 100000
"""


def solver_names() -> tuple[str, ...]:
    """The solvers whose parameter spaces are here, in alphabetical order."""
    from importlib import resources

    files = (file.name for file in resources.files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml")))


def solver_text(name: str) -> str:
    """The fragment of a solver; raises InvalidSetting if there is none."""
    from importlib import resources

    from cunctator.base.errors import InvalidSetting

    known = solver_names()
    if name not in known:
        raise InvalidSetting("solver", name, f"expected one of {', '.join(known)}")
    return resources.files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")


def scenario_text(name: str) -> str:
    """A whole scenario for a solver; only the instances are the user's to fill in."""
    usual = USUAL.get(name, Usual())
    rest = REST.format(instances=usual.instances, about=usual.about, first_cap=usual.first_cap)
    return solver_text(name) + rest
