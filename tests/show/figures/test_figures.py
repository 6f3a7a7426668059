"""Figures: what is drawn is what was computed; all formats; odd names and small tables."""

from __future__ import annotations

import numpy as np
import pytest

from tests.optional import need

need("matplotlib")

from cunctator.base.errors import InvalidSetting, StudyProblem
from cunctator.base.units import format_duration
from cunctator.comparison.running import Comparison, make_conditions, run_comparison
from cunctator.comparison.summary import summary_lines
from cunctator.core.profiles import PROFILES
from cunctator.recorded.simulation import Simulation
from cunctator.recorded.table import make_table
from cunctator.show.figures.comparison_figures import excess_figure, incumbents_figure, spent_figure
from cunctator.show.figures.series import quickest_pair
from cunctator.show.figures.style import FORMATS, check_formats, save_figure
from cunctator.show.figures.table_figures import (
    bound_figure,
    least_epsilons,
    survival_bound,
    variation_figure,
)
from cunctator.target.instances import resampled


def table_of(configurations=3, instances=60, names=None):
    random = np.random.default_rng(5)
    means = np.linspace(0.2, 2.0, configurations)[:, None]
    runtimes = means * random.lognormal(-0.5, 1.0, (configurations, instances))
    return make_table(np.clip(runtimes, 0.01, 10.0), names, cutoff=10.0)


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    table = table_of(names=["$x_1", "<b>&", "\udcff"])
    conditions = make_conditions(table, 0.05, resample=True)
    grid = {"epsilon": (0.5, 0.9), "delta": (0.5,)}
    folder = tmp_path_factory.mktemp("comparison")
    methods = ["spc", "sp", "lb"]
    return run_comparison(table, conditions, methods, folder, seeds=2, grid=grid, workers=2)


def test_all_figures_in_all_formats(comparison, tmp_path):
    table, conditions = comparison.table, comparison.conditions
    figures = {
        "answers": incumbents_figure(comparison),
        "excess": excess_figure(comparison),
        "spent": spent_figure(comparison),
        "bound": bound_figure(table, conditions, 2),
        "variation": variation_figure(table, conditions),
    }
    for name, figure in figures.items():
        save_figure(figure, tmp_path / name, FORMATS)
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == sorted(f"{name}.{ending}" for name in figures for ending in FORMATS)
    first = (tmp_path / "answers.svg").read_bytes()
    save_figure(incumbents_figure(comparison), tmp_path / "answers", FORMATS)
    assert (tmp_path / "answers.svg").read_bytes() == first, "the same data, the same file"


def test_lines_and_marks_are_the_records(comparison):
    panel = incumbents_figure(comparison).axes[0]
    marks = np.concatenate([collection.get_offsets() for collection in panel.collections])
    means = comparison.table.runtimes.mean(axis=1)
    wanted = [
        (max(r["charged"], r["trajectory"][-1][0]), means[r["trajectory"][-1][1]])
        for r in comparison.records
        if r["method"] != "spc"
    ]
    np.testing.assert_allclose(marks, wanted)
    line = panel.lines[0].get_ydata()
    assert line[-1] == pytest.approx(means.min()), "SPC ends with the best"


def test_jobs_without_an_answer_are_not_left_out(comparison):
    """A pair that answered once in five times is not the quickest."""
    lucky = {"method": "lb", "settings": {"epsilon": 0.1, "delta": 0.1}, "seed": 0}
    steady = {"method": "lb", "settings": {"epsilon": 0.5, "delta": 0.1}, "seed": 0}
    best = int(comparison.table.runtimes.mean(axis=1).argmin())
    records = [{**lucky, "trajectory": [[5.0, best]], "charged": 5.0, "spent": [1.0] * 3}]
    records += [{**lucky, "error": "no"}] * 4
    done = {"trajectory": [[50.0, best]], "charged": 50.0, "spent": [1.0] * 3}
    records += [{**steady, **done} for _ in range(5)]
    means = comparison.table.runtimes.mean(axis=1)
    assert quickest_pair(records, means)[0]["settings"]["epsilon"] == 0.5
    whole = Comparison(comparison.table, comparison.conditions, records)
    label = excess_figure(whole).legends[0].get_texts()[0].get_text()
    assert label == "LeapsAndBounds (epsilon 0.5, delta 0.1)"


def test_the_axis_is_logarithmic_when_answers_differ_by_much(comparison):
    records = [{**r, "trajectory": [[1.0, 2], [2.0, 0]]} for r in comparison.records]
    whole = Comparison(comparison.table, comparison.conditions, records)
    assert incumbents_figure(whole).axes[0].get_yscale() == "log"


