"""Where measurements and models are kept, and what is written down about them.

`measure.py` imports this and little else: the larger a process, the longer its children take to
begin, and the time is theirs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

DATA = Path(__file__).with_name("data")

SOLVED, CUT_OFF, FAILED = range(3)
"""What came of a run."""


FIRST_CHECK = 3
"""The seed of the first check (`replay_check.py`), the next one has the next; no run before has."""


def arrays_in(name: str) -> dict[str, NDArray[Any]]:
    """All arrays of a file: `NAME` for measurements, `NAME.model` for a model."""
    with np.load(DATA / f"{name}.npz") as file:
        return {key: file[key] for key in file.files}


def facts_of(name: str) -> dict[str, Any]:
    """What is written down about a solver."""
    place = DATA / f"{name}.json"
    facts: dict[str, Any] = json.loads(place.read_text("utf-8")) if place.exists() else {}
    return facts


def note(name: str, facts: dict[str, object]) -> None:
    """Write down more about a solver, or the same again."""
    text = json.dumps(facts_of(name) | facts, indent=1)
    (DATA / f"{name}.json").write_text(text + "\n", "utf-8")
