"""Studies on recorded runtimes, from their scenario to their journal."""

from __future__ import annotations

from cunctator.scenario import load_scenario
from cunctator.study.folder import begin_study, resumed_study
from cunctator.study.journal.journal import open_journal
from tests.recorded_workers import SCENARIO


def write_scenario(folder, budget, extra="", text=SCENARIO):
    path = folder / "scenario.toml"
    path.write_text(text + budget + extra)
    return load_scenario(path)


def conduct(scenario, directory, workers):
    with begin_study(scenario, directory, lambda *_: workers) as study:
        return study.run()


def go_on(directory, workers, more=0.0):
    with resumed_study(directory, more, lambda *_: workers) as study:
        return study.run()


def events_of(directory):
    journal = open_journal(directory, writing=False)
    journal.check()
    events = journal.events()
    journal.close()
    return events