def test_the_area_that_is_drawn_is_the_lower_bound():
    table = table_of(4, 300)
    simulation = Simulation(table, profile="proved", first_cap=0.05, resample=True)
    simulation.advance(40_000)
    assert PROFILES["proved"].rounding == 1, "bins are rounded up"
    for index in range(4):
        standing = simulation.standing(index)
        order = resampled(300, 0, 0)[: standing.started]
        seen = table.runtimes[index][order].clip(0.05, standing.known_cap)
        times, _, scaled = survival_bound(seen, simulation.steps + 1, standing.known_cap)
        area = float((np.diff(times) * scaled).sum())
        assert standing.lower == pytest.approx(max(area, 0.05), rel=1e-6)
    assert simulation.standing(0).lower > 0.06


@pytest.mark.parametrize("first_cap", [0.05, 3.0])
def test_the_area_has_its_number_beside_it(first_cap):
    """Where runs are shorter than the first cap, the bound is that, and not the area."""
    table = table_of(4, 300)
    panel = bound_figure(table, make_conditions(table, first_cap), 0).axes[0]
    curve = panel.lines[2]
    times, heights = curve.get_xdata(), curve.get_ydata()
    area = float((np.diff(times) * (1.0 - heights[:-1])).sum())
    assert f"a lower bound, {format_duration(area)}" in curve.get_label()
    assert ("below the first cap" in curve.get_label()) == (area < first_cap)


@pytest.mark.parametrize("configurations", [1, 3])
def test_small_tables_have_ticks_and_lines(configurations, tmp_path):
    runtimes = np.random.default_rng(0).uniform(100.0, 110.0, (configurations, 3))
    table = make_table(runtimes, ["\u6f22" * 200, "b\x1b[31m", "c"][:configurations])
    conditions = make_conditions(table, 1.0)
    found = run_comparison(
        table, conditions, ["spc", "uniform"], tmp_path, seeds=1, grid={}, workers=1
    )
    spent = spent_figure(found).axes[0]
    assert len(spent.get_yticks()) >= 2 and all(x == int(x) for x in spent.get_xticks())
    varied = variation_figure(table, conditions).axes[0]
    for line in varied.lines:
        assert line.get_ydata()[-1] == 100.0 and line.get_xdata()[-1] > varied.get_xlim()[1]
    title = bound_figure(table, conditions, 0).axes[0].get_title()
    assert title.isprintable() and (len(title) < 60)
    save_figure(
        bound_figure(table, conditions, 0), tmp_path / "bound", ["png"]
    )  # without a warning


def test_what_ends_before_the_first_cap_is_in_the_picture(tmp_path):
    table = make_table(np.full((3, 6), 0.001), cutoff=10.0)
    conditions = make_conditions(table, 0.1, budget=0.05, resample=True)
    found = run_comparison(
        table, conditions, ["spc", "uniform"], tmp_path, seeds=1, grid={}, workers=1
    )
    for figure in (incumbents_figure(found), excess_figure(found)):
        panel = figure.axes[0]
        ends = [line.get_xdata()[-1] for line in panel.lines[:2]]
        assert panel.get_xlim()[0] < min(ends) and max(ends) < 0.06


def test_the_quickest_pair_is_that_of_the_summary(comparison):
    """Neither settles; their median jobs take 10 and 9 s, all jobs together 21 and 27 s."""
    worst = int(comparison.table.runtimes.mean(axis=1).argmax())
    records = [
        {
            **{"method": "lb", "settings": {"epsilon": epsilon, "delta": 0.1}, "seed": seed},
            **{"trajectory": [[charged, worst]], "charged": charged, "spent": [1.0] * 3},
        }
        for epsilon, times in ((0.1, (1.0, 10.0, 10.0)), (0.2, (9.0, 9.0, 9.0)))
        for seed, charged in enumerate(times)
    ]
    whole = Comparison(comparison.table, comparison.conditions, records)
    means = comparison.table.runtimes.mean(axis=1)
    assert quickest_pair(records, means)[0]["settings"]["epsilon"] == 0.2
    assert summary_lines(whole)[0].settings == "best of 2: epsilon 0.2, delta 0.1"


def test_least_epsilons_by_hand():
    runtimes = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 9.0], [2.0, 2.0, 4.0, 4.0]])
    # Without the longest run, the second has a mean of 1, the third (cap 4, nothing cut) of 3.
    np.testing.assert_allclose(least_epsilons(runtimes, 0.25, 0.1), [0.0, 0.0, 2.0])
    np.testing.assert_allclose(least_epsilons(runtimes, 0.5, 0.1), [0.0, 0.0, 1.0])
    np.testing.assert_allclose(least_epsilons(runtimes, 0.1, 0.1), [0.0, 2.0, 2.0])
    np.testing.assert_allclose(least_epsilons(runtimes, 0.1, 3.0), [0.0, 0.0, 0.0])


def test_formats_and_folders_that_cannot_be(comparison, tmp_path):
    with pytest.raises(InvalidSetting, match="--formats is 'gif'; expected some of png, svg, pdf"):
        check_formats(["png", "gif"])
    with pytest.raises(StudyProblem, match="cannot be written"):
        save_figure(spent_figure(comparison), tmp_path / "missing" / "spent", ["png"])
