"""Every format loads; every broken file gets one clear line."""

from __future__ import annotations

import contextlib
import gzip
import io
import itertools
import os
import pickle
import sys

import numpy as np
import pytest

from cunctator.base.errors import InvalidTable, MissingExtra
from cunctator.formats.load import load_table
from tests.optional import need

RUNTIMES = np.array([[1.0, 2.5, 3.0], [4.0, 0.5, 6.25]])


def refused(path, *words):
    with pytest.raises(InvalidTable) as caught:
        load_table(path)
    message = str(caught.value)
    assert str(path) in message or str(path.name) in message
    assert "\n" not in message
    for word in words:
        assert word in message, message
    return message


def test_missing(tmp_path):
    refused(tmp_path / "nowhere.csv", "there is no such file")


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    refused(tmp_path / "pipe.csv", "neither a file nor a folder")


# NumPy archives


def test_npz(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(
        path, runtimes=RUNTIMES, configurations=["a", "b"], instances=["x", "y", "z"], cutoff=5
    )
    table = load_table(path)
    assert table.configurations == ("a", "b") and table.instances == ("x", "y", "z")
    assert table.cutoff == 5.0
    np.testing.assert_array_equal(table.runtimes, np.minimum(RUNTIMES, 5.0))
    np.savez_compressed(path, runtimes=RUNTIMES.astype(np.float32))
    np.testing.assert_array_equal(load_table(path).runtimes, RUNTIMES)


def test_npz_broken(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, other=RUNTIMES)
    refused(path, "no array 'runtimes' (found: other)")
    np.savez(path, runtimes=RUNTIMES, cutoff=[1.0, 2.0])
    refused(path, "'cutoff' is not one number")
    np.savez(path, runtimes=np.array([[object()]], dtype=object))
    refused(path, "plain arrays")
    np.savez(path, runtimes=RUNTIMES)
    whole = path.read_bytes()
    for end in (0, 10, len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:end])
        refused(path, "not a complete NumPy archive")
    np.save(tmp_path / "a.npy", RUNTIMES)
    (tmp_path / "a.npy").rename(path)
    refused(path, "not a complete NumPy archive")


# CSV


@pytest.mark.parametrize(
    ("text", "configurations", "instances"),
    [
        ("1,2.5,3\n4,0.5,6.25\n", ("c0", "c1"), ("i0", "i1", "i2")),
        ("a,1,2.5,3\nb,4,0.5,6.25\n", ("a", "b"), ("i0", "i1", "i2")),
        ("x,y,z\n1,2.5,3\n4,0.5,6.25", ("c0", "c1"), ("x", "y", "z")),
        ("configuration,x,y,z\r\na,1,2.5,3\r\nb,4,0.5,6.25\r\n", ("a", "b"), ("x", "y", "z")),
        (",x,y,z\n0,1,2.5,3\n1,4,0.5,6.25\n", ("0", "1"), ("x", "y", "z")),
        ("Configuration,1,2,3\na,1,2.5,3\nb,4,0.5,6.25\n", ("a", "b"), ("1", "2", "3")),
        (
            '\ufeffname,"x,1",y,z\n"-a 1, -b",1,2.5,3\n\nb,4,0.5,6.25\n',
            ("-a 1, -b", "b"),
            ("x,1", "y", "z"),
        ),
    ],
)
def test_csv(tmp_path, text, configurations, instances):
    for path, opener in ((tmp_path / "t.csv", open), (tmp_path / "t.csv.gz", gzip.open)):
        with opener(path, "wb") as file:
            file.write(text.encode())
        table = load_table(path)
        assert table.configurations == configurations
        assert table.instances == instances
        np.testing.assert_array_equal(table.runtimes, RUNTIMES)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["the table is empty"]),
        ("\n\n", ["the table is empty"]),
        ("name,x\n", ["the table is empty"]),
        ("1,2\n3\n", ["line 2", "1 cells where the first line has 2"]),
        ("x,y\n1,2\n3,oops\n", ["line 3, column 2", "'oops' is not a runtime"]),
        ("x,y\n1,2\n3,\n", ["line 3, column 2", "empty cell"]),
        ("x,y\n1,2\n3,nan\n", ["line 3, column 2", "'nan' is not a runtime"]),
        ("x,y\n1,inf\n", ["line 2, column 2", "'inf' is not a runtime"]),
        ("x,y\n1,-2\n", ["line 2, column 2", "'-2' is not a runtime"]),
        ("a;b\n1;2\n", ["line 1", "separate the cells by commas"]),
        ("a,1\na,2\n", ["row 2", "configuration name 'a' is that of row 1 too"]),
    ],
)
def test_csv_broken(tmp_path, text, words):
    path = tmp_path / "t.csv"
    path.write_text(text)
    refused(path, *words)


