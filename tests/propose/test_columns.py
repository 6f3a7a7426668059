"""Configurations as numbers: there and back, and as many columns as the blocks say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cunctator.propose.columns import PRODUCT_VALUES, PRODUCT_WAVES, WAVES, Columns
from cunctator.space.expressions import parse_expression
from cunctator.space.parameters import make_parameter
from cunctator.space.space import Space
from tests.space.test_proposed import described, first_of, same

PARAMETERS = [
    make_parameter("word", "categorical", "b", values=["a", "b", "c", "d", "e"]),
    make_parameter("flag", "categorical", True, values=[True, False]),
    make_parameter("only", "categorical", "x", values=["x"]),
    make_parameter("grade", "ordinal", 2.5, values=[1, 2.5, 4, 5, 6]),
    make_parameter("two", "ordinal", "lo", values=["lo", "hi"]),
    make_parameter("one", "ordinal", 1, values=[1]),
    make_parameter("n", "integer", 5, low=1, high=9),
    make_parameter("many", "integer", 5, low=1, high=10**6, log=True),
    make_parameter("x", "real", 0.5, low=0, high=1),
    make_parameter("rate", "real", 0.01, low=1e-6, high=1, log=True, when={"flag": [True]}),
    make_parameter("part", "integer", 1, low=1, high=parse_expression("n", ["n"])),
    make_parameter("mood", "categorical", "a", values=["a", "b", "c"], when={"flag": [True]}),
]
SPACE = Space(PARAMETERS, 7)
COLUMNS = Columns(SPACE)
DRAWN = [SPACE.configuration(k) for k in range(200)]
WIDTHS = [5, 2, 1, 3, 1, 1, 3, 3, 3, 3, 3, 3]


def place_of(name: str) -> int:
    return [parameter.name for parameter in PARAMETERS].index(name)


def back(columns: Columns, configuration, positions):
    """A configuration from the positions of its values."""
    return {
        p.name: columns.value(place, float(positions[place]), configuration)
        for place, p in enumerate(columns.parameters)
        if p.name in configuration
    }


def test_there_and_back_for_every_kind():
    for configuration, row in zip(DRAWN, COLUMNS.positions(DRAWN), strict=True):
        found = back(COLUMNS, configuration, row)
        assert list(found) == list(configuration)
        assert [type(v) for v in found.values()] == [type(v) for v in configuration.values()]
        for name, value in configuration.items():
            if isinstance(value, float):
                assert found[name] == pytest.approx(value, rel=1e-5)
            else:
                assert found[name] == value


@given(st.data())
def test_there_and_back_in_any_space(data):
    space = data.draw(described()).space
    columns = Columns(space)
    configurations = first_of(space, 15)
    positions = columns.positions(configurations)
    for configuration, row in zip(configurations, positions, strict=True):
        assert same_but_for_rounding(back(columns, configuration, row), configuration)
    assert np.all(np.isnan(positions) | ((positions >= 0.0) & (positions <= 1.0)))


def same_but_for_rounding(one, other) -> bool:
    rounded = [
        {name: round(v, 4) if type(v) is float else v for name, v in values.items()}
        for values in (one, other)
    ]
    return same(*rounded)


def test_values_that_python_takes_for_the_same():
    """They look different on a command line, so they are different values: see `space.py`."""
    values = [1, 2.0, True, "1.0", 0, False]
    space = Space([make_parameter("v", "categorical", 1, values=values)])
    columns = Columns(space)
    configurations = [{"v": value} for value in values]
    positions = columns.positions(configurations)
    assert len(set(positions[:, 0].tolist())) == len(values)
    for configuration, row in zip(configurations, positions, strict=True):
        assert same(back(columns, configuration, row), configuration)


def test_positions_at_the_end_of_a_range_are_values():
    configuration = SPACE.default
    for place, parameter in enumerate(PARAMETERS):
        for position in (0.0, 1.0 - 1e-9, 1.0):
            value = COLUMNS.value(place, position, configuration)
            assert SPACE.fitted({**configuration, parameter.name: value}) is not None
            if parameter.values:
                assert value == parameter.values[0 if position == 0.0 else -1]


def test_a_position_is_in_the_range_that_the_configuration_has():
    column = place_of("part")
    assert COLUMNS.value(column, 1.0, {**SPACE.default, "n": 2}) == 2
    assert COLUMNS.value(column, 1.0, {**SPACE.default, "n": 9}) == 9
    small, large = ({**SPACE.default, "n": n, "part": 2} for n in (2, 9))
    assert COLUMNS.position(PARAMETERS[column], small) == pytest.approx(0.75)
    assert COLUMNS.position(PARAMETERS[column], large) == pytest.approx(1.5 / 9)


def test_without_a_range_the_value_is_the_default():
    p = make_parameter("p", "integer", 5, low=0, high=9)
    x = make_parameter("x", "real", 1.5, low=1, high=parse_expression("p", ["p"]))
    assert Columns(Space([p, x])).value(1, 0.7, {"p": 0}) == 1.5


@pytest.mark.parametrize("name", ["rate", "mood"])
def test_what_is_not_active_is_zero_in_all_columns(name):
    column = place_of(name)
    off = [k for k, one in enumerate(DRAWN) if name not in one]
    assert 50 < len(off) < 150
    positions = COLUMNS.positions(DRAWN)
    assert set(np.flatnonzero(np.isnan(positions[:, column]))) == set(off)
    assert np.isnan(positions).sum() == 2 * len(off)
    product = (column, place_of("word"))
    matrix, blocks = COLUMNS.matrix(positions, [product]), COLUMNS.blocks([product])
    for block in (blocks[column], blocks[-1]):
        assert not matrix[off, block.columns].any()
        assert matrix[[k for k in range(200) if k not in off], block.columns].any(axis=1).all()


def test_blocks_are_the_columns_of_the_matrix():
    products = [(0, 8), (8, 0), (1, 2), (3, 10), (7, 9)]
    positions = COLUMNS.positions(DRAWN)
    blocks = COLUMNS.blocks(products)
    matrix = COLUMNS.matrix(positions, products)
    assert [block.scales.size for block in blocks[: len(WIDTHS)]] == WIDTHS
    end = 1
    for block in blocks:
        assert block.columns.start == end and block.columns.stop - end == block.scales.size
        end = block.columns.stop
    assert matrix.shape == (200, end) and np.isfinite(matrix).all()
    assert (matrix[:, 0] == 1.0).all()
    assert [block.parameters for block in blocks] == [(k,) for k in range(len(WIDTHS))] + products
    for place, block in enumerate(blocks[: len(WIDTHS)]):
        expected = COLUMNS.columns_of(place, positions[:, place])
        assert np.array_equal(matrix[:, block.columns], expected)
    assert np.array_equal(COLUMNS.matrix(positions), matrix[:, : 1 + sum(WIDTHS)])


@pytest.mark.parametrize(("one", "other"), [("word", "x"), ("x", "many"), ("flag", "word")])
def test_products_are_products(one, other):
    product = (place_of(one), place_of(other))
    positions = COLUMNS.positions(DRAWN)
    *alone, both = COLUMNS.blocks([product])
    matrix = COLUMNS.matrix(positions, [product])
    short = [
        min(WIDTHS[place], PRODUCT_VALUES if PARAMETERS[place].kind == "categorical" else WAVES)
        for place in product
    ]
    short = [
        size if PARAMETERS[place].kind == "categorical" else min(size, PRODUCT_WAVES)
        for size, place in zip(short, product, strict=True)
    ]
    left, right = (
        np.arange(alone[place].columns.start, alone[place].columns.start + size)
        for place, size in zip(product, short, strict=True)
    )
    expected = [matrix[:, k] * matrix[:, m] for k in left for m in right]
    assert np.allclose(matrix[:, both.columns], np.array(expected).T, rtol=1e-12)
    scales = [
        alone[product[0]].scales[k] * alone[product[1]].scales[m]
        for k in range(short[0])
        for m in range(short[1])
    ]
    assert both.scales == pytest.approx(scales)


def test_columns_of_numbers_are_orthogonal_over_the_range():
    middle = (np.arange(1000) + 0.5) / 1000
    waves = COLUMNS.columns_of(place_of("x"), middle)
    assert np.allclose(waves.T @ waves / 1000, np.eye(WAVES), atol=1e-9)
    assert np.allclose(waves.mean(axis=0), 0.0, atol=1e-9), "apart from the constant"


def test_columns_of_a_categorical_tell_its_values_apart():
    size = 5
    places = (np.arange(size) + 0.5) / size
    found = COLUMNS.columns_of(place_of("word"), places)
    assert np.allclose(found, np.eye(size) - 1.0 / size)


def test_higher_waves_are_believed_less():
    for block, parameter in zip(COLUMNS.blocks(), PARAMETERS, strict=False):
        if parameter.kind == "categorical":
            assert (block.scales == 1.0).all()
        else:
            assert block.scales[0] == 1.0 and (np.diff(block.scales) < 0).all()


def test_hundreds_of_values():
    values = list(range(700))
    space = Space([make_parameter("v", "categorical", 0, values=values)])
    columns = Columns(space)
    positions = columns.positions([{"v": value} for value in values])
    assert [columns.value(0, p, {}) for p in positions[:, 0].tolist()] == values
    assert (columns.matrix(positions)[:, 1:].argmax(axis=1) == np.arange(700)).all()
    assert math.isclose(columns.matrix(positions).sum(), 700, rel_tol=1e-9)
