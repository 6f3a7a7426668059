"""What a journal's rows may hold, checked as they are read.

A disk, a copy or a hand may have changed the file. What is read then must neither be believed nor
end in a traceback. Everything here raises ValueError; whoever knows the file says that it is
damaged.

Names of files need not be UTF-8. They are kept as the bytes they are, by `cast(? as text)`.
"""

from __future__ import annotations

import json
import math

from cunctator.core.replay import AS_BEFORE, BEGUN, ENDED
from cunctator.space.parameters import Value
from cunctator.study.journal.records import Advised
from cunctator.target.replies import Given

WRONG_EVENTS = """
select id from events where
    typeof(number) != 'integer' or typeof(status) != 'integer'
    or typeof(configuration) != 'integer' or typeof(pair) != 'integer'
    or number < 1 or number > (select count(*) from events)
    or configuration < 0 or pair < 0 or typeof(cap) != 'real'
    or (status = {asked} and seconds is not null)
    or (status != {asked} and (
        status not in ({statuses})
        or typeof(seconds) != 'real' or seconds < 0 or seconds >= 9e999
    ))
order by id limit 1
"""
"""The first event that cannot be. No run has a greater number than there are events; to count them
in the same statement is to see the same ones, even if others are just being added."""


def encoded(text: str) -> bytes:
    """Text as bytes; those of a name that is not UTF-8 are as they were."""
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return text.encode(errors="backslashreplace")


def decoded(raw: bytes) -> str:
    """The text that was encoded."""
    return raw.decode(errors="surrogateescape")


def parsed(text: object) -> object:
    """JSON as data."""
    if not isinstance(text, str):
        raise ValueError(f"a {type(text).__name__} where JSON should be")
    try:
        data: object = json.loads(text)
    except RecursionError:
        raise ValueError("JSON that is nested too deeply") from None
    return data


def given_of(reply: object, command: object) -> Given:
    """An answer, from its row."""
    words = parsed(command)
    if not isinstance(reply, str) or not isinstance(words, list):
        raise ValueError("an answer that is none")
    if not all(isinstance(word, str) for word in words):
        raise ValueError("a command that is none")
    return Given(reply, tuple(words))


def closing_of(details: bytes) -> int:
    """Whether closing had begun or ended before an event, from its details."""
    if b'"closing"' not in details:  # nearly always: to parse a million of them takes seconds
        return AS_BEFORE
    data = parsed(decoded(details))
    said = data.get("closing") if isinstance(data, dict) else None
    return AS_BEFORE if said is None else BEGUN if said is True else ENDED


def closing_budget_of(details: object) -> list[float]:
    """What a study might spend when closing began or ended, from an event's details."""
    data = parsed(details)
    limits = data.get("closing_budget") if isinstance(data, dict) else None
    if not isinstance(limits, list):
        raise ValueError("a budget that is no list")
    if not all(one is None or isinstance(one, int | float) for one in limits):
        raise ValueError("a budget that is none")
    return [math.inf if one is None else float(one) for one in limits]


def advised_of(event: int, details: object) -> Advised | None:
    """What a guide said before an event, from its details; None if that only looked like it."""
    data = parsed(decoded(details) if isinstance(details, bytes) else details)
    said = data.get("advice") if isinstance(data, dict) else None
    if said is None:
        return None
    if not isinstance(said, dict):
        raise ValueError("advice that is none")
    try:
        proposed = tuple({str(name): one[name] for name in one} for one in said["proposed"])
        tasks = tuple((int(configuration), int(rung)) for configuration, rung in said["tasks"])
        found = Advised(event, int(said["first"]), proposed, tasks, float(said["charged"]))
    except (KeyError, TypeError) as error:
        raise ValueError("advice that is none") from error
    if not all(isinstance(value, Value) for one in proposed for value in one.values()):
        raise ValueError("a value that is none")
    return found


def problem_of(details: object) -> str:
    """What went wrong with a run that crashed, from its details."""
    data = parsed(details)
    if not isinstance(data, dict):
        raise ValueError("details that are no table")
    return str(data.get("problem", ""))
