"""Slots in other processes, made from settings that were sent there."""

from __future__ import annotations

import errno
import os
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from cunctator.base.errors import GeneratorFailed
from cunctator.base.records import Status
from cunctator.scenario import load_scenario
from cunctator.study.workers import slot_settings
from cunctator.target.execution import Execution
from cunctator.target.measurement import Ending, Measurement
from cunctator.target.slot import Slot

COMMAND = """command = ["/bin/sh", "-c", "cat $1; echo", "sh", "{instance}", "{parameters}"]
answer = '(\\w+)'
"""
FUNCTION = "function = 'time:sleep'\n"

RANDOM = """generator = ["/bin/sh", "-c",
 "sleep 0.5; head -c 8 /dev/urandom | od -An -tx1 | tr -d ' \\\\n' > $1; echo . >> made.log",
 "sh", "{output}", "{index}"]"""
"""Never makes the same instance twice, and counts."""


@pytest.fixture
def settings(tmp_path):
    def make(target=COMMAND, instances="names = ['a']"):
        (tmp_path / "scenario.toml").write_text(
            f"[target]\n{target}\n[parameters.x]\ntype = 'categorical'\nvalues = ['p', 'q']\n"
            f"default = 'p'\nformat = {{p = '-p', q = ['-q', 'q']}}\n[instances]\n{instances}\n"
            "[budget]\nruns = 1\n"
        )
        return slot_settings(load_scenario(tmp_path / "scenario.toml"), tmp_path / "made")

    return make


@pytest.mark.parametrize(
    "target",
    [
        COMMAND,
        "command = ['cat']\nprotocol = 'irace'",
        COMMAND + "memory = '100MB'\nmeasures = {n = '(\\d+)'}",
    ],
)
@pytest.mark.parametrize("instances", ["names = ['a']", RANDOM])
def test_settings_can_be_sent(settings, target, instances):
    made = settings(target, instances)
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    run = Execution(1, {"x": "q"}, "7", 3, 1.5)
    assert again.argv(run) == made.argv(run)
    assert again.request(run, "7") == made.request(run, "7")


def test_settings_are_small(settings):
    """They are sent to each of hundreds of slots."""
    many = [f"instance-{number}" for number in range(10_000)]
    assert len(pickle.dumps(settings(instances=f"names = {many}"))) < 3000


def test_a_function_has_no_command_line(settings, tmp_path):
    (tmp_path / "scenario.toml").write_text(
        f"[target]\n{FUNCTION}[parameters.x]\ntype = 'integer'\nlow = 1\nhigh = 2\ndefault = 1\n"
        "[instances]\nnames = ['a']\n[budget]\nruns = 1\n"
    )
    made = slot_settings(load_scenario(tmp_path / "scenario.toml"), tmp_path)
    again = pickle.loads(pickle.dumps(made))
    run = Execution(1, {"x": 1}, "a", 3, 1.5)
    assert again == made and again.argv(run) == []
    assert again.request(run, "a").target.function == "time:sleep"


def run_there(sent: bytes, execution: Execution) -> tuple[int, bytes]:
    """In another process: make a slot of what was sent, and a run with it."""
    slot = Slot(pickle.loads(sent))
    try:
        return os.getpid(), pickle.dumps(slot.run(execution))
    finally:
        slot.close()


def test_slots_in_other_processes_see_one_instance(settings, tmp_path):
    """Whoever makes it first; all are given the same, and nothing else is left."""
    sent = pickle.dumps(settings(instances=RANDOM))
    with ProcessPoolExecutor(2, get_context("spawn")) as processes:
        futures = [
            processes.submit(run_there, sent, Execution(number, {"x": "p"}, "7", 0, 5.0))
            for number in (1, 2)
        ]
        found = [future.result() for future in futures]
    reports = [pickle.loads(report) for _, report in found]
    assert os.getpid() not in {process for process, _ in found}
    assert [report.status for report in reports] == [Status.SOLVED] * 2
    (place,) = (tmp_path / "made").iterdir()
    assert {report.details.reply for report in reports} == {place.read_text()}


def generated(request):
    """What a generator does, without a process."""
    Path(request.target[4]).write_text("ours")
    return Measurement(Ending.EXITED, exit_code=0)


def test_the_first_instance_is_kept(settings, tmp_path):
    """Somebody else has put one there meanwhile: runs may have been made on it."""
    source = settings(instances=RANDOM).source

    def run(request):
        (tmp_path / "made" / "7").write_text("theirs")
        return generated(request)

    assert Path(source.locate("7", run)).read_text() == "theirs"
    assert [path.name for path in (tmp_path / "made").iterdir()] == ["7"]


@pytest.mark.parametrize("code", [errno.EPERM, errno.EIO])
def test_a_file_system_without_links_will_do(settings, tmp_path, monkeypatch, code):
    def link(*_, **__):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "link", link)
    source = settings(instances=RANDOM).source
    if code == errno.EIO:
        with pytest.raises(GeneratorFailed, match="cannot be made"):
            source.locate("7", generated)
    else:
        assert Path(source.locate("7", generated)).read_text() == "ours"


def test_a_slot_tells_of_its_own_machine(settings):
    slot = Slot(settings(COMMAND.replace("cat $1; ", "")))
    try:
        report = slot.run(Execution(1, {"x": "p"}, "a", 0, 5.0))
        assert report.details.host and report.seconds > 0
        slot.stop()
        assert slot.run(Execution(2, {"x": "p"}, "a", 0, 5.0)).status is None
    finally:
        slot.close()
