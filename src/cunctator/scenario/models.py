"""The shape of a scenario file: its tables, their keys, and what each may hold.

Units are read here, so everything behind this door is seconds and bytes. What concerns several
tables at once is checked by whoever puts them together; see `load.py`.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, model_validator

from cunctator.base.errors import InvalidSetting
from cunctator.base.units import LARGEST_PENALTY, parse_duration, parse_size
from cunctator.core.profiles import DEFAULT, PROFILES
from cunctator.scenario.refusals import Wrong
from cunctator.space.parameters import Value, Wanted
from cunctator.space.space import LARGEST_COUNTED
from cunctator.target.template import RawFormat

SHORTEST, LONGEST = 1e-9, 1e9
"""Seconds that any time may be."""

SOURCES = ("list", "glob", "file", "names", "generator")

ENDLESS_SEEDS = "endless"
"""Instead of a number of seeds: each pair of instance and seed is a new draw."""

MOST_SEEDS = 10**6


class StrictTable(BaseModel):
    """A table of the file: nothing unknown in it, and nothing converted."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def scalar(given: Any) -> Value:
    """A text, number or truth value."""
    if isinstance(given, float) and not math.isfinite(given):
        raise Wrong(f"{given} is not a value", "give a finite number")
    if isinstance(given, str | int | float):
        return given
    raise Wrong(f"{type(given).__name__} is not a value", "give a text, a number, true or false")


def scalars(given: Any) -> tuple[Value, ...]:
    """A list of values."""
    if not isinstance(given, list):
        raise Wrong("a list is expected", 'write it as ["a", "b"]')
    return tuple(scalar(one) for one in given)


def texts(given: Any) -> tuple[str, ...]:
    """A list of texts, such as the arguments of a command."""
    if isinstance(given, str):
        raise Wrong("a list is expected, not one text", 'write it as ["program", "argument"]')
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise Wrong("a list of texts is expected", 'write it as ["one", "two"]')
    return tuple(given)


def some_texts(given: Any) -> tuple[str, ...]:
    """At least one text, none of them with a NUL."""
    found = texts(given)
    if not found or not found[0]:
        raise Wrong("it is empty", "give at least one text")
    if any("\0" in text for text in found):
        raise Wrong("it holds a NUL", "remove it: no program can be given that")
    return found


def raw_format(given: Any) -> RawFormat:
    """An argument, a list of them, or one of these for each value."""
    if isinstance(given, str):
        return given
    if isinstance(given, dict):
        return {word: one if isinstance(one, str) else texts(one) for word, one in given.items()}
    return texts(given)


def conditions(given: Any) -> Mapping[str, Wanted] | str:
    """Values, or lists of them, by parent; or an expression."""
    if isinstance(given, str):
        return given
    if not isinstance(given, dict):
        fix = """write it as when = {parent = "value"} or when = "parent == 'value'\""""
        raise Wrong("a table or an expression is expected", fix)
    return {
        parent: scalars(wanted) if isinstance(wanted, list) else scalar(wanted)
        for parent, wanted in given.items()
    }


def settings(given: Any) -> tuple[Mapping[str, Value], ...]:
    """Configurations: tables of values by parameter."""
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise Wrong("tables are expected", "write them as [[initial]], with a value a line")
    return tuple({name: scalar(value) for name, value in one.items()} for one in given)


def pattern(given: Any) -> str:
    """A regular expression."""
    if not isinstance(given, str):
        raise Wrong("a text is expected", "give a regular expression, e.g. '^s SATISFIABLE'")
    try:
        re.compile(given)
    except (re.error, RecursionError, OverflowError) as error:
        raise Wrong(f"not a regular expression: {error}", "correct it") from None
    return given


def patterns(given: Any) -> Mapping[str, str]:
    """Regular expressions by the name of what they find, each with a group for the number."""
    if not isinstance(given, dict):
        raise Wrong("a table is expected", "write it as [target.measures], with a pattern a line")
    for name, text in given.items():
        if not re.fullmatch(r"[A-Za-z]\w*", name):
            raise Wrong(f"{name!r} is not a name", "use letters, digits and _", name)
        try:
            groups = re.compile(pattern(text)).groups
        except Wrong as error:
            raise Wrong(error.problem, error.fix, name) from None
        if groups == 0:
            raise Wrong("it has no group", "put brackets around the number", name)
    return given


