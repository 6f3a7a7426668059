"""What people are shown of a study: one typed record, in the journal, in JSON and on the screen.

A study is looked at by other versions than the one that wrote it. So whoever adds a field gives it
a default, which stands for "that version did not say"; fields that every version wrote have none.
Fields of later versions are ignored. What is of the wrong type, or missing, makes the row a damaged
one, whoever wrote it.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, InstanceOf, ValidationError, model_validator

Text = InstanceOf[str]
"""Names of files in it need not be UTF-8, which the library insists on in other texts."""

Count = Annotated[int, Field(ge=0, lt=2**63)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Number = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""Mostly seconds."""


FARTHEST = 1000
"""Configurations looked at for each run, at most: pools are a small multiple of the runs."""


class Record(BaseModel):
    """A table of the record: nothing converted, and what is unknown in it ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class Limits(Record):
    """What the study may spend; None: without limit."""

    charged: Number | None
    wall: Number | None
    runs: Count | None


class Incumbent(Record):
    """The answer."""

    index: Count
    configuration: dict[Text, Text | bool | int | Finite]
    started: Count
    mean: Number | None = None
    """None: infinite, or not said."""
    known_cap: Number | None = None
    """None: the mean is exact, or it is not said."""
    proposed: bool = False
    """Whether the guide proposed it because of results."""


class DefaultRuns(Record):
    """The default."""

    started: Count
    mean: Number | None = None


class Means(Record):
    """Answer and default over the pairs that both have run, up to a cap that both are known to."""

    pairs: Count = 0
    """0: none, or it is not said how many."""
    cap: Number | None
    answer: Number | None
    default: Number | None
    exact: bool


class Certified(Record):
    """A point of the certificate."""

    delta: Finite
    epsilon: Finite
    cap: Number | None = None


class PoolStatement(Record):
    """How far the search has looked, in a space without end."""

    size: Count
    gamma: Number | None
    time_share: Number
    best_point: Certified | None


class SpeedUp(Record):
    """Bounds on how many times as fast as the default the answer is; None: no bound."""

    lower: Number | None = None
    upper: Number | None = None
    headline: Text = ""
    """The same in words; empty: not said."""


class CertificateStatement(Record):
    """The certificate, as `core/statement.py` writes it down."""

    confidence: Number | None = None
    points: tuple[Certified, ...] = Field(default=(), strict=False)
    headline: Text
    gamma: Number | None = None
    pools: tuple[PoolStatement, ...] = Field(strict=False)
    optimal: bool = False
    versus_default: SpeedUp = SpeedUp()
    floor: Number | None = None
    cutoff: Number | None = None
    penalty: Number = 1.0
    """Versions that did not say had no other."""
    looked_at: Count | None = None
    instances: Count | None = None
    seeds: Count | None = None


class FasterForecast(Record):
    """What it takes to certify that the answer is faster than the default."""

    headline: Text
    charged: Number | None = None
    """Seconds of runs; None: it is not in sight."""
    wall: Number | None = None
    """The same on the clock."""
    exact: bool = False
    """Whether all instances must have been run before it is known whether it is faster."""


class CloseForecast(Record):
    """What it takes at least to certify that it is within 1 + epsilon of the best."""

    headline: Text
    charged: Number | None = None
    wall: Number | None = None
    epsilon: Finite
    delta: Finite


class ForecastStatement(Record):
    """How much longer it takes, as `core/outlook.py` writes it down; None: nothing to say."""

    faster: FasterForecast | None = None
    close: CloseForecast | None = None


class Snapshot(Record):
    """A study at one moment."""

    stop: Text | None
    """The words of a StopReason, perhaps one that this version does not know."""
    problem: Text
    charged: Number
    wall: Number
    runs: Count
    solved: Count | None = None
    budget: Limits
    in_flight: Count = 0
    closing: bool = False
    """Whether the rest of the budget is for runs that were put off."""
    crashed: Count
    incumbent: Incumbent | None
    """None, like what follows from it: there is no answer."""
    default: DefaultRuns
    compared: Means | None
    certificate: CertificateStatement | None
    own_seconds: Number
    """CPU time of the driver, of all sessions."""
    busy: Number
    """Share of the time that slots have been busy."""
    forecast: ForecastStatement | None = None
    """None: not said, or there is no answer."""

    @model_validator(mode="after")
    def _has_looked_so_far(self) -> Snapshot:
        """Configurations are drawn one after the other: a number far beyond the runs is damage."""
        if self.incumbent is not None and self.incumbent.index > FARTHEST * (self.runs + 1):
            raise ValueError("no search gets so far with so few runs")
        return self

    def as_data(self) -> dict[str, Any]:
        """Plain data, for the journal and for JSON."""
        return self.model_dump()


def snapshot_of(data: object) -> Snapshot:
    """What was written down as plain data; raises ValueError, which names what is wrong with it."""
    try:
        return Snapshot.model_validate(data)
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise ValueError(f"{place or 'all'} of its progress is not what it should be") from None
