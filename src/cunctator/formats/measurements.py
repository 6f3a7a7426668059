"""The measurements dump of the LeapsAndBounds experiments: a pickle, read without trust.

The file is a dict {command line: list of runtimes}, pickled and perhaps gzipped. Unpickling can
execute anything, so nothing but dicts, lists, strings, numbers and NumPy float arrays is let in,
and even the arrays are rebuilt by the small stand-ins below rather than by NumPy's own
reconstructors, which were not written to withstand hostile input.
"""

from __future__ import annotations

import gzip
import io
import pickle
import re
import struct
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cunctator.base.errors import InvalidTable
from cunctator.recorded.table import Table, make_table

FIX = "give a dict of lists of runtimes, or save the table as .npz instead"


OPENING = re.compile(rb"\x80|\(d|}|c[\w.]+\n[\w.]+\n|\x1f\x8b")
"""How a pickle begins: protocols 2 and later, a dict in 0 and 1, a global; and a gzip file."""


NOT_NEEDED = {
    pickle.NEWOBJ, pickle.NEWOBJ_EX, pickle.OBJ, pickle.INST, pickle.EMPTY_SET, pickle.ADDITEMS,
    pickle.FROZENSET, pickle.PERSID, pickle.BINPERSID, pickle.NEXT_BUFFER,
    pickle.READONLY_BUFFER, pickle.EXT1, pickle.EXT2, pickle.EXT4,
}  # fmt: skip


class _Refused(pickle.UnpicklingError):
    """The pickle names something that it has no business with."""


class _FloatType:
    """Stands for numpy.dtype: floats of 4 or 8 bytes, in either byte order."""

    def __init__(self, name: object = None, *_: object) -> None:
        if name not in ("f4", "f8"):
            raise _Refused(f"a NumPy array of type {name!r}, not float")
        self.name = str(name)
        self.order = "<"

    def __setstate__(self, state: tuple[object, ...]) -> None:
        self.order = ">" if state[1] == ">" else "<"

    def read(self, raw: bytes) -> NDArray[np.float64]:
        return np.frombuffer(raw, dtype=self.order + self.name).astype(np.float64)


class _FloatArray:
    """Stands for numpy.ndarray."""

    def __init__(self, *_: object) -> None:
        self.values = np.zeros(0)

    def __setstate__(self, state: tuple[object, ...]) -> None:
        _, shape, kind, _, raw = state
        if not isinstance(kind, _FloatType) or not isinstance(raw, bytes | str):
            raise _Refused("a NumPy array that is not of floats")
        if not isinstance(shape, tuple) or len(shape) != 1:
            raise _Refused("a NumPy array of more than one dimension")
        self.values = kind.read(raw.encode("latin-1") if isinstance(raw, str) else raw)


def _float_scalar(kind: object, raw: object) -> float:
    if not isinstance(kind, _FloatType) or not isinstance(raw, bytes | str):
        raise _Refused("a NumPy number that is not a float")
    return float(kind.read(raw.encode("latin-1") if isinstance(raw, str) else raw)[0])


def _float_frombuffer(raw: object, kind: object, shape: object, *_: object) -> _FloatArray:
    array = _FloatArray()
    array.__setstate__((0, shape, kind, False, raw))
    return array


def _latin1(text: object, encoding: object = "latin1") -> bytes:
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise _Refused("an encoding other than latin1")
    return text.encode("latin-1")


STAND_INS: dict[tuple[str, str], Any] = {
    ("_codecs", "encode"): _latin1,
    ("numpy", "dtype"): _FloatType,
    ("numpy", "ndarray"): _FloatArray,
}
for _home in ("numpy.core", "numpy._core"):
    STAND_INS[f"{_home}.multiarray", "_reconstruct"] = _FloatArray
    STAND_INS[f"{_home}.multiarray", "scalar"] = _float_scalar
    STAND_INS[f"{_home}.numeric", "_frombuffer"] = _float_frombuffer


PlainUnpickler: Any = pickle._Unpickler


