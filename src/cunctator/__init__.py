"""Cunctator: algorithm configuration with a certificate, by putting long runs off.

The names below are the public surface. They are loaded when first used, so that importing the
package takes a fraction of a second; compiled kernels are loaded later still.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cunctator.base.errors import CunctatorError as CunctatorError
    from cunctator.base.records import Outcome as Outcome
    from cunctator.base.records import Run as Run
    from cunctator.base.records import Status as Status
    from cunctator.base.records import StopReason as StopReason
    from cunctator.core.certificate import Certificate as Certificate
    from cunctator.core.guarantee import appendix_delta as appendix_delta
    from cunctator.core.guarantee import appendix_epsilon as appendix_epsilon
    from cunctator.core.scheduler import Scheduler as Scheduler
    from cunctator.formats.load import load_table as load_table
    from cunctator.recorded.result import Result as Result
    from cunctator.recorded.simulation import Simulation as Simulation
    from cunctator.recorded.simulation import simulate as simulate
    from cunctator.recorded.table import Table as Table
    from cunctator.recorded.table import make_table as make_table
    from cunctator.scenario import load_scenario as load_scenario
    from cunctator.study.folder import resume as resume
    from cunctator.study.folder import run as run

    __version__: str

HOME = {
    "Certificate": "core.certificate",
    "CunctatorError": "base.errors",
    "Outcome": "base.records",
    "Result": "recorded.result",
    "Run": "base.records",
    "Scheduler": "core.scheduler",
    "Simulation": "recorded.simulation",
    "Status": "base.records",
    "StopReason": "base.records",
    "Table": "recorded.table",
    "appendix_delta": "core.guarantee",
    "appendix_epsilon": "core.guarantee",
    "load_table": "formats.load",
    "make_table": "recorded.table",
    "load_scenario": "scenario",
    "resume": "study.folder",
    "run": "study.folder",
    "simulate": "recorded.simulation",
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
