"""What the library that checks the file's shape has to say, in words for users."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from cunctator.base.errors import InvalidKey


class Wrong(ValueError):
    """A value is not acceptable; raised within a model, which adds the key."""

    def __init__(self, problem: str, fix: str, key: str | None = None) -> None:
        """`key` is of a table's own keys, if the whole table is checked."""
        self.key = key
        self.problem = problem
        self.fix = fix
        super().__init__(f"{problem}; {fix}")


TYPES = {
    "string_type": "a text in quotes",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "model_type": "a table",
    "dict_type": "a table",
    "finite_number": "a finite number",
}
LIMITS = {
    "greater_than": "gt",
    "greater_than_equal": "ge",
    "less_than": "lt",
    "less_than_equal": "le",
}
LIMIT_WORDS = {"gt": "more than", "ge": "at least", "lt": "less than", "le": "at most"}


def in_words(error: ValidationError, model: type[BaseModel]) -> InvalidKey:
    """The first problem, unknown keys before what is missing: a typing error makes both."""
    found = sorted(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    one: Mapping[str, Any] = found[0]
    key = tuple(one["loc"])
    context = one.get("ctx", {})
    wrong = context.get("error")
    if isinstance(wrong, Wrong):
        return InvalidKey((*key, wrong.key) if wrong.key else key, wrong.problem, wrong.fix)
    given, kind = one["input"], one["type"]
    if kind == "missing":
        return InvalidKey(key, "is missing", "add it; cunctator init writes an example")
    if kind == "extra_forbidden":
        return InvalidKey(key, "unknown key", _suggestion(key, model))
    if kind == "literal_error":
        return InvalidKey(key, f"{given!r} is unknown", f"expected {context['expected']}")
    if kind == "string_pattern_mismatch":
        fix = 'expected a function as "package.module:name"'
        return InvalidKey(key, f"{given!r} names none", fix)
    if kind in LIMITS:
        limit = LIMITS[kind]
        return InvalidKey(key, f"it is {given}", f"expected {LIMIT_WORDS[limit]} {context[limit]}")
    if kind in TYPES:
        return InvalidKey(key, f"{given!r} is of the wrong type", f"expected {TYPES[kind]}")
    return InvalidKey(key, f"{given!r} cannot be used ({one['msg']})", "correct it")


def _suggestion(key: Sequence[str | int], model: type[BaseModel]) -> str:
    """The known keys of the table where the unknown one was found, the most similar if any."""
    known = _fields(key[:-1], model)
    near = difflib.get_close_matches(str(key[-1]), known, n=1)
    return f"did you mean {near[0]}?" if near else f"expected one of {', '.join(known)}"


def _fields(path: Sequence[str | int], model: type[BaseModel]) -> list[str]:
    """Names of the keys of a table, by the path to it."""
    current: Any = model
    for part in path:
        if not hasattr(current, "model_fields"):  # a dictionary of tables, and the name of one
            current = current.__args__[1]
            continue
        annotation: Any = current.model_fields[str(part)].annotation
        options = [one for one in getattr(annotation, "__args__", ()) if isinstance(one, type)]
        is_optional = type(None) in options
        current = options[0] if is_optional else annotation
    fields: dict[str, object] = current.model_fields
    return list(fields)
