"""Targets that evade the watch: by another control group, by children that nobody reaps."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cunctator.target.ledger import RunAccounts, Seen
from cunctator.target.process import Ending
from tests.target.hostility import request

CPUS = os.cpu_count() or 1

SOON = 0.1
"""CPU seconds by which a cap may be missed."""

GAPS = 0.8
"""Share of the time of children that nobody reaps, of half a second each, that is seen at least."""


@pytest.fixture
def grouped(supervisor):
    folder = Path(supervisor._worker._greeting["group"] or "/")
    if not os.access(folder.parent / "cgroup.procs", os.W_OK) or folder == Path("/"):
        pytest.skip("no control group can be left here")
    return supervisor


@pytest.mark.parametrize("direction", ["above", "below"])
def test_deserters_reach_their_cap_and_are_asked_to_end(grouped, mark, direction):
    wanted = request("deserter", direction, "burn", mark=mark, idle_cap=2.0, grace=1.0)
    measurement = grouped.run(wanted)
    assert measurement.ending is Ending.CAP and 0.1 <= measurement.cpu < 0.1 + SOON
    assert measurement.stdout == b"gone\nasked to end\n" and measurement.exit_code == 0
    group = Path(grouped._worker._greeting["group"])
    assert not any(path.is_dir() for path in group.iterdir())


@pytest.mark.parametrize("direction", ["above", "below"])
def test_deserters_have_a_memory_limit(grouped, mark, direction):
    limit = 100 << 20
    wanted = request("deserter", direction, "hoard", mark=mark, cap=20.0, memory=limit)
    measurement = grouped.run(wanted)
    assert measurement.ending is Ending.MEMORY
    assert limit < measurement.peak_memory < 3 * limit


def test_deserters_who_sleep_are_idle_and_who_work_are_not(grouped, mark):
    wanted = request("deserter", "above", "sleep", mark=mark, cap=20.0, idle_cap=0.3)
    assert grouped.run(wanted).ending is Ending.WALL
    wanted = request("deserter", "above", "burn", mark=mark, cap=0.8, idle_cap=0.3)
    measurement = grouped.run(wanted)
    assert measurement.ending is Ending.CAP and measurement.idle < 0.3


def test_children_of_deserters_that_nobody_reaps_are_counted_and_doubted(grouped, mark):
    measurement = grouped.run(request("deserter", "above", "bear", mark=mark, cap=20.0))
    assert measurement.exit_code == 0 and measurement.cpu >= 0.5 * GAPS
    assert "ignores SIGCHLD" in measurement.doubt


@pytest.mark.parametrize("haste", ["hasty", "slow"])
@pytest.mark.parametrize("how", ["ignores", "default"])
@pytest.mark.parametrize("number", [1, 3])
def test_children_that_nobody_reaps_are_counted(supervisor, mark, number, how, haste):
    wanted = request("unreaped", "0.4", str(number), how, haste, mark=mark, cap=20.0)
    measurement = supervisor.run(wanted)
    assert measurement.exit_code == 0, measurement.stderr
    used = float(measurement.stdout)
    if measurement.method == "cgroup":
        assert measurement.cpu >= used and measurement.doubt == ""
    else:
        assert used * GAPS <= measurement.cpu < used + 0.2
        assert "may be too low" in measurement.doubt


def test_children_that_nobody_reaps_have_a_cap(supervisor, mark):
    wanted = request("unreaped", "0.3", "10", "ignores", "slow", mark=mark, cap=0.8)
    measurement = supervisor.run(wanted)
    assert measurement.ending is Ending.CAP and 0.8 <= measurement.cpu < 0.8 + SOON * CPUS


def test_short_children_that_nobody_reaps_are_doubted(supervisor, mark):
    wanted = request("unreaped", "0.001", "30", "ignores", "slow", mark=mark, cap=20.0)
    measurement = supervisor.run(wanted)
    assert bool(measurement.doubt) is (measurement.method == "processes")


def test_no_doubt_about_children_that_are_reaped(supervisor, mark):
    wanted = request("unreaped", "0.02", "20", "reaps", "slow", mark=mark, cap=20.0)
    measurement = supervisor.run(wanted)
    used = float(measurement.stdout)
    assert used <= measurement.cpu < used + 0.2 and measurement.doubt == ""


US = 1
"""The process that keeps the ledger, in what follows."""


def seen(process, clock, *, parent=US, reaped=0.0, ignores=False):
    return Seen(process, b"0", parent, clock, reaped, ignores)


def look(ledger, *found, reaped=0.0):
    return ledger.look(found, reaped, lambda process, start: True)


def test_ledger_counts_what_is_reaped_once():
    ledger = RunAccounts()
    assert look(ledger, seen(2, 1.0), seen(3, 2.0, parent=2)) == 3.0
    assert look(ledger, seen(2, 1.5, reaped=2.5)) == 4.0
    assert look(ledger, reaped=4.5) == 4.5
    assert ledger.final(4.5) == 4.5 and not ledger.has_gaps


def test_ledger_keeps_what_nobody_reaps():
    ledger = RunAccounts()
    look(ledger, seen(2, 1.0), seen(3, 2.0, parent=2))
    look(ledger, seen(2, 1.0))  # perhaps its stat was read before it reaped the other
    assert not ledger.has_gaps
    assert look(ledger, seen(2, 1.5)) == 3.5 and ledger.has_gaps
    assert look(ledger, reaped=1.75) == pytest.approx(3.75)
    assert ledger.final(1.75) == pytest.approx(3.75)


def test_ledger_when_all_end_at_once():
    ledger = RunAccounts()
    look(ledger, seen(2, 1.0, ignores=True), seen(3, 2.0, parent=2), seen(4, 4.0, parent=3))
    assert ledger.final(1.25) == 7.0 and ledger.has_gaps


def test_ledger_of_an_orphan_that_was_not_seen_for_a_moment():
    ledger = RunAccounts()
    look(ledger, seen(2, 1.0), seen(3, 2.0, parent=2))
    assert ledger.look([], 1.0, lambda process, start: process == 2) == 3.0
    assert look(ledger, seen(3, 2.5), reaped=1.0) == 3.5
    assert ledger.final(3.75) == 3.75 and not ledger.has_gaps


@given(data=st.data())
def test_ledger_of_a_family_that_reaps_is_never_too_high_and_right_in_the_end(data):
    """A random tree lives at random, each reaps its children, looks come at any time."""
    parents, clocks, reaped = {2: US}, {2: 0.0}, {US: 0.0, 2: 0.0}
    ledger, fresh = RunAccounts(), 3
    for _ in range(data.draw(st.integers(0, 40))):
        if not parents:
            break
        process = data.draw(st.sampled_from(sorted(parents)))
        deed = data.draw(st.sampled_from(["work", "bear", "end", "look"]))
        if deed == "work":
            clocks[process] += 0.25
        elif deed == "bear":
            parents[fresh], clocks[fresh], reaped[fresh] = process, 0.0, 0.0
            fresh += 1
        elif deed == "end":
            above = parents.pop(process)
            reaped[above] += clocks.pop(process) + reaped.pop(process)
            parents.update({each: US for each, parent in parents.items() if parent == process})
        else:
            found = [
                Seen(each, b"0", parents[each], clocks[each], reaped[each], False)
                for each in sorted(parents)
            ]
            total = ledger.look(found, reaped[US], lambda process, start: True)
            assert total == math.fsum([*clocks.values(), *reaped.values()])
    total = math.fsum([*clocks.values(), *reaped.values()])
    assert ledger.final(total) == total and not ledger.has_gaps
