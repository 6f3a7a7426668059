"""Parameters' values from the names of configurations, neighbours, and the nearest row."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cunctator.base.errors import InvalidTable
from cunctator.recorded.table import make_table
from cunctator.siblings.table_space import read_neighbours, read_parameters


def named(*names: str):
    return make_table(np.ones((len(names), 1)), names, source="runs.csv")


def test_numbers_are_ordered_by_size_and_texts_by_their_letters():
    space = read_parameters(named("size=9 mode=b", "size=10 mode=a", "size=1e1 mode=b"))
    assert space.parameters == ("size", "mode")
    assert space.values.tolist() == [[0, 1], [1, 0], [1, 1]]  # 9 < 10, and 1e1 is 10
    assert space.sizes.tolist() == [2, 2]
    assert space.ordered.tolist() == [True, False]


def test_dashes_make_no_difference_and_switches_are_true_or_false():
    plain = read_parameters(named("decay=0.5 luby=true", "decay=0.9 luby=false"))
    dashed = read_parameters(named("-decay=0.5 -luby", "--decay=0.9 --no-luby"))
    assert dashed.parameters == plain.parameters == ("decay", "luby")
    assert dashed.values.tolist() == plain.values.tolist() == [[0, 1], [1, 0]]


def test_the_words_may_come_in_any_order():
    space = read_parameters(named("a=1 b=1", "b=2 a=1", "b=1 a=2"))
    assert space.values.tolist() == [[0, 0], [0, 1], [1, 0]]


def test_what_a_row_lacks_is_a_value_of_its_own_without_an_order():
    space = read_parameters(named("a=1 b=1", "a=2 b=1", "b=2"))
    assert space.values.tolist() == [[0, 0], [1, 0], [2, 1]]
    assert space.sizes.tolist() == [3, 2]
    assert space.ordered.tolist() == [False, True]


def test_a_parameter_with_one_value_is_left_out():
    space = read_parameters(named("a=1 same=x b=1", "a=1 same=x b=2", "a=2 same=x b=1"))
    assert space.parameters == ("a", "b")


def test_numbers_that_are_none_are_texts():
    space = read_parameters(named("a=nan b=1", "a=10 b=2", "a=9 b=1"))
    assert space.ordered.tolist() == [False, True]
    assert space.values[:, 0].tolist() == [2, 0, 1]  # "10" < "9" < "nan"


def test_a_value_may_hold_an_equals_sign_or_nothing():
    space = read_parameters(named("a=x=1 b=", "a=x=2 b=1"))
    assert space.values.tolist() == [[0, 0], [1, 1]]


@pytest.mark.parametrize(
    ("names", "place", "problem"),
    [
        (["a=1 b=1", "a=1 b"], "row 2, 'a=1 b'", "'b' is not a parameter and its value"),
        (["default", "a=1 b=2"], "row 1, 'default'", "'default' is not a parameter"),
        (["-a 1", "-a 2"], "row 1, '-a 1'", "'1' is not a parameter and its value"),
        (["-a -1", "-a -2"], "row 1, '-a -1'", "'-1' is not a parameter and its value"),
        (["=1 b=2", "a=1 b=2"], "row 1, '=1 b=2'", "'=1' is not a parameter and its value"),
        (["a=1 b=2", "a=1 a=2"], "row 2, 'a=1 a=2'", "'a' is given twice"),
        (["-a -no-a", "-a"], "row 1, '-a -no-a'", "'a' is given twice"),
        (["a=1 b=1", "a=2 b=1", "a=1.0 b=01", "a=1 b=2"], "row 3, 'a=1.0 b=01'", "those of row 1"),
    ],
)
def test_names_that_tell_no_values_are_refused_with_their_row(names, place, problem):
    with pytest.raises(InvalidTable) as caught:
        read_parameters(named(*names))
    assert str(caught.value).startswith(f"runs.csv, {place}: ")
    assert problem in caught.value.problem
    assert "such as decay=0.95" in caught.value.fix


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (["a=1 b=1"], "no parameter varies"),
        (["a=1 b=1", "a=2 b=1", "a=3 b=1"], "only a varies"),
    ],
)
def test_two_parameters_have_to_vary(names, problem):
    with pytest.raises(InvalidTable, match=f"runs.csv: the names tell too little: {problem}; give"):
        read_parameters(named(*names))


def test_neighbours_differ_in_exactly_one_parameter():
    # The grid of 2 by 3 without (1, 1): its row and its column lose a neighbour each.
    space = read_parameters(named("a=0 b=0", "a=0 b=1", "a=0 b=2", "a=1 b=0", "a=1 b=2"))
    found = [rows.tolist() for rows in space.neighbours()]
    assert found == [[1, 2, 3], [0, 2], [0, 1, 4], [0, 4], [2, 3]]


def test_neighbours_are_those_that_counting_differences_finds():
    random = np.random.default_rng(5)
    grid = list(itertools.product(range(3), range(2), range(4), range(2)))
    for _ in range(20):
        chosen = random.permutation(len(grid))[: random.integers(4, len(grid))]
        names = [" ".join(f"p{k}={v}" for k, v in enumerate(grid[place])) for place in chosen]
        space = read_parameters(named(*names))
        apart = (space.values[:, None, :] != space.values[None, :, :]).sum(axis=2)
        for row, rows in enumerate(space.neighbours()):
            assert rows.tolist() == np.flatnonzero(apart[row] == 1).tolist()


def test_a_table_without_neighbours_is_refused():
    assert len(read_neighbours(named("a=1 b=1", "a=1 b=2", "a=3 b=3"))) == 3
    with pytest.raises(InvalidTable, match="no two configurations differ in exactly one"):
        read_neighbours(named("a=1 b=1", "a=2 b=2", "a=3 b=3"))


def test_the_nearest_row_is_the_row_itself_if_there_is_one():
    space = read_parameters(named("a=0 b=0", "a=0 b=1", "a=1 b=0", "a=2 b=2"))
    random = np.random.default_rng(0)
    for row, values in enumerate(space.values):
        assert space.nearest(values, random) == row


def test_the_nearest_row_differs_in_the_fewest_parameters_and_ties_are_seeded():
    space = read_parameters(named("a=0 b=0 c=0", "a=1 b=1 c=1", "a=0 b=1 c=0", "a=2 b=2 c=0"))
    # (0, 2, 0) differs from the rows in 1, 3, 1 and 1 parameters.
    wanted = np.array([0, 2, 0])
    chosen = [space.nearest(wanted, np.random.default_rng(seed)) for seed in range(40)]
    assert set(chosen) == {0, 2, 3}
    assert chosen == [space.nearest(wanted, np.random.default_rng(seed)) for seed in range(40)]
