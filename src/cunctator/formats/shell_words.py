"""The arguments that a shell would make of a label and a value, as a format without a shell.

irace writes both next to each other and lets a shell split the line, so `"--ants "` makes two
arguments with its value, `"--ants="` makes one, and a value with a blank in it makes more. Blanks,
single quotes and backslashes are read here as a shell reads them; nothing is expanded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cunctator.target.template import RawFormat

PIECE = re.compile(r"(\s+)|'([^']*)'|\\(.)|([^\s'\\]+)")
EXPANDED = re.compile(r"[$`*?;&|<>\[]|(?:^|\s)~")
"""What a shell would do something about."""

VALUE = "\0"
"""Where the value goes; no argument can hold a NUL."""


def shell_words(text: str) -> list[str]:
    """The words of a command line without double quotes; raises ValueError."""
    words: list[str] = []
    parts: list[str] = []
    place, is_word = 0, False
    while place < len(text):
        found = PIECE.match(text, place)
        if found is None:
            raise ValueError(f"{text[place:]!r} has no end")
        place = found.end()
        if found[1] is None:
            parts.append(next(part for part in found.groups() if part is not None))
            is_word = True
        elif is_word:
            words.append("".join(parts))
            parts, is_word = [], False
    return [*words, "".join(parts)] if is_word else words


def format_of(label: str, values: Sequence[str] | None) -> RawFormat:
    """How a parameter appears on a command line; `values` of one that is not a number."""
    try:
        general = shell_words(label + VALUE)
        if values is None or all(_is_filled(general, label, value) for value in values):
            return _raw(general)
    except ValueError:
        if values is None:
            raise
    return {value: _raw(shell_words(label + value)) for value in values}


def needs_shell(text: str) -> bool:
    """Whether a shell would expand something in it."""
    return EXPANDED.search(text) is not None


def _is_filled(general: list[str], label: str, value: str) -> bool:
    """Whether a value makes the arguments that the general form says."""
    return shell_words(label + value) == [word.replace(VALUE, value) for word in general]


def _raw(words: list[str]) -> str | tuple[str, ...]:
    """As a format is written: braces are doubled, and no argument at all is an empty text."""
    items = [word.replace("{", "{{").replace("}", "}}").replace(VALUE, "{value}") for word in words]
    if not items:
        return ""
    return items[0] if len(items) == 1 and items[0] else tuple(items)
