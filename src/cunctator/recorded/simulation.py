"""SPC on recorded runtimes: the scheduler and a table joined in one compiled loop.

Exactly what the ask/tell scheduler does with one run at a time, a million times a second: the
kernels are the same, only the way between them is shorter. Two ledgers are kept: `charged` counts
every run from its start, as a solver that must be restarted costs; `charged_resumed` counts what
it would have cost to pause runs and resume them under the longer cap.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from os import PathLike

import numpy as np

from cunctator.base.errors import InvalidSetting
from cunctator.base.notices import announced_compilation
from cunctator.base.records import StopReason
from cunctator.core.certificate import Certificate, Point, certify
from cunctator.core.check import check_state
from cunctator.core.closing import EARLY_PROOF, MOST
from cunctator.core.forecast import NOTHING_SAID, Forecast, forecast
from cunctator.core.outlook import out_of_reach
from cunctator.core.pairs import Compared, compared
from cunctator.core.pools import pool_sizes
from cunctator.core.profiles import DEFAULT
from cunctator.core.reach import least_runs
from cunctator.core.recommend import recommended
from cunctator.core.recorded import NO_ROOM, PROVED, SPENT, Ledger, Totals, advance, note_incumbent
from cunctator.core.rows import longer, new_record
from cunctator.core.scheduler import (
    Standing,
    check_profile,
    check_rules,
    how_it_finished,
    rekey_all,
    standing,
)
from cunctator.core.state import State, grow, new_state, room_for_result
from cunctator.recorded.result import BEST_SHOWN, Result, StopAt, ranked
from cunctator.recorded.table import Table, make_table
from cunctator.target.instances import CHUNK, CHUNKS, resampled, shuffled

CERTIFICATE_GROWTH = 1.02
"""How much the charged time must grow before the certificate is looked at again."""

STOP_SLICE = 200
"""Steps between two thoughts of looking at the certificate, when a search is to end by it."""

SLICE = 200_000
"""Steps between two looks at the progress display and at Ctrl-C: about a fifth of a second."""


class Simulation:
    """A simulation in progress: `run` it, or `advance` it slice by slice."""

    def __init__(
        self,
        table: Table,
        *,
        profile: str = DEFAULT,
        first_cap: float = 0.1,
        cutoff: float | None = None,
        penalty: float = 1.0,
        budget: float = math.inf,
        seed: int = 0,
        confidence: float = 0.95,
        stop_at: StopAt | tuple[float, float] | None = None,
        ladder: bool = False,
        resample: bool = False,
        closing: bool = True,
        will_close: bool = False,
    ) -> None:
        """`ladder`: the table's configurations are draws, to be looked at in pools that grow.

        `resample`: instances are drawn from the table with replacement, without end. Without
        `closing`, the end of the budget comes unexpected; `will_close`: most of the proof waits for
        it, as in studies. See `core/closing.py`. Runs that reach the cutoff count as `penalty`
        times the cutoff.
        """
        self.table = table
        self.profile = profile
        self.cutoff = _effective_cutoff(table, cutoff)
        self.budget = _check_budget(budget)
        self.seed = _check_seed(seed)
        self.stop: StopReason | None = None
        self.scheduler_seconds = 0.0
        rows, columns = table.runtimes.shape
        constants = check_profile(profile)
        instances = None if resample else columns
        rules = check_rules(constants, rows, instances, first_cap, self.cutoff, confidence, penalty)
        if will_close:
            rules = rules._replace(early_proof=EARLY_PROOF)
        self.state = new_state(rows, rules, constants, pool_sizes(1, rows) if ladder else None)
        self.ledger = Ledger(new_record(Totals), np.zeros((1024, 3)))
        self.ledger.totals.look_closing = (1.0 - MOST) * self.budget if closing else math.inf
        shortest = float(table.runtimes.min(initial=math.inf))
        self.stop_at = check_stop_at(stop_at, self.state, self.budget, shortest)
        self._certify_at = 0.0
        self._resample = resample
        self._order = resampled(columns, seed, 0) if resample else shuffled(columns, self.seed)
        with announced_compilation():
            rekey_all(self.state)
            self._advance(0)

    @property
    def steps(self) -> int:
        """Runs made so far."""
        return int(self.state.now.step)

    @property
    def charged(self) -> float:
        """Seconds of target time spent so far, restarts included."""
        return float(self.ledger.totals.charged)

    @property
    def incumbent(self) -> int:
        """The recommendation at this moment."""
        return recommended(self.state)

    @property
    def problem(self) -> str:
        """What to say before it begins if only what is certain can be certified; else nothing."""
        return out_of_reach(self.state)

    def certificate(self) -> Certificate:
        """How close to the best the recommendation provably is, at this moment."""
        return certify(self.state, self.incumbent, lambda size: size - 1)

    def forecast(self, certificate: Certificate) -> Forecast:
        """What it takes to certify more than the certificate of this moment; see `forecast.py`."""
        if self.stop in (StopReason.PROVED_OPTIMAL, StopReason.BY_THE_PAPER):
            return NOTHING_SAID
        asked = self.stop_at and Point(self.stop_at.delta, self.stop_at.epsilon, math.inf)
        return forecast(self.state, certificate, asked)

    def standing(self, index: int) -> Standing:
        """What is known of one configuration at this moment."""
        return standing(self.state, index)

    def compared(self, one: int, other: int) -> Compared:
        """Two over the pairs that both have run, up to a cap that both are known to."""
        return compared(self.state, one, other)

    def run(self, progress: Callable[[Simulation], None] | None = None) -> Result:
        """Go on until it stops, calling `progress` now and then.

        Ctrl-C stops it too: what was found so far is returned, with `stop` saying so.
        """
        try:
            while self.stop is None:
                self.advance()
                if progress is not None:
                    progress(self)
        except KeyboardInterrupt:
            self.stop = StopReason.INTERRUPTED
        return self.result()

    def advance(self, steps: int = SLICE) -> None:
        """Make up to `steps` more runs."""
        begun = time.perf_counter()
        last = self.steps + steps
        while self.stop is None and self.steps < last:
            most = last - self.steps
            if not self._enlarge_order(most):
                self.stop = StopReason.USED_UP
                break
            code, index = self._advance(most if self.stop_at is None else min(most, STOP_SLICE))
            if code == PROVED:
                self.stop = how_it_finished(self.state, is_whole=True)
            elif code == SPENT:
                self.stop = StopReason.BUDGET
            elif code == NO_ROOM:
                self._enlarge(index)
            if self.stop is None and self._is_certified():
                self.stop = StopReason.CERTIFIED
        if self.stop is not None and self.steps > 0:
            self._enlarge_ledger()
            note_incumbent(self.state, self.ledger)
        self.scheduler_seconds += time.perf_counter() - begun

    def _is_certified(self) -> bool:
        """Whether the certificate says what was asked for, if it is time to look at it."""
        if self.stop_at is None or self.charged < self._certify_at:
            return False
        self._certify_at = self.charged * CERTIFICATE_GROWTH
        return self.certificate().epsilon_at(self.stop_at.delta) <= self.stop_at.epsilon

    def check(self) -> None:
        """Raise AssertionError if the state breaks one of the paper's invariants or our own."""
        check_state(self.state)

    def result(self) -> Result:
        """The result as of now."""
        rows = self.ledger.changes[: self.ledger.totals.changes]
        standings = tuple(self.standing(i) for i in range(len(self.table.configurations)))
        incumbent, certificate = self.incumbent, self.certificate()
        shown = [one.configuration for one in ranked(standings, incumbent)[:BEST_SHOWN]]
        return Result(
            profile=self.profile,
            table=self.table,
            first_cap=self.state.rules.first_cap,
            cutoff=self.cutoff,
            penalty=self.state.rules.penalty,
            seed=self.seed,
            steps=self.steps,
            charged=self.charged,
            charged_resumed=float(self.ledger.totals.resumed),
            stop=self.stop or StopReason.INTERRUPTED,
            stop_at=self.stop_at,
            certificate=certificate,
            forecast=self.forecast(certificate),
            incumbent=incumbent,
            trajectory=[(float(spent), int(step), int(index)) for spent, step, index in rows],
            standings=standings,
            beside={index: self.compared(index, incumbent) for index in shown},
            scheduler_seconds=self.scheduler_seconds,
        )

    def _advance(self, steps: int) -> tuple[int, int]:
        return advance(
            self.state,
            self.ledger,
            self.table.runtimes,
            self._order,
            self.budget,
            steps,
        )

    def _enlarge_order(self, steps: int) -> bool:
        """Whether so many steps cannot lead beyond the end of a stream with replacement.

        It has an end because runs that take no time would never spend a budget.
        """
        columns = len(self.table.instances)
        while self._resample and self.state.testers["started"].max() + steps >= self._order.size:
            chunk = self._order.size // CHUNK
            if chunk == CHUNKS:
                return False
            self._order = np.concatenate([self._order, resampled(columns, self.seed, chunk)])
        return True

    def _enlarge(self, index: int) -> None:
        if not room_for_result(self.state, index):
            self.state = grow(self.state, index)
        self._enlarge_ledger()

    def _enlarge_ledger(self) -> None:
        if self.ledger.totals.changes == self.ledger.changes.shape[0]:
            self.ledger = self.ledger._replace(changes=longer(self.ledger.changes))


