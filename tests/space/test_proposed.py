"""Configurations that are no draws: made to fit, numbered when they are taken in."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cunctator.base.errors import InvalidKey, InvalidSetting
from cunctator.space import space as space_module
from cunctator.space.expressions import parse_expression
from cunctator.space.parameters import make_parameter, text_of
from cunctator.space.space import Space

# Where a number is in its range

EXPONENTS = st.floats(-30.0, 30.0)
QUANTILES = st.floats(0.0, 1.0, exclude_max=True)


@st.composite
def real_ranges(draw):
    """(low, high, log): wide ones, and such as are next to nothing beside their numbers."""
    log = draw(st.booleans())
    low = 10.0 ** draw(EXPONENTS) * (1 if log else draw(st.sampled_from([-1, 0, 1])))
    if draw(st.booleans()):
        high = low + abs(low) * draw(st.floats(1e-9, 1.0))
    else:
        high = low + 10.0 ** draw(EXPONENTS)
    assume(high > low)
    return low, high, log


def real(low, high, log):
    return make_parameter("x", "real", low, low=low, high=high, log=log)


def tolerance(value, low, high, log):
    """How far apart numbers may be that are the same to the digits of `number_between`.

    Of DIGITS significant digits the last is 1e-5 of the number at most. Where the range is narrow,
    there are as many more as make that 1e-4 of the range at most. The rest is of floats: a few
    units of the last place, and under logarithms up to 70 times as many.
    """
    digit = min(1e-5 * abs(value), 1e-4 * (high - low))
    return digit + (1e-13 * value if log else 4e-15 * max(abs(low), abs(high)))


@given(real_ranges(), QUANTILES)
def test_where_a_real_number_is_in_its_range(bounds, quantile):
    parameter = real(*bounds)
    low, high, log = bounds
    value = parameter.number_between(low, high, quantile)
    found = parameter.quantile_of(low, high, value)
    assert 0.0 <= found <= 1.0
    again = parameter.number_between(low, high, found)
    assert abs(again - value) <= tolerance(value, low, high, log)
    slope = value * math.log(high / low) if log else high - low
    rounding = 1e-9 if log else 1e-6  # of logarithms next to each other
    if slope > 1e-9 * value:
        assert abs(found - quantile) <= 2 * tolerance(value, low, high, log) / slope + rounding


@given(st.integers(-(10**9), 10**9), st.integers(1, 10**9), st.booleans(), QUANTILES)
def test_where_a_whole_number_is_in_its_range(low, width, log, quantile):
    low = abs(low) + 1 if log else low
    high = low + width
    parameter = make_parameter("n", "integer", low, low=low, high=high, log=log)
    value = parameter.number_between(low, high, quantile)
    found = parameter.quantile_of(low, high, value)
    assert 0.0 < found < 1.0, "in the middle of what is rounded to it"
    assert parameter.number_between(low, high, found) == value
    share = math.log((value + 1) / value) / math.log((high + 1) / low) if log else 1 / (width + 1)
    assert abs(found - quantile) <= share + 1e-9


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("width", [1, 2, 5])
def test_each_of_a_few_whole_numbers_is_where_it_is_drawn(width, log):
    parameter = make_parameter("n", "integer", 1, low=1, high=1 + width, log=log)
    places = [parameter.quantile_of(1, 1 + width, value) for value in range(1, 2 + width)]
    assert places == sorted(set(places)) and places[0] > 0.0 and places[-1] < 1.0
    assert [parameter.at(place) for place in places] == list(range(1, 2 + width))


def test_ends_of_a_range_and_what_is_outside_of_it():
    for log in (False, True):
        x = real(2.0, 32.0, log)
        assert [x.quantile_of(2.0, 32.0, value) for value in (2.0, 32.0)] == [0.0, 1.0]
        assert [x.quantile_of(2.0, 32.0, value) for value in (1.0, 99.0)] == [0.0, 1.0]
    assert real(2.0, 32.0, True).quantile_of(2.0, 32.0, 8.0) == pytest.approx(0.5)
    assert real(2.0, 32.0, False).quantile_of(2.0, 32.0, 17.0) == 0.5


def test_in_a_range_of_one_number():
    n = make_parameter("n", "integer", 3, low=1, high=9)
    assert n.number_between(4, 4, n.quantile_of(4, 4, 4)) == 4
    assert 0.0 <= n.quantile_of(4, 4, 4) <= 1.0
    x = real(2.0, 32.0, True)
    assert x.quantile_of(4.0, 4.0, 4.0) == 0.5


# Made to fit

VALUES = [["a", "b", "c"], [1, 2, 3], [0.25, 1.5], [True, False], ["lo", 7, 2.5, False]]


class Described:
    """A space, with what decides of its configurations in plain Python."""

    def __init__(self, parameters, limits, forbidden, seed):
        self.limits = limits
        self.forbidden = forbidden
        names = [parameter.name for parameter in parameters]
        texts = [
            f"{one.name} > {one.default} and {other.name} > {other.default}"
            for one, other in forbidden
        ]
        self.space = Space(parameters, seed, [parse_expression(text, names) for text in texts])

    def fitted(self, values):
        """What `Space.fitted` should find; parents come before their children here."""
        active = {}
        by_name = {parameter.name: parameter for parameter in self.space.parameters}
        for p in self.space.parameters:
            if not all(
                parent in active and wanted_holds(by_name[parent], wanted, active[parent])
                for parent, wanted in p.when.items()
            ):
                continue
            value = values.get(p.name, p.default)
            if not p.values:
                low, high = p.low, p.high
                if p.name in self.limits:
                    parent, less = self.limits[p.name]
                    if parent not in active:
                        return None
                    high = active[parent] - less
                    high = math.floor(high) if p.kind == "integer" else high
                if low > high:
                    return None
                value = low if value < low else high if value > high else value
                value = float(value) if p.kind == "real" else value
            active[p.name] = value
        for one, other in self.forbidden:
            if (
                one.name in active
                and other.name in active
                and (active[one.name] > one.default and active[other.name] > other.default)
            ):
                return None
        return active


def wanted_holds(parent, wanted, value):
    if parent.values:
        return any(text_of(value) == text_of(one) for one in wanted)
    return value >= float(wanted.removeprefix(">= "))


@st.composite
def described(draw, most=6):
    """Spaces with conditions, bounds that depend on others, and forbidden combinations."""
    parameters, limits = [], {}
    for k in range(draw(st.integers(1, most))):
        name = f"p{k}"
        kind = draw(st.sampled_from(["categorical", "ordinal", "integer", "real"]))
        when = {}
        for place in sorted(draw(st.sets(st.integers(0, k - 1), max_size=2))) if k else ():
            parent = parameters[place]
            if parent.values:  # the default is among them, so conditions never conflict
                more = draw(st.sets(st.sampled_from(range(len(parent.values)))))
                when[parent.name] = [
                    v for j, v in enumerate(parent.values) if j in more or v == parent.default
                ]
            else:
                when[parent.name] = f">= {parent.default}"
        if kind in ("categorical", "ordinal"):
            values = draw(st.sampled_from(VALUES))
            default = draw(st.sampled_from(values))
            parameters.append(make_parameter(name, kind, default, values=values, when=when))
            continue
        low = draw(st.integers(1, 5))
        high: object = low + draw(st.integers(1, 6))
        default = draw(st.integers(low, high))
        above = [p for p in parameters if not p.values and p.default >= low]
        if above and draw(st.booleans()):
            parent = draw(st.sampled_from(above))
            less = draw(st.integers(0, 1)) if parent.default > low else 0
            limits[name] = (parent.name, less)
            high = parse_expression(f"{parent.name} - {less}", [parent.name])
            default = low
        log = draw(st.booleans())
        parameters.append(
            make_parameter(name, kind, default, low=low, high=high, log=log, when=when)
        )
    numbers = [p for p in parameters if not p.values]
    pairs = st.tuples(st.sampled_from(numbers), st.sampled_from(numbers)) if numbers else st.none()
    forbidden = draw(st.lists(pairs, max_size=2)) if numbers else []
    return Described(parameters, limits, forbidden, draw(st.integers(0, 5)))


def first_of(space, count):
    """The first configurations; fewer if nothing else seems to be allowed."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(space_module, "MOST_FORBIDDEN_DRAWS", 200)
        patch.setattr(space_module, "MOST_VAIN_DRAWS", 50)
        for number in range(count):
            try:
                one = space.configuration(number)
            except (InvalidKey, InvalidSetting):
                break
            if one not in found:
                found.append(one)
    return found


