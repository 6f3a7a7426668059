"""The digest of a scenario: a study goes on only if what determines its search is as it was.

**Defaults are left out.** A key enters only if its value is another than its default, so a later
version that has one more key, with a default that means what was done before, computes the same
digest for every scenario that does not mention it.

**Earlier versions** had the values of all their keys in it. What those keys and defaults were is
written down below and never changes: put back in, they give the earlier digest, and a study that
was stored with that is recognised. No version number is needed to tell the two apart. A scenario
that gives a later key another value than its default has it in both digests, so an earlier study
does not take a copy to which such a key was added for the one that it began with.

**A default that changes** is noticed for the keys below: what is left out is the value that is
written there, not the present default. So the search of a study never changes unnoticed because
its scenario is silent about something.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from cunctator.scenario.models import Document

NO_EFFECT = {"workers", "stop_at", "measures"}
"""Settings that do not change which runs are made, only how soon, how many and what is noted."""

APART = {"target", "parameters", "instances", "test_instances", "search", "budget"}
"""Tables that are looked at one by one, or that do not determine the search."""

Defaults = Mapping[str, object]

TARGET: Defaults = {
    "command": None,
    "function": None,
    "protocol": "native",
    "format": None,
    "deterministic": None,
    "success": None,
    "success_pattern": None,
    "failure_pattern": None,
    "answer": None,
    "memory": None,
    "directory": ".",
}
PARAMETER: Defaults = {
    "values": None,
    "low": None,
    "high": None,
    "log": False,
    "format": None,
    "when": None,
}
SEARCH: Defaults = {
    "first_cap": 0.01,
    "cutoff": None,
    "objective": "cpu",
    "seed": 0,
    "configurations": None,
    "confidence": 0.95,
    "profile": "tight",
}
REST: Defaults = {"forbidden": (), "initial": ()}
"""Keys and defaults of the versions that had the defaults in the digest; they are never changed,
and keys of later versions are not added."""


def digests_of(document: Document, names: tuple[str, ...], seeds: int | None) -> tuple[str, ...]:
    """The digest of a scenario and that of earlier versions.

    `names` are those of its instances, and `seeds` how many each is run with, if that is a number:
    what follows from a scenario that does not say so may be another one some day.
    """
    target = _given(document.target, TARGET)
    parameters = {name: _given(one, PARAMETER) for name, one in document.parameters.items()}
    rest = _given(document, REST, APART)
    instances: list[object] = [document.instances.source, names]
    if seeds is not None:
        instances.append(seeds)
    search = _given(document.search, SEARCH)
    order = list(parameters)  # it is that of the draws
    filled = {name: {**PARAMETER, **one} for name, one in parameters.items()}
    return (
        _sum([target, order, {**rest, "parameters": parameters}, *instances, search]),
        _sum(
            [
                {**TARGET, **target},
                order,
                {**REST, **rest, "parameters": filled},
                *instances,
                {**SEARCH, **search},
            ]
        ),
    )


def _given(table: BaseModel, defaults: Defaults, apart: set[str] = NO_EFFECT) -> dict[str, Any]:
    """The keys of a table that have other values than their defaults."""
    values = table.model_dump(exclude=apart)
    changed = table.model_dump(exclude=apart, exclude_defaults=True)
    later = {name: value for name, value in changed.items() if name not in defaults}
    known = {name: values.get(name, default) for name, default in defaults.items()}
    return later | {name: value for name, value in known.items() if value != defaults[name]}


def _sum(parts: list[object]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
