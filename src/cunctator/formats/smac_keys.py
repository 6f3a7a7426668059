"""Scenario files of SMAC, ParamILS and AClib: which key is set to what, and on which line.

Every tool has its own spelling: `cutoff_time`, `cutoff-time`, `cutoffTime`, `cutoff`. Case, dashes
and underscores say nothing, so they are dropped before a key is looked up; the rest are synonyms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cunctator.base.errors import InvalidScenario
from cunctator.formats.imported import read_lines, wrong_line

LINE = re.compile(r"(-{0,2}[A-Za-z][\w-]*)(?:\s*=\s*|\s+|\Z)(.*)")
"""A key and its value, with or without `=` between them."""
COMMENT = re.compile(r"(?:^|(?<=\s))#.*")
"""Not within a word: commands and paths may hold one."""
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
DROPPED = str.maketrans("", "", "-_")

LONGEST_VALUE = 100_000
"""Characters."""
SHORTEST_TIME, LONGEST_TIME = 1e-9, 1e9
"""Seconds; tools write larger numbers for no limit at all."""
MOST_RUNS = 2**31 - 1
"""What tools write for no limit."""

UNLIMITED = ("max", "inf", "infinity", "none")
TRUTHS = {
    **dict.fromkeys(("1", "true", "yes", "on", "t"), True),
    **dict.fromkeys(("0", "false", "no", "off", "f"), False),
}

_USED = {
    "algo": "algoExec ta",
    "executable": "",
    "arg": "",
    "execdir": "algoExecDir",
    "deterministic": "algoDeterministic",
    "run_obj": "runObjective",
    "overall_obj": "intraObj intraInstanceObj",
    "cutoff_time": "cutoff algoCutoffTime targetRunCputimeLimit",
    "tuner_timeout": "tunertimeLimit cputimeLimit algoRunsTimelimit cpuLimit",
    "wallclock_limit": "runtimeLimit",
    "runcount_limit": "totalNumRunsLimit numRunsLimit numberOfRunsLimit taRunLimit maxEvaluations",
    "memory_limit": "",
    "paramfile": "pcsFile pcsFn",
    "instance_file": "instances instanceDir i trainInstFn instanceSeedFile trainingInstances",
    "test_instance_file": "testInstances testInstanceDir testInstFn testInstanceSeedFile",
    "instance_suffix": "",
    "test_instance_suffix": "",
    "use_instances": "",
    "initial_incumbent": "",
}
_NOT_USED = """
    abortOnFirstRunCrash alwaysRaceDefault approach checkInstancesExist cliCores costForCrash
    cutoffLength featureFile featureFn hydra_iterations initialIncumbentRuns inputPsmacDirs
    instanceFeatureFile instanceFeatures instanceRegex intensificationPercentage interInstanceObj
    interObj iterationLimit limitResources maxR maxRuns minR minRuns outdir outputDir
    outputDirectory R randomRestart saveInstantly seed sharedModel testInstanceRegex
    transformY useCpuTimeInTunertime validation
