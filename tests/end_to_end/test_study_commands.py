"""Studies as a user meets them: commands, real processes, Ctrl-C, kills, exit codes."""

from __future__ import annotations

import json
import shlex
import shutil
import signal
import subprocess
import time

import psutil
import pytest

from cunctator.base.errors import StudyProblem
from cunctator.core.sentinels import ASKED
from cunctator.core.tester import SOLVED
from cunctator.demo.formulas import write_formulas
from cunctator.scenario import load_scenario
from cunctator.study.journal.journal import open_journal
from tests.end_to_end.driving import supervisors_of
from tests.end_to_end.test_command_line import COMMAND, cunctator

SOLVER = """
import random, sys, time
speed, instance, seed = float(sys.argv[1]), sys.argv[2], sys.argv[3]
end = time.process_time() + speed * random.Random(instance + seed).expovariate(1 / 0.02)
while time.process_time() < end:
    pass
print("answer", instance)
sys.exit(10)
"""
SCENARIO = """
[target]
command = ["{python}", "-S", "-E", "solver.py", "{speed}", "{instance}", "{seed}"]
success = [10]
answer = "answer (.*)"
[parameters.speed]
type = "real"
low = 0.2
high = 5.0
log = true
default = 1.0
[instances]
names = ["a", "b c", "$d"]
[test_instances]
names = ["e", "f"]
[search]
first_cap = "10ms"
cutoff = "1s"
configurations = 8
workers = 2
[budget]
wall = "3s"
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "solver.py").write_text(SOLVER)
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    yield tmp_path
    assert not running(tmp_path), "a process was left behind"


def running(folder):
    """Processes that were started by a study in this folder."""
    found = []
    for process in psutil.process_iter(["cwd", "cmdline"]):
        words = " ".join(process.info["cmdline"] or [])
        if process.info["cwd"] == str(folder) and "solver.py" in words:
            found.append(words)
    return found


def outcomes(study):
    try:
        journal = open_journal(study, writing=False)
    except StudyProblem:
        return []  # it is just being made
    events = journal.events()
    journal.close()
    return events.status[events.status != ASKED].tolist()


def told(study):
    return len(outcomes(study))


def test_from_the_scenario_to_the_validation(folder):
    study, report = folder / "study", folder / "r.json"
    done = cunctator("check", folder / "scenario.toml")
    assert done.returncode == 0 and "All is well" in done.stdout, done.stdout + done.stderr
    done = cunctator("run", folder / "scenario.toml", study, "--json", report)
    assert done.returncode == 0, done.stderr
    assert "Stopped: the budget is spent" in done.stdout and "Command:" in done.stdout
    data = json.loads(report.read_text())
    assert data["runs"] == told(study) > 20 and data["crashed"] == 0
    # How good it is after three seconds depends on how busy the machine is.
    assert 0 < data["charged"] < 7 and data["incumbent"]["configuration"]["speed"] < 5.0
    status = cunctator("status", study, "--json", "-")  # the data alone, the words beside it
    assert status.returncode == 0 and f"{data['runs']:,} runs" in status.stderr
    assert json.loads(status.stdout)["runs"] == data["runs"]
    before = told(study)
    done = cunctator("resume", study, "--more", "1s", "--json", "-")
    assert done.returncode == 0 and told(study) > before, done.stderr
    assert json.loads(done.stdout)["runs"] == told(study)
    done = cunctator("validate", study, "--pairs", 4, "--json", "-")
    assert done.returncode == 0 and "Speed-up" in done.stderr, done.stderr
    data = json.loads(done.stdout)
    assert len(data["default"]) == len(data["answer"]) == len(data["pairs"]) == 4
    low, high = data["interval"]
    assert low <= data["speed_up"] <= high


def start(folder, *arguments):
    words = [*COMMAND, *map(str, arguments)]
    process = subprocess.Popen(
        words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    study = folder / "study"
    deadline = time.monotonic() + 120
    while not (study / "study.db").exists() or told(study) < 5:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    return process


def test_ctrl_c_once_saves_and_answers(folder):
    text = SCENARIO.replace('"3s"', '"60s"')
    (folder / "scenario.toml").write_text(text)
    process = start(folder, "run", "scenario.toml", "study")
    wait_for(lambda: SOLVED in outcomes(folder / "study"), process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "Stopped: interrupted" in out and "Command:" in out and "Traceback" not in err


def wait_for(condition, process):
    deadline = time.monotonic() + 240
    while not condition():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)


def begun(folder, words, ending=""):
    """A command in a process of its own, both of whose streams are one pipe, as for `tee`."""
    line = f"exec {shlex.join([*COMMAND, *words])} {ending}"
    return subprocess.Popen(
        ["sh", "-c", line], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


@pytest.mark.parametrize("ending", ["", "2>&-", ">&- 2>&-"])
def test_ctrl_c_when_nobody_reads_any_more(folder, ending):
    """As with `2>&1 | tee log`: Ctrl-C ends tee first."""
    (folder / "scenario.toml").write_text(SCENARIO.replace('"3s"', '"600s"'))
    words = ["run", "scenario.toml", "study", "--json", "r.json"]
    process, study = begun(folder, words, ending), folder / "study"
    wait_for(lambda: (study / "study.db").exists() and told(study) >= 5, process)
    process.stdout.close()
    process.send_signal(signal.SIGINT)
    assert process.wait(120) == 130
    assert json.loads((folder / "r.json").read_text())["stop"] == "interrupted"
    journal = open_journal(study, writing=False)
    progress = journal.last_progress()
    journal.close()
    assert progress[1].stop == "interrupted"
    assert (study / "lock").read_text() == ""


def test_ctrl_c_of_a_measurement_when_nobody_reads_any_more(folder):
    process = begun(folder, ["measure", "scenario.toml", "--pairs", "100", "--out", "t.npz"])
    wait_for((folder / "t.npz.db").exists, process)
    process.stdout.close()
    process.send_signal(signal.SIGINT)
    assert process.wait(120) == 130


def test_ctrl_c_of_a_validation_when_nobody_reads_any_more(folder):
    assert cunctator("run", folder / "scenario.toml", folder / "study").returncode == 0
    log = folder / "runs"
    solver = (folder / "solver.py").read_text()
    (folder / "solver.py").write_text(f"open({str(log)!r}, 'a').write('x')\n{solver}")
    words = ["validate", "study", "--pairs", "2000", "--json", "v.json"]
    process = begun(folder, words)
    wait_for(lambda: log.exists() and log.stat().st_size > 12, process)
    process.stdout.close()
    process.send_signal(signal.SIGINT)
    assert process.wait(120) == 130
    assert json.loads((folder / "v.json").read_text())["interrupted"]


def test_a_reader_that_has_had_enough(folder):
    """As with `| head -1`: it goes on to its end, which is what counts."""
    process = begun(folder, ["run", "scenario.toml", "study", "--json", "r.json"])
    process.stdout.close()
    assert process.wait(240) == 0
    assert json.loads((folder / "r.json").read_text())["stop"] == "the budget is spent"


def test_a_killed_driver_leaves_nothing_running_and_loses_nothing(folder):
    (folder / "scenario.toml").write_text(SCENARIO.replace('wall = "3s"', "runs = 60"))
    process = start(folder, "run", "scenario.toml", "study")
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 10
    while running(folder) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not running(folder)
    before = told(folder / "study")
    done = cunctator("resume", folder / "study")
    assert done.returncode == 0 and told(folder / "study") == 60 > before, done.stderr


def test_options_of_run_are_kept_by_the_study(folder):
    study, place = folder / "study", folder / "scenario.toml"
    done = cunctator("run", place, study, "--budget", "60runs", "--wall", "10m", "--workers", 1,
                     "--seed", 9, "--cutoff", "500ms", "--penalty", 10,
                     "--json", "-")  # fmt: skip
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["runs"] == 60 and data["stop"] == "the budget is spent"
    assert data["budget"]["runs"] == 60 and data["budget"]["wall"] == 600
    assert data["certificate"]["penalty"] == 10
    assert place.read_text() == SCENARIO
    done = cunctator("resume", study, "--more", "5runs", "--json", "-")
    assert done.returncode == 0, done.stderr
    again = json.loads(done.stdout)
    assert again["runs"] == 65 and again["budget"]["wall"] == 600
    kept = load_scenario(study / "scenario.toml", folder)
    assert (kept.search.seed, kept.search.workers, kept.search.cutoff) == (9, 1, 0.5)
    assert kept.search.penalty == 10 and again["certificate"]["penalty"] == 10
    refused(
        "run", place, folder / "b", "--penalty", "0", words=["cunctator: --penalty:", "at least 1"]
    )
    refused("run", place, folder / "b", "--budget", "0s", words=["--budget:", "'0s'"])
    refused("run", place, folder / "b", "--penalty", "nan", words=["--penalty is nan", "e.g. 10"])
    refused("run", place, folder / "b", "--budget", "much", words=["--budget is 'much'"])
    refused("run", place, folder / "b", "--cutoff", "2x", words=["--cutoff is '2x'", "2m30s"])
    refused("run", place, folder / "b", "--cutoff", "1ms", words=["below the first cap"])
    refused("run", place, folder / "b", "--workers", "0", words=["--workers"])
    refused("run", place, folder / "b", "--seed", str(2**40), words=["--seed:"])


def test_init_writes_an_example(tmp_path):
    path = tmp_path / "new.toml"
    assert cunctator("init", path).returncode == 0
    assert "minisat" in path.read_text()
    again = cunctator("init", path)
    assert again.returncode == 2 and "that exists already" in again.stderr
    path.write_text("mine")
    assert cunctator("init", path).returncode == 2 and path.read_text() == "mine"
    assert cunctator("init", path, "--force").returncode == 0
    assert "minisat" in path.read_text()


def refused(*arguments, code=2, words=()):
    done = cunctator(*arguments)
    assert done.returncode == code, done.stdout + done.stderr
    message = done.stdout + done.stderr
    assert "Traceback" not in message
    if code == 2:
        assert len(done.stderr.splitlines()) == 1, done.stderr
    for word in words:
        assert word in " ".join(message.split()), message


def test_what_is_wrong_is_said_in_one_line(folder):
    path = folder / "scenario.toml"
    refused("run", folder / "missing.toml", words=["missing.toml"])
    refused("resume", folder, words=["this is not a study"])
    refused("status", folder, words=["this is not a study"])
    path.write_text(SCENARIO.replace("{speed}", "{sped}"))
    refused("run", path, words=["scenario.toml, line", "sped"])
    path.write_text(SCENARIO.replace('"{python}"', '"no-such-program"'))
    refused("run", path, words=["no-such-program"])
    path.write_text(SCENARIO.replace('wall = "3s"', "runs = 0"))
    refused("run", path, words=["budget.runs"])
    assert not (folder / "scenario.study").exists()


def test_a_check_tries_the_users_own_configurations(folder):
    initial = "[[initial]]\nspeed = 2.5\n[[initial]]\nspeed = 3.5\n"
    (folder / "scenario.toml").write_text(SCENARIO + initial)
    out = cunctator("check", folder / "scenario.toml").stdout
    words = ["default", "initial 1", "initial 2", "random", "All is well"]
    assert all(word in out for word in words), out


@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_check_breaks_no_path(folder, width, monkeypatch):
    """At any width: the table has all its words, and paths and commands can be copied."""
    monkeypatch.setenv("COLUMNS", str(width))
    deep = "a folder of some length/and another one in it/" + "x" * 60
    (folder / deep).mkdir(parents=True)
    (folder / deep / "instance.cnf").write_text("")
    text = SCENARIO.replace('names = ["a", "b c", "$d"]', f'list = ["{deep}/instance.cnf"]')
    (folder / "scenario.toml").write_text(text.replace('answer = "answer (.*)"\n', ""))
    done = cunctator("check", folder / "scenario.toml")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert f"Instance 1: {deep}/instance.cnf" in lines
    assert any(line.startswith("The first was: ") and "instance.cnf" in line for line in lines)
    rows = [line for line in lines if " on 1 " in line]
    assert len(rows) >= 3 and all("solved" in row for row in rows)
    assert "\N{HORIZONTAL ELLIPSIS}" not in done.stdout, "something is cut"
    assert len(lines) < 16, done.stdout
    others = [line for line in lines if "instance.cnf" not in line]
    assert max(map(len, others)) <= width


def test_a_check_says_what_a_wrapper_warns_of(folder):
    """A runner of irace that prints a cost, or a made-up time, where a time is meant."""
    (folder / "runner.py").write_text("print(12345.6)")
    text = SCENARIO.replace('"solver.py", "{speed}", "{instance}", "{seed}"]', '"runner.py"]')
    text = text.replace('success = [10]\nanswer = "answer (.*)"', 'protocol = "irace"')
    (folder / "scenario.toml").write_text(text)
    out = " ".join(cunctator("check", folder / "scenario.toml").stdout.split())
    assert "A problem: in 4 of 4 runs the target reports a time that is far from" in out, out
    assert "12345.6 s for a run of" in out and "The measured time is what counts" in out, out
    assert "all is well" not in out.lower()
    done = cunctator("run", folder / "scenario.toml", folder / "study")
    said = " ".join(done.stdout.split())
    assert "Warning: the wrapper reports 12345.6 s for a run of" in said, said
    assert "the measured one counts" in said
    (folder / "runner.py").write_text("print(12345.6, 12345.6)")
    out = " ".join(cunctator("check", folder / "scenario.toml").stdout.split())
    assert "far from the measured one" in out and "counted as cut off" in out, out


def test_a_target_that_always_fails(folder):
    (folder / "solver.py").write_text("import sys; sys.exit('out of luck')")
    refused("check", folder / "scenario.toml", code=1, words=["fault", "out of luck"])
    study = folder / "study"
    words = ["the default configuration crashes", "out of luck", "crashed", "solver.py"]
    text = SCENARIO.replace('"3s"', '"60s"')  # it ends of itself
    (folder / "scenario.toml").write_text(text)
    refused("run", folder / "scenario.toml", study, code=1, words=words)


def test_a_wrong_list_of_exit_codes(folder):
    text = SCENARIO.replace("success = [10]", "success = [77]").replace('"3s"', '"60s"')
    (folder / "scenario.toml").write_text(text)
    study = folder / "study"
    words = ["Stopped: the default configuration crashes", "success = [10, 20, 77]"]
    refused("run", folder / "scenario.toml", study, code=1, words=words)
    assert told(study) < 500
    status = cunctator("status", study)
    assert status.returncode == 0 and "there is no answer" in status.stdout
    refused("validate", study, words=["no run was solved"])


@pytest.mark.extra
@pytest.mark.skipif(shutil.which("minisat") is None, reason="install minisat (Debian: minisat)")
def test_minisat_on_formulas(tmp_path):
    write_formulas(tmp_path / "cnf", 12, seed=5)
    path = tmp_path / "scenario.toml"
    assert cunctator("init", path).returncode == 0
    text = path.read_text()
    text = text.replace('charged = "10h"', 'charged = "20s"').replace('wall = "5h"', 'wall = "4s"')
    path.write_text(text.replace("configurations = 100", "configurations = 6"))
    done = cunctator("check", path)
    assert done.returncode == 0 and "All is well" in done.stdout, done.stdout
    done = cunctator("run", path, tmp_path / "study")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 crashes" in " ".join(done.stdout.split())


def test_a_killed_supervisor_costs_nothing_but_its_run(folder):
    (folder / "scenario.toml").write_text(SCENARIO.replace('wall = "3s"', "runs = 200"))
    process, study = start(folder, "run", "scenario.toml", "study"), folder / "study"
    for _ in range(5):
        wait_for(lambda: supervisors_of(process), process)
        before = told(study)
        supervisors_of(process)[0].kill()  # the older one: each of the two in turn
        wait_for(lambda: told(study) > before + 4, process)  # noqa: B023 (called in the loop only)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert " 0 crashes" in " ".join(out.split()) and "Stopped: the budget is spent" in out
