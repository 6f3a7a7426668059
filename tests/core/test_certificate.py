"""Certificates: what may not be claimed, and what repeated runs that differ do to it."""

from __future__ import annotations

import numpy as np
import pytest

from cunctator.base.records import Outcome, Status, StopReason
from cunctator.core.certificate import certify
from cunctator.core.scheduler import Scheduler
from cunctator.core.state import RIVAL
from cunctator.core.tournament import ROOT
from cunctator.core.turns import WELL_KNOWN
from cunctator.recorded.simulation import Simulation
from cunctator.recorded.table import make_table

def test_optimal_is_said_only_when_all_is_known():
    """A slow rival need not be run to the end to be ruled out at 95%."""
    runtimes = np.vstack([np.full(300, 1.0), np.full(300, 500.0)])
    simulation = Simulation(make_table(runtimes), first_cap=0.5)
    result = simulation.run()
    assert result.stop is StopReason.PROVED_OPTIMAL and not result.standings[1].exact
    assert result.certificate.epsilon_at(0.0) == 0.0 and not result.certificate.optimal


def test_a_configuration_that_was_never_run_may_be_the_best():
    """Nothing is known of it but the first cap."""
    simulation = Simulation(make_table(np.full((3, 500), 8.0), cutoff=10.0), first_cap=0.5)
    simulation.advance(1)
    testers = simulation.state.testers
    begun = int(testers["started"].argmax())
    assert testers["started"].sum() == 1
    assert certify(simulation.state, begun).epsilon_at(0.0) == pytest.approx(10.0 / 0.5 - 1, rel=1e-3)


def test_rivals_wait_until_the_choice_is_well_known():
    random = np.random.default_rng(4)
    runtimes = np.exp(random.normal(0, 0.4, (30, 1)) + random.normal(0, 1.0, (30, 20_000)))
    simulation = Simulation(make_table(runtimes), first_cap=0.1)
    state, before = simulation.state, 0.0
    waited = 0
    for _ in range(4000):
        best = state.by_sharp[ROOT].winner
        known = state.testers[best].full >= WELL_KNOWN * state.testers[best].sharp
        simulation.advance(1)
        state = simulation.state  # it may have been enlarged
        after = float(state.pools[0].turns[RIVAL])
        assert known or after == before
        waited += not known
        before = after
    assert waited > 100
