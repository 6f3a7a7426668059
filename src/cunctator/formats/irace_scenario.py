"""Scenario files of irace, made into the tables of ours.

They are R programs, of which only assignments of literals are read. Paths are relative to the
file's folder, as irace has it, and so are those in our tables; but the command is looked for from
the folder where it runs.

irace minimises whatever its target runner prints. We minimise running time, so that is what the
numbers are taken for, and a warning says so where irace may have meant something else.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cunctator.base.units import LARGEST_PENALTY
from cunctator.formats.imported import ImportedScenario, ImportedSpace
from cunctator.formats.irace import read_irace_parameters, shortened
from cunctator.formats.irace_configurations import (
    configurations_with_warnings,
    read_irace_configurations,
)
from cunctator.formats.irace_instances import IracePlaces, plain_path, read_irace_instances
from cunctator.formats.irace_options import Options, read_options
from cunctator.formats.shell_words import shell_words
from cunctator.space.parameters import Value

__all__ = ["read_irace_configurations", "read_irace_scenario"]

ARGUMENTS = "{configurationID} {instanceID} {seed} {instance} {bound} {targetRunnerArgs}"
"""What irace's runners are given, in this order; so do we."""

OLD_ARGUMENTS = "{targetRunnerArgs}"
"""The same in the arguments of a launcher before irace 4."""

MOST_SECONDS, MOST_RUNS, MOST_WORKERS, LARGEST_SEED = 10**9, 2**31 - 1, 10_000, 2**32 - 1
FRACTION_DIGITS = 2
"""Digits of seconds that irace would have to give to a runner, for our first caps to look alike."""


def read_irace_scenario(path: Path) -> ImportedScenario:
    """A scenario file and the files it names; raises InvalidScenario."""
    warnings: list[str] = []
    options = read_options(path, warnings)
    folder = path.parent
    space = _read_space(options, folder, warnings)
    configurations: list[dict[str, Value]] = []
    named = options.text("configurationsFile")
    if named is not None:
        place = folder / plain_path(named)
        configurations, left_out = configurations_with_warnings(place, space)
        warnings.extend(left_out)
        space = _with_default(space, configurations[0])
    places = IracePlaces(folder, plain_path(options.text("execDir") or "."))
    if not places.exists(places.execution):
        warnings.append(f"execDir: there is no folder {places.execution}")
    target = _target(options, places, space, warnings)
    if target["protocol"] != "irace":
        space = dataclasses.replace(space, formats={})
    instances, test_instances = (
        read_irace_instances(
            places,
            options.text(f"{use}InstancesDir"),
            options.text(f"{use}InstancesFile"),
            warnings,
        )
        for use in ("train", "test")
    )
    if instances is None:
        problem, fix = "there are no instances", "set trainInstancesDir or trainInstancesFile"
        raise options.wrong("trainInstancesDir", problem, fix)
    return ImportedScenario(
        space=space,
        target=target,
        instances=instances,
        test_instances=test_instances,
        search=_search(options, warnings),
        budget=_budget(options, warnings),
        initial=tuple(configurations[1:]),
        warnings=shortened(warnings),
    )


def _read_space(options: Options, folder: Path, warnings: list[str]) -> ImportedSpace:
    parameters = plain_path(options.text("parameterFile") or "parameters.txt")
    forbidden = options.text("forbiddenFile")
    if forbidden is None:
        return read_irace_parameters(folder / parameters)
    warnings.append("forbiddenFile is of irace before 4; its lines are read like [forbidden]")
    return read_irace_parameters(folder / parameters, folder / plain_path(forbidden))


def _with_default(space: ImportedSpace, default: Mapping[str, Value]) -> ImportedSpace:
    """The space with this default; what is not active in it keeps its placeholder."""
    parameters = tuple(
        dataclasses.replace(parameter, default=default.get(parameter.name, parameter.default))
        for parameter in space.parameters
    )
    return dataclasses.replace(space, parameters=parameters, has_defaults=True)


def _target(
    options: Options, places: IracePlaces, space: ImportedSpace, warnings: list[str]
) -> dict[str, Any]:
    for name in ("batchmode", "sgeCluster"):
        if options.is_on(name):
            problem = "the runner submits jobs to a cluster, and prints their numbers"
            raise options.wrong(name, problem, "give a runner that waits, and prints the time")
    target: dict[str, Any] = {
        "command": _command(options, places, warnings),
        "protocol": _protocol(options, space),
        "directory": places.execution,
    }
    deterministic = options.truth("deterministic")
    if deterministic is not None:
        target["deterministic"] = deterministic
    return target


