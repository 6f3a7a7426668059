"""irace, as Debian ships it, with its budget in time and with capping.

R asks for runs and is answered through a pair of pipes, so its own account of time is ours: time is
counted in fractions of the cutoff, since bounds are whole numbers there. What it prints between
requests says who its incumbent is: the best of each iteration, and the best of a race so far if
that has been run on no fewer instances than the incumbent before. irace looks at its budget between
iterations only, so it may want to go beyond; then it is ended.
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO

from cunctator.space.conditions import Condition
from cunctator.space.parameters import LISTED, Parameter, Value, text_of
from cunctator.space.space import Space
from peers.plain import Conditional, plain
from peers.problem import Account, BudgetSpent, Values

UNITS = 100_000
"""Of a cutoff: what times are counted in."""

DIGITS = 8
"""Behind the point, of real parameters; irace's own default is 4."""

FIRST_TEST = 5
"""Instances before a race is tested for the first time (irace's default): earlier, its best says
little."""

SETTINGS = """
parameterFile = "parameters.txt"
configurationsFile = "default.txt"
trainInstancesFile = "instances.txt"
trainInstancesDir = ""
logFile = ""
deterministic = 1
elitist = 1
capping = 1
boundMax = {units}
boundDigits = 0
maxTime = {budget}
digits = {digits}
seed = {seed}
firstTest = {first_test}
"""

ROW = re.compile(r"\|.\|\s*\d+\|\s*[\d.NA]+\|\s*\d+\|\s*(\d+)\|")
"""A line of a race: its third number but one is the configuration that is best so far."""

BEST = re.compile(r"Best-so-far configuration:\s*(\d+)")


class Names:
    """Our parameters under names that R can read, and values as their places in a list."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._all = plain(space)
        self._code = {one.parameter.name: f"p{place}" for place, one in enumerate(self._all)}
        self._parameters = {self._code[p.name]: p for p in space.parameters}

    def lines(self) -> Iterable[str]:
        """The file of parameters."""
        for one in self._all:
            name = self._code[one.parameter.name]
            line = f'{name} "" {_kind(one.parameter)} ({", ".join(_domain(one.parameter))})'
            yield line + self._conditions(one)

    def default(self) -> str:
        """The default as a table of configurations."""
        values = self._space.default
        row = [
            self._text(one.parameter, values[one.parameter.name])
            if one.parameter.name in values
            else "NA"
            for one in self._all
        ]
        names = [self._code[one.parameter.name] for one in self._all]
        return f"{' '.join(names)}\n{' '.join(row)}\n"

    def values(self, words: Iterable[str]) -> Values:
        """A configuration of ours from words like `p3=2`."""
        given: dict[str, Value] = {}
        for word in words:
            name, _, text = word.partition("=")
            parameter = self._parameters[name]
            if text == "NA":
                continue
            given[parameter.name] = _value(parameter, text)
        return self._space.checked(given)

    def _conditions(self, one: Conditional) -> str:
        texts = [self._condition(condition) for condition in one.conditions]
        return f" | {' & '.join(texts)}" if texts else ""

    def _condition(self, condition: Condition) -> str:
        code = self._code[condition.parent]
        if condition.among:
            parent = self._parameters[code]
            places = [
                f'"{place}"'
                for place, value in enumerate(parent.values)
                if text_of(value) in condition.among
            ]
            return f"({code} %in% c({', '.join(places)}))"
        ranges = [f"({code} >= {low!r} & {code} <= {high!r})" for low, high in condition.ranges]
        return f"({' | '.join(ranges)})"

    @staticmethod
    def _text(parameter: Parameter, value: Value) -> str:
        if parameter.kind in LISTED:
            texts = [text_of(member) for member in parameter.values]
            return f'"{texts.index(text_of(value))}"'
        return text_of(value)


def _kind(parameter: Parameter) -> str:
    letter = {"categorical": "c", "ordinal": "o", "integer": "i", "real": "r"}[parameter.kind]
    return f"{letter},log" if parameter.log else letter


def _domain(parameter: Parameter) -> list[str]:
    if parameter.kind in LISTED:
        return [f'"{place}"' for place in range(len(parameter.values))]
    return [text_of(parameter.low), text_of(parameter.high)]


def _value(parameter: Parameter, text: str) -> Value:
    if parameter.kind in LISTED:
        return parameter.values[int(text)]
    number = min(max(float(text), parameter.low), parameter.high)
    return int(number) if parameter.kind == "integer" else number


class Server:
    """Answers R's requests and follows what it prints."""

    def __init__(self, account: Account, names: Names) -> None:
        self._account = account
        self._names = names
        self._unit = account.cutoff / UNITS
        self._known: dict[str, Values] = {}
        """Configurations by irace's number."""
        self._instances: dict[str, set[int]] = defaultdict(set)
        """On which each has been run."""
        self._support = FIRST_TEST
        """Instances that the incumbent has been run on."""

    def take(self, line: str) -> str | None:
        """The answer to a request; None: it was none."""
        if line.startswith("RUN\t"):
            return self._run(line.rstrip("\n").split("\t")[1:])
        if found := ROW.match(line):
            if len(self._instances[found[1]]) >= self._support:
                self._note(found[1])
        elif found := BEST.search(line):
            self._note(found[1])
        return None

    def _run(self, words: list[str]) -> str:
        number, instance, bound, *settings = words
        if number not in self._known:
            self._known[number] = self._names.values(settings)
        values = self._known[number]
        made = self._account.run(values, int(instance), float(bound) * self._unit)
        self._instances[number].add(int(instance))
        return f"{made.counts / self._unit!r} {made.seconds / self._unit!r}\n"

    def _note(self, number: str) -> None:
        self._support = max(FIRST_TEST, len(self._instances[number]))
        self._account.note(self._known[number])


def write(account: Account, names: Names, seed: int, folder: Path) -> None:
    """The files of a scenario."""
    texts: Mapping[str, str] = {
        "parameters.txt": "\n".join(names.lines()) + "\n",
        "default.txt": names.default(),
        "instances.txt": "".join(f"{number}\n" for number in range(account.train)),
        "scenario.txt": SETTINGS.format(
            units=UNITS,
            budget=round(account.budget / account.cutoff * UNITS),
            digits=DIGITS,
            seed=seed + 1,
            first_test=FIRST_TEST,
        ),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")


def search(account: Account, seed: int, folder: Path) -> None:
    """Until irace ends, or has spent the budget."""
    names = Names(account.space)
    write(account, names, seed, folder)
    server = Server(account, names)
    words = ["Rscript", "--vanilla", str(Path(__file__).with_suffix(".R").resolve())]
    with (
        (folder / "stderr.txt").open("w") as errors,
        subprocess.Popen(
            words,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        assert process.stdin is not None and process.stdout is not None
        try:
            _serve(server, process.stdout, process.stdin, folder / "stdout.txt")
        except BudgetSpent:
            process.kill()
            return
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        said = (folder / "stderr.txt").read_text("utf-8")[-2000:]
        raise RuntimeError(f"irace ended with {process.returncode}: {said}")


def _serve(server: Server, lines: IO[str], answers: IO[str], kept: Path) -> None:
    with kept.open("w") as log:
        for line in lines:
            if (answer := server.take(line)) is None:
                log.write(line)
            else:
                answers.write(answer)
                answers.flush()