class _Reader(PlainUnpickler):  # type: ignore[misc]
    """The unpickler in Python: one bad byte makes the one in C allocate (and fill) 64 GB.

    Operations that no table needs are refused: making objects other than by calling a stand-in,
    sets, references to elsewhere. Tuples may be nested once, as NumPy does: hashing a deep one
    would crash. Nothing may claim more bytes than the file has.
    """

    dispatch: ClassVar[dict[int, Any]] = {
        code: operation
        for code, operation in PlainUnpickler.dispatch.items()
        if bytes([code]) not in NOT_NEEDED
    }

    def __init__(self, raw: bytes) -> None:
        super().__init__(io.BytesIO(raw), encoding="latin1")
        self.longest = len(raw)

    def load_build(self) -> None:
        """Set the state of an array, and of nothing else."""
        if not isinstance(self.stack[-2], _FloatType | _FloatArray):
            raise _Refused("changing what is not an array")
        super().load_build()

    def load_bytearray8(self) -> None:
        """Read bytes, if there are as many."""
        (size,) = struct.unpack("<Q", self.read(8))
        if size > self.longest:
            raise _Refused("more bytes than the file has")
        self.append(bytes(self.read(size)))

    def check_tuple(self) -> None:
        """Refuse a tuple in a tuple in a tuple."""
        for part in self.stack[-1]:
            if isinstance(part, tuple) and any(isinstance(deep, tuple) for deep in part):
                raise _Refused("deeply nested tuples")

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in STAND_INS:
            raise _Refused(f"{module}.{name}")
        return STAND_INS[module, name]


def _checking(operation: Any) -> Any:
    def load_tuple(reader: _Reader) -> None:
        operation(reader)
        reader.check_tuple()

    return load_tuple


_Reader.dispatch[pickle.BUILD[0]] = _Reader.load_build
_Reader.dispatch[pickle.BYTEARRAY8[0]] = _Reader.load_bytearray8
for _code in (pickle.TUPLE, pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3):
    _Reader.dispatch[_code[0]] = _checking(_Reader.dispatch[_code[0]])


def load(path: Path) -> Table:
    """The table in a measurements dump."""
    raw = path.read_bytes()
    if not OPENING.match(raw):
        fix = "name the file .npz, .csv, .csv.gz or .parquet, or give an ASlib folder"
        raise InvalidTable(path, "not a format that is known", fix)
    try:
        if raw[:2] == b"\x1f\x8b":
            raw = gzip.decompress(raw)
        data = _Reader(raw).load()
    except _Refused as error:
        raise InvalidTable(path, f"the pickle asks for {error}; refused", FIX) from None
    except Exception as error:  # a broken pickle makes the unpickler raise anything at all
        problem = f"not a complete pickle ({error})"
        raise InvalidTable(path, problem, FIX) from None
    if not isinstance(data, dict) or not data:
        raise InvalidTable(path, "the pickle is not a dict with entries", FIX)
    rows: list[NDArray[np.float64]] = []
    for place, (command, runtimes) in enumerate(data.items(), 1):
        rows.append(_row(path, place, command, runtimes))
        if len(rows[-1]) != len(rows[0]):
            problem = f"{len(rows[-1])} runtimes where the first entry has {len(rows[0])}"
            fix = "give every configuration a runtime for every instance"
            raise InvalidTable(path, problem, fix, f"entry {place}, {command!r}")
    return make_table(np.array(rows), list(data), None, None, str(path))


def _row(path: Path, place: int, command: object, runtimes: object) -> NDArray[np.float64]:
    if not isinstance(command, str):
        problem = f"key {command!r} is not a command line"
        raise InvalidTable(path, problem, FIX, f"entry {place}")
    if isinstance(runtimes, _FloatArray):
        return runtimes.values
    if isinstance(runtimes, list) and all(type(number) in (int, float) for number in runtimes):
        try:
            return np.array(runtimes, dtype=np.float64)
        except OverflowError:
            pass
    raise InvalidTable(path, "not a list of numbers", FIX, f"entry {place}, {command!r}")
