"""Pictures of a table itself: the lower bound of one configuration, and how runtimes vary."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from cunctator.base.units import counted, format_duration
from cunctator.comparison.jobs import Conditions
from cunctator.core.equation1 import squared_epsilon
from cunctator.recorded.simulation import Simulation
from cunctator.recorded.table import Table
from cunctator.show.figures.layout import SMALL_SIZE, TITLE_SIZE, about_table, finish, one_panel
from cunctator.show.figures.style import COLOURS, shortened, tidy
from cunctator.show.figures.ticks import FEW_TICKS, linear_time_ticks
from cunctator.target.instances import resampled

DELTAS = (0.05, 0.1, 0.2, 0.5)
LOOKS = (
    ("#9ecbe8", "solid"),
    ("#3f8fcb", (0.0, (9.0, 3.0))),
    ("#0a5299", (0.0, (6.0, 6.0))),
    ("#041a38", (0.0, (3.0, 9.0))),
)
"""Colours and dashes: darker and shorter for larger deltas, drawn on top of each other. Of lines
that coincide each shows in a quarter of the length."""

VARIATION_WIDTH = 2.2

TRUTH, SEEN, BOUND = COLOURS["sp"], "#555555", COLOURS["spc"]
RUNS, STEPS = 3000, 2000
"""Runs of the configuration whose lower bound is drawn, unless SPC has no mind to run it so often;
and steps between two looks."""

LEAST_STEPS, MOST_STEPS, STEPS_EACH = 1_000_000, 20_000_000, 4 * RUNS
"""Steps to wait for these runs: at least, at most, and for each configuration in between. That
takes some seconds, and is enough for a good one of a thousand."""

UNSEEN = 0.01
"""Share of the mean that may be to the right of the picture of its bound: all of it would leave no
room for the rest if a few runs are very long."""

NARROW = 0.25
"""Share of the width: if less is known of the runs, that is enlarged in a small picture."""

INSET, INSET_TOP = (0.32, 0.12, 0.64, 0.6), 0.75
"""Where that is, in shares of the large one, if F is above it there."""

RIGHT_OF_ALL = 1e15
"""An epsilon that nobody needs: curves go on to the edge of the picture."""

Curves = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]

PROFILE = "proved"
"""Whose lower bound is drawn: that of Equation 1, with the constants that its proof supports."""


def survival_bound(seen: NDArray[np.float64], step: int, cap: float) -> Curves:
    """Steps of the curve of runs that take longer: times, 1 - G, and beta(1 - G) (Equation 1).

    `seen` are the runtimes of all started runs, known up to the cap. The bound on the mean is the
    area under beta(1 - G).
    """
    started = seen.size
    times = np.unique(np.concatenate([[0.0], seen[seen < cap], [cap]]))
    above = np.array([(seen > time).mean() for time in times[:-1]])
    bins = np.maximum(1.0, np.ceil(np.log2(1.0 / np.maximum(above, 1.0 / started)) - 1e-12))
    squares = [squared_epsilon(int(k), started, math.log(step)) for k in bins]
    errors = np.sqrt(squares)
    scaled = np.where(errors <= 0.5, above / (1.0 + errors), 0.0)
    return times, above, scaled


def bound_figure(table: Table, conditions: Conditions, index: int) -> Figure:
    """Figure 1: how the lower bound on the mean of a configuration comes about.

    The state is that of SPC once it has run the configuration a few thousand times, on instances
    drawn with replacement: the true distribution F from the table, the runs G that were seen up to
    the known cap, and the area that is certain. With fewer runs it shows nothing.
    """
    simulation = _simulated(table, conditions, index)
    standing = simulation.standing(index)
    # Runs shorter than first_cap count as first_cap: below it nothing is told apart.
    row = table.runtimes[index].clip(conditions.first_cap, conditions.cutoff)
    cap = standing.known_cap
    sheet = one_panel()
    panel = sheet.panels[0]
    is_raised = float(table.runtimes[index].min()) < conditions.first_cap
    seen = np.minimum(row[resampled(row.size, 0, 0)[: standing.started]], cap)

    def draw(part: Axes, end: float, most_ticks: int) -> list[Line2D]:
        lines = [_draw_truth(part, row, is_raised)]
        if seen.size:
            curves = survival_bound(seen, simulation.steps + 1, cap)
            lines += _draw_bound(part, curves, seen.size, conditions)
            part.axvline(cap, color=BOUND, linewidth=0.8, linestyle=":")
        part.set_ylim(0.0, 1.02)
        part.set_xlim(0.0, end)
        linear_time_ticks(part.xaxis, most_ticks)
        return lines

    end = min(float(row.max()), max(1.5 * cap, _end_of_area(row)))
    handles = draw(panel, end, sheet.most_ticks)
    is_narrow = seen.size and cap < NARROW * end and (row <= INSET[0] * end).mean() > INSET_TOP
    if is_narrow:
        draw(_inset(panel), 1.5 * cap, FEW_TICKS)
    panel.set_title(shortened(table.configurations[index]), fontsize=TITLE_SIZE, parse_math=False)
    caption = (
        f"{about_table(table)}; illustration: SPC with profile {PROFILE} on instances drawn with"
        f" replacement, after {counted(simulation.steps, 'step')}; dotted: the known cap"
    )
    if is_narrow:
        caption += "; small: its surroundings, enlarged"
    if end < row.max():
        share = np.maximum(row - end, 0.0).mean() / row.mean()
        caption += (
            f"; {share:.1%} of the mean is to the right of the picture, in runs of up to"
            f" {format_duration(float(row.max()))}"
        )
    labels = ("runtime", "probability of solving an instance")
    return finish(sheet, labels, [handles], caption)


def _inset(panel: Axes) -> Axes:
    """A small picture where the large one is empty."""
    small = panel.inset_axes(INSET)
    tidy(small)
    small.tick_params(labelsize=SMALL_SIZE)
    return small


def _end_of_area(row: NDArray[np.float64]) -> float:
    """A time, one of the runs', beyond which there is next to nothing of the area above F."""
    times = np.sort(row)
    # What each time leaves out: the parts of longer runs beyond it.
    beyond = (times[::-1].cumsum()[::-1] - times * np.arange(times.size, 0, -1)) / times.size
    return float(times[np.argmax(beyond <= UNSEEN * times.mean())])


