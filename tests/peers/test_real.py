"""A real solver on the account: clasp, on few formulas."""

from __future__ import annotations

import pytest

from peers import jobs, real
from peers.jobs import Job
from peers.problem import Account
from tests.optional import need

TRAIN, TEST = 4, 3


@pytest.fixture
def folder(tmp_path, monkeypatch):
    need("clingo")
    need("highspy")
    monkeypatch.setattr(real, "TRAIN", TRAIN)
    monkeypatch.setattr(real, "TEST", TEST)
    real.prepare("clasp", tmp_path)
    return tmp_path


@pytest.mark.extra
def test_runs_are_measured_and_capped(folder):
    problem = real.load_problem("clasp", 3, folder)
    try:
        assert (problem.train, problem.cutoff) == (TRAIN, 5.0)
        default = problem.space.default
        seconds, solved = problem.run(default, 1, 1, 5.0)
        assert solved
        assert 0.0 < seconds < 5.0
        seconds, solved = problem.run(default, 1, 1, 0.02)
        assert not solved
        assert 0.02 <= seconds < 1.0
        assert 0.0 < problem.default_seconds() < 5.0
        assert problem.default_seconds() == problem.default_seconds()
    finally:
        problem.close()


@pytest.mark.extra
def test_everybody_has_the_pairs_of_a_study(folder):
    problem = real.load_problem("clasp", 3, folder)
    try:
        instances = problem.scenario.instances
        assert {instances.pair(place) for place in range(TRAIN)} == set(problem._pairs)
        account = Account(problem, 2.0)
        real.study(problem, account, 3, folder / "study")
        assert account.charged >= 2.0 or account.runs > 0
        assert account.trajectory[0].values == problem.space.default
        for point in account.trajectory:
            assert problem.space.checked(point.values) == point.values
    finally:
        problem.close()


@pytest.mark.extra
def test_a_job_on_a_real_problem_is_kept(folder):
    job = Job("real-clasp", "halving", 0, 4.0, folder)
    result = jobs.do(job)
    assert jobs.done(job).tests == [list(test) for test in result.tests]
    assert result.best is None
    assert [share for share, _ in result.tests] == list(jobs.SHARES)
    assert not job.place.with_suffix("").exists()
