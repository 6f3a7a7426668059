"""Pictures of a table itself: the lower bound of one configuration, and how runtimes vary."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from cunctator.comparison.jobs import Conditions
from cunctator.core.equation1 import squared_epsilon
from cunctator.instances import resampled
from cunctator.report.style import COLOURS, new_figure, shortened
from cunctator.simulation import Simulation
from cunctator.target.table import Table
from cunctator.units import format_duration

DELTAS = (0.05, 0.1, 0.2, 0.5)
TRUTH, SEEN, BOUND = "#1f6fb4", "#555555", COLOURS["spc"]
RUNS, STEPS = 3000, 2000
"""Runs of the configuration whose lower bound is drawn, unless SPC has no mind to run it so often;
and steps between two looks."""

LEAST_STEPS, MOST_STEPS, STEPS_EACH = 1_000_000, 20_000_000, 4 * RUNS
"""Steps to wait for these runs: at least, at most, and for each configuration in between. That
takes some seconds, and is enough for a good one of a thousand."""

RIGHT_OF_ALL = 1e15
"""An epsilon that nobody needs: curves go on to the edge of the picture."""

PROFILE = "proved"
"""Whose lower bound is drawn: that of Equation 1, with the constants that its proof supports."""


def survival_bound(
    seen: NDArray[np.float64], step: int, cap: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
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
    standing = simulation.standing(index)
    # Runs shorter than first_cap count as first_cap: below it nothing is told apart.
    row = table.runtimes[index].clip(conditions.first_cap, conditions.cutoff)
    cap = standing.known_cap
    seen = np.minimum(row[resampled(row.size, 0, 0)[: standing.started]], cap)
    figure, panel = new_figure()
    whole = np.concatenate([[0.0], np.sort(row)])
    truth = np.arange(row.size + 1) / row.size
    floor = (
        f" (at least {conditions.first_cap:g} s each)"
        if table.runtimes[index].min() < conditions.first_cap
        else ""
    )
    label = f"F, all {row.size:,} runs{floor}: area above is the mean, {row.mean():.3g} s"
    panel.step(whole, truth, where="post", color=TRUTH, linewidth=1.5, label=label)
    panel.fill_between(whole, truth, 1.0, step="post", color=TRUTH, alpha=0.10, linewidth=0)
    if standing.started:
        times, above, scaled = survival_bound(seen, simulation.steps + 1, cap)
        curve = np.append(1.0 - above, 1.0 - above[-1])
        label = f"G, {standing.started:,} runs seen up to {cap:.3g} s"
        panel.step(times, curve, where="post", color=SEEN, linewidth=1.2, label=label)
        sure = np.append(1.0 - scaled, 1.0 - scaled[-1])
        area = float((np.diff(times) * scaled).sum())
        label = f"scaled towards 1 ({PROFILE}): area above is a lower bound, {area:.3g} s"
        if area < conditions.first_cap:
            label += f"\n(below the first cap, {conditions.first_cap:g} s, which is one as well)"
        panel.step(times, sure, where="post", color=BOUND, linewidth=1.5, label=label)
        panel.fill_between(times, sure, 1.0, step="post", color=BOUND, alpha=0.35, linewidth=0)
        panel.axvline(cap, color=BOUND, linewidth=0.8, linestyle=":")
    panel.set_ylim(0.0, 1.02)
    panel.set_xlim(0.0, min(whole[-1], max(1.5 * cap, float(np.quantile(whole, 0.9)))))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda seconds, _: format_duration(seconds)))
    panel.set_xlabel("runtime")
    panel.set_ylabel("probability of solving an instance")
    name = table.configurations[index]
    panel.set_title(shortened(name), fontsize=9, parse_math=False)
    panel.legend(frameon=False, fontsize=8, loc="lower right")
    return figure


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
    figure, panel = new_figure()
    least, most = 0.01, 1.0
    for place, delta in enumerate(DELTAS):
        epsilons = np.sort(least_epsilons(runtimes, delta, conditions.first_cap))
        shares = np.arange(1, epsilons.size + 1) / epsilons.size
        most = max(most, 1.5 * float(epsilons[-1]))
        at = np.concatenate([[least], np.maximum(epsilons, least)])
        begin = (epsilons <= least).mean()
        up = np.concatenate([[begin], np.maximum(shares, begin)])
        shade = 0.25 + 0.75 * (place + 1) / len(DELTAS)
        at, up = np.append(at, RIGHT_OF_ALL), np.append(up, 1.0)
        panel.step(at, 100 * up, where="post", color=TRUTH, alpha=shade, label=f"delta = {delta:g}")
    panel.set_xscale("log")
    panel.set_xlim(least, most)
    panel.set_ylim(0.0, 102.0)
    panel.xaxis.set_major_formatter(FuncFormatter(lambda epsilon, _: f"{epsilon:g}"))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{share:g}%"))
    panel.set_xlabel("epsilon")
    panel.set_ylabel("configurations that are (epsilon, delta)-optimal")
    panel.legend(frameon=False)
    return figure