"""


def plain(key: str) -> str:
    """A key without what says nothing."""
    return key.translate(DROPPED).lower()


USED: dict[str, str] = {
    plain(alias): name for name, aliases in _USED.items() for alias in (name, *aliases.split())
}
"""From any spelling to ours."""
NOT_USED = frozenset(plain(key) for key in _NOT_USED.split())


@dataclass(frozen=True, slots=True)
class SmacEntry:
    """A line of the file."""

    key: str
    """As it is written there."""
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class Settings:
    """What a scenario file sets; what it does not set is None."""

    path: Path
    entries: Mapping[str, tuple[SmacEntry, ...]]
    """By our names; of all but `arg`, the last one counts."""

    def raw(self, name: str) -> str | None:
        """A value as it is written."""
        assert name in _USED, name
        found = self.entries.get(name)
        return (found[-1].value or None) if found else None

    def text(self, name: str) -> str | None:
        """A value without quotes around it."""
        value = self.raw(name)
        return None if value is None else (unquoted(value) or None)

    def texts(self, name: str) -> list[str]:
        """The values of a key that may be repeated."""
        return [unquoted(entry.value) for entry in self.entries.get(name, ())]

    def truth(self, name: str) -> bool | None:
        """A truth value, in one of the many ways to write it."""
        text = self.text(name)
        if text is None:
            return None
        if text.lower() not in TRUTHS:
            raise self.wrong(name, f"{text!r} is neither true nor false", "give 1 or 0")
        return TRUTHS[text.lower()]

    def seconds(self, name: str) -> float | None:
        """A time; None also if it is unlimited."""
        text = self.text(name)
        if text is None or text.lower() in UNLIMITED:
            return None
        number = number_in(text)
        if number is None or number < SHORTEST_TIME:
            raise self.wrong(name, f"{text!r} is not a time", "give seconds, e.g. 0.5 or 300")
        return number if number < LONGEST_TIME else None

    def whole(self, name: str) -> int | None:
        """A positive whole number; None also if it is unlimited."""
        text = self.text(name)
        if text is None or text.lower() in UNLIMITED:
            return None
        number = number_in(text)
        if number is not None and number >= MOST_RUNS:
            return None
        if number is None or number < 1 or number != int(number):
            fix = "give a whole number of at least 1"
            raise self.wrong(name, f"{text!r} is not a number of things", fix)
        return int(number)

    def wrong(self, name: str, problem: str, fix: str) -> InvalidScenario:
        """The error of a key."""
        found = self.entries.get(name)
        if not found:
            return InvalidScenario(self.path, None, name, problem, fix)
        return InvalidScenario(self.path, found[-1].line, found[-1].key, problem, fix)


def read_settings(path: Path, warnings: list[str]) -> Settings:
    """The keys of a file and their values; what is not used or unknown is warned of."""
    entries: dict[str, list[SmacEntry]] = {}
    not_used: list[str] = []
    for number, written in enumerate(read_lines(path), 1):
        line = COMMENT.sub("", written).strip()
        if not line:
            continue
        entry = _entry(path, number, line)
        key = plain(entry.key)
        if key in NOT_USED:
            not_used.append(entry.key)
        elif key not in USED:
            warnings.append(f"{path.name}, line {number}: unknown key {entry.key}, not used")
        else:
            name = USED[key]
            if name in entries and name != "arg":
                before = entries[name][-1]
                what = f"{before.key} of line {before.line} is given again as {entry.key}"
                warnings.append(f"{path.name}, line {number}: {what}; this one counts")
            entries.setdefault(name, []).append(entry)
    if not_used:
        warnings.append(f"not used: {', '.join(dict.fromkeys(not_used))}")
    return Settings(path, {name: tuple(found) for name, found in entries.items()})


def key_in(line: str) -> str | None:
    """The key of a line, without what says nothing; None if there is none."""
    found = LINE.fullmatch(COMMENT.sub("", line).strip())
    return plain(found[1]) if found else None


def number_in(text: str) -> float | None:
    """The number that a text is, whole if it is; None if it is no number."""
    if len(text) > 100 or not NUMBER.fullmatch(text):
        return None
    number = float(text)
    return int(number) if number.is_integer() else number


def unquoted(text: str) -> str:
    """A text without one pair of quotes around it."""
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if is_quoted else text


def _entry(path: Path, number: int, line: str) -> SmacEntry:
    found = LINE.fullmatch(line)
    if found is None:
        raise wrong_line(path, number, line, "write key = value")
    if len(found[2]) > LONGEST_VALUE or "\0" in found[2]:
        problem = "the value is too long, or holds a NUL"
        raise InvalidScenario(path, number, found[1], problem, "shorten it")
    return SmacEntry(found[1], found[2], number)
