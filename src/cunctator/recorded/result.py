"""What a search on recorded runtimes found, and what it cost: what `simulate` returns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cunctator.base.records import StopReason
from cunctator.base.units import counted, finite_or_none
from cunctator.core.certificate import Certificate
from cunctator.core.forecast import Forecast
from cunctator.core.outlook import outlook
from cunctator.core.pairs import Compared
from cunctator.core.scheduler import Standing
from cunctator.core.statement import as_data
from cunctator.recorded.table import Table

BEST_SHOWN = 5


class StopAt(NamedTuple):
    """What the certificate must say for a search to end."""

    epsilon: float
    delta: float


@dataclass(frozen=True)
class Result:
    """What a simulation found, and what it cost."""

    profile: str
    table: Table
    first_cap: float
    cutoff: float | None
    penalty: float
    """How many cutoffs a run counts that reaches the cutoff."""
    seed: int
    steps: int
    charged: float
    """Seconds of target time, every run counted from its start."""
    charged_resumed: float
    """Seconds of target time if runs had been paused and resumed instead."""
    stop: StopReason
    stop_at: StopAt | None
    """What the certificate was to say for the search to end, if that was asked for."""
    certificate: Certificate
    """How close to the best the answer provably is."""
    forecast: Forecast
    """How much more it would take to certify more, had it gone on."""
    incumbent: int
    """Index of the recommended configuration."""
    trajectory: list[tuple[float, int, int]]
    """(charged seconds, step, configuration index) whenever the recommendation changed."""
    standings: tuple[Standing, ...]
    """What is known of each configuration, by index."""
    beside: Mapping[int, Compared]
    """Those that are shown, each beside the answer: over the pairs that both have run."""
    scheduler_seconds: float
    """Real time spent, target runs costing none."""

    @property
    def name(self) -> str:
        """Name of the recommended configuration."""
        return self.table.configurations[self.incumbent]

    @property
    def asked_delta(self) -> float | None:
        """The delta that the certificate was to have, if that was asked for."""
        return self.stop_at.delta if self.stop_at else None

    def ranking(self) -> list[Standing]:
        """All configurations, the recommended one first, then the next best answers."""
        return ranked(self.standings, self.incumbent)

    @property
    def whole_cost(self) -> float:
        """Seconds of target time that running the whole table once would take."""
        return float(np.minimum(self.table.runtimes, self.cutoff or math.inf).sum())

    def __repr__(self) -> str:
        return (
            f"<Result: {self.name!r} after {counted(self.steps, 'run')}"
            f" and {self.charged:,.6g} s, {self.stop.value}>"
        )

    def as_data(self) -> dict[str, object]:
        """The result as plain data, for JSON."""
        return {
            "profile": self.profile,
            "configurations": len(self.table.configurations),
            "instances": len(self.table.instances),
            "first_cap": self.first_cap,
            "cutoff": self.cutoff,
            "penalty": self.penalty,
            "seed": self.seed,
            "steps": self.steps,
            "charged": self.charged,
            "charged_resumed": self.charged_resumed,
            "stop": self.stop.value,
            "incumbent": {"index": self.incumbent, "name": self.name},
            "trajectory": [list(change) for change in self.trajectory],
            "started": [standing.started for standing in self.standings],
            "stop_at": self.stop_at._asdict() if self.stop_at else None,
            "certificate": as_data(self.certificate, self.asked_delta),
            "forecast": outlook(self.forecast),
            "best": [self._row(standing) for standing in self.ranking()[:BEST_SHOWN]],
            "scheduler_seconds": self.scheduler_seconds,
        }

    def _row(self, standing: Standing) -> dict[str, object]:
        """One line of the final table."""
        row: dict[str, object] = {
            "index": standing.configuration,
            "name": self.table.configurations[standing.configuration],
        }
        for field in ("started", "completed", "mean", "lower", "known_cap", "exact", "charged"):
            row[field] = getattr(standing, field)
        row["mean"], row["lower"] = finite_or_none(standing.mean), finite_or_none(standing.lower)
        both = self.beside[standing.configuration]
        row["common"] = {
            "pairs": both.pairs,
            "cap": finite_or_none(both.cap),
            "mean": finite_or_none(both.one),
            "answer": finite_or_none(both.other),
        }
        return row


def ranked(standings: Iterable[Standing], incumbent: int) -> list[Standing]:
    """All configurations, the recommended one first, then the next best answers."""
    return sorted(
        standings,
        key=lambda s: (s.configuration != incumbent, -s.started, -s.completed, s.mean),
    )
