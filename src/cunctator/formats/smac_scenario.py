"""Scenario files of SMAC, ParamILS and AClib, made into the tables of ours.

There are two dialects. In the older one `algo` is a command line whose wrapper is called with
positions; AClib 2 gives `executable` and `arg`, and calls it with flags. `smac_keys.py` reads the
lines, `smac_places.py` finds the files, `smac_instances.py` reads the lists of instances.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

from cunctator.base.errors import InvalidKey
from cunctator.base.units import LARGEST_PENALTY
from cunctator.formats.configspace import CONFIGSPACE_ENDINGS, read_configspace
from cunctator.formats.imported import ImportedScenario, ImportedSpace
from cunctator.formats.irace import shortened
from cunctator.formats.pcs import read_pcs
from cunctator.formats.smac_instances import NO_INSTANCE, read_instances
from cunctator.formats.smac_keys import UNLIMITED, Settings, number_in, read_settings, unquoted
from cunctator.formats.smac_places import SmacPlaces, exists, find_places
from cunctator.scenario.models import SearchTable
from cunctator.space.parameters import LISTED, Parameter, Value
from cunctator.space.space import Space

PENALISED = re.compile(r"(?:par|mean)([0-9]+(?:\.[0-9]+)?)", re.IGNORECASE)
"""Means that count a timeout several times: `PAR10`, `mean10`."""
STARTS = ("default", "random", "lhd", "sobol", "factorial")
"""Ways to choose the first configurations."""
FIRST_CAP: float = SearchTable.model_fields["first_cap"].default


def read_smac_scenario(path: Path) -> ImportedScenario:
    """A scenario file and the files it names; raises InvalidScenario."""
    warnings: list[str] = []
    settings = read_settings(path, warnings)
    _check_objective(settings, warnings)
    places = find_places(path, _named(settings), warnings)
    space = _read_space(settings, places)
    directory = places.find(settings.text("execdir") or ".", "execdir")
    target = _target(settings, places, directory)
    instances = read_instances(settings, "instance_file", places, directory)
    if instances is None and settings.truth("use_instances") is False:
        instances = {"names": [NO_INSTANCE]}
    if instances is None:
        fix = "add instance_file, a file with one instance on each line"
        raise settings.wrong("instance_file", "is missing", fix)
    return ImportedScenario(
        space=space,
        target=target,
        instances=instances,
        test_instances=read_instances(settings, "test_instance_file", places, directory),
        search=_search(settings, warnings),
        budget=_budget(settings, warnings),
        initial=_initial(settings, space, warnings),
        warnings=shortened(warnings),
    )


def _named(settings: Settings) -> list[str]:
    """Paths that tell where they begin; `.` is everywhere."""
    keys = ("paramfile", "execdir", "instance_file", "test_instance_file", "executable")
    texts = [settings.text(key) for key in keys]
    words = (settings.raw("algo") or "").split()
    found = [text for text in texts if text is not None]
    found.extend(word for word in words if os.sep in word)
    return [text for text in found if os.path.normpath(text) != os.curdir]


def _check_objective(settings: Settings, warnings: list[str]) -> None:
    objective = settings.text("run_obj")
    if objective is None:
        warnings.append("run_obj is not set: taken for runtime")
    elif objective.lower() != "runtime":
        problem = f"it is {objective}, but Cunctator minimises running time"
        raise settings.wrong("run_obj", problem, "give runtime, or use another configurator")


def _read_space(settings: Settings, places: SmacPlaces) -> ImportedSpace:
    text = settings.text("paramfile")
    if text is None:
        raise settings.wrong("paramfile", "is missing", "add paramfile, the file of parameters")
    place = places.find_file(text, settings.entries["paramfile"][-1].key)
    if not exists(place):
        tried = f"neither in {places.folder} nor in the folders around it, nor in {Path.cwd()}"
        raise settings.wrong("paramfile", f"there is no file {text}, {tried}", "put it there")
    if place.suffix.lower() in CONFIGSPACE_ENDINGS:
        return read_configspace(place)
    return read_pcs(place)


def _target(settings: Settings, places: SmacPlaces, directory: Path) -> dict[str, Any]:
    words = _words(settings)
    if not exists(directory):
        places.warnings.append(f"execdir: there is no folder {directory}: make it")
    is_path = os.sep in words[0]
    if not is_path and shutil.which(words[0]) is None and exists(directory / words[0]):
        # Programs without a slash are looked for in PATH only.
        words[0] = f".{os.sep}{words[0]}"
    elif shutil.which(str(directory / words[0]) if is_path else words[0]) is None:
        what = f"there is no program {words[0]} that can be run"
        places.warnings.append(f"{what}, seen from {directory}")
    target: dict[str, Any] = {
        "command": [word.replace("{", "{{").replace("}", "}}") for word in words],
        "protocol": "smac" if settings.text("executable") is None else "aclib2",
        "directory": places.written(directory, settings.text("execdir") or ""),
    }
    deterministic = settings.truth("deterministic")
    if deterministic is None:
        places.warnings.append(
            "deterministic is not set, and tools differ in what that means: seeds are used; add"
            " deterministic = true to [target] if they make no difference"
        )
    else:
        target["deterministic"] = deterministic
    megabytes = settings.whole("memory_limit")
    if megabytes is not None:
        target["memory"] = f"{megabytes}MB"
    return target


def _words(settings: Settings) -> list[str]:
    """The command line, split as a shell would."""
    algo, executable = settings.raw("algo"), settings.text("executable")
    if algo is None and executable is None:
        raise settings.wrong("algo", "is missing", "add algo, the command that runs the target")
    if executable is not None:
        if algo is not None:
            fix = "keep one of the two: algo, or executable and arg"
            raise settings.wrong("executable", "algo gives a command as well", fix)
        return [executable, *settings.texts("arg")]
    try:
        words = shlex.split(algo or "")
    except ValueError:
        problem = f"a quote in {algo!r} has no end"
        raise settings.wrong("algo", problem, "close the quote, or remove it") from None
    if not words or not words[0]:
        raise settings.wrong("algo", "it is empty", "give the command that runs the target")
    return words


def _penalty(settings: Settings, has_cutoff: bool, warnings: list[str]) -> float:
    """How many cutoffs a timeout counts in the mean that is to be minimised."""
    mean = (settings.text("overall_obj") or "mean").lower()
    found = PENALISED.fullmatch(mean)
    penalty = number_in(found[1]) if found else None
    if mean != "mean" and not 1 <= (penalty or 0) <= LARGEST_PENALTY:
        warnings.append(f"overall_obj: {mean} is not used; Cunctator minimises the mean")
        return 1
    if (penalty or 1) > 1 and not has_cutoff:
        what = "counts timeouts several times, but there is no cutoff_time"
        warnings.append(f"overall_obj: {mean} {what}: not used")
        return 1
    return penalty or 1


def _search(settings: Settings, warnings: list[str]) -> dict[str, Any]:
    cutoff = settings.seconds("cutoff_time")
    penalty = _penalty(settings, cutoff is not None, warnings)
    if cutoff is None:
        text = (settings.text("cutoff_time") or "").lower()
        if text not in UNLIMITED:
            what = "there is no cutoff_time"
            warnings.append(f"{what}: add cutoff, the longest time of a run, to [search]")
        return {}
    search: dict[str, Any] = {"cutoff": cutoff}
    if cutoff < FIRST_CAP:
        search["first_cap"] = cutoff
    if penalty > 1:
        search["penalty"] = penalty
    return search


def _budget(settings: Settings, warnings: list[str]) -> dict[str, Any]:
    limits = {
        "charged": settings.seconds("tuner_timeout"),
        "wall": settings.seconds("wallclock_limit"),
        "runs": settings.whole("runcount_limit"),
    }
    budget = {word: limit for word, limit in limits.items() if limit is not None}
    if not budget:
        warnings.append('there is no limit on the search: add charged = "10h" to [budget]')
    return budget


def _initial(
    settings: Settings, space: ImportedSpace, warnings: list[str]
) -> tuple[dict[str, Value], ...]:
    """The configuration to begin with, written `-name 'value' -name 'value'`."""
    text = settings.raw("initial_incumbent")
    if text is None or unquoted(text).lower() in STARTS:
        return ()
    try:
        words = shlex.split(text if text[0] == "-" else unquoted(text))
    except ValueError:
        words = []
    fix = "write -name 'value' -name 'value', or DEFAULT"
    if not words or len(words) % 2:
        raise settings.wrong("initial_incumbent", f"{text!r} is no configuration", fix)
    parameters = {parameter.name: parameter for parameter in space.parameters}
    given: dict[str, Value] = {}
    for word, value in zip(words[::2], words[1::2], strict=True):
        name = next((n for n in (word[1:], word[2:]) if n in parameters), None)
        if name is None or word[0] != "-":
            raise settings.wrong("initial_incumbent", f"there is no parameter {word}", fix)
        given[name] = _value(parameters[name], value)
    try:
        checked = Space(space.parameters, forbidden=space.forbidden, initial=[given])
    except InvalidKey as error:
        name = ".".join(str(part) for part in error.key[2:])
        raise settings.wrong("initial_incumbent", f"{name}: {error.problem}", error.fix) from None
    found = checked.configuration(checked.fixed - 1)
    left_out = [name for name in given if name not in found]
    if left_out:
        what = f"{', '.join(left_out)}: not active there, so not used"
        warnings.append(f"initial_incumbent: {what}")
    return (found,) if checked.fixed > 1 else ()


def _value(parameter: Parameter, text: str) -> Value:
    number = None if parameter.kind in LISTED else number_in(text)
    return text if number is None else number
