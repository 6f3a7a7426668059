"""Spaces of ConfigSpace, in its JSON or YAML.

The library ConfigSpace reads the hyperparameters, because it knows all versions of the format and
finds the defaults that a file leaves out. Conditions and forbidden clauses are read here: the
library takes a time that doubles with every level of conditions, and it is of two minds whether
`!=` holds of an inactive parent. Here an inactive parent fulfils no condition.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import math
import warnings as python_warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cunctator.base.errors import InvalidKey, InvalidScenario, MissingExtra, one_line
from cunctator.formats.configspace_clauses import Clauses, NoSense, value_of
from cunctator.formats.imported import ImportedSpace, read_lines
from cunctator.formats.plain_yaml import DEEPEST, MOST_ITEMS, TooMuch, read_yaml
from cunctator.formats.reachable import reachable
from cunctator.space.expressions import Expression, all_of
from cunctator.space.parameters import Parameter, make_parameter
from cunctator.space.space import Space

CONFIGSPACE_ENDINGS = (".json", ".yaml", ".yml")
LONGEST_TEXT = 8 * 2**20
"""Characters; YAML is read slowly."""


def read_configspace(path: Path) -> ImportedSpace:
    """The space that a file describes; raises InvalidScenario, or MissingExtra."""
    try:
        library = importlib.import_module("ConfigSpace")
    except ImportError:
        raise MissingExtra(path, "ConfigSpace") from None
    data = _data(path)
    warnings: list[str] = []
    hyperparameters = _hyperparameters(path, library, data, warnings)
    try:
        return _space(data, hyperparameters, warnings)
    except NoSense as error:
        fix = "write the file with ConfigurationSpace.to_json or to_yaml"
        raise InvalidScenario(path, None, error.key, error.problem, fix) from None
    except InvalidKey as error:
        key = ".".join(str(part) for part in error.key)
        raise InvalidScenario(path, None, key, error.problem, error.fix) from None


def _data(path: Path) -> dict[str, Any]:
    """What the file holds, without any surprise for those who walk through it."""
    text = "\n".join(read_lines(path))
    if len(text) > LONGEST_TEXT:
        raise _wrong(path, "too large for a space", "give a file of at most 8 MB")
    is_json = path.suffix.lower() == ".json"
    try:
        data = _json(text) if is_json else read_yaml(text)
    except RecursionError:
        raise _wrong(path, "nested too deeply", "write it flat") from None
    except TooMuch as error:
        raise InvalidScenario(path, error.line, "", error.problem, error.fix) from None
    except ValueError as error:
        kind = "JSON" if is_json else "YAML"
        line = getattr(error, "lineno", None)
        raise InvalidScenario(path, line, "", f"not {kind}: {error}", "correct it") from None
    if not isinstance(data, dict) or not isinstance(data.get("hyperparameters"), list):
        raise _wrong(path, "there are no hyperparameters in it", "give a space of ConfigSpace")
    return data


def _json(text: str) -> Any:
    data = json.loads(text)
    if not _is_small(data):
        raise TooMuch("it holds too much, or is nested too deeply", "give a smaller space")
    return data


def _is_small(data: object) -> bool:
    count = 0
    waiting: list[tuple[object, int]] = [(data, 0)]
    while waiting:
        one, depth = waiting.pop()
        count += 1
        if count > MOST_ITEMS or depth > DEEPEST:
            return False
        if isinstance(one, dict):
            waiting.extend((part, depth + 1) for pair in one.items() for part in pair)
        elif isinstance(one, list):
            waiting.extend((part, depth + 1) for part in one)
    return True


def _hyperparameters(
    path: Path, library: Any, data: Mapping[str, Any], warnings: list[str]
) -> dict[str, Any]:
    """The library's own objects, by name, in the order of the file."""
    alone = {"hyperparameters": [dict(one) for one in _dicts(path, data["hyperparameters"])]}
    warnings.extend(text for one in alone["hyperparameters"] for text in _without_step(one))
    names = [str(one.get("name")) for one in alone["hyperparameters"]]
    with python_warnings.catch_warnings(record=True) as said:
        python_warnings.simplefilter("always")
        try:
            read = library.ConfigurationSpace.from_serialized_dict(alone)
            found = {name: read[name] for name in names}
        except Exception as error:
            # The library has no error of its own for files that make no sense.
            problem = f"ConfigSpace cannot read it: {type(error).__name__}: {error}"
            raise _wrong(path, problem, "correct the file") from None
    texts = (" ".join(str(one.message).split()) for one in said)
    warnings.extend(dict.fromkeys(f"ConfigSpace says: {one_line(text, 100)}" for text in texts))
    return found


