"""`cunctator compare` as users meet it: a comparison, interrupted and taken up, and bad input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from tests.optional import need


def run(*arguments, cwd, **variables):
    command = [sys.executable, "-m", "cunctator", "compare", *map(str, arguments)]
    given = {"cwd": cwd, "capture_output": True, "text": True, "timeout": 300}
    given["env"] = os.environ | variables
    return subprocess.run(command, check=False, **given)


@pytest.fixture
def table(tmp_path):
    random = np.random.default_rng(2)
    means = np.linspace(0.2, 2.0, 6)[:, None]
    runtimes = np.clip(means * random.lognormal(-0.5, 1.0, (6, 80)), 0.01, 10.0)
    names = [f"size={a} mode={b}" for a in (1, 2, 3) for b in "xy"]
    path = tmp_path / "table.npz"
    np.savez(path, runtimes=runtimes, configurations=np.array(names), cutoff=10.0)
    return path


SMALL = ("--epsilon", "0.5,0.9", "--delta", "0.5", "--seeds", "2")


def test_a_comparison_from_beginning_to_end(table, tmp_path):
    need("matplotlib")
    methods = "spc,sp,lb,cr,icar,up,oup,coup,ac-band,sh,hyperband,uniform,paramils,gga"
    shown = run(
        *(table, "--methods", methods, "--formats", "svg", "--json", "all.json"),
        *("--set", "oup.utility=log-laplace,uniform", "--set", "gga.generations=5", *SMALL),
        *("--configuration", "size=2 mode=x"),
        cwd=tmp_path,
    )
    assert shown.returncode == 0, shown.stderr
    assert "The best of 6 configurations" in shown.stdout
    assert "stays within 5% of the best from" in " ".join(shown.stdout.split())
    made = {path.name for path in (tmp_path / "comparison").iterdir()}
    names = ("answers", "excess", "spent", "bound", "variation")
    assert made == {
        *("results.jsonl", "results.csv", "results.json", "summary.md"),
        *(f"{name}.svg" for name in names),
    }
    data = json.loads((tmp_path / "all.json").read_text())
    assert not [job for job in data["jobs"] if "error" in job]
    assert {job["method"] for job in data["jobs"]} == set(methods.split(","))
    for job in data["jobs"]:
        assert sum(job["spent"]) == pytest.approx(job["charged"], rel=1e-6)


def test_interrupted_it_goes_on(table, tmp_path):
    command = [sys.executable, "-m", "cunctator", "compare", str(table), "--methods", "lb,sp"]
    command += ["--workers", "1", "--formats", "none"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        kept = tmp_path / "comparison" / "results.jsonl"
        until = time.monotonic() + 120
        while time.monotonic() < until and not (kept.exists() and kept.read_text().count("\n") > 3):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "jobs; the same command goes on" in said and "Traceback" not in said
    before = kept.read_text()
    again = run(table, "--methods", "lb,sp", "--formats", "none", *SMALL, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert kept.read_text().startswith(before[: before.rfind("\n") + 1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "spc,smac"], "--methods is 'smac'; expected some of spc, sp, lb"),
        (["--epsilon", "0.1,2"], "--epsilon is '0.1,2'; expected numbers between 0 and 1"),
        (["--delta", ""], "--delta is ''; expected numbers between 0 and 1"),
        (["--set", "lb.colour=red"], "the settings of lb are: epsilon, delta, zeta, multiplier"),
        (["--formats", "gif"], "--formats is 'gif'; expected some of png, svg, pdf"),
        (["--configuration", "6"], "--configuration is '6'; expected a name, or a row from 0 to 5"),
        (["--first-cap", "20s"], "--first-cap is 20.0; expected at least 1e-09 s and at most the"),
        (["--json", "table.npz"], "--json is 'table.npz'; expected another file: this one is"),
        (["--json", "comparison/results.jsonl"], "expected another file: this one is needed"),
        (["--json", "comparison/bound.png"], "expected another file: this one is needed"),
        (["--json", "comparison"], "expected another file: this one is needed"),
        (["--budget", "much"], "--budget is 'much'; expected a time"),
        (["--out", "table.npz"], "cannot be used"),
    ],
)
def test_bad_input_is_one_line(table, tmp_path, arguments, message):
    need("matplotlib")
    shown = run(table, *arguments, cwd=tmp_path)
    assert shown.returncode == 2
    assert message in shown.stderr and shown.stderr.count("\n") == 1


def test_nothing_is_compiled_for_a_folder_that_cannot_be_used(table, tmp_path):
    """Compiling takes a minute, and nobody should wait that long to be told."""
    cache = tmp_path / "cache"
    cache.mkdir()
    shown = run(table, "--out", "table.npz", cwd=tmp_path, NUMBA_CACHE_DIR=str(cache))
    assert shown.returncode == 2 and "cannot be used" in shown.stderr
    assert not list(cache.rglob("*.nbi"))


def test_tables_that_are_too_small_or_lack_parameters(table, tmp_path):
    shown = run(table, "--once", "--methods", "lb", "--formats", "none", cwd=tmp_path)
    assert shown.returncode == 1 and "Traceback" not in shown.stderr
    assert "153 of 459 jobs" not in shown.stdout and "459 of 459 jobs failed" in shown.stdout
    assert "instances and the table has 80" in " ".join(shown.stdout.split())
    path = tmp_path / "bare.npz"
    np.savez(path, runtimes=np.ones((4, 5)), cutoff=10.0)
    methods = ("--methods", "spc,paramils", "--formats", "none")
    bare = run(path, *methods, "--out", "other", cwd=tmp_path)
    said = [line for line in bare.stderr.splitlines() if "preparing kernels" not in line]
    assert bare.returncode == 2 and len(said) == 1  # busy machines take long to load them
    assert "bare.npz" in bare.stderr and "paramils goes by parameters" in bare.stderr
    assert "leave paramils out" in bare.stderr
