"""The answer where tails are heavy: many runs do not make up for a mean that is clearly worse."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cunctator.core.answer import FAIR, SURE, _leader
from cunctator.core.scheduler import Scheduler
from cunctator.records import Outcome, Status
from cunctator.simulation import Simulation
from cunctator.target.table import make_table

CUTOFF, FIRST_CAP = 300.0, 0.1
SHARES = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1)


def heavy_tailed(kind, seed):
    """30 configurations on 300 instances."""
    random = np.random.default_rng([seed, 77])
    scale = np.exp(random.normal(0, 0.7, (30, 1)))
    shape = (30, 300)
    tails = random.weibull(0.3, shape) if kind == "weibull" else np.exp(random.normal(0, 3, shape))
    return np.minimum(scale * tails, CUTOFF)


def stages(runtimes, seed):
    """A search at several moments."""
    simulation = Simulation(make_table(runtimes, cutoff=CUTOFF), first_cap=FIRST_CAP, seed=seed)
    for share in SHARES:
        while simulation.stop is None and simulation.charged < share * runtimes.sum():
            simulation.advance(20)
        yield simulation


def values(simulation, index, cap):
    started = int(simulation.state.testers.started[index])
    seen = simulation.table.runtimes[index, simulation._order[:started]]
    return np.clip(seen, FIRST_CAP, cap)


def known_cap(simulation, index):
    standing = simulation.standing(index)
    return CUTOFF if standing.exact else standing.known_cap


def clearly_better(simulation, answer):
    """Who should be the answer instead, by the rule as it is written in words."""
    completed = simulation.state.testers.completed
    cap = known_cap(simulation, answer)
    fewest = max(2, FAIR * completed[_leader(simulation.state)])
    eligible = [i for i in range(30) if completed[i] >= fewest]
    # Runtimes are kept in bins, which makes them a little more spread.
    needed = 1.1 * SURE * math.sqrt(2 * math.log(len(eligible)))
    found = []
    for index in eligible:
        if index == answer or known_cap(simulation, index) < cap:
            continue
        mine, theirs = values(simulation, answer, cap), values(simulation, index, cap)
        variance = max(mine.var(ddof=1), theirs.var(ddof=1))
        error = math.sqrt(variance * (1 / mine.size + 1 / theirs.size))
        if mine.mean() - theirs.mean() > needed * error:
            found.append(index)
    return found


@pytest.mark.parametrize("kind", ["weibull", "log-normal"])
def test_nobody_who_is_clearly_better_stands_below_the_answer(kind):
    changed, before, after = 0, 0.0, 0.0
    for seed in range(8):
        runtimes = heavy_tailed(kind, seed)
        means = runtimes.mean(axis=1)
        for simulation in stages(runtimes, seed):
            leader, answer = _leader(simulation.state), simulation.incumbent
            if simulation.stop is None:
                assert not clearly_better(simulation, answer)
            changed += leader != answer
            before += means[leader] / means.min() - 1
            after += means[answer] / means.min() - 1
    assert changed >= 3, "the most started was the answer although others were clearly better"
    assert after < before, "and those were better indeed"


def test_what_is_asked_for_does_not_depend_on_who_asks_for_the_answer():
    runtimes = heavy_tailed("weibull", 1)
    curious, other = (Scheduler(30, 300, first_cap=FIRST_CAP, cutoff=CUTOFF) for _ in range(2))
    for _ in range(1500):
        run = curious.ask()
        assert run == other.ask()
        runtime = runtimes[run.configuration, run.pair]
        status = Status.SOLVED if runtime <= run.cap and runtime < CUTOFF else Status.CAPPED
        for scheduler in (curious, other):
            scheduler.tell(run, Outcome(status, min(runtime, run.cap)))
        curious.recommend()
