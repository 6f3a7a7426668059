"""Command-line templates: items with `{placeholders}`, filled without a shell.

An item becomes one argument whatever its values hold: blanks, quotes, dollars and line breaks
are characters like others. Values are put in once and never looked at for placeholders again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from cunctator.base.errors import InvalidKey
from cunctator.space.parameters import LISTED, Parameter, Value, text_of

Key = tuple[str | int, ...]
RawFormat = str | tuple[str, ...] | Mapping[str, str | tuple[str, ...]]
"""A format as the file gives it: an argument, some, or one of these for each value."""

PART = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
BRACES = {"{{": "{", "}}": "}"}
BOOLEAN_WORDS = {"yes": "true", "no": "false"}

DEFAULT_FORMAT = "--{name}={value}"


@dataclass(frozen=True, slots=True)
class Placeholder:
    """The place of a value in an item."""

    name: str


Item = tuple[str | Placeholder, ...]


def parse_item(text: str, key: Key, known: Collection[str]) -> Item:
    """An item's parts; `{{` and `}}` are braces, and every placeholder must be known."""
    if "\0" in text:
        raise InvalidKey(key, "it holds a NUL", "remove it: no program can be given that")
    parts: list[str | Placeholder] = []
    end = 0
    for match in PART.finditer(text):
        parts.append(text[end : match.start()])
        end = match.end()
        name = match[1]
        if name is None:
            if match[0] not in BRACES:
                problem = f"a single {match[0]} in {text!r}"
                raise InvalidKey(key, problem, "write {{ and }} for braces")
            parts.append(BRACES[match[0]])
        elif name in known:
            parts.append(Placeholder(name))
        else:
            shown = ", ".join(f"{{{word}}}" for word in list(known)[:20])
            raise InvalidKey(key, f"unknown placeholder {{{name}}}", f"expected one of {shown}")
    parts.append(text[end:])
    return tuple(part for part in parts if part != "")


def names_in(item: Item) -> set[str]:
    """Placeholders that an item mentions."""
    return {part.name for part in item if isinstance(part, Placeholder)}


def fill(item: Item, values: Mapping[str, str]) -> str | None:
    """The argument that an item makes; None if a value is lacking."""
    parts: list[str] = []
    for part in item:
        if isinstance(part, str):
            parts.append(part)
        elif part.name in values:
            parts.append(values[part.name])
        else:
            return None
    return "".join(parts)


@dataclass(frozen=True, slots=True)
class Format:
    """How a parameter appears among the `{parameters}`."""

    items: tuple[Item, ...] = ()
    """Whatever the value is."""
    by_value: Mapping[str, tuple[Item, ...]] | None = None
    """Or for each value, as text."""

    def arguments(self, name: str, value: Value) -> list[str]:
        """The arguments that say this value."""
        text = text_of(value)
        items = self.items if self.by_value is None else self.by_value[text]
        values = {"name": name, "value": text}
        return [fill(item, values) or "" for item in items]


def parse_format(raw: RawFormat, parameter: Parameter, key: Key) -> Format:
    """A format. An empty one is for parameters that others depend on, and say for them."""
    if not isinstance(raw, Mapping):
        items = _items(raw, key)
        if items and not any("value" in names_in(item) for item in items):
            fix = "write {value} where it goes, or give a format for each value"
            raise InvalidKey(key, "the value does not appear in it", fix)
        return Format(items)
    if parameter.kind not in LISTED:
        problem = f"a format for each value of {parameter.kind} parameters"
        raise InvalidKey(key, problem, 'give one, e.g. format = "-x={value}"')
    texts = [text_of(value) for value in parameter.values]
    formats: dict[str, tuple[Item, ...]] = {}
    for word, one in raw.items():
        text = word if word in texts else BOOLEAN_WORDS.get(word, word)
        if text not in texts:
            fix = f"expected {', '.join(texts[:20])}"
            raise InvalidKey((*key, word), f"{word!r} is not a value of it", fix)
        formats[text] = _items(one, (*key, word))
    for text in texts:
        if text not in formats:
            problem = f"there is none for the value {text!r}"
            raise InvalidKey(key, problem, 'add it; "" makes it disappear')
    return Format(by_value=formats)


def _items(raw: str | tuple[str, ...], key: Key) -> tuple[Item, ...]:
    """An empty text is no argument at all; a list may hold empty ones."""
    texts = ((raw,) if raw else ()) if isinstance(raw, str) else raw
    return tuple(parse_item(text, key, ("name", "value")) for text in texts)
