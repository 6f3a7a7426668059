"""What people want to see of a study at one moment, as the driver has it in memory."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cunctator.base.records import StopReason
from cunctator.base.units import finite_or_none
from cunctator.core.certificate import Certificate
from cunctator.core.forecast import Forecast
from cunctator.core.outlook import outlook
from cunctator.core.pairs import Compared
from cunctator.core.scheduler import Standing
from cunctator.core.statement import as_data
from cunctator.space.parameters import Value
from cunctator.study.snapshot import (
    CertificateStatement,
    DefaultRuns,
    ForecastStatement,
    Incumbent,
    Limits,
    Means,
    Snapshot,
)


@dataclass(frozen=True, slots=True)
class Budget:
    """What a study may spend; infinite if there is no limit."""

    charged: float = math.inf
    wall: float = math.inf
    runs: float = math.inf

    @property
    def limits(self) -> tuple[float, float, float]:
        """All three."""
        return self.charged, self.wall, self.runs


@dataclass(slots=True)
class Spent:
    """What a study has spent so far, and what for, earlier sessions included."""

    charged: float = 0.0
    wall: float = 0.0
    runs: int = 0
    solved: int = 0
    """Runs that were."""
    default_solved: int = 0
    """The default's among them."""


def rests_of(budget: Budget, spent: Spent) -> list[tuple[float, float]]:
    """What is left of a budget, and all of it, for each of its limits, as charged seconds.

    Time on the clock and runs are worth what they were worth so far.
    """
    if spent.charged <= 0.0:
        return []
    rests = [(budget.charged, spent.charged, 1.0)]
    if spent.wall > 0.0:
        rests.append((budget.wall, spent.wall, spent.charged / spent.wall))
    if spent.runs > 0:
        rests.append((budget.runs, spent.runs, spent.charged / spent.runs))
    return [(worth * (most - used), worth * most) for most, used, worth in rests if most < math.inf]


@dataclass(frozen=True, slots=True)
class View:
    """What people want to see of a study at one moment."""

    stop: StopReason | None
    problem: str
    """What to say about the stop, if there is more to say."""
    spent: Spent
    budget: Budget
    in_flight: int
    closing: bool
    """Whether the rest of the budget is for runs that were put off: see `core/closing.py`."""
    crashed: int
    incumbent: Standing
    default: Standing
    compared: Compared
    """Answer and default over the pairs that both have run, up to a cap that both are known to."""
    configuration: dict[str, Value]
    is_proposed: bool
    """Whether the guide proposed the answer because of results."""
    certificate: Certificate
    asked_delta: float | None
    """The delta that the certificate is to have, if the study ends by that."""
    forecast: Forecast
    """How much longer it takes to certify more, if all goes on as it has."""
    own_seconds: float
    """CPU time of this process since it began the study, target runs not included."""
    busy: float
    """Share of the time that slots have been busy, since this process began the study."""

    @property
    def has_incumbent(self) -> bool:
        """Whether there is anything to recommend: not if the target prevented a result.

        Nor if nothing was solved: then whoever was run least looks best.
        """
        broken = (StopReason.DEFAULT_CRASHES, StopReason.CONTRADICTION)
        return self.spent.solved > 0 and self.stop not in broken

    def snapshot(self) -> Snapshot:
        """The same to be kept and shown."""
        budget, has_incumbent = self.budget, self.has_incumbent
        return Snapshot(
            stop=self.stop.value if self.stop else None,
            problem=self.problem,
            charged=self.spent.charged,
            wall=self.spent.wall,
            runs=self.spent.runs,
            solved=self.spent.solved,
            budget=Limits(
                charged=finite_or_none(budget.charged),
                wall=finite_or_none(budget.wall),
                runs=None if math.isinf(budget.runs) else int(budget.runs),
            ),
            in_flight=self.in_flight,
            closing=self.closing,
            crashed=self.crashed,
            incumbent=self._incumbent() if has_incumbent else None,
            default=DefaultRuns(
                started=self.default.started, mean=finite_or_none(self.default.mean)
            ),
            compared=self._means() if has_incumbent else None,
            certificate=self._statement() if has_incumbent else None,
            forecast=self._forecast() if has_incumbent else None,
            own_seconds=self.own_seconds,
            busy=self.busy,
        )

    def _incumbent(self) -> Incumbent:
        return Incumbent(
            index=self.incumbent.configuration,
            configuration=self.configuration,
            started=self.incumbent.started,
            mean=finite_or_none(self.incumbent.mean),
            known_cap=None if self.incumbent.exact else self.incumbent.known_cap,
            proposed=self.is_proposed,
        )

    def _means(self) -> Means:
        return Means(
            pairs=self.compared.pairs,
            cap=finite_or_none(self.compared.cap),
            answer=finite_or_none(self.compared.one),
            default=finite_or_none(self.compared.other),
            exact=self.incumbent.exact and self.default.exact,
        )

    def _statement(self) -> CertificateStatement:
        return CertificateStatement.model_validate(as_data(self.certificate, self.asked_delta))

    def _forecast(self) -> ForecastStatement:
        spent, left = self.spent, math.inf
        if self.stop is not StopReason.BUDGET:  # one whose budget is spent goes on with more
            left = min((rest for rest, _ in rests_of(self.budget, spent)), default=math.inf)
        clock = spent.wall / spent.charged if spent.charged else 0.0
        return ForecastStatement.model_validate(outlook(self.forecast, left, clock))