def duration(given: Any) -> float:
    """Seconds of a time."""
    try:
        if isinstance(given, bool) or not isinstance(given, str | int | float):
            raise InvalidSetting("", given, "")
        seconds = parse_duration(given, "") if isinstance(given, str) else float(given)
    except InvalidSetting as error:
        fix = error.expected or 'give a time such as "250ms", "90s", "2m30s", "2h" or "3d"'
        raise Wrong(f"{given!r} is not a time", fix) from None
    except OverflowError:
        seconds = math.inf
    if not SHORTEST <= seconds <= LONGEST:
        raise Wrong(f"{given!r} is out of range", "give more than nothing, and at most 11000d")
    return seconds


def size(given: Any) -> int:
    """Bytes of a size."""
    try:
        found = parse_size(given if isinstance(given, str) else "", "")
    except InvalidSetting:
        fix = 'give a size with its unit, such as "500MB" or "2GB"'
        raise Wrong(f"{given!r} is not a size", fix) from None
    if found < 1:
        raise Wrong("nothing can run in no memory", "give more")
    return found


def seed_count(given: Any) -> int | str:
    """How many seeds, or that there is no end of them."""
    if given == ENDLESS_SEEDS:
        return ENDLESS_SEEDS
    if type(given) is int and 1 <= given <= MOST_SEEDS:
        return given
    fix = f'give 1 to {MOST_SEEDS:,}, or "{ENDLESS_SEEDS}"'
    raise Wrong(f"{given!r} is not a number of seeds", fix)


def exit_codes(given: Any) -> tuple[int, ...]:
    """Exit codes, at least one."""
    codes = given if isinstance(given, list) else []
    good = all(type(code) is int and 0 <= code <= 255 for code in codes)
    if not codes or not good:
        raise Wrong("a list of exit codes is expected", "give some of 0 to 255, e.g. [10, 20]")
    return tuple(codes)


def cpus() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def known(names: Mapping[str, object]) -> Callable[[Any], Any]:
    """A check that a name is one of these."""

    def check(given: Any) -> Any:
        if not isinstance(given, str) or given not in names:
            raise Wrong(f"{given!r} is unknown", f"expected one of {', '.join(names)}")
        return given

    return check


Duration = Annotated[float, PlainValidator(duration)]
Texts = Annotated[tuple[str, ...], PlainValidator(some_texts)]
FormatOf = Annotated[Any, PlainValidator(raw_format)]
Pattern = Annotated[str, PlainValidator(pattern)]


class TargetTable(StrictTable):
    """`[target]`: what is run, and how it says that it has succeeded."""

    command: Texts | None = None
    function: str | None = Field(default=None, pattern=r"^[\w.]+:[\w.]+$")
    protocol: Literal["native", "smac", "aclib2", "irace", "smac3"] = "native"
    format: FormatOf = None
    deterministic: bool | None = None
    success: Annotated[tuple[int, ...], PlainValidator(exit_codes)] | None = None
    success_pattern: Pattern | None = None
    failure_pattern: Pattern | None = None
    answer: Pattern | None = None
    measures: Annotated[Mapping[str, str], PlainValidator(patterns)] = Field(default_factory=dict)
    memory: Annotated[int, PlainValidator(size)] | None = None
    directory: str = "."

    @model_validator(mode="after")
    def _one_target(self) -> TargetTable:
        if (self.command is None) == (self.function is None):
            key = None if self.command is None else "function"
            raise Wrong("either a command or a function is expected", "give one of the two", key)
        if self.function is not None and self.protocol != "native":
            raise Wrong("a function has no protocol", "remove it", "protocol")
        for word in ("success", "success_pattern", "failure_pattern"):
            if getattr(self, word) is not None and (self.protocol != "native" or self.function):
                who = "a function" if self.function else f"the protocol {self.protocol}"
                raise Wrong(f"{who} says by itself what has succeeded", "remove it", word)
        return self


class ParameterTable(StrictTable):
    """`[parameters.NAME]`; see `parameters.py` for what it means."""

    type: Literal["categorical", "ordinal", "integer", "real"]
    values: Annotated[tuple[Value, ...], PlainValidator(scalars)] | None = None
    low: Annotated[Any, PlainValidator(scalar)] = None
    high: Annotated[Any, PlainValidator(scalar)] = None
    log: bool = False
    default: Annotated[Any, PlainValidator(scalar)]
    format: FormatOf = None
    when: Annotated[Any, PlainValidator(conditions)] = None