def _protocol(options: Options, space: ImportedSpace) -> str:
    """A runner of AClib has a dialect of its own, which names the parameters by their labels."""
    if not options.truth("aclib"):
        return "irace"
    for name, raw in space.formats.items():
        if raw != f"{name}{{value}}":
            problem = f"AClib's runners know {name} by its label, which is not {name!r}"
            raise options.wrong("aclib", problem, "import the PCS file of that scenario instead")
    return "aclib2"


def _command(options: Options, places: IracePlaces, warnings: list[str]) -> list[str]:
    runner = _program(places, plain_path(options.text("targetRunner") or "target-runner"))
    if not places.exists(str(Path(places.execution, runner))):
        warnings.append(f"targetRunner: there is no file {runner}, seen from {places.execution}")
    launcher = options.text("targetRunnerLauncher")
    words = _fixed_arguments(options, launcher is not None)
    command = [runner, *words]
    if launcher is not None:
        is_ours = os.sep in launcher or places.exists(launcher)
        first = _program(places, plain_path(launcher)) if is_ours else launcher
        command = [first, *(word.replace("{targetRunner}", runner) for word in words)]
    return [word.replace("{", "{{").replace("}", "}}") for word in command]


def _fixed_arguments(options: Options, has_launcher: bool) -> list[str]:
    """Those before the ones that every runner is given."""
    name, known = "targetCmdline", ARGUMENTS
    if options.text(name) is None and has_launcher:
        name, known = "targetRunnerLauncherArgs", OLD_ARGUMENTS
    template = " ".join((options.text(name) or known).split())
    fixed = template.removesuffix(known)
    fix = f"write it as fixed arguments, then {known}; or remove it, and write the command by hand"
    if fixed == template or re.search(r"\{(?!targetRunner\})", fixed):
        raise options.wrong(name, f"{template!r} gives arguments in another order", fix)
    if has_launcher and "{targetRunner}" not in fixed:
        fixed = "{targetRunner} " + fixed
    try:
        return shell_words(fixed)
    except ValueError as error:
        raise options.wrong(name, str(error), "close the quote, or remove it") from None


def _program(places: IracePlaces, path: str) -> str:
    """A program as it is to be called in the folder where the target runs."""
    if os.path.isabs(path):  # noqa: PTH117 - a text, not a place
        return path
    place = places.folder / path
    whole = os.path.realpath(place.parent), os.path.realpath(places.folder / places.execution)
    found = str(Path(os.path.relpath(*whole), place.name))
    return found if os.sep in found else f".{os.sep}{found}"


def _search(options: Options, warnings: list[str]) -> dict[str, Any]:
    search: dict[str, Any] = {}
    cutoff = options.whole("boundMax", MOST_SECONDS)
    penalty = options.whole("boundPar", int(LARGEST_PENALTY)) or 1
    if cutoff:
        search["cutoff"] = cutoff
        if penalty > 1:
            search["penalty"] = penalty
        if (options.whole("boundDigits", 15) or 0) < FRACTION_DIGITS:
            warnings.append(
                "the runner will be given bounds such as 0.01, where irace rounds up to whole"
                " seconds: give first_cap in [search] if it cannot read them"
            )
    else:
        warnings.append(
            "boundMax is not set: add cutoff, the longest time of a run, to [search] if the"
            " runner takes a bound as its fifth argument"
        )
    parallel = options.whole("parallel", MOST_WORKERS)
    if parallel is not None:
        search["workers"] = max(parallel, 1)
    seed = options.whole("seed", LARGEST_SEED)
    if seed is not None:
        search["seed"] = seed
    return search


def _budget(options: Options, warnings: list[str]) -> dict[str, Any]:
    budget: dict[str, Any] = {}
    seconds = options.whole("maxTime", MOST_SECONDS)
    if seconds:
        budget["charged"] = seconds
    runs = options.whole("maxExperiments", MOST_RUNS)
    if runs:
        budget["runs"] = runs
    if not budget:
        warnings.append(
            'neither maxTime nor maxExperiments is set: add charged = "10h" to [budget]'
        )
    if not seconds and not options.whole("boundMax", MOST_SECONDS):
        warnings.append(
            "irace minimises what the runner prints; Cunctator minimises running time, so the"
            " number, or the second of two, must be the seconds of the run"
        )
    return budget
