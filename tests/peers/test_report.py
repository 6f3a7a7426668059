from __future__ import annotations

import math
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from peers import __main__ as peers_main
from peers import figure, jobs, report
from peers.jobs import SHARES, Job, Result
from tests.peers.made_up import MadeUp


def result(tool: str, seed: int, *means: float, problem: str = "some", best: float | None = 1.0):
    return Result(
        problem=problem,
        tool=tool,
        seed=seed,
        default_runs=100.0,
        version="1",
        budget=50.0,
        charged=50.0,
        runs=100,
        inside=1.0,
        wall=2.0,
        cpu=2.0,
        default=4.0,
        best=best,
        tests=list(zip(SHARES, means, strict=True)),
        trajectory=[],
    )


RESULTS = [
    result("halving", 0, 4.0, 3.0, 2.0),
    result("halving", 1, 4.0, 2.0, 8.0),
    result("cunctator", 0, 2.0, 2.0, 1.0),
    result("cunctator", 1, 2.0, 2.0, 1.0),
]


def test_a_line_of_the_table():
    ours, other = report.tables_of(RESULTS)["some"]
    assert (ours.tool, other.tool) == ("cunctator", "halving")
    assert [mean.ratio for mean in ours.ratios] == pytest.approx([2.0, 2.0, 1.0])
    assert [mean.error for mean in ours.ratios] == pytest.approx([0.0, 0.0, 0.0])
    assert ours.speed_up.ratio == pytest.approx(4.0)
    assert [mean.ratio for mean in other.ratios] == pytest.approx([4.0, 6**0.5, 4.0])
    assert other.ratios[2].error == pytest.approx(np.log([2, 8]).std(ddof=1) / 2**0.5)
    assert (other.worst, other.own, other.seeds) == (8.0, 10.0, 2)


def test_all_problems_count_the_same_and_need_the_same_tools():
    others = [replace(one, problem="other", best=2.0) for one in RESULTS[2:]]
    rows = report.tables_of([*RESULTS, *others])[report.OVERALL]
    assert [row.tool for row in rows] == ["cunctator"]
    assert rows[0].ratios[0].ratio == pytest.approx(math.sqrt(2.0 * 1.0))


def test_without_a_best_known_the_default_is_what_counts():
    assert report.ratios_at([result("halving", 0, 4.0, 3.0, 2.0, best=None)], 1.0) == [0.5]


def test_results_of_a_problem_that_has_changed_are_not_compared_in_silence():
    assert report.mixed(RESULTS) == []
    assert report.mixed([*RESULTS, replace(RESULTS[0], tool="irace", default=5.0)]) == ["some"]


def test_the_table_and_the_figure(tmp_path):
    tables = report.tables_of(RESULTS)
    with (tmp_path / "shown").open("w") as file:
        report.show(tables, Console(file=file, width=200))
    assert "4.000 ±69.3%" in (tmp_path / "shown").read_text()
    report.write(tables, tmp_path / "table.csv")
    assert len((tmp_path / "table.csv").read_text().splitlines()) == 3
    figure.draw(RESULTS, tmp_path / "anytime")
    assert (tmp_path / "anytime.png").stat().st_size > 10_000
    assert "halving" in (tmp_path / "anytime.svg").read_text()


class Kept(MadeUp):
    """As a replay is."""

    def default_seconds(self) -> float:
        return 0.06

    def best_known(self) -> float:
        return 0.03


def test_what_is_done_is_not_done_again(tmp_path, monkeypatch):
    calls = []

    def load(name, seed):
        calls.append(name)
        return Kept(seed)

    module = SimpleNamespace(load_problem=load, NAMES=("made-up",))
    monkeypatch.setitem(sys.modules, "peers.replay", module)
    job = Job("made-up", "halving", 3, 100.0, tmp_path)
    assert jobs.done(job) is None
    made = jobs.do(job)
    assert made.charged >= made.budget == pytest.approx(6.0)
    assert jobs.done(job).at(1.0) == made.at(1.0)
    assert jobs.done(replace(job, default_runs=50.0)) is None
    words = ["--tools", "halving", "--seeds", "1", "--first-seed", "3", "--budget", "100"]
    peers_main.main([*words, "--folder", str(tmp_path)])
    assert calls == ["made-up"]
    assert (tmp_path / "anytime.png").exists()