@st.composite
def wishes(draw, space):
    """Values for some of the parameters, of numbers also such as are out of their range."""
    values = {}
    for p in space.parameters:
        if draw(st.booleans()):
            continue
        if p.values:
            values[p.name] = draw(st.sampled_from(p.values))
        else:
            number = draw(st.integers(-3, 15))
            values[p.name] = float(number) + 0.25 if p.kind == "real" else number
    return values


def same(one, other):
    """Equal to the type: to Python, 1, 1.0 and True are the same."""
    return [(name, type(v), v) for name, v in one.items()] == [
        (name, type(v), v) for name, v in other.items()
    ]


@given(st.data())
def test_what_is_made_to_fit(data):
    described_space = data.draw(described())
    space = described_space.space
    values = data.draw(wishes(space))
    found, expected = space.fitted(values), described_space.fitted(values)
    if expected is None:
        assert found is None
        return
    assert same(found, expected)
    assert same(space.checked(found), found), "as if somebody had written it"
    assert same(space.fitted(found), found), "what fits stays"


@given(st.data())
def test_what_is_a_configuration_fits(data):
    space = data.draw(described()).space
    for drawn in first_of(space, 12):
        assert same(space.fitted(drawn), drawn)


def test_children_come_with_their_defaults_and_go():
    space = Space(
        [
            make_parameter("p", "categorical", "off", values=["off", "on"]),
            make_parameter("q", "integer", 4, low=1, high=9, when={"p": "on"}),
            make_parameter("r", "real", 0.5, low=0, high=1, when={"q": "> 3"}),
        ]
    )
    assert space.fitted({"p": "on"}) == {"p": "on", "q": 4, "r": 0.5}
    assert space.fitted({"p": "on", "q": 2, "r": 0.9}) == {"p": "on", "q": 2}
    assert space.fitted({"p": "off", "q": 99, "r": -5.0}) == {"p": "off"}
    assert space.fitted({}) == space.default == {"p": "off"}