class InstancesTable(StrictTable):
    """`[instances]` or `[test_instances]`: exactly one source of instances."""

    list: Texts | None = None
    glob: str | None = None
    file: str | None = None
    names: Texts | None = None
    generator: Texts | None = None
    seeds: Annotated[int | Literal["endless"], PlainValidator(seed_count)] | None = None
    """If the target takes any: how many each instance is run with, or ENDLESS_SEEDS. None: for the
    search as many as make a set that is large enough; in tests as many as are asked for."""

    @model_validator(mode="after")
    def _one_source(self) -> InstancesTable:
        given = [word for word in SOURCES if getattr(self, word) is not None]
        if len(given) != 1:
            said = " and ".join(given) or "nothing"
            raise Wrong(f"it gives {said}", f"give exactly one of {', '.join(SOURCES)}")
        return self

    @property
    def source(self) -> str:
        """The key that is given."""
        return next(word for word in SOURCES if getattr(self, word) is not None)


class StopAtTable(StrictTable):
    """`stop_at`: the certificate that ends the search."""

    epsilon: float = Field(ge=0, allow_inf_nan=False)
    delta: float = Field(ge=0, lt=1)
    gamma: float = Field(default=0.05, gt=0, lt=1)
    """The share of the space that may be better, unless `configurations` is given."""


class SearchTable(StrictTable):
    """`[search]`: how to look for a good configuration."""

    first_cap: Duration = 0.01
    cutoff: Duration | None = None
    penalty: float = Field(default=1.0, ge=1, le=LARGEST_PENALTY, allow_inf_nan=False)
    """How many cutoffs a run counts that reaches the cutoff, or crashes."""
    objective: Literal["cpu", "wall"] = "cpu"
    workers: int = Field(default_factory=cpus, ge=1, le=10_000)
    seed: int = Field(default=0, ge=0, lt=2**32)
    configurations: int | None = Field(default=None, ge=1, le=LARGEST_COUNTED)
    confidence: float = Field(default=0.95, gt=0, lt=1)
    profile: Annotated[str, BeforeValidator(known(PROFILES))] = DEFAULT
    guide: bool = True
    """Whether configurations are proposed because of results, where pools grow."""
    stop_at: StopAtTable | None = None

    @model_validator(mode="after")
    def _caps_in_order(self) -> SearchTable:
        if self.cutoff is not None and self.cutoff < self.first_cap:
            problem = f"the cutoff of {self.cutoff:g} s is below the first cap"
            raise Wrong(problem, f"give {self.first_cap:g} s or more", "cutoff")
        return self

    @model_validator(mode="after")
    def _timeouts_exist(self) -> SearchTable:
        if self.penalty > 1 and self.cutoff is None:
            problem = "it says how often the cutoff counts, and there is none"
            raise Wrong(problem, 'add one, e.g. cutoff = "60s"', "penalty")
        return self

    @model_validator(mode="after")
    def _pools_can_grow(self) -> SearchTable:
        if self.configurations is None and not PROFILES[self.profile].has_ladder:
            problem = f"{self.profile} needs a fixed number of configurations"
            raise Wrong(problem, "add it, e.g. configurations = 100", "profile")
        return self


class BudgetTable(StrictTable):
    """`[budget]`: the search ends when one of these is spent."""

    charged: Duration | None = None
    wall: Duration | None = None
    runs: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _some_limit(self) -> BudgetTable:
        if self.charged is None and self.wall is None and self.runs is None:
            raise Wrong("it gives no limit", 'give at least one, e.g. charged = "10h"')
        return self


class Document(StrictTable):
    """A whole scenario file."""

    target: TargetTable
    parameters: dict[str, ParameterTable]
    forbidden: Annotated[tuple[str, ...], PlainValidator(texts)] = ()
    initial: Annotated[tuple[Mapping[str, Value], ...], PlainValidator(settings)] = ()
    instances: InstancesTable
    test_instances: InstancesTable | None = None
    search: SearchTable = Field(default_factory=SearchTable)
    budget: BudgetTable
