"""SPC itself, as one method among the others."""

from __future__ import annotations

import math

import numpy as np

from cunctator.core.profiles import DEFAULT
from cunctator.siblings.method import Method
from cunctator.siblings.problem import Outcome, Problem
from cunctator.simulation import Simulation
from cunctator.statement import headline

USED_UP = "the instances are used up"


def solve(problem: Problem, profile: str, confidence: float) -> Outcome:
    """Run it until the budget is spent, or until nothing can beat the answer."""
    simulation = Simulation(
        problem.table,
        profile=profile,
        first_cap=problem.first_cap,
        cutoff=problem.cutoff,
        budget=problem.budget,
        seed=problem.seed,
        confidence=confidence,
        resample=problem.resample,
    )
    # Runs of no length are charged nothing: no budget would ever end them.
    longest = problem.stream.size if problem.resample else math.inf
    while simulation.stop is None and simulation.state.testers.started.max() < longest:
        simulation.advance()
    result = simulation.result()
    return Outcome(
        trajectory=tuple((charged, index) for charged, _, index in result.trajectory),
        charged=result.charged,
        steps=result.steps,
        spent=np.array([standing.charged for standing in result.standings]),
        stop=USED_UP if simulation.stop is None else result.stop.value,
        claim=headline(result.certificate),
    )


PROCRASTINATION_WITH_CONFIDENCE = Method(
    name="spc",
    title="SPC",
    run=solve,
    charges="restart",
    guarantee="(epsilon, delta)-optimal for what its certificate says, at its confidence, anytime",
    stops="at the budget, or when the answer is proved optimal on a finite set",
    defaults={"profile": DEFAULT, "confidence": 0.95},
    anytime=True,
    ends=False,
)
