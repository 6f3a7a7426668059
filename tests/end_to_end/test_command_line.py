"""The command as a user meets it: a process of its own, its output, its exit code."""

from __future__ import annotations

import json
import os
import pickle
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

COMMAND = [str(Path(sys.executable).with_name("cunctator"))]


def cunctator(*arguments, timeout=400):
    words = [*COMMAND, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=timeout, check=False)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    random = np.random.default_rng(1)
    runtimes = np.exp(random.normal([[0.0], [0.5], [1.0]], 1.0, (3, 400)))
    path = tmp_path_factory.mktemp("table") / "runtimes.npz"
    np.savez(path, runtimes=runtimes, configurations=["fast [b]", "middling", "slow"])
    return path


def test_simulate(table, tmp_path):
    report = tmp_path / "result.json"
    done = cunctator("simulate", table, "--first-cap", "10ms", "--cutoff", "1m", "--json", report)
    assert done.returncode == 0, done.stderr
    assert "proved optimal on this instance set" in done.stdout
    assert "fast [b]" in done.stdout  # names are shown as they are, not read as markup
    data = json.loads(report.read_text())
    assert data["profile"] == "tight"
    assert (data["configurations"], data["instances"]) == (3, 400)
    assert data["incumbent"] == {"index": 0, "name": "fast [b]"}
    assert data["stop"] == "proved optimal on this instance set"
    assert data["trajectory"][-1][2] == 0
    assert len(data["started"]) == 3
    assert [row["index"] for row in data["best"]] == [0, 1, 2]
    assert data["best"][0]["exact"] and data["best"][0]["mean"] == data["best"][0]["lower"]
    assert data["charged"] > data["charged_resumed"] > 0
    assert data["steps"] > 400 and data["scheduler_seconds"] > 0


def test_json_on_standard_output_is_alone_there(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = cunctator("simulate", table, "--first-cap", "10ms", "--cutoff", "1m", "--json", "-")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["incumbent"]["name"] == "fast [b]"
    assert "proved optimal on this instance set" in done.stderr  # people still see it
    assert not (tmp_path / "-").exists()
    done = cunctator("demo", "--solver", "made-up", "--json", "-")
    assert done.returncode == 0 and json.loads(done.stdout)["configurations"] == 200
    done = cunctator("compare", table, "--methods", "uniform", "--seeds", 1, "--formats", "none",
                     "--cutoff", "1m", "--json", "-")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) and "Everything is in" in done.stderr


def test_names_cannot_command_the_terminal(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, runtimes=[[1.0], [2.0]], configurations=["\x1b[2Jfast", "slow\n"])
    done = cunctator("simulate", path)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout and "fast" in done.stdout


def test_budget_and_seed(table, tmp_path):
    report = tmp_path / "result.json"
    done = cunctator("simulate", table, "--budget", "20s", "--seed", 3, "--json", report)
    assert done.returncode == 0, done.stderr
    assert "the budget is spent" in done.stdout
    assert 20 <= json.loads(report.read_text())["charged"] < 80


def test_penalty(table, tmp_path):
    report = tmp_path / "result.json"
    done = cunctator("simulate", table, "--cutoff", "4s", "--penalty", "10", "--json", report)
    assert done.returncode == 0, done.stderr
    assert "or crash count as 40 s (10 times the cutoff)" in " ".join(done.stdout.split())
    data = json.loads(report.read_text())
    assert data["penalty"] == data["certificate"]["penalty"] == 10
    runtimes = np.maximum(np.load(table)["runtimes"][0], 0.1)
    mean = np.where(runtimes >= 4.0, 40.0, runtimes).mean()
    assert data["best"][0]["mean"] == pytest.approx(mean) and data["incumbent"]["index"] == 0


def test_demo(tmp_path):
    report = tmp_path / "result.json"
    done = cunctator("demo", "--solver", "made-up", "--json", report)
    assert done.returncode == 0, done.stderr
    data = json.loads(report.read_text())
    assert data["configurations"] == 200
    assert data["stop"] == "proved optimal on this instance set"
    assert "the most started others of 200" in done.stdout
    assert "Answer: restarts=glucose decay=0.95 phase=saved preprocess=yes" in done.stdout