def test_csv_not_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xff\xfe1,2\n")
    refused(path, "not readable as CSV")
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"1,2\n" * 1000)[:-20])
    refused(path, "not readable as CSV")
    path.write_bytes(b"1,2\n")
    refused(path, "not a gzip file")


# Parquet


def test_parquet(tmp_path):
    pyarrow = need("pyarrow")
    need("pyarrow.parquet")

    path = tmp_path / "t.parquet"
    columns = {"configuration": ["a", "b"], "x": RUNTIMES[:, 0], "y": RUNTIMES[:, 1], "z": [3, 6]}
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    table = load_table(path)
    assert table.configurations == ("a", "b") and table.instances == ("x", "y", "z")
    np.testing.assert_array_equal(table.runtimes[:, :2], RUNTIMES[:, :2])
    columns["y"] = [1.0, None]
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    refused(path, "row 2, column 2", "runtime is nan")
    columns["y"] = [True, False]
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    refused(path, "column 'y' is bool")
    path.write_bytes(path.read_bytes()[:-30])
    refused(path, "not a complete Parquet file")


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(MissingExtra, match="pip install pyarrow"):
        load_table(path)


# The measurements dump


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize(
    "convert", [list, lambda row: row.tolist(), np.asarray, lambda row: row.astype(">f4")]
)
def test_measurements(tmp_path, protocol, compress, convert):
    data = {"minisat -a 1": convert(RUNTIMES[0]), "minisat -a 2": convert(RUNTIMES[1])}
    raw = pickle.dumps(data, protocol)
    path = tmp_path / "measurements.dump"
    path.write_bytes(gzip.compress(raw) if compress else raw)
    table = load_table(path)
    assert table.configurations == ("minisat -a 1", "minisat -a 2")
    np.testing.assert_array_equal(table.runtimes, RUNTIMES)


class Attack:
    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_measurements_execute_nothing(tmp_path, protocol):
    marker = tmp_path / "executed"
    path = tmp_path / "measurements.dump"
    attacks = [
        (Attack(os.system, f"touch {marker}"), f"{os.name}.system"),
        (Attack(eval, f"open({str(marker)!r}, 'w')"), "eval"),
        (Attack(io.open, str(marker), "w"), "open"),
        (Attack(os.mkdir, str(marker)), "mkdir"),
    ]
    for attack, name in attacks:
        for data in ({"a": [1.0], "b": attack}, attack, {"a": [attack]}):
            path.write_bytes(pickle.dumps(data, protocol))
            refused(path, "refused", name)
            assert not marker.exists()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, ["not a dict with entries"]),
        ([1.0], ["not a dict"]),
        ("text", ["not a dict"]),
        ({"a": [1.0], "b": [1.0, 2.0]}, ["entry 2, 'b'", "2 runtimes where the first entry has 1"]),
        ({"a": "text"}, ["entry 1, 'a'", "not a list of numbers"]),
        ({"a": [1.0, "x"]}, ["not a list of numbers"]),
        ({"a": [True]}, ["not a list of numbers"]),
        ({"a": [10**400]}, ["not a list of numbers"]),
        ({1: [1.0]}, ["key 1 is not a command line"]),
        ({"a": np.array([1, 2])}, ["type 'i8', not float"]),
        ({"a": np.array([object()])}, ["type 'O8', not float"]),
        ({"a": {1.0}}, ["refused"]),
        ({"a": [float("nan")]}, ["row 1, column 1", "nan"]),
    ],
)
def test_measurements_broken(tmp_path, data, words):
    path = tmp_path / "measurements.dump"
    path.write_bytes(pickle.dumps(data, 2))
    refused(path, *words)


