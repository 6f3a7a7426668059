"""Runs the best configurations of a replay for real: are they as good as it says?

    cd benchmarks; python -m peers.replay_check NAME FOLDER

A model is most wrong where a search on it ends: the best by its account are those that it thinks
too well of. So these are run on all instances, what the model had said is written down beside what
came out, and they join the measurements; then fit again (`replay_fit.py`, `replay_best.py`).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from peers.measure import Measurement, begun, save
from peers.replay_files import FIRST_CHECK, arrays_in, facts_of, note


def resumed(name: str, folder: Path) -> Measurement:
    """What has been measured before."""
    made = begun(name, folder)
    found = arrays_in(name)
    made.configurations = [json.loads(str(text)) for text in found["configurations"]]
    columns = ("configuration", "instance", "seed", "seconds", "verdict")
    made.cells = list(zip(*(found[column].tolist() for column in columns), strict=True))
    facts = facts_of(name)
    made.spent, made.drawn = facts["seconds"], facts["drawn"]
    return made


def measured_now(made: Measurement, name: str) -> list[float]:
    """Means of the leaders as shares of what the default takes now."""
    facts = facts_of(name)
    seed = FIRST_CHECK + len(facts.get("checks", []))
    leaders = [leader["values"] for leader in facts["leaders"]]
    numbers = [made.add(values) for values in [made.scenario.space.default, *leaders]]
    made.best.clear()
    for instance in range(len(made.instances)):  # all of them at about the same time
        for number in numbers:
            made.measure(number, instance, seed)
    means = [float(np.mean(list(made.best[number].values()))) for number in numbers]
    return [mean / means[0] for mean in means[1:]]


def main() -> None:
    """Check one, and write it down."""
    name, folder = sys.argv[1], Path(sys.argv[2])
    made = resumed(name, folder)
    came_out = measured_now(made, name)
    save(name, made)
    facts = facts_of(name)
    said = [leader["over_default"] for leader in facts["leaders"]]
    check = {"said": said, "measured": np.round(came_out, 3).tolist()}
    note(name, {"checks": [*facts.get("checks", []), check]})


if __name__ == "__main__":
    main()
