"""The trial of a scenario: the default configuration on three instances, for real.

What goes wrong in a study mostly goes wrong in its first run, and it should not take a night to
find out. Each trial says what happened and, if it failed, whose fault that seems to be.
"""

from __future__ import annotations

import shlex
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from cunctator.display import printable
from cunctator.records import Status
from cunctator.scenario import Scenario
from cunctator.units import format_duration
from cunctator.workers import Execution, LocalWorkers, Report

TRIALS = 3
LONGEST_TRIAL = 60.0
"""Seconds for a trial if there is no cutoff."""

OUTPUT_SHOWN = 2000


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of the default configuration."""

    execution: Execution
    argv: list[str]
    report: Report

    @property
    def is_good(self) -> bool:
        """Whether the target did what it should: a run that takes long is no failure."""
        return self.report.status in (Status.SOLVED, Status.CAPPED)


def check_scenario(scenario: Scenario) -> list[Trial]:
    """Run the default configuration on the first instances of the stream."""
    cap = scenario.search.cutoff or LONGEST_TRIAL
    count = scenario.instances.count
    pairs = range(TRIALS if count is None else min(TRIALS, count))
    trials = []
    with tempfile.TemporaryDirectory(prefix="cunctator-") as folder:
        workers = LocalWorkers(scenario, 1, Path(folder))
        try:
            for pair in pairs:
                instance, seed = scenario.instances.pair(pair)
                execution = Execution(pair, scenario.space.default, instance, seed, cap)
                report = workers.submit(execution).result()
                trials.append(Trial(execution, workers.argv(execution), report))
        finally:
            workers.close()
    return trials


def check_table(scenario: Scenario, trials: list[Trial]) -> RenderableType:
    """What happened, as a table and in sentences."""
    grid = Grid(title="The default configuration on the first instances")
    grid.add_column("instance", overflow="fold")
    for heading in ("outcome", "cpu", "wall", "code", "memory", "answer"):
        grid.add_column(heading, justify="right")
    for trial in trials:
        details = trial.report.details
        code = details.exit_code if details.signal is None else f"signal {details.signal}"
        grid.add_row(
            Text(printable(trial.execution.instance)),
            trial.report.status.value if trial.report.status else "-",
            format_duration(details.cpu),
            format_duration(details.wall),
            "-" if code is None else str(code),
            f"{details.memory / 1e6:.0f} MB",
            Text(printable(details.answer or "-")),
        )
    lines = [*_space_lines(scenario), *_verdict(trials)]
    if all(trial.is_good for trial in trials):
        lines.extend(_reach(scenario, trials))
    return Group(grid, *(Text(line) for line in lines))


def _space_lines(scenario: Scenario) -> list[str]:
    count = scenario.instances.count
    pairs = "an endless stream of pairs" if count is None else f"{count:,} instances"
    number = f"{len(scenario.space.parameters)} parameters, {scenario.configurations:,}"
    return [f"{number} configurations, {pairs}."]


def _verdict(trials: list[Trial]) -> list[str]:
    for trial in trials:
        if trial.is_good:
            continue
        fault = "The scenario's or the machine's" if trial.report.abort else "The target's"
        lines = [f"{fault} fault, as it seems: {printable(trial.report.details.problem)}"]
        if trial.argv:
            lines.append(f"Try it by hand: {printable(shlex.join(trial.argv))}")
        output = trial.report.output[-OUTPUT_SHOWN:]
        lines.extend(f"  {printable(line)}" for line in output.splitlines())
        return lines
    if all(trial.report.status is Status.CAPPED for trial in trials):
        return ["No run ended within its cap: check the cutoff, or give easier instances."]
    return ["All is well."]


def _reach(scenario: Scenario, trials: list[Trial]) -> list[str]:
    """How far the budget goes, from the little that is known."""
    mean = sum(trial.report.seconds for trial in trials) / len(trials)
    table, slots = scenario.budget, scenario.search.workers
    seconds = [table.charged] if table.charged is not None else []
    if table.wall is not None:
        seconds.append(table.wall * slots)
    if not seconds or mean <= 0:
        return []
    runs = min(seconds) / mean
    if table.runs is not None:
        runs = min(runs, table.runs)
    return [
        f"The default takes {format_duration(mean)} on average here: the budget is worth some"
        f" {runs:,.0f} such runs, {runs / scenario.configurations:,.0f} for each configuration;"
        " bad configurations get far fewer, good ones more."
    ]
