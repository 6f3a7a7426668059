"""Tables: what is accepted, what is refused and in which words."""

from __future__ import annotations

import numpy as np
import pytest

from cunctator.base.errors import InvalidTable
from cunctator.recorded.table import make_table


def test_names_and_cutoff_default():
    table = make_table([[1.0, 2.0], [3.0, 4.0]])
    assert table.configurations == ("c0", "c1")
    assert table.instances == ("i0", "i1")
    assert table.cutoff is None and table.unsolved_share == 0.0
    assert list(table.mean_runtimes) == [1.5, 3.5]


def test_cutoff_cuts():
    table = make_table([[1.0, 20.0], [10.0, 4.0]], cutoff=10.0)
    assert table.runtimes.max() == 10.0
    assert table.unsolved_share == 0.5


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (([],), "1 dimensions instead of 2"),
        (([[]],), "the table is empty"),
        (([[1.0, 2.0], [3.0]],), "not a table of numbers"),
        (([["a"]],), "not a table of numbers"),
        ((np.array([[1j]]),), "not a table of numbers"),
        ((np.array([["2020-01-01"]], dtype="datetime64[s]"),), "not a table of numbers"),
        (([["1.5"]],), "not a table of numbers"),
        (([[1.0, np.nan]],), "row 1, column 2: runtime is nan"),
        (([[1.0], [np.inf]],), "row 2, column 1: runtime is inf"),
        (([[-1.0]],), "row 1, column 1: runtime is -1"),
        (([[1e300]],), "row 1, column 1: runtime is 1e.300"),
        (([[1.0], [2.0]], ["a", "a"]), "row 2: configuration name 'a' is that of row 1 too"),
        (([[1.0, 2.0]], None, ["x", "x"]), "column 2: instance name 'x' is that of column 1 too"),
        (([[1.0], [2.0]], ["a"]), "1 configuration names for 2 rows"),
        (([[1.0]], None, None, -3.0), "cutoff is -3"),
    ],
)
def test_refused(arguments, complaint):
    with pytest.raises(InvalidTable, match=complaint):
        make_table(*arguments)
