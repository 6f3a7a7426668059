"""Who reached what when: worked out by hand on records that were made up."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest

import cunctator
from cunctator.base.errors import StudyProblem
from cunctator.comparison.jobs import Conditions
from cunctator.comparison.running import Comparison
from cunctator.comparison.summary import excess, settled, summary_lines
from cunctator.recorded.table import make_table
from cunctator.show.comparison import markdown_table, sentences, terminal_table
from cunctator.show.comparison_files import as_data, write_files

MEANS = np.array([2.0, 1.0, 1.04, 1.005])


def record(method, trajectory, charged, seed=0, **settings):
    return {
        "method": method,
        "settings": settings,
        "seed": seed,
        "trajectory": trajectory,
        "charged": charged,
        "steps": 10,
        "spent": [charged / 4] * 4,
        "stop": "done",
        "claim": "",
        "facts": {},
        "seconds": 0.1,
    }


def comparison_of(records, names=("a", "b", "c", "d")):
    table = make_table(np.repeat(MEANS[:, None], 3, axis=1), names, cutoff=10.0)
    return Comparison(table, Conditions(0.1, 10.0, None, 100.0, True), records)


RECORDS = [
    record("spc", [[1.0, 0], [5.0, 2], [8.0, 1]], 20.0),
    record("spc", [[1.0, 0], [6.0, 2], [12.0, 3]], 30.0, seed=1),
    record("spc", [[2.0, 0], [7.0, 1]], 25.0, seed=2),
    record("lb", [[70.0, 1]], 70.0, epsilon=0.1, delta=0.1),
    record("lb", [[60.0, 0]], 60.0, epsilon=0.5, delta=0.1),
    record("lb", [[50.0, 2]], 50.0, epsilon=0.9, delta=0.1),
]


def test_settled_and_excess_by_hand():
    trajectory = [[1.0, 2], [3.0, 0], [5.0, 2], [8.0, 3]]
    assert settled(trajectory, MEANS, 0.05) == 5.0 and settled(trajectory, MEANS, 0.01) == 8.0
    assert settled([*trajectory, [9.0, 0]], MEANS, 0.05) == math.inf
    assert excess(trajectory, MEANS) == pytest.approx(0.005) and excess([], MEANS) == math.inf


def test_lines_by_hand():
    ours, best, middle = summary_lines(comparison_of(RECORDS))
    assert (ours.title, ours.settings, ours.jobs) == ("SPC", "", 3)
    assert (ours.first, ours.settled, ours.ended) == (1.0, (6.0, 8.0), 25.0)
    assert ours.good == (3, 3) and ours.excess == 0.0
    # (0.9, 0.1) was the quickest within 5%; of the three, one never was.
    assert (best.settings, best.settled) == ("best of 3: epsilon 0.9, delta 0.1", (50.0, math.inf))
    assert middle.settings == "median of 3" and middle.settled == (70.0, math.inf)
    assert (middle.first, middle.good, middle.jobs) == (60.0, (2, 1), 3)


def test_words_by_hand():
    said = sentences(comparison_of(RECORDS))
    assert said[0] == "The best of 4 configurations has a mean of 1 s: b."
    assert said[1] == (
        "SPC has an answer after 1 s, stays within 5% of the best from 6 s on,"
        " stays within 1% of the best from 8 s on."
    )
    assert said[2] == (
        "LeapsAndBounds (best of 3: epsilon 0.9, delta 0.1): first answer after 50 s,"
        " within 5% from 50 s on, 8.3 times as late as SPC."
    )
    rows = markdown_table(comparison_of(RECORDS)).splitlines()
    assert rows[2] == "| SPC | - | 1 s | 6 s | 8 s | 25 s | 3 of 3 |"
    assert rows[3].startswith(
        "| LeapsAndBounds | best of 3: epsilon 0.9, delta 0.1 | 50 s | 50 s | never | 50 s"
    )
    assert terminal_table(comparison_of(RECORDS)).row_count == 3


def test_failures_are_told_once_for_each_method():
    failed = {"method": "sp", "settings": {}, "seed": 0, "error": "no; mend it", "seconds": 0.0}
    said = sentences(comparison_of([*RECORDS, failed, {**failed, "seed": 1}]))
    assert said[-1] == "Structured Procrastination: 2 of 2 jobs failed: no; mend it"
    short = [
        {**failed, "settings": {"epsilon": e}, "error": f"needs {n}; mend it", "needed": n}
        for e, n in ((0.1, 900), (0.9, 20), (0.5, 80))
    ]
    comparison = comparison_of([*RECORDS, *short])
    assert sentences(comparison)[-1] == (
        "Structured Procrastination: 3 of 3 jobs failed: needs 20; mend it (with epsilon 0.9)"
    )
    assert summary_lines(comparison)[-1].settings == "all of 3 failed"
    other = {**failed, "seed": 2, "error": "it failed (X); please report this"}
    only = sentences(comparison_of([failed, other]))
    assert [line.partition(": ")[2] for line in only[1:]] == [
        "1 of 2 jobs failed: no; mend it",
        "1 of 2 jobs failed: it failed (X); please report this",
    ]
    (line,) = summary_lines(comparison_of([failed, other]))
    assert (line.first, line.good, line.jobs) == (math.inf, (0, 0), 2), "they count as no answer"


def test_methods_without_a_grid_have_a_line_for_each_of_their_settings():
    records = [
        record("spc", [[4.0, 1]], 9.0, profile="tight"),
        record("spc", [[40.0, 1]], 90.0, profile="paper"),
        record("hyperband", [[1.0, 1]], 9.0, eta=3.0),
        record("uniform", [[4.04, 1]], 9.0),
    ]
    comparison = comparison_of(records)
    settings = [line.settings for line in summary_lines(comparison)]
    assert settings == ["profile tight", "profile paper", "eta 3", ""]
    said = sentences(comparison)
    assert said[1].startswith("SPC (profile tight) has an answer after 4 s")
    assert said.pop(2) == "This is 1 seed: much of it is chance; give more."
    assert said[2].endswith("within 5% from 40 s on, 10 times as late as SPC (profile tight).")
    ours = "SPC (profile tight)"
    assert said[3].endswith(f"within 5% from 1 s on, sooner than {ours}, in 1/4 of its time.")
    assert said[4].endswith(f"within 5% from 4.04 s on, a little later than {ours}.")


@pytest.mark.parametrize(
    ("ours", "theirs", "words"),
    [
        (4.0, 40.0, "from 40 s on, 10 times as late as SPC"),
        (4.0, 4.04, "from 4.04 s on, a little later than SPC"),
        (4.0, 4.0, "from 4 s on, as soon as SPC"),
        (4.04, 4.0, "from 4 s on, a little sooner than SPC"),  # it was called SPC's time
        (4.0, 1.0, "from 1 s on, sooner than SPC, in 1/4 of its time"),
        (4000.0, 1.0, "from 1 s on, sooner than SPC, in 1/4,000 of its time"),
        (None, 1.0, "from 1 s on, as SPC never is"),
        (4.0, None, "not within 5% at the end"),
        (None, None, "not within 5% at the end"),
    ],
)
def test_sooner_later_and_never(ours, theirs, words):
    """Configuration 1 is the best one, and 0 is far from it."""
    records = [
        record(method, [[1.0, 0]] if time is None else [[time, 1]], 5000.0)
        for method, time in (("spc", ours), ("uniform", theirs))
    ]
    said = sentences(comparison_of(records))[-1]
    assert said.endswith(f"{words}."), said


def test_names_are_no_part_of_the_page(tmp_path):
    names = ("a", "<script>alert(1)</script>", "c", "d")
    write_files(comparison_of(RECORDS, names), tmp_path)
    assert "<script>" not in (tmp_path / "summary.md").read_text()


def test_a_best_mean_of_zero():
    means = np.array([0.0, 1.0])
    assert excess([[1.0, 0]], means) == 0.0 and excess([[1.0, 1]], means) == math.inf
    table = make_table(np.repeat(means[:, None], 3, axis=1), cutoff=10.0)
    records = [record("spc", [[0.0, 0]], 1.0), record("sh", [[2.0, 0]], 3.0)]
    said = sentences(Comparison(table, Conditions(0.1, 10.0, None, 100.0, True), records))
    assert (
        said[-1]
        == "Successive halving: first answer after 2 s, within 5% from 2 s on, later than SPC."
    )


def test_files(tmp_path):
    names = ("plain", "with, comma", "x", "\udcff=1")
    failed = {"method": "sp", "settings": {}, "seed": 0, "error": "no", "seconds": 0.0}
    comparison = comparison_of([*RECORDS, failed], names)
    write_files(comparison, tmp_path)
    write_files(comparison, tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "results.csv",
        "results.json",
        "summary.md",
    ]
    with (tmp_path / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 7 and rows[0]["configuration"] == "with, comma"
    assert rows[1]["configuration"] == "\\udcff=1"
    assert (rows[0]["within_5_percent"], rows[0]["within_1_percent"]) == ("5.0", "8.0")
    assert rows[4]["epsilon"] == "0.5"
    assert (rows[4]["within_5_percent"], rows[4]["excess"]) == ("", "1.0")
    assert rows[6]["error"] == "no" and rows[6]["answer"] == ""
    data = json.loads((tmp_path / "results.json").read_text())
    assert data["summary"][1]["settled"] == [50.0, None]
    assert list(data["methods"]) == ["spc", "lb", "sp"]
    assert data["methods"]["lb"]["charges"] == "a run that is tried again is charged from its start"
    assert data["version"] == cunctator.__version__
    text = (tmp_path / "summary.md").read_text()
    assert "with probability 1 - zeta" in text
    assert text.startswith(
        "a table: 4 configurations by 3 instances, drawn with replacement; first cap 100 ms, cutoff"
        " 10 s, budget 100 s for methods that do not end by themselves; 3 seeds; cunctator "
    )
    assert data == json.loads(json.dumps(as_data(comparison)))
    with pytest.raises(StudyProblem, match="cannot be written"):
        write_files(comparison, tmp_path / "missing")
