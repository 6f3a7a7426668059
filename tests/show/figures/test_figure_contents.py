"""Figures: who is in which panel, what axes and captions say, and what has no place on an axis."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.optional import need

need("matplotlib")
from matplotlib.artist import getp
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from cunctator.base.units import format_duration
from cunctator.comparison.running import Comparison, make_conditions
from cunctator.recorded.table import make_table
from cunctator.show.figures.comparison_figures import excess_figure, incumbents_figure, spent_figure
from cunctator.show.figures.series import all_series, earliest
from cunctator.show.figures.style import COLOURS, REFERENCE, save_figure, shortened, without_common
from cunctator.show.figures.table_figures import bound_figure, variation_figure
from cunctator.show.figures.ticks import linear_time_ticks, share_ticks, time_axis
from cunctator.siblings.registry import METHODS

FIGURES = (incumbents_figure, excess_figure, spent_figure)
MEANS = (1.0, 1.5, 4.0)


def record(method, seed=0, trajectory=((1.0, 1), (10.0, 0)), spent=(3.0, 2.0, 1.0), **settings):
    return {
        **{"method": method, "settings": settings, "seed": seed, "charged": trajectory[-1][0]},
        **{"trajectory": [list(one) for one in trajectory], "spent": list(spent)},
    }


def comparison_of(records, resample=True, names=None, source="/runs/some.csv", runtimes=None):
    if runtimes is None:
        runtimes = np.repeat(np.array(MEANS)[:, None], 4, axis=1)
    table = make_table(runtimes, names, cutoff=10.0, source=source)
    return Comparison(table, make_conditions(table, 0.1, resample=resample), records)


def told(name, **others):
    """Settings such as a comparison makes."""
    return {key: values[0] for key, values in METHODS[name].grid.items()} | others


def one_of_each(names=tuple(METHODS)):
    """Each method has its own second answer's time, by which it is known again."""
    return [
        record(name, trajectory=((1.0, 1), (10.0 + place, 0)), **told(name))
        for place, name in enumerate(names)
    ]


def caption_of(figure):
    """The lowest text, on one line."""
    return min(figure.texts, key=lambda text: text.get_position()[1]).get_text().replace("\n", " ")


