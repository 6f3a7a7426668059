"""Scenarios: what to configure, on which instances, for how long.

A scenario is a TOML file. `load.py` reads it, `models.py` has its shape, and `scenario.py` is what
becomes of it.
"""

from cunctator.scenario.load import load_scenario, template_text
from cunctator.scenario.scenario import Scenario

__all__ = ["Scenario", "load_scenario", "template_text"]
