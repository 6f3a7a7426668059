"""Slots on this machine: what they make of targets, generators and supervisors that go wrong."""

from __future__ import annotations

import signal
import threading
import time
import uuid
from pathlib import Path

import pytest

from cunctator.base.records import Status
from cunctator.scenario import load_scenario
from cunctator.study.bulk import completed
from cunctator.study.workers import LocalWorkers, slot_settings
from cunctator.target.execution import Execution
from cunctator.target.instances import PART
from cunctator.target.measurement import Ending, Measurement, Request
from cunctator.target.owner import owner
from cunctator.target.slot import TRIES
from cunctator.target.supervisor import Supervisor
from tests.target.hostility import MARK, marked, wait_until

COMMAND = "command = ['{python}', '-SEc', '''%s''', '{x}', '{instance}']"


@pytest.fixture
def make(tmp_path):
    """Workers for a target, closed in the end."""
    made = []

    def workers(target, instances="names = ['a']", slots=1, more="", budget=""):
        (tmp_path / "scenario.toml").write_text(
            f"[target]\n{target}\n{more}\n[parameters.x]\ntype = 'integer'\nlow = 1\nhigh = 2\n"
            f"default = 1\n[instances]\n{instances}\n[budget]\nruns = 1\n{budget}\n"
        )
        scenario = load_scenario(tmp_path / "scenario.toml")
        made.append(LocalWorkers(slot_settings(scenario, tmp_path / "made"), slots))
        return made[-1]

    yield workers
    for each in made:
        each.close()


def execution(instance="a", cap=10.0, x=1):
    return Execution(1, {"x": x}, instance, 0, cap)


def generator(code):
    return f"""generator = ["{{python}}", "-SEc", '''{code}''', "{{index}}", "{{output}}"]"""


WRITES = generator("import sys; open(sys.argv[2], 'w').write(sys.argv[1])")


@pytest.mark.parametrize("starved", [1, TRIES - 1, TRIES])
def test_a_run_that_is_starved_is_made_again(make, monkeypatch, starved):
    """It must not count as having reached its cap: it has used less."""
    results = [Measurement(Ending.WALL, cpu=0.5, wall=1010.0, idle=5.0)] * starved
    results.append(Measurement(Ending.EXITED, cpu=2.0, wall=3.0, exit_code=0))
    monkeypatch.setattr(Supervisor, "run", lambda self, request: results.pop(0))
    report = make(COMMAND % "pass").submit(execution()).result()
    if starved < TRIES:
        assert report.status is Status.SOLVED and report.seconds == 2.0
    else:
        assert report.abort and "overloaded" in report.details.problem


def test_all_tries_of_a_run_that_is_killed_are_charged(make):
    burns = "import os, time\nwhile time.process_time() < 0.1: pass\nos.kill(os.getpid(), 9)"
    report = make(COMMAND % burns).submit(execution()).result()
    assert report.status is Status.CRASHED and not report.abort
    assert report.details.signal == signal.SIGKILL and "made again" in report.warning
    assert report.seconds == report.details.cpu > 0.09 * TRIES
    assert report.details.wall >= report.details.cpu * 0.9


def test_a_solved_run_pays_for_the_tries_before(make, tmp_path):
    burns = (
        "import os, sys, time\nwhile time.process_time() < 0.2: pass\n"
        f"path = {str(tmp_path / 'tried')!r}\n"
        "if not os.path.exists(path): open(path, 'w').close(); os.kill(os.getpid(), 9)"
    )
    workers = make(COMMAND % burns)
    report = workers.submit(execution()).result()
    assert report.status is Status.SOLVED and 0.35 < report.seconds < 10
    (tmp_path / "tried").unlink()
    report = workers.submit(execution(cap=0.3)).result()
    assert report.status is Status.CAPPED and report.seconds > 0.35


def test_a_configuration_that_kills_its_parent_crashes(make):
    workers = make(
        COMMAND % "import os, sys\nif sys.argv[1] == '2': os.kill(os.getppid(), 9)", slots=1
    )
    assert workers.submit(execution()).result().status is Status.SOLVED
    report = workers.submit(execution(x=2)).result()
    assert report.status is Status.CRASHED and not report.abort
    assert "kills or hangs its parent" in report.details.problem
    assert report.details.ending == Ending.LOST.value and report.seconds > 0
    assert workers.submit(execution()).result().status is Status.SOLVED