def _simulated(table: Table, conditions: Conditions, index: int) -> Simulation:
    """SPC, once it has run the configuration often enough."""
    simulation = Simulation(
        table,
        profile=PROFILE,
        first_cap=conditions.first_cap,
        cutoff=conditions.cutoff,
        resample=True,
    )
    patience = min(max(LEAST_STEPS, STEPS_EACH * len(table.configurations)), MOST_STEPS)
    while simulation.steps < patience and simulation.standing(index).started < RUNS:
        simulation.advance(STEPS)
    return simulation


def _draw_truth(panel: Axes, row: NDArray[np.float64], is_raised: bool) -> Line2D:
    """F, and the area above it."""
    whole = np.concatenate([[0.0], np.sort(row)])
    truth = np.arange(row.size + 1) / row.size
    floor = f" (at least {format_duration(row.min())} each)" if is_raised else ""
    runs, mean = counted(row.size, "run"), format_duration(row.mean())
    label = f"F, {runs} in all{floor}: area above is the mean, {mean}"
    (line,) = panel.step(whole, truth, where="post", color=TRUTH, linewidth=1.5, label=label)
    panel.fill_between(whole, truth, 1.0, step="post", color=TRUTH, alpha=0.10, linewidth=0)
    return line


def _draw_bound(panel: Axes, curves: Curves, started: int, conditions: Conditions) -> list[Line2D]:
    """G, that scaled towards 1, and the area above."""
    times, above, scaled = curves
    curve = np.append(1.0 - above, 1.0 - above[-1])
    label = f"G, {counted(started, 'run')} seen up to {format_duration(times[-1])}"
    lines = panel.step(times, curve, where="post", color=SEEN, linewidth=1.2, label=label)
    sure = np.append(1.0 - scaled, 1.0 - scaled[-1])
    area = float((np.diff(times) * scaled).sum())
    label = f"scaled towards 1 ({PROFILE}): area above is a lower bound, {format_duration(area)}"
    if area < conditions.first_cap:
        first_cap = format_duration(conditions.first_cap)
        label += f" (below the first cap, {first_cap}, which is one as well)"
    lines += panel.step(times, sure, where="post", color=BOUND, linewidth=1.5, label=label)
    panel.fill_between(times, sure, 1.0, step="post", color=BOUND, alpha=0.35, linewidth=0)
    return lines


def least_epsilons(
    runtimes: NDArray[np.float64], delta: float, first_cap: float
) -> NDArray[np.float64]:
    """For each configuration, the least epsilon for which it is (epsilon, delta)-optimal.

    The cap that leaves out most is the shortest that at most delta of the runs exceed. Means below
    first_cap count as first_cap, as in the definition of OPT.
    """
    best = max(float(runtimes.mean(axis=1).min()), first_cap)
    left_out = math.floor(delta * runtimes.shape[1] + 1e-9)
    ordered = np.sort(runtimes, axis=1)
    caps = ordered[:, -1 - left_out][:, None]
    means = np.maximum(np.minimum(runtimes, caps).mean(axis=1), first_cap)
    epsilons: NDArray[np.float64] = np.maximum(means / best - 1.0, 0.0)
    return epsilons


def variation_figure(table: Table, conditions: Conditions) -> Figure:
    """The appendix: share of configurations that are (epsilon, delta)-optimal, by epsilon."""
    runtimes = np.minimum(table.runtimes, conditions.cutoff)
    sheet = one_panel()
    panel = sheet.panels[0]
    least, most = 0.01, 1.0
    handles = []
    for delta, (colour, dashes) in zip(DELTAS, LOOKS, strict=True):
        epsilons = np.sort(least_epsilons(runtimes, delta, conditions.first_cap))
        shares = np.arange(1, epsilons.size + 1) / epsilons.size
        most = max(most, 1.5 * float(epsilons[-1]))
        at = np.concatenate([[least], np.maximum(epsilons, least)])
        begin = (epsilons <= least).mean()
        up = np.concatenate([[begin], np.maximum(shares, begin)])
        at, up = np.append(at, RIGHT_OF_ALL), np.append(up, 1.0)
        (line,) = panel.step(at, 100 * up, where="post", label=f"delta {delta:g}")
        line.set(color=colour, linestyle=dashes, linewidth=VARIATION_WIDTH)
        line.set(solid_capstyle="butt", dash_capstyle="butt")
        handles.append(line)
    panel.set_xscale("log")
    panel.set_xlim(least, most)
    panel.set_ylim(0.0, 102.0)
    panel.xaxis.set_major_formatter(FuncFormatter(lambda epsilon, _: f"{epsilon:g}"))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{share:g}%"))
    caption = (
        f"{about_table(table)}; (epsilon, delta)-optimal: under a cap that at most a share delta of"
        " its runs exceed, its mean is at most 1 + epsilon times the best mean without one;"
        f" means below the first cap, {format_duration(conditions.first_cap)}, count as that"
    )
    labels = ("epsilon", "configurations that are (epsilon, delta)-optimal")
    return finish(sheet, labels, [handles], caption)
