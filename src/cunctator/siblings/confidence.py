"""SPC itself, as one method among the others."""

from __future__ import annotations

import numpy as np

from cunctator.core.profiles import DEFAULT
from cunctator.core.statement import counting_note, headline
from cunctator.recorded.simulation import Simulation
from cunctator.siblings.method import Method
from cunctator.siblings.problem import Found, Problem


def solve(problem: Problem, profile: str, confidence: float) -> Found:
    """Run it until the budget is spent, or until nothing can beat the answer."""
    result = Simulation(
        problem.table,
        profile=profile,
        first_cap=problem.first_cap,
        cutoff=problem.cutoff,
        budget=problem.budget,
        seed=problem.seed,
        confidence=confidence,
        resample=problem.resample,
        closing=False,  # how it would go on is what is compared, wherever the budget ends it
    ).run()
    return Found(
        trajectory=tuple((charged, index) for charged, _, index in result.trajectory),
        charged=result.charged,
        steps=result.steps,
        spent=np.array([standing.charged for standing in result.standings]),
        stop=result.stop.value,
        claim=f"{headline(result.certificate)} {counting_note(result.certificate)}".rstrip(),
    )


PROCRASTINATION_WITH_CONFIDENCE = Method(
    name="spc",
    title="SPC",
    run=solve,
    charges="restart",
    guarantee="(epsilon, delta)-optimal for what its certificate says, at its confidence, anytime",
    stops="at the budget, when the answer is proved optimal on a finite set, or with the stream",
    defaults={"profile": DEFAULT, "confidence": 0.95},
    anytime=True,
    ends=False,
)
