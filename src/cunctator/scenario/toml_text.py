"""Keys and values as TOML writes them; the standard library only reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from cunctator.base.errors import InvalidKey

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def toml_key(name: str) -> str:
    """A key, in quotes if it needs them."""
    return name if BARE_KEY.fullmatch(name) else _quoted(name)


def toml_pair(name: str, value: Any) -> str:
    """A key and its value on one line."""
    return f"{toml_key(name)} = {toml_value(value)}"


def toml_value(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        needs_escapes = '"' in value or "\\" in value
        if needs_escapes and "'" not in value and value.isprintable():
            return f"'{value}'"
        return _quoted(value)
    if isinstance(value, Mapping):
        return f"{{{', '.join(map(toml_pair, value, value.values()))}}}"
    return f"[{', '.join(toml_value(one) for one in value)}]"


def _quoted(text: str) -> str:
    """A text in double quotes; JSON escapes the same things, but for one character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        fix = "rename what is called so"
        raise InvalidKey((), f"{text!r} cannot be written as UTF-8", fix) from None
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