def simulate(
    table: Table | object,
    profile: str = DEFAULT,
    first_cap: float = 0.1,
    cutoff: float | None = None,
    budget: float = math.inf,
    seed: int = 0,
    confidence: float = 0.95,
    stop_at: StopAt | tuple[float, float] | None = None,
    penalty: float = 1.0,
) -> Result:
    """Run SPC on recorded runtimes (a `Table`, or anything that makes one) and return its result.

    `cutoff` defaults to the one the table was recorded with; runs that reach it count as `penalty`
    times the cutoff, so 10 means PAR10. The search ends when the answer is proved optimal on the
    table's instances, or before the first run that would start after `budget` seconds of target
    time have been charged, or when the certificate says (epsilon, delta) or better, if `stop_at`
    gives such a pair.
    """
    if isinstance(table, str | PathLike):
        raise InvalidSetting("table", table, "expected a Table; use load_table to read a file")
    whole = table if isinstance(table, Table) else make_table(table)
    simulation = Simulation(
        whole,
        profile=profile,
        first_cap=first_cap,
        cutoff=cutoff,
        budget=budget,
        seed=seed,
        confidence=confidence,
        stop_at=stop_at,
        penalty=penalty,
    )
    return simulation.run()


def _effective_cutoff(table: Table, cutoff: float | None) -> float | None:
    if cutoff is None or table.cutoff is None:
        return table.cutoff if cutoff is None else cutoff
    if cutoff > table.cutoff:
        expected = f"the table was recorded with a cutoff of {table.cutoff:g} seconds; give less"
        raise InvalidSetting("cutoff", cutoff, expected)
    return cutoff