def refused(*arguments, words):
    done = cunctator(*arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    for word in words:
        assert word in lines[0]


def test_bad_input(table, tmp_path):
    refused("simulate", tmp_path / "no.npz", words=["no.npz", "there is no such file"])
    refused(
        "simulate", table, "--profile", "bold", words=["profile is 'bold'", "tight, proved, paper"]
    )
    refused("simulate", table, "--first-cap", "0s", words=["first_cap is 0.0"])
    refused("simulate", table, "--first-cap", "soon", words=["--first-cap", "250ms"])
    refused("simulate", table, "--cutoff", "1ms", words=["cutoff is 0.001", "first cap"])
    refused("simulate", table, "--budget", "0", words=["budget is 0"])
    refused("simulate", table, "--penalty", "10", words=["penalty is 10.0", "there is none"])
    refused("simulate", table, "--cutoff", "1m", "--penalty", "0.5", words=["expected 1 to"])
    refused("simulate", table, "--json", tmp_path / "no" / "r.json", words=["--json", "folder"])
    refused("simulate", table, "--seed", "x", words=["--seed", "integer"])
    refused("simulate", words=["table"])
    refused("simulate", table, "--sneed", "1", words=["--sneed"])
    refused("stimulate", words=["stimulate"])
    ragged = tmp_path / "ragged.csv"
    ragged.write_text("1,2\n3\n")
    refused("simulate", ragged, words=["ragged.csv", "line 2"])


def test_a_demonstration_without_runs_has_no_workers():
    refused("demo", "--solver", "made-up", "--workers", 2, words=["--workers", "leave it out"])


def test_a_hostile_pickle_is_refused(tmp_path):
    class Attack:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "executed"),)

    path = tmp_path / "measurements.dump"
    path.write_bytes(pickle.dumps({"a": Attack()}))
    refused("simulate", path, words=["measurements.dump", "mkdir", "refused"])
    assert not (tmp_path / "executed").exists()


def test_ctrl_c_keeps_what_was_found(tmp_path):
    path = tmp_path / "large.npz"
    random = np.random.default_rng(0)
    np.savez(path, runtimes=np.exp(random.normal(3, 2, (3000, 3000))))
    report = tmp_path / "result.json"
    words = [*COMMAND, "simulate", str(path), "--json", str(report)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(4.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    if report.exists():  # the signal came while it ran, not while it loaded
        assert "interrupted" in out
        assert json.loads(report.read_text())["stop"] == "interrupted"
    else:
        assert "interrupted before" in err


def test_the_json_is_there_whatever_becomes_of_the_printing(table, tmp_path):
    report = tmp_path / "result.json"
    report.write_text("old")
    words = [*COMMAND, "simulate", str(table), "--json", str(report)]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert json.loads(report.read_text())["incumbent"]["index"] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["result.json"]


def test_a_reader_that_has_had_enough(table, tmp_path):
    report = tmp_path / "result.json"
    words = [*COMMAND, "simulate", str(table), "--json", str(report)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert b"print" not in process.stderr.read() and process.wait() == 0
    assert json.loads(report.read_text())["incumbent"]["index"] == 0
    process.stderr.close()


def test_certificate_and_target(table, tmp_path):
    report = tmp_path / "result.json"
    done = cunctator("simulate", table, "--epsilon", 3, "--delta", 0.4, "--json", report)
    assert done.returncode == 0, done.stderr
    data = json.loads(report.read_text())
    assert data["stop"] == "the certificate has reached its target"
    assert data["certificate"]["confidence"] == 0.95
    assert any(p["delta"] <= 0.4 and p["epsilon"] <= 3 for p in data["certificate"]["points"])
    printed, speed_up = " ".join(done.stdout.split()), data["certificate"]["versus_default"]
    assert set(speed_up) == {"lower", "upper", "headline"}
    # What people ask first comes first.
    assert 0 <= printed.find(speed_up["headline"]) < printed.find(data["certificate"]["headline"])
    refused("simulate", table, "--epsilon", 0.1, words=["--epsilon", "give --delta as well"])
    refused("simulate", table, "--epsilon", -1, "--delta", 0.1, words=["epsilon is -1"])
    refused("simulate", table, "--epsilon", 1, "--delta", 1, words=["delta is 1"])
    refused("simulate", table, "--confidence", 1.5, words=["confidence is 1.5"])
    short = ["--epsilon", 1, "--delta", 0.01, "--budget", "1s"]
    refused("simulate", table, *short, words=["delta is 0.01", "runs at least"])


def test_help_and_version():
    assert "simulate" in cunctator("--help").stdout
    assert cunctator().returncode == 2
    assert cunctator("--version").stdout.startswith("cunctator 0.")
    assert subprocess.run([sys.executable, "-m", "cunctator", "--version"], check=True)


def test_importing_is_quick():
    """Under 0.3 s, the best of five to be fair on a busy machine; no kernel is loaded for it."""
    code = (
        "import time; begun = time.perf_counter(); import cunctator;"
        "print(time.perf_counter() - begun); import sys; assert 'numba' not in sys.modules"
    )
    times = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
        for _ in range(5)
    ]
    assert min(times) < 0.3


def test_the_first_compilation_announces_itself(tmp_path):
    """Not run to the end: a new cache folder makes it compile, and it says so within seconds."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    words = [*COMMAND, "demo", "--solver", "made-up"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               text=True, env=environment)  # fmt: skip
    try:
        assert "preparing kernels" in process.stderr.readline()
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("limit", [512 * 2**20, 10**9])
def test_too_little_memory_is_said_before_a_library_hangs(limit):
    """As `ulimit -v` would limit it."""
    done = subprocess.run(
        [*COMMAND, "simulate", "minisat"],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert done.returncode == 2 and not done.stdout
    (line,) = done.stderr.splitlines()
    assert "(ulimit -v); at least 1.5 GB are needed: raise the limit" in line
