"""What a journal's rows may hold, checked as they are read.

A disk, a copy or a hand may have changed the file. What is read then must neither be believed nor
end in a traceback. Everything here raises ValueError; whoever knows the file says that it is
damaged.

Names of files need not be UTF-8. They are kept as the bytes they are, by `cast(? as text)`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable

from cunctator.target.answers import Given

LARGEST = 2**63
"""Whole numbers are smaller."""

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

Check = Callable[[object], bool]


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


def given_of(answer: object, command: object) -> Given:
    """An answer, from its row."""
    words = parsed(command)
    if not isinstance(answer, str) or not isinstance(words, list):
        raise ValueError("an answer that is none")
    if not all(isinstance(word, str) for word in words):
        raise ValueError("a command that is none")
    return Given(answer, tuple(words))


def problem_of(details: object) -> str:
    """What went wrong with a run that crashed, from its details."""
    data = parsed(details)
    if not isinstance(data, dict):
        raise ValueError("details that are no table")
    return str(data.get("problem", ""))


def progress_of(text: object) -> dict[str, object]:
    """What `status` shows, from its row."""
    data = parsed(text)
    if not isinstance(data, dict) or not is_progress(data):
        raise ValueError("progress that lacks something")
    return data


def _text(given: object) -> bool:
    return isinstance(given, str)


def _flag(given: object) -> bool:
    return isinstance(given, bool)


def _count(given: object) -> bool:
    return type(given) is int and 0 <= given < LARGEST


def _number(given: object) -> bool:
    return type(given) in (int, float) and 0 <= float(str(given)) < math.inf


def _settings(given: object) -> bool:
    kinds = (str, int, float)
    return isinstance(given, dict) and all(isinstance(value, kinds) for value in given.values())


def _or_none(check: Check) -> Check:
    return lambda given: given is None or check(given)


def _each(check: Check) -> Check:
    return lambda given: isinstance(given, list) and all(check(one) for one in given)


def _table(**checks: Check) -> Check:
    return lambda given: (
        isinstance(given, dict)
        and all(name in given and check(given[name]) for name, check in checks.items())
    )


POOL = _table(
    size=_count,
    gamma=_or_none(_number),
    time_share=_number,
    best_point=_or_none(_table(epsilon=_number, delta=_number)),
)

is_progress = _table(
    stop=_or_none(_text),
    problem=_text,
    charged=_number,
    wall=_number,
    runs=_count,
    budget=_table(charged=_or_none(_number), wall=_or_none(_number), runs=_or_none(_number)),
    crashed=_count,
    incumbent=_or_none(_table(index=_count, configuration=_settings, started=_count)),
    default=_table(started=_count),
    compared=_or_none(
        _table(
            cap=_or_none(_number), answer=_or_none(_number), default=_or_none(_number), exact=_flag
        )
    ),
    certificate=_or_none(_table(headline=_text, pools=_each(POOL))),
    own_seconds=_number,
    busy=_number,
)
"""Whether a view's data have what people are shown of them; see `View.as_data`."""
