from __future__ import annotations

import math
from collections import Counter

from peers.problem import Account
from peers.tools.halving import FIRST_PLACES, SUPPORT, Halving
from tests.peers.made_up import MadeUp


def halving(budget: float = math.inf) -> tuple[Halving, MadeUp]:
    problem = MadeUp(3)
    account = Account(problem, budget)
    return Halving(account, account.seeded_space(3), 3), problem


def test_the_incumbent_has_won_on_as_many_instances_as_a_bracket_leads_to():
    search, _ = halving()
    assert search.bracket(8)
    assert search.incumbent != 0
    assert search.account.trajectory[-1].values == search._space.configuration(search.incumbent)
    known = {number: len(seconds) for number, seconds in search._seconds.items()}
    assert known[search.incumbent] == max(known.values()) == FIRST_PLACES * 4
    assert len(known) == 8


def test_the_default_is_not_replaced_by_luck_on_a_few_instances():
    search, _ = halving()
    search.begin()
    assert len(search._seconds[0]) == SUPPORT
    search.bracket(8)
    assert search.incumbent != 0
    assert len(search._seconds[search.incumbent]) >= SUPPORT


def test_nothing_is_run_twice_and_the_next_bracket_draws_others():
    search, problem = halving()
    made, run = Counter(), problem.run

    def counted(values, instance, seed, cap):
        seconds, solved = run(values, instance, seed, cap)
        made[tuple(values.items()), instance] += solved
        return seconds, solved

    problem.run = counted
    search.bracket(8)
    search.bracket(16)
    assert len(search._seconds) == 8 + 15
    assert max(made.values()) == 1


def test_who_is_hopeless_is_stopped_early():
    search, _ = halving()
    search.bracket(8)
    space = search._space
    slow = [k for k in range(1, 8) if space.configuration(k)["mode"] == "slow"]
    assert slow
    assert all(len(search._seconds[number]) < FIRST_PLACES for number in slow)


def test_a_bracket_ends_with_the_instances():
    search, problem = halving()
    search.bracket(64)
    assert len(search._seconds[search.incumbent]) == problem.train
