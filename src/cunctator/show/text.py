"""Names and words of others, made fit for a terminal."""

from __future__ import annotations

from rich.text import Text


def printable(name: str) -> str:
    """A name as it is, unless it holds what a terminal would obey rather than show."""
    return name if name.isprintable() else ascii(name)


def sentence(words: str) -> str:
    """A line of facts, as a sentence of a story."""
    return f"{words[0].upper()}{words[1:]}."


def shorten(name: str, width: int) -> str:
    """A name that fits on a progress line."""
    name = printable(name)
    return name if len(name) <= width else name[: width - 1] + "…"


def whole(line: str) -> Text:
    """A line with a path or a command in it, not to be wrapped: broken, it cannot be copied."""
    return Text(printable(line), no_wrap=True, overflow="ignore")