def test_nothing_fits_where_it_is_forbidden_or_without_a_range():
    p = make_parameter("p", "integer", 5, low=0, high=9)
    x = make_parameter("x", "real", 1.5, low=1, high=parse_expression("p - 1", ["p"]))
    space = Space([p, x], forbidden=[parse_expression("p == 7", ["p"])])
    assert space.fitted({"p": 7}) is None
    assert space.fitted({"p": 1}) is None, "no number is at least 1 and at most 0"
    assert space.fitted({"p": 3, "x": 8.0}) == {"p": 3, "x": 2.0}
    assert space.fitted({"p": 2, "x": -1.0}) == {"p": 2, "x": 1.0}
    assert space.fitted({"p": -4, "x": 1.0}) is None


def test_types_are_those_of_the_space():
    space = Space(
        [
            make_parameter("b", "categorical", True, values=[True, False]),
            make_parameter("i", "ordinal", 1, values=[1, 2]),
            make_parameter("f", "categorical", 0.5, values=[0.5, 2.0]),
            make_parameter("s", "categorical", "1", values=["1", "x"]),
            make_parameter("n", "integer", 3, low=1, high=9, log=True),
            make_parameter("x", "real", 3, low=1, high=9),
        ]
    )
    found = space.fitted({"b": False, "i": 2, "f": 2.0, "s": "x", "n": 100, "x": 100.0})
    assert same(found, {"b": False, "i": 2, "f": 2.0, "s": "x", "n": 9, "x": 9.0})
    assert same(space.fitted({}), {"b": True, "i": 1, "f": 0.5, "s": "1", "n": 3, "x": 3.0})


def test_a_real_number_that_was_given_as_a_whole_one_is_brought_into_its_range():
    space = Space([make_parameter("x", "real", 1, low=0.5, high=9.5)])
    assert same(space.fitted({"x": 0}), {"x": 0.5})
    assert same(space.fitted({"x": 10}), {"x": 9.5})


@pytest.mark.parametrize("text", ["p", "p + 0.7", "p / 2"])
def test_bounds_that_depend_on_others_hold_whole_numbers(text):
    p = make_parameter("p", "real", 5, low=2, high=9)
    n = make_parameter("n", "integer", 2, low=1, high=parse_expression(text, ["p"]))
    space = Space([p, n])
    for whole in (2.0, 3.1, 7.9):
        found = space.fitted({"p": whole, "n": 50})
        most = {"p": whole, "p + 0.7": whole + 0.7, "p / 2": whole / 2}[text]
        assert same(found, {"p": whole, "n": math.floor(most)})
        assert same(space.checked(found), found)


# Numbered when they are taken in


def letters(count: int) -> Space:
    """An endless space whose draws differ."""
    return Space([make_parameter(f"x{k}", "real", 0, low=0, high=1) for k in range(count)], 3)


