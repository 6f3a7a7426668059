"""Comparisons: jobs on several processes, kept as they come in, whatever happens to them."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from cunctator.base.errors import InvalidSetting
from cunctator.comparison.jobs import Conditions, Job, arranged, make_jobs, run_job, short_text
from cunctator.comparison.running import make_conditions, run_comparison
from cunctator.recorded.table import make_table
from cunctator.siblings.method import Method
from cunctator.siblings.problem import Found
from cunctator.siblings.registry import METHODS, check_grid, check_methods, read_settings
from tests.comparison.comparing import PAIR, compare, table_of


def test_the_grids_are_the_papers():
    assert len(make_jobs(["lb"], 1, {}, {})) == 153 and len(make_jobs(["sp"], 1, {}, {})) == 45
    assert len(make_jobs(["spc", "lb"], 3, PAIR, {})) == 6
    longest = make_jobs(["lb"], 1, {}, {})[0]
    assert dict(longest.settings) == {"epsilon": 0.1, "delta": 0.1}


def test_conditions_come_from_the_table():
    table = table_of(cutoff=5.0)
    found = make_conditions(table, 0.1)
    whole = 10 * table.runtimes.sum()
    assert found == Conditions(0.1, 5.0, None, pytest.approx(whole), False)
    assert found.budget_of(METHODS["spc"]) == pytest.approx(whole)
    assert found.budget_of(METHODS["lb"]) == math.inf
    assert make_conditions(table, 0.1, budget=3.0).budget_of(METHODS["lb"]) == 3.0
    bare = make_table(table.runtimes)
    assert make_conditions(bare, 0.1).cutoff == table.runtimes.max()


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"first_cap": 0.0}, r"--first-cap is 0\.0; expected at least 1e-09 s and at most"),
        ({"first_cap": 20.0}, "at most the cutoff of 10 s"),
        ({"first_cap": 0.1, "cutoff": 11.0}, "recorded with a cutoff of 10 seconds"),
        ({"first_cap": 0.1, "budget": math.inf}, "expected a positive, finite number"),
        ({"first_cap": 0.1, "budget": -1.0}, "expected a positive, finite number"),
    ],
)
def test_conditions_that_make_no_sense(settings, problem):
    with pytest.raises(InvalidSetting, match=problem):
        make_conditions(table_of(), **settings)


def test_methods_that_are_unknown_or_given_twice():
    with pytest.raises(InvalidSetting, match="--methods is 'smac'; expected some of spc, sp, lb"):
        check_methods(["spc", "smac"])
    with pytest.raises(InvalidSetting, match="give each method once"):
        check_methods(["spc", "lb", "spc"])


def test_results_do_not_depend_on_who_made_them(tmp_path):
    several = compare(tmp_path / "several")
    table, conditions = table_of(), several.conditions
    jobs = make_jobs(["spc", "sp"], 2, PAIR, {})
    jobs.sort(key=lambda job: (job.method != "spc", job.seed))
    alone = [run_job(arranged(table, conditions, job), job) for job in jobs]
    for one, other in zip(several.records, alone, strict=True):
        assert {**one, "seconds": 0} == {**json.loads(json.dumps(other)), "seconds": 0}
    assert [r["method"] for r in several.records] == ["spc", "spc", "sp", "sp"]


def test_what_was_spent_is_told_by_the_rows_of_the_table():
    """As many runs of each, so as much time as its runs are long, whatever row it was put in."""
    runtimes = np.repeat([[4.0], [1.0], [2.0], [3.0]], 4000, axis=1)
    table, job = make_table(runtimes, cutoff=4.0), Job("uniform", (), 0)
    given = arranged(table, make_conditions(table, 0.5, budget=1000.0, resample=True), job)
    assert given.rows.tolist() != [0, 1, 2, 3]
    record = run_job(given, job)
    names = [given.problem.table.configurations[row] for row in range(4)]
    assert names == [table.configurations[row] for row in given.rows]
    per_run = np.array(record["spent"]) / record["spent"][1]
    assert per_run.tolist() == pytest.approx([4.0, 1.0, 2.0, 3.0], rel=0.02)
    assert record["trajectory"][-1][1] == 1


def test_the_same_command_goes_on(tmp_path):
    seen = []
    first = compare(tmp_path, seeds=1)
    again = compare(tmp_path, progress=seen.append)
    assert [(p.done, p.total) for p in seen] == [(2, 4), (3, 4), (4, 4)]
    assert [r for r in again.records if r["seed"] == 0] == first.records
    compare(tmp_path, methods=["lb", "spc"])  # more methods may come later


def test_the_order_of_the_rows_has_no_say():
    """Whoever stands first would be the first answer of many methods."""
    table = table_of()
    conditions = make_conditions(table, 0.05)
    best, firsts = int(table.runtimes.mean(axis=1).argmin()), set()
    for seed in range(8):
        job = Job("spc", (), seed)
        given = arranged(table, conditions, job)
        assert sorted(given.rows) == [0, 1, 2, 3]
        np.testing.assert_array_equal(given.problem.runtimes, table.runtimes[given.rows])
        record = run_job(given, job)
        assert record["trajectory"][-1][1] == best
        firsts.add(record["trajectory"][0][1])
        assert arranged(table, conditions, Job("paramils", (), seed)).rows[0] == 0, "the default"
    assert len(firsts) > 1


def test_one_failure_does_not_lose_the_others(tmp_path):
    table = table_of(instances=40)
    conditions = make_conditions(table, 0.05)
    found = run_comparison(
        table, conditions, ["spc", "lb"], tmp_path, seeds=1, grid=PAIR, workers=2
    )
    ours, theirs = found.records
    assert ours["stop"] == "proved optimal on this instance set"
    assert "LeapsAndBounds needs" in theirs["error"] and "trajectory" not in theirs


def broken(monkeypatch, run):
    method = Method("broken", "Broken", run, "restart", "none", "never")
    monkeypatch.setitem(METHODS, "broken", method)
    table = table_of()
    conditions = make_conditions(table, 0.05)
    job = Job("broken", (), 0)
    return run_job(arranged(table, conditions, job), job)


def test_what_a_method_does_wrong_is_in_its_record(monkeypatch):
    def crash(problem):
        raise ZeroDivisionError("oh")

    assert "it failed (ZeroDivisionError: oh)" in broken(monkeypatch, crash)["error"]

    def infinite(problem):
        return Found(((math.nan, 0),), 1.0, 1, np.ones(4), "done")

    assert "not finite" in broken(monkeypatch, infinite)["error"]


def test_time_left_is_honest(tmp_path):
    seen = []
    compare(tmp_path, methods=["spc", "sp"], progress=seen.append, workers=1)
    assert seen[0].left is None and seen[0].is_least
    assert seen[-1].left == pytest.approx(0.0) and not seen[-1].is_least
    assert any(now.is_least for now in seen[1:-1])


def test_a_setting_that_makes_no_sense_ends_it_at_once(tmp_path):
    given = {"sp": {"zeta": (0.1, 7.0), "delta": (0.5,)}}
    with pytest.raises(InvalidSetting, match=r"--set is 'sp.zeta=7'; zeta is 7.0; expected more"):
        compare(tmp_path, methods=["spc", "sp"], given=given, seeds=20)
    lines = (tmp_path / "results.jsonl").read_text().splitlines()
    # Nine epsilons with the first zeta and the first seed may have been made before.
    assert len(lines) <= 1 + 9 and all('"seed": 0' in line for line in lines[1:])


def test_an_endless_cutoff_is_none():
    bare = make_table(np.ones((2, 3)))
    with pytest.raises(
        InvalidSetting, match=r"--cutoff is inf; expected a positive, finite number"
    ):
        make_conditions(bare, 0.1, cutoff=math.inf)


def test_times_that_cannot_be_are_refused_before_anything_is_run():
    bare, idle = make_table(np.ones((2, 3))), make_table(np.zeros((2, 3)))
    with pytest.raises(InvalidSetting, match=r"--cutoff is 0\.0; expected a time: all run"):
        make_conditions(idle, 0.1)
    with pytest.raises(InvalidSetting, match=r"--cutoff is 0\.0; expected a positive"):
        make_conditions(bare, 0.1, cutoff=0.0)
    for first_cap in (1e-12, 2.0, math.nan):
        with pytest.raises(InvalidSetting, match=r"--first-cap is .*at least 1e-09 s and at most"):
            make_conditions(bare, first_cap)
    assert make_conditions(idle, 0.1, cutoff=1.0).endless_budget > 0


def test_values_that_no_method_would_be_tried_with():
    with pytest.raises(InvalidSetting, match=r"--epsilon is '0.1'; it is for sp, lb, cr; others"):
        check_grid(["spc", "oup"], {"epsilon": (0.1,), "delta": ()})
    check_grid(["spc", "lb"], {"epsilon": (0.1,), "delta": ()})


def test_settings_are_given_by_method():
    given = read_settings(["spc", "oup"], ["oup.utility=log-laplace", "oup.epsilon=0.2"])
    assert given == {"oup": {"utility": ("log-laplace",), "epsilon": (0.2,)}}
    (job,) = make_jobs(["oup"], 1, {}, given)
    assert dict(job.settings) == {"utility": "log-laplace", "epsilon": 0.2}
    jobs = make_jobs(["lb"], 1, {}, {"lb": {"epsilon": (0.3,), "zeta": (0.2,)}})
    assert len(jobs) == 9 and all(dict(job.settings)["epsilon"] == 0.3 for job in jobs)


@pytest.mark.parametrize(
    ("value", "text"),
    [(300.0, "300"), (0.05, "0.05"), (1e-320, "9.99989e-321"), (1e300, "1e+300"), ("x", "x")],
)
def test_values_for_people(value, text):
    assert short_text(value) == text


def test_settings_come_in_the_order_in_which_they_were_given(tmp_path):
    given = {"hyperband": {"eta": (4.0, 2.0, 3.0)}}
    comparison = compare(tmp_path, methods=["hyperband"], given=given, seeds=1)
    assert [record["settings"]["eta"] for record in comparison.records] == [4.0, 2.0, 3.0]


def test_several_values_of_a_setting_are_all_tried():
    given = read_settings(["spc"], ["spc.profile=tight, paper,tight", "spc.confidence=0.9,0.5"])
    assert given == {"spc": {"profile": ("tight", "paper"), "confidence": (0.9, 0.5)}}
    settings = {job.settings for job in make_jobs(["spc"], 2, {}, given)}
    assert settings == {
        (("profile", profile), ("confidence", confidence))
        for profile in ("tight", "paper")
        for confidence in (0.9, 0.5)
    }
    with pytest.raises(InvalidSetting, match="give a setting once, several values with commas"):
        read_settings(["spc"], ["spc.profile=tight", "spc.profile=paper"])


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("utility=x", "expected METHOD.SETTING=VALUE"),
        ("oup.utility", "expected METHOD.SETTING=VALUE"),
        ("lb.epsilon=0.1", "expected one of the methods that are compared: spc, oup"),
        ("oup.colour=red", "the settings of oup are: epsilon, delta, utility, scale, alpha"),
        ("oup.epsilon=small", "expected a number"),
        ("oup.epsilon=nan", "expected a number"),
        ("oup.epsilon=0.1,", "expected a number"),
    ],
)
def test_settings_that_cannot_be(word, problem):
    with pytest.raises(InvalidSetting, match=problem):
        read_settings(["spc", "oup"], [word])


def test_settings_of_zero_are_for_the_method_to_refuse():
    """Some take an epsilon of 0; how long a job takes is no reason to fail before it begins."""
    for name, epsilon in (("oup", 0.0), ("lb", 0.0), ("lb", 1e-155)):
        given = {name: {"epsilon": (epsilon,), "delta": (0.1,)}}
        (job,) = make_jobs([name], 1, {}, given)
        assert math.isfinite(job.effort) and job.effort - job.effort == 0
