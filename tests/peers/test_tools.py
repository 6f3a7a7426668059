"""Every tool on a solver that was made up: it keeps to its account, and finds something."""

from __future__ import annotations

import importlib
import re

import pytest

from peers.jobs import missing
from peers.problem import Account
from peers.tools.irace import UNITS, Names
from tests.optional import need
from tests.peers.made_up import MadeUp

BUDGET = 40.0
"""Seconds: the default takes 0.06 a run."""


def searched(tool: str, folder, seed: int = 1, budget: float = BUDGET) -> tuple[Account, MadeUp]:
    """A whole search, and what is true of each."""
    problem = MadeUp(seed)
    account = Account(problem, budget)
    importlib.import_module(f"peers.tools.{tool}").search(account, seed, folder)
    assert account.runs == len(problem.asked)
    assert 0.9 * budget <= account.charged <= budget + problem.cutoff
    assert account.trajectory[0].charged == 0.0
    assert all(instance == seed for instance, seed, _ in problem.asked)
    charged = [point.charged for point in account.trajectory]
    assert charged == sorted(charged)
    return account, problem


def speed_up(account: Account, problem: MadeUp) -> float:
    return problem.test_mean(problem.space.default) / problem.test_mean(account.incumbent_at(1.0))


@pytest.mark.parametrize("tool", ["halving", "cunctator_tool", "unguided"])
def test_a_tool_finds_something_better_than_the_default(tool, tmp_path):
    assert speed_up(*searched(tool, tmp_path)) > 1.5


@pytest.mark.extra
def test_irace_finds_something_and_counts_time_as_we_do(tmp_path):
    if what := missing("irace"):
        pytest.skip(what)
    account, problem = searched("irace", tmp_path, 2)
    assert speed_up(account, problem) > 1.5
    said = (tmp_path / "stdout.txt").read_text()
    used = float(re.findall(r"timeUsed: ([\d.]+)", said)[-1]) * problem.cutoff / UNITS
    assert 0.5 * account.charged < used <= account.charged + 1e-6
    caps = {cap for _, _, cap in problem.asked}
    assert min(caps) < 0.5 * problem.cutoff
    assert max(caps) == problem.cutoff


@pytest.mark.extra
def test_smac_finds_something(tmp_path):
    need("smac")
    account, problem = searched("smac", tmp_path, budget=8.0)
    assert speed_up(account, problem) > 1.5
    assert min(cap for _, _, cap in problem.asked) < 0.5 * problem.cutoff


@pytest.mark.extra
def test_optuna_finds_something(tmp_path):
    need("optuna")
    account, problem = searched("optuna_tpe", tmp_path)
    assert speed_up(account, problem) > 1.5
    instances = {instance for instance, _, _ in problem.asked}
    assert len(instances) == importlib.import_module("peers.tools.optuna_tpe").INSTANCES


@pytest.mark.extra
def test_smac_is_told_the_whole_space():
    need("smac")
    names = importlib.import_module("peers.tools.smac").Names(MadeUp().space, 1)
    assert names.values(names.space.get_default_configuration()) == MadeUp().space.default
    for configuration in names.space.sample_configuration(50):
        names.values(configuration)  # or it is not of our space
    assert [c.parent.name for c in names.space.parent_conditions_of["depth"][0].components] == [
        "deep",
        "level",
    ]


def test_a_configuration_survives_its_way_through_irace():
    space = MadeUp().space
    names = Names(space)
    lines = list(names.lines())
    assert lines[-1].endswith(' | (p4 %in% c("0")) & (p3 %in% c("1", "2"))')
    assert names.values(["p0=1", "p1=0.25", "p2=7", "p3=0", "p4=1", "p5=NA"]) == {
        "mode": "clever",
        "share": 0.25,
        "size": 7,
        "level": 0,
        "deep": False,
    }
