"""What `status` shows of a study, and what to do next when one has stopped.

The lines that `status` shares with the display of a running study are in `study.py` (`facts`), and
the numbers in them in `study/snapshot.py`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from rich.console import RenderableType

from cunctator.base.records import StopReason
from cunctator.show.study import facts, pool_table
from cunctator.show.text import whole
from cunctator.space.parameters import text_of
from cunctator.study.snapshot import Snapshot
from cunctator.study.view import View


def nothing_yet(directory: Path, is_driven: bool) -> str:
    """What to say of a study without any progress."""
    if is_driven:
        return (
            "Preparing: no run has ended yet. After an installation or update, kernels are compiled"
            " first, for a minute."
        )
    place = shlex.quote(str(directory))
    return f"Nothing has been done yet, and nobody works on it; go on: cunctator resume {place}"


def status_parts(directory: Path, is_driven: bool, snapshot: Snapshot) -> Iterator[RenderableType]:
    """Whether it runs, what the live display would show, the answer's settings, the pools."""
    place = shlex.quote(str(directory))
    if is_driven:
        yield "running"
    elif snapshot.stop:
        why = f": {snapshot.problem}" if snapshot.problem else ""
        yield whole(f"stopped: {snapshot.stop}{why}")
    else:
        yield whole(f"not running, and did not end in order; go on: cunctator resume {place}")
    yield from facts(snapshot)
    if snapshot.incumbent is None:
        return
    settings = snapshot.incumbent.configuration
    words = " ".join(f"{name}={text_of(value)}" for name, value in settings.items())
    yield whole(f"settings: {words}")
    if snapshot.certificate is not None and snapshot.certificate.pools:
        yield pool_table(snapshot.certificate.pools)


def what_next(directory: Path, view: View, has_tests: bool) -> Iterator[str]:
    """What to do with a study that has stopped; `has_tests`: there are test instances."""
    place = shlex.quote(str(directory))
    yield f"Everything is in {directory}. {_next_step(place, view)}"
    if view.has_incumbent and has_tests:
        yield f"Compare with the default on test instances: cunctator validate {place}"


def _next_step(place: str, view: View) -> str:
    """How to go on with a study that has stopped, if that is possible."""
    if view.stop is StopReason.PROVED_OPTIMAL:
        return "There is nothing to go on with: no other configuration can be better."
    if view.stop is StopReason.BEST_OF_POOL:
        return "None of the others looked at can be better; to look at more, begin a new study."
    if view.stop is StopReason.BY_THE_PAPER:
        return "There is nothing to go on with, by the bounds of the paper."
    if view.stop is StopReason.CERTIFIED:
        return f"To certify more, change stop_at in its copy of the scenario: {place}/scenario.toml"
    spoilt = (StopReason.DEFAULT_CRASHES, StopReason.NOTHING_SOLVED, StopReason.CONTRADICTION)
    if view.stop in spoilt:
        return "Mend that, then begin a new study."
    go_on = f"Go on: cunctator resume {place}"
    if view.stop is StopReason.ABORTED:
        return f"Mend that, then go on: cunctator resume {place}"
    if view.stop is StopReason.BUDGET:
        # Whichever is spent must be extended; more time is of no use without runs.
        are_spent = view.spent.runs >= view.budget.runs
        return f"{go_on} --more {f'{view.spent.runs}runs' if are_spent else '1h'}"
    return go_on
