"""Make the studies of the present version that later versions are tested on.

    python -m tests.studies.make tests/studies/NAME

They are never made again: what counts is that an earlier version made them. Add a folder with
every version that changes the journal or what the search asks for. Runtimes are recorded
(`recorded_workers.py`), so a test can go on with them. They are begun in PLACE, because a journal
holds the folder that its scenario was in, and that must exist wherever they are resumed.
"""

from __future__ import annotations

import dataclasses
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from cunctator.base.records import Status
from cunctator.scenario import load_scenario
from cunctator.study import loop
from cunctator.study.folder import begin_study
from tests.recorded_workers import SCENARIO, SEEDLESS, RecordedWorkers, report_of

PLACE = Path("/tmp")
RUNS = 300
"""That each study has made before its driver is killed."""

FINITE = SEEDLESS.replace('names = ["a", "b", "c"]', f"names = {[f'{n}' for n in range(200)]}")
ENDLESS = SCENARIO.replace("configurations = 12\n", "")
KINDS = {"finite": FINITE, "endless": ENDLESS}


def answered(execution):
    """A run's report, with an answer if it is solved; one in 97 crashes."""
    report = report_of(execution)
    if execution.number % 97 == 0:
        details = dataclasses.replace(report.details, problem="it fell over")
        return dataclasses.replace(report, status=Status.CRASHED, details=details)
    if report.status is Status.SOLVED:
        answer = "SAT" if len(execution.instance) % 2 else "UNSAT"
        return dataclasses.replace(
            report, details=dataclasses.replace(report.details, reply=answer)
        )
    return report


def make(kind: str, slots: int, folder: Path) -> None:
    """One study, killed in the middle of a run of each slot."""
    scenario = PLACE / "cunctator-study-to-keep.toml"
    scenario.write_text(KINDS[kind] + "charged = '1h'\n")

    def report(execution):
        if execution.number > RUNS:
            os._exit(0)
        return answered(execution)

    child = os.fork()
    if child == 0:
        try:
            workers = RecordedWorkers(slots, report)
            with begin_study(load_scenario(scenario), folder, lambda *_: workers) as begun:
                begun.run()
        finally:
            os._exit(1)  # it should have been killed
    exit_code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    scenario.unlink()
    assert exit_code == 0
    for name in ("lock", "study.log"):
        (folder / name).unlink(missing_ok=True)
    with closing(sqlite3.connect(folder / "study.db")) as connection:
        connection.execute("pragma wal_checkpoint(truncate)")


def main() -> None:
    """All kinds, for one slot and for two."""
    loop.PROGRESS_EVERY = 0.0  # they are over in a second, and should tell how it went
    for kind in KINDS:
        for slots in (1, 2):
            make(kind, slots, Path(sys.argv[1]) / f"{kind}-{slots}")


if __name__ == "__main__":
    main()
