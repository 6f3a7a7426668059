"""Supervisors that watch in each of the two ways, and marks by which what they ran is found."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from cunctator.target.process import Request
from cunctator.target.supervisor import METHODS, Supervisor
from tests.target.hostility import marked


@pytest.fixture(scope="module", params=METHODS)
def supervisor(request: pytest.FixtureRequest) -> Iterator[Supervisor]:
    """One for all tests of a file, which has run something before."""
    with Supervisor() as supervisor:
        supervisor._methods = (request.param,)
        if supervisor.run(Request(("/bin/true",), cap=10.0)).method != request.param:
            pytest.skip("no control group can be made here")
        yield supervisor


@pytest.fixture(params=METHODS)
def fresh_supervisor(request: pytest.FixtureRequest) -> Iterator[Supervisor]:
    """One for each test, to kill or stop, whose process is not started yet."""
    with Supervisor() as supervisor:
        supervisor._methods = (request.param,)
        yield supervisor


@pytest.fixture
def mark() -> Iterator[str]:
    """A word for the environment of targets, none of whom is left in the end."""
    mark = uuid.uuid4().hex
    yield mark
    assert marked(mark) == []