def _check_budget(budget: float) -> float:
    if not budget > 0:
        raise InvalidSetting("budget", budget, "expected a positive number of seconds")
    return float(budget)


def _check_seed(seed: int) -> int:
    if seed < 0:
        raise InvalidSetting("seed", seed, "expected 0 or more")
    return int(seed)


def check_stop_at(
    stop_at: StopAt | tuple[float, float] | None, state: State, budget: float, shortest: float
) -> StopAt | None:
    """The target of the certificate, unless it provably cannot be reached.

    No run costs less than `shortest`. With a cutoff, delta is 0 there by definition.
    """
    if stop_at is None:
        return None
    try:
        epsilon, delta = stop_at
    except (TypeError, ValueError):
        expected = "expected a pair (epsilon, delta)"
        raise InvalidSetting("stop_at", stop_at, expected) from None
    if not 0 <= epsilon < math.inf:
        raise InvalidSetting("epsilon", epsilon, "expected 0 or more, e.g. 0.05")
    if not 0 <= delta < 1:
        raise InvalidSetting("delta", delta, "expected 0 or more and below 1, e.g. 0.05")
    needed = least_runs(state, delta)
    if math.isinf(state.rules.cutoff) and needed * shortest > budget:
        expected = (
            f"that takes {needed:,} runs at least, more than the budget allows; give a larger"
            " budget or a larger delta"
        )
        raise InvalidSetting("delta", delta, expected)
    return StopAt(float(epsilon), float(delta))
