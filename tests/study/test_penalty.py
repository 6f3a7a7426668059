"""Studies in which timeouts count several times: gone on with as they were, and told in words."""

from __future__ import annotations

import dataclasses

import pytest

from cunctator.base.errors import DifferentReplay, StudyProblem
from cunctator.core.replay import replay
from cunctator.core.scheduler import Scheduler
from cunctator.show.study import facts, story
from cunctator.study.folder import COPY, resumed_study
from cunctator.study.snapshot import CertificateStatement, snapshot_of
from tests.recorded_workers import SCENARIO, RecordedWorkers
from tests.study.conducting import conduct, events_of, write_scenario

TEXT = SCENARIO.replace('"5s"', '"100ms"\npenalty = 10')
"""A fifth of the default's runs are cut off."""


@pytest.fixture
def study(tmp_path):
    directory = tmp_path / "study"
    conduct(write_scenario(tmp_path, "runs = 300", text=TEXT), directory, RecordedWorkers())
    return directory


def go_on(directory, more_runs):
    workers = RecordedWorkers()
    with resumed_study(directory, 0.0, lambda *_: workers, more_runs) as resumed:
        return resumed.run(), resumed.scheduler


def put_through(directory, penalty):
    """Go through a study's journal with a scheduler of its scenario's settings."""
    scheduler = Scheduler(12, None, first_cap=0.01, cutoff=0.1, penalty=penalty)
    replay(scheduler, events_of(directory))
    return scheduler


def test_the_same_runs_are_asked_for_when_it_is_resumed(study):
    before = events_of(study).number.size
    view, scheduler = go_on(study, 200)
    assert view.spent.runs == 500 and events_of(study).number.size > before
    again = put_through(study, 10)
    assert again.standing(0) == scheduler.standing(0)
    assert again.recommend() == scheduler.recommend()
    with pytest.raises(DifferentReplay):
        put_through(study, 1)


def test_another_penalty_is_another_study(study):
    copy = study / COPY
    for text in (TEXT.replace("penalty = 10", "penalty = 2"), TEXT.replace("penalty = 10", "")):
        copy.write_text(text + "runs = 300")
        with pytest.raises(StudyProblem, match="is not what it was when it began"):
            go_on(study, 10)
    copy.write_text(TEXT.replace("penalty = 10", "penalty = 10.0") + "runs = 300")
    assert go_on(study, 10)[0].spent.runs == 310


def test_means_and_the_certificate_say_how_timeouts_count(study):
    view, scheduler = go_on(study, 10)
    snapshot = view.snapshot()
    assert snapshot.certificate.penalty == view.certificate.penalty == 10
    told = " ".join(" ".join(str(line) for line in story(view, [])).split())
    assert "or crash count as 1 s (10 times the cutoff)" in told
    known = scheduler.state.rules.cutoff
    for cap, words in ((known, "timeouts count 10 times the cutoff"), (0.04, "up to 40 ms")):
        compared = view.compared._replace(cap=cap)
        incumbent = dataclasses.replace(view.incumbent, known_cap=cap, exact=False)
        shown = dataclasses.replace(view, compared=compared, incumbent=incumbent).snapshot()
        assert words in " ".join(facts(shown))


def test_versions_that_do_not_say_it_counted_timeouts_once(study):
    data = go_on(study, 10)[0].snapshot().as_data()
    del data["certificate"]["penalty"]
    assert snapshot_of(data).certificate.penalty == 1
    assert CertificateStatement.model_fields["penalty"].default == 1