def labels_of(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def drawn(figure):
    """Drawn in pixels, so that it is known where everything is."""
    FigureCanvasAgg(figure).draw()
    return figure


def overlapping(figure):
    """Texts that are cut off, and pairs that are drawn over each other; slanted ones are not."""
    words = [*drawn(figure).texts, *(text for one in figure.legends for text in one.get_texts())]
    for panel in figure.axes:
        words += [panel.title, panel.xaxis.label, panel.yaxis.label]
        words += [label for axis in (panel.xaxis, panel.yaxis) for label in ticked(axis)]
    boxes = [(text, text.get_window_extent()) for text in words if text.get_text()]
    inside = figure.bbox.padded(1)
    cut = [text for text, box in boxes if not inside.x0 <= box.x0 <= box.x1 <= inside.x1]
    cut += [text for text, box in boxes if not inside.y0 <= box.y0 <= box.y1 <= inside.y1]
    straight = [(text, box) for text, box in boxes if text.get_rotation() % 90 == 0]
    pairs = itertools.combinations(straight, 2)
    return cut + [(a, b) for (a, one), (b, other) in pairs if one.padded(-1).overlaps(other)]


def ticked(axis):
    """Labels within the limits that are shown."""
    low, high = sorted(axis.get_view_interval())
    ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    return [tick.label1 for tick in ticks if tick.label1.get_visible()]


@pytest.mark.parametrize("draw", FIGURES)
def test_few_methods_are_in_one_panel_with_a_legend_below(draw):
    figure = draw(comparison_of(one_of_each(["spc", "sp", "lb", "up", "sh"])))
    assert len(figure.axes) == 1
    drawn(figure)
    legend, panel = figure.legends[0].get_window_extent(), figure.axes[0].get_window_extent()
    assert legend.y1 < panel.y0 and panel.width > 0.85 * figure.bbox.width
    assert [label.split(" (")[0].split(",")[0] for label in labels_of(figure)] == [
        *("SPC", "Structured Procrastination", "LeapsAndBounds"),
        *("Utilitarian Procrastination", "Successive halving"),
    ]


def test_lines_of_one_panel_differ_in_more_than_colour():
    figure = excess_figure(comparison_of(one_of_each(["spc", "up", "oup", "coup", "sh"])))
    lines = figure.axes[0].lines[:5]
    assert len({str(vars(line)["_unscaled_dash_pattern"]) for line in lines}) == 5
    figure = incumbents_figure(comparison_of(one_of_each(["sp", "lb", "cr", "icar", "ac-band"])))
    assert len({getp(handle, "marker") for handle in figure.legends[0].legend_handles}) == 5


def test_colours_are_apart():
    """In CIELAB, where 2 can just be told apart; two purples that were confused were 21 apart."""
    pairs = itertools.combinations(map(lab, COLOURS.values()), 2)
    assert COLOURS.keys() == METHODS.keys()
    assert min(np.linalg.norm(a - b) for a, b in pairs) > 30
    assert np.linalg.norm(lab("#7d5ba6") - lab("#a64ca6")) < 22


def lab(colour):
    """Lightness, from green to red, from blue to yellow (CIE 1976, D65)."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = to_xyz @ linear / [0.9505, 1.0, 1.089]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("draw", FIGURES)
def test_many_methods_have_a_panel_each_with_ours_in_grey(draw):
    comparison = comparison_of(one_of_each())
    figure = draw(comparison)
    assert len(figure.axes) == len(METHODS) and not labels_of_series(figure)
    columns = {panel.get_subplotspec().colspan.start for panel in figure.axes}
    assert len(columns) == 4
    for panel, name in zip(figure.axes, METHODS, strict=True):
        assert panel.get_title().startswith(METHODS[name].title)
        colours = [line.get_color() for line in panel.lines]
        assert (REFERENCE in colours) == (name != "spc")
        others = [colour for method, colour in COLOURS.items() if method != name]
        assert not set(colours) & set(others)
        shared = figure.axes[0]
        assert panel.get_xlim() == shared.get_xlim() and panel.get_ylim() == shared.get_ylim()
        assert not panel.get_xlabel() and not panel.get_ylabel()
    assert figure.get_supxlabel() and figure.get_supylabel()
    assert "grey: SPC" in caption_of(figure)


def labels_of_series(figure):
    found = [text.get_text() for one in figure.legends for text in one.get_texts()]
    return [label for label in found if not label.startswith(("epsilon", "delta"))]


def test_the_curve_in_a_panel_is_that_of_its_method():
    names = [name for name in METHODS if METHODS[name].anytime and not METHODS[name].grid]
    comparison = comparison_of(one_of_each(names))
    for draw, height in ((incumbents_figure, 1.5), (excess_figure, 50.0)):
        for place, panel in enumerate(draw(comparison).axes):
            own = next(line for line in panel.lines if line.get_color() == COLOURS[names[place]])
            assert own.get_xdata()[-1] == pytest.approx(10.0 + place)
            assert own.get_ydata()[0] == pytest.approx(height)
            if place:
                grey = next(line for line in panel.lines if line.get_color() == REFERENCE)
                assert grey.get_xdata()[-1] == pytest.approx(10.0), "SPC's"
    for place, panel in enumerate(incumbents_figure(comparison_of(one_of_each())).axes):
        if METHODS[list(METHODS)[place]].grid:
            np.testing.assert_allclose(panel.collections[0].get_offsets(), [[10.0 + place, 1.0]])


PROFILES = [record("spc", seed, profile=p) for p in ("tight", "proved", "paper") for seed in (0, 1)]


@pytest.mark.parametrize("draw", FIGURES)
def test_settings_of_a_method_without_a_grid_are_told_apart(draw):
    titles = [f"SPC (profile {name})" for name in ("tight", "proved", "paper")]
    few = draw(comparison_of(PROFILES))
    assert [label.split(", ")[0] for label in labels_of(few)] == titles
    handles = few.legends[0].legend_handles
    assert len({line.get_color() for line in handles}) == 3
    many = draw(comparison_of([*PROFILES, *one_of_each(["uniform", "sh", "hyperband"])]))
    assert [panel.get_title().split("\n")[0] for panel in many.axes[:3]] == titles
    assert "grey: SPC (profile tight)" in caption_of(many)
    greys = [REFERENCE in [line.get_color() for line in panel.lines] for panel in many.axes]
    assert greys == [False, True, True, True, True, True]


def test_records_of_a_setting_are_in_its_series_alone():
    series = all_series(comparison_of(PROFILES), choose=False)
    assert [one.settings for one in series] == ["profile tight", "profile proved", "profile paper"]
    for one in series:
        assert {f"profile {r['settings']['profile']}" for r in one.records} == {one.settings}
        assert len(one.records) == 2
    records = [record("lb", epsilon=epsilon, delta=0.1) for epsilon in (0.1, 0.5)]
    (whole,) = all_series(comparison_of(records), choose=False)
    (chosen,) = all_series(comparison_of(records), choose=True)
    assert (len(whole.records), whole.settings) == (2, "")
    assert (len(chosen.records), chosen.settings) == (1, "epsilon 0.1, delta 0.1")


def test_captions_say_what_is_shown():
    records = [
        r for seed in (0, 1) for r in (record("spc", seed), record("lb", seed, **told("lb")))
    ]
    about = "some.csv: 3 configurations x 4 instances, 2 seeds, instances drawn with replacement; "
    comparison = comparison_of(records)
    assert caption_of(incumbents_figure(comparison)) == about + (
        "lines: medians over seeds; marks: one for each setting and seed, larger for larger"
        " epsilon, darker for larger delta; dotted: the best"
    )
    assert caption_of(excess_figure(comparison)) == about + (
        "lines: medians over seeds; bands: the middle half; marks: where a method returned, one for"
        " each seed; of a method's grid: the setting that was quickest to settle; dotted: 5%"
    )
    assert caption_of(spent_figure(comparison)) == about + (
        "one job of each: seed 0; of a method's grid: the setting that was quickest to settle"
    )
    table, conditions = comparison.table, comparison.conditions
    bound = caption_of(bound_figure(table, conditions, 0))
    assert bound.startswith("some.csv: 3 configurations x 4 instances; illustration: SPC with")
    assert "profile proved on instances drawn with replacement" in bound
    variation = caption_of(variation_figure(table, conditions))
    assert "a cap that at most a share delta of its runs exceed" in variation
    assert "at most 1 + epsilon times the best" in variation and "100 ms, count" in variation


def test_captions_of_other_comparisons():
    lines = comparison_of([record("spc")], resample=False, source="")
    caption = caption_of(incumbents_figure(lines))
    assert caption.startswith("table: 3 configurations x 4 instances, 1 seed, instances drawn wit")
    assert "without replacement" in caption and "marks" not in caption
    marks = comparison_of([record("ac-band", **told("ac-band"))], source="/a/" + "$x" * 100)
    caption = caption_of(incumbents_figure(marks))
    assert "lines" not in caption and "epsilon" not in caption and "$x..." in caption
    failed = {"method": "up", "settings": {}, "seed": 0, "error": "no"}
    records = [record("spc"), failed, record("up", 1)]
    caption = caption_of(spent_figure(comparison_of(records)))
    assert "seeds: SPC 0, Utilitarian Procrastination 1" in caption


def test_what_takes_no_time_is_at_the_edge(tmp_path):
    """CapsAndRuns answers at 0 s where a configuration takes no time at all."""
    at_once = [record("cr", trajectory=((0.0, 0),), spent=(0.0,) * 3, **told("cr"))]
    for runtimes in (np.zeros((3, 4)), np.array([[0.0] * 4, [1.0] * 4, [4.0] * 4]), None):
        for records in (at_once, [*at_once, record("spc")], [*at_once, *one_of_each()]):
            comparison = comparison_of(records, runtimes=runtimes)
            for draw in FIGURES:
                save_figure(draw(comparison), tmp_path / "figure", ["svg"])
            least = earliest(comparison)
            panels = incumbents_figure(comparison).axes, excess_figure(comparison).axes
            for panel in itertools.chain(*panels):
                times = [one.get_offsets()[:, 0] for one in panel.collections if not is_band(one)]
                times += [line.get_xdata() for line in panel.lines if len(line.get_xdata()) != 2]
                assert all(np.min(x) >= least * 0.999 for x in times if len(x))
                assert panel.get_xlim()[0] == pytest.approx(least)
                assert panel.get_xlim()[1] > panel.get_xlim()[0]


def test_where_nothing_was_charged_the_axis_begins_at_nothing():
    at_once = [record("cr", trajectory=((0.0, 0),), spent=(0.0,) * 3, **told("cr"))]
    comparison = comparison_of(at_once, runtimes=np.zeros((3, 4)))
    for draw in (incumbents_figure, spent_figure):
        panel = draw(comparison).axes[0]
        assert panel.get_yscale() == "linear" and words_on(panel.yaxis)[:2] == ["0 s", "200 ms"]


def is_band(collection):
    return type(collection).__name__ == "FillBetweenPolyCollection"


def test_an_infinite_excess_is_not_drawn():
    runtimes = np.array([[0.0] * 4, [1.0] * 4])
    comparison = comparison_of([record("spc", spent=(1.0, 1.0))], runtimes=runtimes)
    line = excess_figure(comparison).axes[0].lines[0]
    known = line.get_ydata()[np.isfinite(line.get_ydata())]
    assert known.size and (known == 0.0).all(), "before, the answer is infinitely slower"


def axis_between(low, high, scale="linear", **settings):
    panel = Figure().subplots()
    panel.set_yscale(scale, **settings)
    panel.set_ylim(low, high)
    return panel.yaxis


def words_on(axis):
    return [axis.get_major_formatter()(place) for place in axis.get_major_locator()()]


def test_ticks_of_shares_go_on_above_ten():
    def ticks(high, most):
        axis = axis_between(-0.05, high, "symlog", linthresh=1.0)
        share_ticks(axis, most)
        return words_on(axis)

    assert ticks(52.0, 8) == ["0%", "1%", "2%", "5%", "10%", "20%", "50%"]
    assert ticks(52.0, 4) == ["0%", "1%", "10%"]
    assert ticks(5000.0, 8) == ["0%", "1%", "10%", "100%", "1,000%"]
    assert len(ticks(1e30, 8)) <= 8


def test_the_excess_has_ticks_up_to_its_start():
    panel = excess_figure(comparison_of([record("spc")])).axes[0]
    assert words_on(panel.yaxis) == ["0%", "1%", "2%", "5%", "10%", "20%", "50%"]


def test_ticks_of_times_are_round_in_their_unit():
    panel = Figure().subplots()
    time_axis(panel, 0.01, 40.0)
    assert words_on(panel.xaxis)[:4] == ["10 ms", "100 ms", "1 s", "10 s"]
    axis = axis_between(0.0, 610.0)
    linear_time_ticks(axis)
    assert words_on(axis) == ["0 s", "2 min", "4 min", "6 min", "8 min", "10 min"]


def test_nearly_equal_answers_have_ticks_that_differ():
    runtimes = np.array([[100.0] * 4, [100.01] * 4, [100.02] * 4])
    table = make_table(runtimes, cutoff=200.0)
    comparison = Comparison(table, make_conditions(table, 0.1), [record("spc")])
    words = words_on(incumbents_figure(comparison).axes[0].yaxis)
    assert len(set(words)) == len(words) >= 2


def test_few_configurations_are_named_many_are_numbered():
    names = [f"luby=true x={k:02d}{'z' * 40}" for k in range(15)]
    runtimes = np.linspace(5.0, 1.0, 15)[:, None] * np.ones((1, 4))
    records = [record("spc", trajectory=((1.0, 0),), spent=(1.0,) * 15)]
    panel = spent_figure(comparison_of(records, names=names, runtimes=runtimes)).axes[0]
    labels = [label.get_text() for label in panel.get_xticklabels()]
    assert labels == [shortened(name.split()[1], 26) for name in names[::-1]], "the best is left"
    assert panel.get_xticklabels()[0].get_rotation() > 0
    few = comparison_of(records[:1], names=["$a", "b", "c"])
    shown = spent_figure(few).axes[0].get_xticklabels()
    assert [label.get_text() for label in shown] == ["$a", "b", "c"]
    assert shown[0].get_rotation() == 0 and not shown[0].get_parse_math()
    many = comparison_of(
        [record("spc", trajectory=((1.0, 0),), spent=(1.0,) * 16)],
        runtimes=np.ones((16, 4)) * np.arange(1, 17)[:, None] / 2,
    )
    ticks = spent_figure(many).axes[0].get_xticks()
    assert all(place == int(place) for place in ticks)
    assert not any("c1" in word for word in words_on(spent_figure(many).axes[0].xaxis))


def test_names_that_would_look_the_same_are_numbered():
    names = ["x" * 30 + str(k) + "y" * 30 for k in range(3)]
    labels = words_on(spent_figure(comparison_of([record("spc")], names=names)).axes[0].xaxis)
    assert not any("x" in label for label in labels)


def test_names_without_what_they_have_in_common():
    assert without_common(["a=1 b=2 c=3", "a=1 b=3 c=3"]) == ["b=2", "b=3"]
    assert without_common(["a=1 b=2", "a=1"]) == ["a=1 b=2", "a=1"]
    assert without_common(["a b", "a b"]) == ["a b", "a b"] and without_common([]) == []
    assert shortened("\u6f22" * 200, 21).count("\u6f22") == 8 and shortened("short") == "short"
    assert shortened("begin" + "x" * 99 + "end", 13) == "begin...xxend"


def test_lines_of_variation_that_coincide_are_all_to_be_seen():
    comparison = comparison_of([record("spc")])
    figure = variation_figure(comparison.table, comparison.conditions)
    lines = figure.axes[0].lines
    for below, above in itertools.pairwise(lines):
        np.testing.assert_allclose(below.get_ydata(), above.get_ydata())
        assert sum(to_rgb(below.get_color())) > sum(to_rgb(above.get_color())), "paler"
        assert below.get_zorder() <= above.get_zorder()
    assert len({line.get_linewidth() for line in lines}) == 1, "a width says nothing"
    figure.legends[0].remove()  # only lines are looked for
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[:, :, :3]
    for line in lines:
        colour = np.round(255 * np.array(to_rgb(line.get_color())))
        seen = (abs(pixels - colour).max(axis=2) <= 2).sum()
        assert seen > 100, f"{line.get_label()} is hidden"


def test_next_to_nothing_of_the_bounds_area_is_cut_off():
    """A heavy tail: nine runs in ten are short, and most of the mean is in the others."""
    runtimes = np.concatenate([np.linspace(0.1, 0.2, 90), np.geomspace(1.0, 9.0, 10)])
    table = make_table(np.array([runtimes, 2 * runtimes]), cutoff=20.0)
    figure = bound_figure(table, make_conditions(table, 0.05), 0)
    end = figure.axes[0].get_xlim()[1]
    assert np.maximum(runtimes - end, 0.0).mean() <= 0.01 * runtimes.mean()
    many = np.concatenate([np.full(9_990, 0.1), np.linspace(1.0, 9.0, 10)])
    table = make_table(np.array([many, 2 * many]), cutoff=20.0)
    figure = bound_figure(table, make_conditions(table, 0.05), 0)
    end = figure.axes[0].get_xlim()[1]
    left_out = np.maximum(many - end, 0.0).mean() / many.mean()
    assert end < 9.0 and 0 < left_out <= 0.01
    caption = caption_of(figure)
    assert f"{left_out:.1%} of the mean is to the right of the picture, in runs of up to 9 s" in (
        caption
    )


def test_a_bound_that_is_narrow_is_enlarged():
    random = np.random.default_rng(1)
    runtimes = np.append(random.uniform(0.1, 0.9, 300), np.full(10, 50.0))
    table = make_table(np.array([runtimes, 2 * runtimes]), cutoff=100.0)
    figure = drawn(bound_figure(table, make_conditions(table, 0.05), 0))
    panel = figure.axes[0]
    (small,) = panel.child_axes
    assert panel.get_xlim()[1] == pytest.approx(50.0) and small.get_xlim()[1] < 12.5
    shown = [line.get_xdata().tolist() for line in small.lines[:3]]
    assert shown == [line.get_xdata().tolist() for line in panel.lines[:3]], "the same curves"
    assert "enlarged" in caption_of(figure)


def test_the_key_shows_values_that_were_run():
    records = [
        record("lb", seed, epsilon=epsilon, delta=delta)
        for seed, (epsilon, delta) in enumerate([(0.2, 0.25), (0.45, 0.25), (0.7, 0.4)])
    ]
    figure = incumbents_figure(comparison_of([record("spc"), *records]))
    key = [text.get_text() for text in figure.legends[1].get_texts()]
    assert key == ["epsilon 0.2", "epsilon 0.45", "epsilon 0.7", "delta 0.25", "delta 0.4"]


def test_times_of_the_bound_are_in_the_units_of_its_axis():
    runtimes = np.random.default_rng(0).uniform(0.01, 0.4, (2, 50))
    table = make_table(runtimes, cutoff=1.0)
    panel = bound_figure(table, make_conditions(table, 0.005), 0).axes[0]
    labels = [line.get_label() for line in panel.lines[:3]]
    assert f"the mean, {format_duration(runtimes[0].mean())}" in labels[0]
    assert all(" ms" in label and "0." not in label for label in labels)
    assert {word.split()[1] for word in words_on(panel.xaxis)[1:]} == {"ms"}


@pytest.mark.parametrize("names", [("spc", "sp", "lb", "cr", "icar"), tuple(METHODS)])
@pytest.mark.parametrize("draw", FIGURES)
def test_nothing_overlaps_and_nothing_is_cut_off(draw, names):
    long = [f"heuristic=activity-based{k}" for k in range(3)]
    assert overlapping(draw(comparison_of(one_of_each(names), names=long))) == []


@pytest.mark.parametrize("draw", FIGURES)
def test_profiles_of_many_names_do_not_overlap(draw):
    names = [f"restarts=luby decay=0.{k} saving={k % 3}" for k in range(15)]
    runtimes = np.linspace(1.0, 5.0, 15)[:, None] * np.ones((1, 4))
    for methods in (["uniform"], ["uniform", "sh", "up", "hyperband"]):
        records = [*PROFILES, *one_of_each(methods)]
        records = [{**one, "spent": [1.0] * 15} for one in records]
        figure = draw(comparison_of(records, names=names, runtimes=runtimes))
        assert overlapping(figure) == []
