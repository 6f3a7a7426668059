"""The options of irace's scenario files, and what they are set to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cunctator.base.errors import InvalidScenario
from cunctator.formats.r_literals import NUMBER, Assignment, read_assignments

_USED = """
    aclib batchmode boundDigits boundMax boundPar configurationsFile deterministic execDir
    forbiddenFile maxExperiments maxTime parallel parameterFile seed sgeCluster targetCmdline
    targetRunner targetRunnerLauncher targetRunnerLauncherArgs testInstancesDir testInstancesFile
    trainInstancesDir trainInstancesFile
"""
_NOT_USED = """
    blockSize boundAsTimeout boundType budgetEstimation capping cappingAfterFirstTest
    cappingType confidence debugLevel digits eachTest elitist elitistInstances elitistLimit
    elitistNewInstances firstTest forbiddenExps initConfigurations instances iterationCallback
    loadBalancing logFile minExperiments minMeasurableTime minNbSurvival mpi mu nbConfigurations
    nbExperimentsPerIteration nbIterations parameters postselection quiet recoveryFile
    repairConfiguration sampleInstances scenarioFile softRestart softRestartThreshold
    targetEvaluator targetRunnerData targetRunnerParallel targetRunnerRetries targetRunnerTimeout
    testInstances testIterationElites testNbElites testType
"""
USED, NOT_USED = frozenset(_USED.split()), frozenset(_NOT_USED.split())


@dataclass(frozen=True, slots=True)
class Options:
    """What a scenario file sets; what it does not set is None."""

    path: Path
    assigned: Mapping[str, Assignment]

    def text(self, name: str) -> str | None:
        """A text, such as a path."""
        value = self._value(name)
        if value is None or isinstance(value, str):
            return value
        raise self.wrong(name, f"{value:g} is not a text", "write a text in quotes")

    def truth(self, name: str) -> bool | None:
        """TRUE or FALSE, or 1 or 0."""
        value = self._value(name)
        if value is None or isinstance(value, bool):
            return value
        number = self._number(name, "expected TRUE or FALSE")
        if number not in (0, 1):
            raise self.wrong(name, f"it is {value}", "expected TRUE or FALSE")
        return number == 1

    def whole(self, name: str, most: int) -> int | None:
        """A whole number that is not negative, also in quotes."""
        if self._value(name) is None:
            return None
        fix = f"give a whole number from 0 to {most:,}"
        number = self._number(name, fix)
        if not 0 <= number <= most or not number.is_integer():
            raise self.wrong(name, f"it is {number:g}", fix)
        return int(number)

    def is_on(self, name: str) -> bool:
        """Whether it is set to anything but nothing, or 0."""
        return self._value(name) not in (None, "0", 0)

    def wrong(self, name: str, problem: str, fix: str) -> InvalidScenario:
        """The error of an option."""
        at = self.assigned.get(name)
        return InvalidScenario(self.path, at.line if at else None, name, problem, fix)

    def _value(self, name: str) -> str | float | bool | None:
        assert name in USED, name
        return self.assigned[name].value if name in self.assigned else None

    def _number(self, name: str, fix: str) -> float:
        value = self._value(name)
        if isinstance(value, str) and NUMBER.fullmatch(value):
            return float(value.rstrip("L"))
        if isinstance(value, str | bool) or value is None:
            raise self.wrong(name, f"{value!r} is not a number", fix)
        return float(value)


def read_options(path: Path, warnings: list[str]) -> Options:
    """The options of a file; raises InvalidScenario."""
    options = Options(path, read_assignments(path))
    not_used = []
    for name, at in options.assigned.items():
        if name in NOT_USED and at.value is not None:
            not_used.append(name)
        # irace leaves names that begin with a dot to whoever writes the file.
        elif name not in USED | NOT_USED and not name.startswith("."):
            warnings.append(f"{path.name}, line {at.line}: irace has no option {name}")
    if not_used:
        warnings.append(f"not used: {', '.join(not_used)}")
    return options