def test_a_slot_that_never_answered_ends_the_study(make):
    report = make(COMMAND % "import os; os.kill(os.getppid(), 9)").submit(execution()).result()
    assert report.abort and "supervised" in report.details.problem


def test_an_instance_that_vanishes_during_a_run_is_no_crash(make, tmp_path):
    (tmp_path / "x.cnf").write_text("x")
    code = "import os, sys; os.unlink(sys.argv[2]); sys.exit(3)"
    workers = make(COMMAND % code, "list = ['x.cnf']")
    report = workers.submit(execution(str(tmp_path / "x.cnf"))).result()
    assert report.abort and "x.cnf: this instance has vanished" in report.details.problem


def test_a_generated_instance_is_shown_by_its_place(make, tmp_path):
    workers = make(COMMAND % "pass", WRITES)
    assert workers.argv(execution("7"))[-1] == "7"
    assert workers.submit(execution("7")).result().status is Status.SOLVED
    assert workers.argv(execution("7"))[-1] == str(tmp_path / "made" / "7")


def test_two_slots_make_an_instance_once(make, tmp_path):
    log = str(tmp_path / "log")
    code = (
        f"import sys, time; open({log!r}, 'a').write('.'); time.sleep(0.3);"
        " open(sys.argv[2], 'w').write(sys.argv[1])"
    )
    workers = make(COMMAND % "pass", generator(code), slots=2)
    futures = [workers.submit(execution("7")) for _ in range(2)]
    assert [future.result().status for future in futures] == [Status.SOLVED] * 2
    assert Path(log).read_text() == "."


def test_stopping_calls_a_generator_off(make, tmp_path, monkeypatch):
    mark = uuid.uuid4().hex
    monkeypatch.setenv(MARK, mark)
    code = "import os, time; os.fork(); time.sleep(1000)"
    workers = make(COMMAND % "pass", generator(code), slots=2)
    futures = [workers.submit(execution("7")) for _ in range(2)]
    wait_until(lambda: len(marked(mark)) >= 3)  # a supervisor, a generator and its child
    begun = time.monotonic()
    workers.stop()
    assert [future.result().status for future in futures] == [None, None]
    assert time.monotonic() - begun < 5
    workers.close()
    assert marked(mark) == [] and list((tmp_path / "made").iterdir()) == []


def test_parts_of_makers_that_are_gone_are_removed(make, tmp_path):
    here, number, start = owner().split("-")
    kept = [f"{PART}{owner()}-abc", f"{PART}other", "7"]
    for name in [*kept, f"{PART}{here}-{number}-{int(start) + 1}-abc"]:
        (tmp_path / "made" / name).mkdir(parents=True)
    make(COMMAND % "pass", WRITES)
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == sorted(kept)


def test_supervisors_are_closed_at_the_same_time(make, monkeypatch):
    together = threading.Barrier(3, timeout=10)
    monkeypatch.setattr(Supervisor, "close", lambda self: together.wait())
    make(COMMAND % "pass", slots=3).close()
    assert not together.broken


def test_sleepers_end_soon_and_starved_targets_late(make, monkeypatch):
    asked = []

    def run(self, request: Request) -> Measurement:
        asked.append(request)
        return Measurement(Ending.EXITED, exit_code=0)

    monkeypatch.setattr(Supervisor, "run", run)
    make(COMMAND % "pass").submit(execution(cap=2.0)).result()
    assert (asked[0].idle_cap, asked[0].wall_cap, asked[0].objective) == (21.0, 210.0, "cpu")


@pytest.mark.parametrize("objective", ["cpu", "wall"])
def test_doubts_about_cpu_time_are_a_warning_if_it_counts(make, monkeypatch, objective):
    made = Measurement(Ending.EXITED, exit_code=0, doubt="some doubt")
    monkeypatch.setattr(Supervisor, "run", lambda self, request: made)
    workers = make(COMMAND % "pass", budget=f"[search]\nobjective = '{objective}'\ncutoff = '1s'")
    report = workers.submit(execution()).result()
    assert report.status is Status.SOLVED
    assert report.warning == ("some doubt" if objective == "cpu" else "")


def test_warnings_of_many_runs_are_logged_once(make, monkeypatch, caplog):
    made = Measurement(Ending.EXITED, exit_code=0, doubt="some doubt")
    monkeypatch.setattr(Supervisor, "run", lambda self, request: made)
    reports = list(completed(make(COMMAND % "pass"), [execution() for _ in range(10)]))
    assert len(reports) == 10
    assert [record.message for record in caplog.records] == ["some doubt"]
