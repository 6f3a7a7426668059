"""Cunctator: algorithm configuration with a certificate, by putting long runs off.

The names below are the public surface. They are loaded when first used, so that importing the
package takes a fraction of a second; compiled kernels are loaded later still.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cunctator.core.certificate import Certificate as Certificate
    from cunctator.core.guarantee import appendix_delta as appendix_delta
    from cunctator.core.guarantee import appendix_epsilon as appendix_epsilon
    from cunctator.core.scheduler import Scheduler as Scheduler
    from cunctator.errors import CunctatorError as CunctatorError
    from cunctator.formats.load import load_table as load_table
    from cunctator.records import Outcome as Outcome
    from cunctator.records import Run as Run
    from cunctator.records import Status as Status
    from cunctator.records import StopReason as StopReason
    from cunctator.result import Result as Result
    from cunctator.scenario import load_scenario as load_scenario
    from cunctator.simulation import Simulation as Simulation
    from cunctator.simulation import simulate as simulate
    from cunctator.study_folder import resume as resume
    from cunctator.study_folder import run as run
    from cunctator.target.table import Table as Table
    from cunctator.target.table import make_table as make_table

    __version__: str

HOME = {
    "Certificate": "core.certificate",
    "CunctatorError": "errors",
    "Outcome": "records",
    "Result": "result",
    "Run": "records",
    "Scheduler": "core.scheduler",
    "Simulation": "simulation",
    "Status": "records",
    "StopReason": "records",
    "Table": "target.table",
    "appendix_delta": "core.guarantee",
    "appendix_epsilon": "core.guarantee",
    "load_table": "formats.load",
    "make_table": "target.table",
    "load_scenario": "scenario",
    "resume": "study_folder",
    "run": "study_folder",
    "simulate": "simulation",
}

__all__ = list(HOME)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("cunctator")
    if name not in HOME:
        raise AttributeError(f"module 'cunctator' has no attribute {name!r}")
    return getattr(import_module(f"cunctator.{HOME[name]}"), name)
