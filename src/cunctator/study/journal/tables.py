"""The journal's tables, and the checksums that show whether they are as they were written.

Each row carries a checksum of what is in it and of the checksum of the row before it, so a row
cannot be changed, lost or moved unnoticed; `ends` says how many rows each table has and what the
last checksum is, so the last rows cannot be lost either. Rows of `progress` are thinned out, so
their checksums stand alone. Those of `facts` have one together, in `ends`.

CRC-32 finds every change of a bit, or of up to 32 bits in a row, at a microsecond a row. It is
against disks and copies, not against forgers. `docs/decisions/0005-journal.md` has the reasons.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from zlib import crc32

Row = tuple[Any, ...]
"""The number of a row, its numbers, its texts as bytes."""

NOTHING = -1.0
"""Stands for a number that is not there, in checksums: no run takes so long."""

KINDS = {"q": "integer", "d": "real"}


class End(NamedTuple):
    """How many rows a table has (of `progress`: the number of the last), and its last checksum."""

    rows: int = 0
    checksum: int = 0


class BadRow(ValueError):
    """A row is not as it was written, or not there."""

    def __init__(self, table: str, number: int) -> None:
        self.table = table
        self.number = number
        super().__init__(f"row {number:,} of its table {table} is not as it was written")


class Layout:
    """A table of rows that are numbered from 1: first numbers, then texts."""

    def __init__(
        self,
        name: str,
        numbers: Mapping[str, str],
        texts: tuple[str, ...] = (),
        optional: tuple[str, ...] = (),
        chained: bool = True,
    ) -> None:
        """Numbers have the kind `q` (whole) or `d`, as in `struct`; optional ones may be null."""
        self.name = name
        self.chained = chained
        self.sealing = f"update {name} set checksum = ? where id = ?"
        self._optional = {
            place: b"" if column in texts else NOTHING
            for place, column in enumerate((*numbers, *texts))
            if column in optional
        }
        self._count = 1 + len(numbers)
        self._pack = struct.Struct("<q" + "".join(numbers.values())).pack
        kinds = {column: KINDS[kind] for column, kind in numbers.items()}
        kinds |= dict.fromkeys(texts, "text")
        columns = [
            f"{column} {kind}{'' if column in optional else ' not null'}"
            for column, kind in kinds.items()
        ]
        self.creation = (
            f"create table {name} (id integer primary key, {', '.join(columns)},"
            " checksum integer not null)"
        )
        marks = ["?", *("?" for _ in numbers), *("cast(? as text)" for _ in texts), "?"]
        names = ", ".join(("id", *kinds, "checksum"))
        into = f"into {name} ({names}) values ({', '.join(marks)})"
        self.insertion, self.replacement = f"insert {into}", f"replace {into}"
        read = [f"coalesce({c}, {NOTHING})" if c in optional else c for c in numbers]
        read += [f"coalesce(cast({c} as blob), x'')" for c in texts]
        self.plain_query = f"select id, {', '.join(read)} from {name} order by id"
        self.query = f"select id, {', '.join(read)}, checksum from {name} order by id"

    def as_values(self, row: Row) -> Row:
        """The columns of a row that was read, as they are written."""
        values = list(row[1:])
        for place, nothing in self._optional.items():
            if values[place] == nothing:
                values[place] = None
        return tuple(values)

    def filled(self, values: Row) -> Row:
        """The same with what stands for nothing in checksums, as they are read."""
        if None not in values:
            return values
        places = enumerate(values)
        return tuple(self._optional[place] if one is None else one for place, one in places)

    def checksum(self, row: Row, previous: int) -> int:
        """Of a row, and of the one before; raises `struct.error` if it holds something else."""
        count = self._count
        start = crc32(self._pack(*row[:count]), previous if self.chained else 0)
        return crc32(b"\0".join(row[count:]), start)

    def verified(self, found: Iterable[Row], end: End | None) -> Iterator[Row]:
        """The rows that a query has found, as long as they are as they were written.

        Raises BadRow at the first that is not; without an `end`, any row may be the last.
        """
        checksum, chained = self.checksum, self.chained
        number = written = 0
        for whole in found:
            row, before = whole[:-1], written
            number, written = number + 1 if chained else row[0], whole[-1]
            try:
                is_good = row[0] == number and checksum(row, before) == written
            except (struct.error, TypeError):
                is_good = False
            if not is_good:
                raise BadRow(self.name, number)
            yield row
        last = End(number, written)
        if end is not None and last != end:
            raise BadRow(self.name, min(last.rows, end.rows) + 1)


EVENTS = Layout(
    "events",
    {
        "number": "q",
        "at": "d",
        "status": "q",
        "configuration": "q",
        "pair": "q",
        "cap": "d",
        "seconds": "d",
    },
    ("details",),
    optional=("seconds", "details"),
)
PROGRESS = Layout("progress", {"at": "d"}, ("data",), chained=False)
EXTENSIONS = Layout("extensions", {"at": "d", "seconds": "d", "runs": "q"})
REPLIES = Layout("answers", {}, ("instance", "answer", "command"))
INCUMBENTS = Layout("incumbents", {"at": "d", "charged": "d", "runs": "q", "configuration": "q"})
SESSIONS = Layout("sessions", {"at": "d"}, ("version",))
FILES = Layout("files", {"session": "q", "size": "q", "modified": "q"}, ("role", "name", "digest"))

LAYOUTS = (EVENTS, PROGRESS, EXTENSIONS, REPLIES, INCUMBENTS, SESSIONS, FILES)

ENDS_CREATION = (
    "create table ends (name text primary key, rows integer not null, checksum integer not null)"
    " without rowid"
)
CREATIONS = (
    "create table facts (name text primary key, value text not null) without rowid",
    ENDS_CREATION,
    *(layout.creation for layout in LAYOUTS),
)


def end_of_facts(facts: Mapping[str, bytes]) -> End:
    """How many facts there are, and the checksum of all."""
    checksum = 0
    for name, value in sorted(facts.items()):
        checksum = crc32(b"%s\0%s\0" % (name.encode(), value), checksum)
    return End(len(facts), checksum)
