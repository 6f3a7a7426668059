"""A study to be made: what a scenario file says, checked and frozen."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from cunctator.scenario.models import BudgetTable, SearchTable, TargetTable
from cunctator.space.space import Space
from cunctator.target.command import Command
from cunctator.target.instances import Instances

SMALL_SPACE = 8
"""So many configurations are searched at once: pools that grow would not pay."""


@dataclass(frozen=True)
class Scenario:
    """A study to be made, checked."""

    path: Path
    text: str = field(repr=False)
    """The file as it was read, with what was given on the command line."""
    folder: Path
    """What the paths in the file begin at."""
    target: TargetTable
    directory: Path
    """Where the target runs."""
    space: Space
    command: Command = field(repr=False)
    """How a run is called and judged; a function has no arguments but is judged all the same."""
    instances: Instances = field(repr=False)
    test_instances: Instances | None = field(repr=False)
    search: SearchTable
    budget: BudgetTable
    digests: tuple[str, ...]
    """Of everything that determines the search: two scenarios with the same digest ask for the
    same runs, given the same outcomes. Budgets may differ, and the number of workers. The first is
    what is written down, the others are what earlier versions have written; see `digest.py`."""

    @property
    def digest(self) -> str:
        """The digest that this version writes down."""
        return self.digests[0]

    @cached_property
    def configurations(self) -> int | None:
        """How many are searched: those asked for, or all that there are; None: pools that grow."""
        size, asked = self.space.size, self.search.configurations
        if asked is None:
            return None if size is None or size > SMALL_SPACE else size
        return asked if size is None else min(asked, size)
