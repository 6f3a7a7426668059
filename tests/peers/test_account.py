from __future__ import annotations

import pytest

from peers.problem import Account, BudgetSpent
from tests.peers.made_up import MadeUp


class Steady(MadeUp):
    """Runs of a given length; `crashes` says whether they end without an answer."""

    seconds, crashes = 0.5, False

    def run(self, values, instance, seed, cap):
        self.asked.append((instance, seed, cap))
        return min(self.seconds, cap), self.seconds < cap and not self.crashes


def test_every_run_is_charged_and_the_last_is_made_to_its_end():
    account = Account(Steady(), 1.2)
    for _ in range(3):
        assert account.run(account.space.default, 0).seconds == 0.5
    assert (account.runs, account.charged, account.left) == (3, 1.5, 0.0)
    with pytest.raises(BudgetSpent):
        account.run(account.space.default, 0)
    assert account.runs == 3


def test_no_run_goes_beyond_the_cutoff_or_the_training_instances():
    problem = Steady()
    account = Account(problem, 10.0)
    account.run(account.space.default, 49)
    account.run(account.space.default, 7, 0.3)
    account.run(account.space.default, 7, 3.0)
    assert problem.asked == [(49, 49, 1.0), (7, 7, 0.3), (7, 7, 1.0)]
    for instance in (-1, 50):
        with pytest.raises(IndexError):
            account.run(account.space.default, instance)


def test_what_a_run_counts():
    problem = Steady()
    account = Account(problem, 10.0)
    assert account.run(account.space.default, 0) == (0.5, True, 0.5)
    assert account.run(account.space.default, 0, 0.3) == (0.3, False, 0.3)
    problem.crashes = True
    assert account.run(account.space.default, 0) == (0.5, False, 1.0)
    assert account.charged == pytest.approx(1.3)


def test_the_incumbent_at_a_share_of_the_budget():
    account = Account(Steady(), 10.0)
    default = account.space.default
    first, second = ({**default, "share": share} for share in (0.1, 0.2))
    account.run(default, 0)
    account.note(first)
    account.note(first)
    for _ in range(19):
        account.run(default, 0)
    account.note(second)
    assert len(account.trajectory) == 3
    shares = [account.incumbent_at(share) for share in (0.0, 0.04, 0.05, 0.99, 1.0)]
    assert shares == [default, default, first, first, second]


def test_draws_of_other_seeds_are_others():
    account = Account(MadeUp(), 1.0)
    one, other = account.seeded_space(1), account.seeded_space(2)
    assert one.default == other.default == account.space.default
    assert one.configuration(1) != other.configuration(1)
