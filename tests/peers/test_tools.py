"""Every tool on a solver that was made up: it keeps to its account, and finds something."""

from __future__ import annotations

import importlib

import pytest

from peers.problem import Account
from tests.peers.made_up import MadeUp

BUDGET = 40.0
"""Seconds: the default takes 0.06 a run."""


def searched(tool: str, folder, seed: int = 1) -> tuple[Account, MadeUp]:
    """A whole search, and what is true of each."""
    problem = MadeUp(seed)
    account = Account(problem, BUDGET)
    importlib.import_module(f"peers.tools.{tool}").search(account, seed, folder)
    assert account.runs == len(problem.asked)
    assert BUDGET <= account.charged <= BUDGET + problem.cutoff
    assert account.trajectory[0].charged == 0.0
    assert all(instance == seed for instance, seed, _ in problem.asked)
    charged = [point.charged for point in account.trajectory]
    assert charged == sorted(charged)
    return account, problem


def speed_up(account: Account, problem: MadeUp) -> float:
    return problem.test_mean(problem.space.default) / problem.test_mean(account.incumbent_at(1.0))


@pytest.mark.parametrize("tool", ["halving", "cunctator_tool"])
def test_a_tool_finds_something_better_than_the_default(tool, tmp_path):
    assert speed_up(*searched(tool, tmp_path)) > 1.5