def _without_step(one: dict[str, Any]) -> list[str]:
    """Take the step of old formats away, and warn of it: the library does so in riddles."""
    step = one.pop("q", None)
    is_every_number = step == 1 and str(one.get("type")).endswith("int")
    if step is None or is_every_number:
        return []
    unused = f"its step q = {one_line(str(step), 50)} is not used"
    return [f"{one['name']}: {unused}: values in between may be drawn"]


def _dicts(path: Path, items: list[Any]) -> list[dict[str, Any]]:
    for one in items:
        if not isinstance(one, dict) or not isinstance(one.get("name"), str):
            raise _wrong(path, f"{one!r} is not a hyperparameter", "give each a name and a type")
    return items


def _space(
    data: Mapping[str, Any], hyperparameters: Mapping[str, Any], warnings: list[str]
) -> ImportedSpace:
    plain = {name: _parameter(one, warnings) for name, one in hyperparameters.items()}
    clauses = Clauses(plain, warnings)
    conditions: dict[str, list[Expression]] = {}
    for item in _items(data, "conditions"):
        child, expression = clauses.condition(item)
        conditions.setdefault(child, []).append(expression)
    clauses.warn_of_inactive(conditions)
    forbidden = [clauses.forbidden(item) for item in _items(data, "forbiddens")]
    parameters = tuple(
        _with_condition(parameter, conditions.get(name)) for name, parameter in plain.items()
    )
    clauses_left = [rule for rule in forbidden if rule is not None]
    Space(parameters, forbidden=clauses_left)  # complains if they do not fit together
    reached = reachable(parameters, clauses_left)
    for name, reason in reached.gone.items():
        warnings.append(f"{name} is never active and is left out: {reason}")
    if None in reached.forbidden:
        warnings.append("forbidden clauses about what is never active are left out")
    rules = tuple(rule for rule in reached.forbidden if rule is not None)
    return ImportedSpace(
        reached.parameters, rules, warnings=tuple(warnings), left_out=frozenset(reached.gone)
    )


def _items(data: Mapping[str, Any], key: str) -> list[Any]:
    items = data.get(key) or []
    if not isinstance(items, list):
        raise NoSense(key, "a list is expected")
    return items


def _with_condition(parameter: Parameter, conditions: list[Expression] | None) -> Parameter:
    if not conditions:
        return parameter
    return dataclasses.replace(parameter, when=all_of(conditions))


def _parameter(one: Any, warnings: list[str]) -> Parameter:
    """A hyperparameter of the library as ours."""
    name, kind = str(one.name), type(one).__name__.removesuffix("Hyperparameter")
    if kind == "Constant":
        _warn_of_none(name, [one.value], warnings)
        value = value_of(one.value, name)
        return make_parameter(name, "categorical", value, values=[value])
    if kind in ("Categorical", "Ordinal"):
        listed = one.choices if kind == "Categorical" else one.sequence
        weights = getattr(one, "weights", None) or ()
        if len(set(weights)) > 1:
            warnings.append(f"{name}: its weights are not used; all values are as likely")
        _warn_of_none(name, listed, warnings)
        values = [value_of(value, name) for value in listed]
        default = value_of(one.default_value, name)
        if kind == "Ordinal":
            return make_parameter(name, "ordinal", default, values=values)
        return make_parameter(name, "categorical", default, values=values)
    if not kind.startswith(("Uniform", "Normal", "Beta")):
        raise NoSense(name, f"hyperparameters of the type {kind} are unknown")
    low, high = float(one.lower), float(one.upper)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise NoSense(name, "it has no bounds")
    if not kind.startswith("Uniform"):
        word = kind.removesuffix("Integer").removesuffix("Float").lower()
        warnings.append(f"{name}: its {word} distribution is not used; it is uniform in its bounds")
    log = bool(one.log)
    if kind.endswith("Integer"):
        default = int(one.default_value)
        return make_parameter(
            name, "integer", default, low=int(one.lower), high=int(one.upper), log=log
        )
    return make_parameter(name, "real", float(one.default_value), low=low, high=high, log=log)


def _warn_of_none(name: str, values: Iterable[object], warnings: list[str]) -> None:
    if any(value is None for value in values):
        warnings.append(f"{name}: its value None is the text 'None' here")


def _wrong(path: Path, problem: str, fix: str) -> InvalidScenario:
    return InvalidScenario(path, None, "", problem, fix)