def nested(depth):
    key = (1.0,)
    for _ in range(depth):
        key = (key, key)
    return key


def test_measurements_that_would_crash_or_hang(tmp_path):
    path = tmp_path / "measurements.dump"
    path.write_bytes(pickle.dumps({nested(20): [1.0]}, 2))
    refused(path, "deeply nested tuples")
    deep = b"\x80\x02}(" + b"(" * 1_000_000 + b"K\x01" + b"t" * 1_000_000 + b"]u."
    path.write_bytes(deep)
    refused(path)
    path.write_bytes(b"\x80\x05}(X\x01\x00\x00\x00a\x96" + (2**40).to_bytes(8, "little") + b"u.")
    refused(path, "more bytes than the file has")
    path.write_bytes(pickle.dumps({"a": np.ones((2, 2))}, 2))
    refused(path, "more than one dimension")
    # NEWOBJ of an array, and BUILD on a stand-in function.
    path.write_bytes(b"\x80\x02}(X\x01\x00\x00\x00acnumpy\nndarray\n)\x81u.")
    refused(path)
    path.write_bytes(b"\x80\x02}(X\x01\x00\x00\x00acnumpy.core.multiarray\nscalar\n}bu.")
    refused(path, "changing what is not an array")


def test_csv_heading_or_typing_error(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("c0,1.0,2.0x,3.0\nc1,1,2,3\n")
    refused(path, "line 1, column 3", "'2.0x' is not a runtime")
    path.write_text("id,101,102\na,1,2\n")
    assert load_table(path).instances == ("101", "102")
    path.write_text("x\n1\n2\n")
    assert load_table(path).runtimes.shape == (2, 1)


@pytest.mark.parametrize(
    "text",
    [
        "date: 2001-99-99", "a: !!int abc", "a: !!float abc", "[" * 5000,
        "algorithm_cutoff_time: 1" + "0" * 400 + "\nperformance_type: runtime\n"
        "performance_measures: runtime",
        "algorithm_cutoff_time: 0x" + "f" * 5000 + "\nperformance_type: runtime\n"
        "performance_measures: runtime",
        "a: &a [x, x]\n" + "".join(
            f"{b}: &{b} [{', '.join([f'*{a}'] * 8)}]\n"
            for a, b in itertools.pairwise("abcdefghijk")
        ) + "performance_type: *k",
    ],
)  # fmt: skip
def test_aslib_strange_yaml(scenario, text):
    (scenario / "description.txt").write_text(text)
    refused(scenario)


def test_aslib_strange_arff(scenario):
    path = scenario / "algorithm_runs.arff"
    path.write_text("@RELATION r\n@ATTRIBUTE\n@DATA\n")
    refused(scenario)
    path.write_text(ARFF + "x" * 200_000 + ",1,minisat,1,ok\n")
    refused(scenario)


def test_npz_with_flipped_bytes(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, runtimes=RUNTIMES, cutoff=5.0)
    whole = path.read_bytes()
    random = np.random.default_rng(3)
    for _ in range(500):
        flipped = bytearray(whole)
        flipped[random.integers(len(whole))] ^= 1 << random.integers(8)
        path.write_bytes(flipped)
        with contextlib.suppress(InvalidTable):
            load_table(path)


def test_not_a_known_format(tmp_path):
    for text in ("configuration a", "import numpy", "[1, 2]", "", "\x93NUMPY"):
        path = tmp_path / "table.txt"
        path.write_text(text, encoding="latin-1")
        refused(path, "not a format that is known", ".csv")


def test_measurements_truncated_or_garbled(tmp_path):
    path = tmp_path / "measurements.dump"
    raw = pickle.dumps({"a": list(RUNTIMES[0]), "b": RUNTIMES[1]}, 4)
    for whole in (raw, gzip.compress(raw)):
        for end in range(0, len(whole) - 1, 7):
            path.write_bytes(whole[:end])
            refused(path)
    random = np.random.default_rng(0)
    for _ in range(2000):
        garbled = bytearray(raw)
        for _ in range(random.integers(1, 6)):
            garbled[random.integers(len(raw))] = random.integers(256)
        path.write_bytes(garbled)
        try:
            load_table(path)
        except InvalidTable as error:
            assert "\n" not in str(error).replace("\\n", "")


# ASlib

DESCRIPTION = """scenario_id: S
performance_measures:
- runtime
performance_type:
- runtime
algorithm_cutoff_time: 100
"""
ARFF = """@RELATION runs
% a comment
@ATTRIBUTE instance_id STRING
@ATTRIBUTE repetition NUMERIC
@attribute 'algorithm' STRING
@ATTRIBUTE runtime NUMERIC
@ATTRIBUTE runstatus {ok , timeout , crash}

@DATA
i/1,1,minisat,1.5,ok
i/1,1,'glucose, 2',250,ok
'i, 2',1,minisat,3,crash
'i, 2',1,'glucose, 2',?,timeout
"""


@pytest.fixture
def scenario(tmp_path):
    (tmp_path / "description.txt").write_text(DESCRIPTION)
    (tmp_path / "algorithm_runs.arff").write_text(ARFF)
    return tmp_path


def test_aslib(scenario):
    table = load_table(scenario)
    assert table.configurations == ("minisat", "glucose, 2")
    assert table.instances == ("i/1", "i, 2")
    assert table.cutoff == 100.0
    np.testing.assert_array_equal(table.runtimes, [[1.5, 100.0], [100.0, 100.0]])


def test_aslib_repetitions_are_pairs_of_their_own(scenario):
    more = "i/1,2,minisat,7,ok\ni/1,2,'glucose, 2',8,ok\n"
    (scenario / "algorithm_runs.arff").write_text(ARFF + more)
    table = load_table(scenario)
    assert table.instances == ("i/1#1", "i, 2#1", "i/1#2")
    np.testing.assert_array_equal(table.runtimes[:, 2], [7.0, 8.0])


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("description.txt", DESCRIPTION, "a: [", ["not valid YAML"]),
        ("description.txt", DESCRIPTION, "text", ["no keys in it"]),
        ("description.txt", "time: 100", "time: '?'", ["algorithm_cutoff_time is '?'"]),
        ("description.txt", "type:\n- runtime", "type:\n- solution_quality", ["performance_type"]),
        ("description.txt", "measures:\n- runtime", "measures:\n- PAR10", ["no attribute 'PAR10'"]),
        ("algorithm_runs.arff", "@DATA", "", ["no @DATA"]),
        ("algorithm_runs.arff", "minisat,1.5", "minisat", ["line 10", "4 values for 5 attributes"]),
        ("algorithm_runs.arff", "minisat,1.5", "minisat,fast", ["line 10", "'fast'"]),
        ("algorithm_runs.arff", "minisat,1.5", "minisat,-1", ["runtime is -1"]),
        ("algorithm_runs.arff", "i/1,1,minisat,1.5,ok\n", "", ["no run of 'minisat' on 'i/1'"]),
        ("algorithm_runs.arff", "'i, 2',1,minisat", "i/1,1,minisat", ["line 12", "a second run"]),
    ],
)
def test_aslib_broken(scenario, file, old, new, words):
    path = scenario / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    refused(scenario, *words)


def test_aslib_not_a_scenario(tmp_path):
    refused(tmp_path, "no description.txt, so this is not an ASlib scenario")


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("ASP-POTASSCO", (11, 1294)),
        ("MAXSAT15-PMS-INDU", (29, 601)),
        ("QBF-2014", (14, 1254)),
        ("SAT12-INDU", (31, 1167)),
    ],
)
def test_real_scenarios(data_folder, name, shape):
    table = load_table(data_folder / "aslib" / name)
    assert table.runtimes.shape == shape
    assert 0 < table.unsolved_share < 1
