"""On which line of a TOML file a key stands; `tomllib` does not say.

The text has been read by `tomllib` before, so this may take it to be well-formed; what `tomllib`
must not be given is found here too, before.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence

PIECE = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}'  # texts first: they may hold anything
    r"|'''.*?'{3,5}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|[\n\[\]{}=.,]"
    r"|[^\s\[\]{}=.,\#\"']+",
    re.DOTALL,
)
OPENING, CLOSING = ("[", "{"), ("]", "}")


DEEPEST = 50
"""Tables in tables, parts of a dotted key. A scenario needs five; `tomllib` takes time that grows
with the square of them, and memory too."""


def too_deep(text: str) -> int | None:
    """The first line that nests more than DEEPEST tables or lists; the text may be anything."""
    line, depth, dots = 1, 0, 0
    for match in PIECE.finditer(text):
        piece = match[0]
        if piece == ".":
            dots += 1
        elif piece in OPENING or piece in CLOSING:
            depth = max(0, depth + (piece in OPENING) - (piece in CLOSING))
            dots = 0
        elif piece in ("\n", "=", ","):
            dots = 0
        if depth + dots > DEEPEST:
            return line
        line += piece.count("\n")
    return None


def line_of(text: str, key: Sequence[str | int]) -> int | None:
    """The line where a key is set, or the last of the tables around it that is written out."""
    names = [str(part) for part in key]
    lines = dict(reversed(list(_keys(text))))
    for length in range(len(names), 0, -1):
        if tuple(names[:length]) in lines:
            return lines[tuple(names[:length])]
    return None


def _keys(text: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """Every key and table with its line, in the order of the file, those they imply included."""
    table: tuple[str, ...] = ()
    repeated: Counter[tuple[str, ...]] = Counter()
    for line, pieces in _statements(text):
        if pieces[0] == "[":
            table = _path([piece for piece in pieces if piece not in ("[", "]")])
            if pieces[:2] == ["[", "["]:  # one of several: they are numbered
                yield table, line
                repeated[table] += 1
                table = (*table, str(repeated[table] - 1))
            whole, start = table, 0
        else:
            whole = table + _path(pieces[: pieces.index("=")])
            start = len(table)
        for length in range(start + 1, len(whole) + 1):
            yield whole[:length], line


def _statements(text: str) -> Iterator[tuple[int, list[str]]]:
    """Line and pieces of each statement: a table's header, or a key and its value."""
    line, start, depth = 1, 1, 0
    pieces: list[str] = []
    for match in PIECE.finditer(text):
        piece = match[0]
        if piece == "\n" and depth == 0 and pieces:
            yield start, pieces
            pieces = []
        elif piece != "\n" and not piece.startswith("#"):
            if not pieces:
                start = line
            depth += (piece in OPENING) - (piece in CLOSING)
            pieces.append(piece)
        line += piece.count("\n")
    if pieces:
        yield start, pieces


def _path(pieces: Sequence[str]) -> tuple[str, ...]:
    """A dotted key; its parts may be quoted."""
    parts = [piece for piece in pieces if piece != "."]
    return tuple(
        str(tomllib.loads(f"x = {part}")["x"]) if part[0] in "\"'" else part for part in parts
    )
