"""What a person sees of a trial: a table of its runs, what was odd, how far the budget goes."""

from __future__ import annotations

import os
import shlex

from rich.console import RenderableType
from rich.table import Table as Grid
from rich.text import Text

from cunctator.base.records import Status
from cunctator.base.units import counted, format_duration
from cunctator.core.statement import set_in_words
from cunctator.scenario import Scenario
from cunctator.show.text import printable, whole
from cunctator.study.default_check import advice
from cunctator.study.trial import Trial, contradiction_in

OUTPUT_SHOWN = 2000
"""Characters of what a run printed that failed."""


def check_parts(scenario: Scenario, trials: list[Trial]) -> list[RenderableType]:
    """What happened, as a table and in sentences.

    Texts that are not to be wrapped hold a path or a command: broken by us, they could not be
    copied.
    """
    title = "The default configuration, and others"
    grid = Grid(title=title, title_justify="left", box=None, padding=(0, 1, 0, 0))
    grid.add_column("run", no_wrap=True)
    for heading in ("outcome", "cpu", "wall", "code", "memory"):
        grid.add_column(heading, justify="right", no_wrap=True)
    grid.add_column("answer", overflow="fold")
    instances = list(dict.fromkeys(trial.execution.instance for trial in trials))
    for trial in trials:
        details = trial.report.details
        code = details.exit_code if details.signal is None else f"signal {details.signal}"
        place = instances.index(trial.execution.instance) + 1
        grid.add_row(
            f"{_name(scenario, trial.configuration)} on {place}",
            trial.report.status.value if trial.report.status else "-",
            format_duration(details.cpu),
            format_duration(details.wall),
            "-" if code is None else str(code),
            f"{details.memory / 1e6:.0f} MB",
            Text(printable(details.reply or "-")),
        )
    parts: list[RenderableType] = [grid]
    for place, instance in enumerate(instances, 1):
        parts.append(whole(f"Instance {place}: {_short(instance, scenario)}"))
    parts.extend(Text(line) for line in _space_lines(scenario))
    parts.extend(_verdict(scenario, trials))
    if all(trial.is_good for trial in trials):
        parts.extend(Text(line) for line in _reach(scenario, trials))
    return parts


def _name(scenario: Scenario, configuration: int) -> str:
    if configuration == 0:
        return "default"
    return f"initial {configuration}" if configuration < scenario.space.fixed else "random"


def _short(instance: str, scenario: Scenario) -> str:
    """A file as seen from the scenario's folder."""
    folder = scenario.path.resolve().parent
    return instance.removeprefix(f"{folder}/") if scenario.instances.are_files else instance


def _space_lines(scenario: Scenario) -> list[str]:
    pair_count = scenario.instances.count
    pairs = "an endless stream of pairs"
    if pair_count is not None:
        pairs = set_in_words(pair_count, scenario.instances.seeds)
    count = scenario.configurations
    searched = (
        "pools of configurations that grow" if count is None else counted(count, "configuration")
    )
    lines = [f"{counted(len(scenario.space.parameters), 'parameter')}, {searched}, {pairs}."]
    slots, cpus = scenario.search.workers, os.cpu_count() or 1
    if slots > cpus:
        lines.append(f"{slots} slots on {counted(cpus, 'CPU')}: runs will be in each other's way.")
    return lines


def _verdict(scenario: Scenario, trials: list[Trial]) -> list[Text]:
    for trial in trials:
        if trial.is_good:
            continue
        fault = "The scenario's or the machine's" if trial.report.abort else "The target's"
        problem = [trial.report.details.problem, advice(scenario, trial.report.details)]
        why = printable("; ".join(filter(None, problem)))
        lines = [Text(f"{fault} fault, it seems: {why}")]
        if trial.argv:
            lines.append(whole(f"Try it by hand: {shlex.join(trial.argv)}"))
        output = trial.report.output[-OUTPUT_SHOWN:]
        lines.extend(whole(f"  {line}") for line in output.splitlines())
        return lines
    contradiction = contradiction_in(trials)
    if contradiction is not None:
        return [whole(f"Two runs contradict each other, so one is wrong: {contradiction}.")]
    command = [whole(f"The first was: {shlex.join(trials[0].argv)}")] if trials[0].argv else []
    return [*command, *(Text(line) for line in _what_was_odd(trials))]


def _what_was_odd(trials: list[Trial]) -> list[str]:
    """Of runs that did not fail: what to know of them all the same."""
    false = [trial for trial in trials if trial.reports_another_time]
    if false:
        return _about_false_times(false, len(trials))
    warnings = [trial.report.warning for trial in trials if trial.report.warning]
    said = []
    if warnings:
        count = counted(len(warnings), "run")
        said.append(f"{count} with a warning, the first: {printable(warnings[0])}")
    capped = sum(trial.report.status is Status.CAPPED for trial in trials)
    if capped == len(trials):
        line = "No run ended within its cap: check the cutoff, or give easier instances."
        return [*said, line]
    if capped:
        line = f"{counted(capped, 'run')} did not end before the cutoff; else all is well."
        return [*said, line]
    return [*said, "Else all is well." if warnings else "All is well."]


def _about_false_times(false: list[Trial], runs: int) -> list[str]:
    """A target that reports something else than its time: what it says, and what is used."""
    first = false[0].report
    assert first.details.reported is not None
    told = (
        f"A problem: in {len(false)} of {counted(runs, 'run')} the target reports a time that is"
        f" far from the measured one: {first.details.reported:g} s for a run of"
        f" {format_duration(first.seconds)} in the first of them."
    )
    capped = sum(trial.report.status is Status.CAPPED for trial in false)
    used = "The measured time is what counts and is minimised, whatever is reported"
    if capped:
        used = f"{counted(capped, 'run')} with a reported time above the cap counted as cut off"
    fix = "Let it report the seconds of the run; a cost of another kind cannot be minimised here."
    return [told, f"{used}. {fix}"]


def _reach(scenario: Scenario, trials: list[Trial]) -> list[str]:
    """How far the budget goes, from the little that is known."""
    defaults = [trial.report for trial in trials if trial.configuration == 0]
    mean = sum(report.seconds for report in defaults) / len(defaults)
    # On a busy machine a run takes longer on the clock than it uses.
    clock = sum(max(report.seconds, report.details.wall) for report in defaults) / len(defaults)
    table, slots = scenario.budget, scenario.search.workers
    if (table.charged is None and table.wall is None) or mean <= 0:
        return []
    limits = (table.charged, mean), (table.wall, clock / slots), (table.runs, 1.0)
    runs = min(most / each for most, each in limits if most is not None)
    reach = (
        f"The default takes {format_duration(mean)} on average here: the budget is worth some"
        f" {runs:,.0f} such runs"
    )
    if scenario.configurations is None:
        return [f"{reach}."]
    count = scenario.instances.count
    if count is not None and runs >= count * scenario.configurations:
        return [f"{reach}; running everything once takes {count * scenario.configurations:,}."]
    each = runs / scenario.configurations
    fewer = "bad configurations get far fewer, good ones more"
    return [f"{reach}, {each:,.0f} for each configuration; {fewer}."]
