"""How kernels are compiled and kept: once each, again if damaged, and not at all if asked to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import pytest
from numba.core import event
from numpy.typing import NDArray

from cunctator.core import sentinels
from cunctator.core.compiled import KernelFile, kept_in
from cunctator.core.profiles import PROFILES
from cunctator.core.rows import layout, scalar_of
from cunctator.core.rules import Rules
from cunctator.core.state import grow, new_state, with_more_configurations
from cunctator.recorded.simulation import Simulation
from cunctator.recorded.table import make_table


def doubled(number, is_signed):
    return -2 * number if is_signed else 2 * number


class Compilations(event.Listener):
    """The names of the functions that are compiled while it listens."""

    def __init__(self):
        self.names = []

    def on_start(self, compilation):
        self.names.append(compilation.data["dispatcher"].py_func.__name__)

    def on_end(self, compilation):
        pass


def test_constants_make_no_further_versions(tmp_path):
    inner = kept_in(tmp_path, doubled)

    def all_of_them(number):
        return inner(number, True) + inner(3, False) + inner(4, True)

    outer = kept_in(tmp_path, all_of_them)
    with event.install_listener("numba:compile", Compilations()) as heard:
        assert outer(5) == -10 + 6 - 8
    assert sorted(heard.names) == ["all_of_them", "doubled"]
    assert inner(5, True) == -10  # from Python as well


def truncated(content):
    return content[: len(content) // 2]


def emptied(content):
    return b""


def overwritten(content):
    return bytes(len(content))


def one_bit_changed(content):
    """Somewhere in the machine code: it can be read all right."""
    place = 2 * len(content) // 3
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


@pytest.mark.parametrize("damage", [truncated, emptied, overwritten, one_bit_changed])
def test_a_damaged_kernel_is_made_anew(tmp_path, damage):
    def compiled_now():
        with event.install_listener("numba:compile", Compilations()) as heard:
            assert kept_in(tmp_path, doubled)(21, False) == 42
        return len(heard.names)

    assert compiled_now() == 1
    assert compiled_now() == 0  # it is loaded
    [path] = [path for path in tmp_path.rglob("*") if path.is_file()]
    path.write_bytes(damage(path.read_bytes()))
    assert compiled_now() == 1
    assert compiled_now() == 0


USE = "from cunctator.core.slabs import size_class; print(size_class(100))"


def test_a_damaged_cache_ends_no_program(tmp_path):
    """The kernels of the core are kept that way."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def run():
        words = [sys.executable, "-c", USE]
        return subprocess.run(words, env=environment, capture_output=True, text=True, check=False)

    assert run().stdout == "5\n"
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert kept
    before = {path: path.read_bytes() for path in kept}
    for path in kept:
        path.write_bytes(one_bit_changed(before[path]))
    done = run()
    assert (done.returncode, done.stdout, done.stderr) == (0, "5\n", "")
    assert all(path.read_bytes() != one_bit_changed(before[path]) for path in kept)


def test_what_cannot_be_written_is_done_without(tmp_path):
    """The disk is full, or the folder has gone: that is no reason to stop."""
    file = KernelFile(tmp_path / "gone" / "kernel")
    file.save("key", "code")
    assert file.load("key") is None


def short_simulations():
    """All profiles, with and without cutoff and pools; the results as JSON."""
    random = np.random.default_rng(1)
    results = []
    for profile, ladder, cutoff in (
        ("tight", False, 8.0),
        ("tight", True, 8.0),
        ("tight", False, None),
        ("proved", False, 8.0),
        ("paper", False, None),
    ):
        runtimes = random.lognormal(0.0, 1.0, (12, 40)).clip(max=cutoff)
        table = make_table(runtimes, cutoff=cutoff)
        simulation = Simulation(table, profile=profile, first_cap=0.3, ladder=ladder, budget=200.0)
        data = simulation.run().as_data()
        simulation.check()
        del data["scheduler_seconds"]
        results.append(data)
    return json.dumps(results)


def test_kernels_as_plain_python_do_the_same():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    code = "from tests.core import test_compiled; print(test_compiled.short_simulations())"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=environment,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == short_simulations()


def test_sentinels_are_all_different():
    numbers = {name: code for name, code in vars(sentinels).items() if name.isupper()}
    assert len(numbers) == len(set(numbers.values())) >= 6
    assert all(number < 0 for number in numbers.values())
    assert sentinels.ASKED == -1  # as in every journal


def test_a_field_may_not_hide_what_a_record_has():
    class Broken:
        size: int

    with pytest.raises(AssertionError, match=r"Broken\.size"):
        layout(Broken)


Scalar = TypeVar("Scalar")


class Plain(Generic[Scalar]):
    """As `NDArray` is from NumPy 2.5 on: a name with the scalar as its only argument."""


@pytest.mark.parametrize(
    "hint", [NDArray[np.int64], np.ndarray[Any, np.dtype[np.int64]], Plain[np.int64]]
)
def test_arrays_in_records_whatever_numpy_calls_them(hint):
    assert scalar_of(hint) is np.int64


def test_growing_keeps_every_field():
    """Each number is set to its own; all are still there, and nothing else is."""
    state = new_state(3, Rules(0.5, np.inf, 100), PROFILES["tight"])
    rows = (state.testers, state.queues.headers, state.runtimes.headers)
    for array in rows:
        for number, name in enumerate(array.dtype.names):
            array[name] = number + 1
    state.histogram[:] = 7.0
    grown = with_more_configurations(state, 5)
    fresh = new_state(5, state.rules, state.profile)
    after = (grown.testers, grown.queues.headers, grown.runtimes.headers, grown.histogram)
    empty = (fresh.testers, fresh.queues.headers, fresh.runtimes.headers, fresh.histogram)
    for array, before, unused in zip(after, (*rows, state.histogram), empty, strict=True):
        np.testing.assert_array_equal(array[:3], before)
        np.testing.assert_array_equal(array[3:], unused[3:])


def test_growing_for_a_result_keeps_every_cell():
    state = new_state(1, Rules(0.5, np.inf, 10**6), PROFILES["tight"])
    for array in (state.queues.cells, state.runtimes.cells):
        for number, name in enumerate(array.dtype.names):
            array[name] = number + 1
    queues, runtimes = state.queues, state.runtimes
    queues.arena.top = runtimes.arena.top = queues.cells.size
    runtimes.used.rows = runtimes.values.shape[0]
    grown = grow(state, 0)
    for larger, before in (
        (grown.queues.cells, queues.cells),
        (grown.runtimes.cells, runtimes.cells),
        (grown.runtimes.values, runtimes.values),
    ):
        assert len(larger) > len(before)
        np.testing.assert_array_equal(larger[: len(before)], before)