def made(k: int) -> dict:
    """The k-th of some that are no draws."""
    return {"x0": 0.5, "x1": 1.0 / (k + 2)}


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4)), max_size=6))
def test_draws_keep_their_order_around_what_is_taken_in(steps):
    """Each step: so many draws, then so many proposals."""
    plain, space = letters(2), letters(2)
    expected, proposals = [plain.configuration(0)], 0
    rank = 1
    for drawn, proposed in steps:
        for _ in range(drawn):
            expected.append(plain.configuration(rank))
            assert space.configuration(len(expected) - 1) == expected[-1]
            rank += 1
        new = [made(proposals + k) for k in range(proposed)]
        space.take_in(len(expected), new)
        expected += new
        proposals += proposed
    expected += [plain.configuration(rank + k) for k in range(4)]
    assert [space.configuration(k) for k in range(len(expected))] == expected
    assert [space.configuration(k) for k in reversed(range(len(expected)))] == expected[::-1]
    assert sum(space.is_proposed(k) for k in range(len(expected) + 5)) == proposals
    for number, one in enumerate(expected):
        assert space.is_proposed(number) == (one["x0"] == 0.5 and number > 0)


def test_a_number_says_one_thing_for_ever():
    space = letters(2)
    before = [space.configuration(k) for k in range(5)]
    space.take_in(5, [made(0), made(1)])
    later = [space.configuration(k) for k in range(10)]
    space.take_in(10, [made(2)])
    space.take_in(14, [made(3)])
    assert [space.configuration(k) for k in range(5)] == before
    assert [space.configuration(k) for k in range(10)] == later
    assert [k for k in range(20) if space.is_proposed(k)] == [5, 6, 10, 14]


def test_numbers_that_have_passed_are_refused():
    x = [make_parameter(f"x{k}", "real", 0, low=0, high=1) for k in range(2)]
    space = Space(x, 3, initial=[{"x0": 0.1, "x1": 0.1}, {"x0": 0.2, "x1": 0.2}])
    for first in (-1, 0, 1, 2):
        with pytest.raises(InvalidSetting, match="expected more than 2"):
            space.take_in(first, [made(0)])
    space.take_in(3, [made(0), made(1)])
    for first in (3, 4):
        with pytest.raises(InvalidSetting, match="expected more than 4"):
            space.take_in(first, [made(2)])
    assert not any(space.is_proposed(k) for k in (0, 1, 2, 5))
    space.take_in(5, [made(2)])
    assert space.configuration(5) == made(2)


def test_what_is_no_configuration_is_not_taken_in():
    space = letters(2)
    with pytest.raises(InvalidKey, match="outside"):
        space.take_in(4, [{"x0": 2.0, "x1": 0.5}])
    with pytest.raises(InvalidKey, match="missing"):
        space.take_in(4, [{"x0": 0.5}])
    assert not space.is_proposed(4)
    assert space.configuration(4) == letters(2).configuration(4)


def test_what_is_taken_in_is_the_callers_own():
    space, given_values = letters(2), made(0)
    space.take_in(1, [given_values])
    given_values["x0"] = 0.9
    space.configuration(1)["x0"] = 0.8
    assert space.configuration(1) == made(0)


def test_draws_are_counted_as_if_nothing_had_been_proposed():
    colour = make_parameter("c", "categorical", "r", values=["r", "g", "b"])
    size = make_parameter("n", "integer", 1, low=1, high=5)
    plain, space = Space([colour, size], 2), Space([colour, size], 2)
    space.take_in(2, [{"c": "b", "n": 5}, {"c": "b", "n": 4}])
    space.configuration(8)
    space.take_in(9, [{"c": "g", "n": 4}])
    assert [space.draws(k) for k in range(1, 16)] == [plain.draws(k) for k in range(1, 16)]
    assert space.size == plain.size == 15


def test_a_space_that_is_used_up_has_room_for_proposals():
    plain = Space([make_parameter("n", "integer", 1, low=1, high=4)], 2)
    space = plain.anew()
    space.take_in(2, [{"n": 4}])
    drawn = [space.configuration(k)["n"] for k in range(5)]
    assert drawn.pop(2) == 4
    assert drawn == [plain.configuration(k)["n"] for k in range(4)]
    with pytest.raises(InvalidSetting, match="there are only 4"):
        space.configuration(5)


def test_the_same_space_anew():
    x = [make_parameter(f"x{k}", "real", 0, low=0, high=1) for k in range(2)]
    names = ["x0", "x1"]
    forbidden = [parse_expression("x0 > 0.7", names)]
    initial = [{"x0": 0.1, "x1": 0.1}, {"x0": 0.2, "x1": 0.2}]
    plain, space = Space(x, 3, forbidden, initial), Space(x, 3, forbidden, initial)
    space.configuration(9)
    space.take_in(10, [made(0)])
    again = space.anew()
    assert again.fixed == 3 and again.seed == 3 and not again.is_proposed(10)
    assert [again.configuration(k) for k in range(40)] == [
        plain.configuration(k) for k in range(40)
    ]
    again.take_in(4, [made(1)])
    assert not space.is_proposed(4) and space.configuration(10) == made(0)
