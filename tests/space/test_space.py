"""Spaces: configuration k is a function of (seed, k), in its domain, under its conditions."""

from __future__ import annotations

import math
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cunctator.base.errors import InvalidKey, InvalidSetting
from cunctator.core.pools import missed_share
from cunctator.space import space as space_module
from cunctator.space.expressions import parse_expression
from cunctator.space.parameters import make_parameter, text_of
from cunctator.space.space import Space
from tests.margins import most_events


def chi_square_limit(freedom: int, error: float = 1e-6) -> float:
    """Laurent and Massart (2000): a chi-square exceeds this with at most the given probability."""
    x = -math.log(error)
    return freedom + 2 * math.sqrt(freedom * x) + 2 * x


def chi_square(counts: Counter, cells: int) -> float:
    expected = counts.total() / cells
    return sum((counts[cell] - expected) ** 2 / expected for cell in counts) + expected * (
        cells - len(counts)
    )


def colours(**more):
    return make_parameter("colour", "categorical", "red", values=["red", "green", "blue"], **more)


@st.composite
def spaces(draw):
    parameters = []
    for k in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(["categorical", "ordinal", "integer", "real"]))
        when = {}
        for place in draw(st.sets(st.integers(0, k - 1), max_size=2)) if k else ():
            parent = parameters[place]
            if parent.kind in ("categorical", "ordinal"):
                # The default is always among the wanted values, so conditions never conflict.
                more = draw(st.sets(st.sampled_from(parent.values)))
                when[parent.name] = sorted({parent.default, *more}, key=text_of)
            else:
                when[parent.name] = f">= {parent.default}"
        name = f"p{k}"
        if kind in ("categorical", "ordinal"):
            values = draw(st.lists(st.text(max_size=3), min_size=1, max_size=3, unique=True))
            values = [value.replace("\0", "") + str(j) for j, value in enumerate(values)]
            default = draw(st.sampled_from(values))
            parameters.append(make_parameter(name, kind, default, values=values, when=when))
        else:
            low = draw(st.integers(1, 5))
            high = low + draw(st.integers(1, 3))
            default = draw(st.integers(low, high - (kind == "real")))
            log = draw(st.booleans())
            parameters.append(
                make_parameter(name, kind, default, low=low, high=high, log=log, when=when)
            )
    return Space(parameters, draw(st.integers(0, 5)))


def wanted_holds(parent, wanted, value) -> bool:
    if parent.kind in ("categorical", "ordinal"):
        return value in wanted
    return value >= float(wanted.removeprefix(">= "))


@given(spaces(), st.integers(1, 30))
def test_within_the_domain_and_under_the_conditions(space, last):
    by_name = {parameter.name: parameter for parameter in space.parameters}
    last = last if space.size is None else min(last, space.size - 1)
    seen = []
    for k in range(last + 1):
        configuration = space.configuration(k)
        assert list(configuration) == [name for name in by_name if name in configuration]
        for name, parameter in by_name.items():
            active = all(
                parent in configuration
                and wanted_holds(by_name[parent], wanted, configuration[parent])
                for parent, wanted in parameter.when.items()
            )
            assert active == (name in configuration)
            if not active:
                continue
            value = configuration[name]
            if parameter.kind in ("categorical", "ordinal"):
                assert value in parameter.values
            else:
                assert parameter.low <= value <= parameter.high
                assert isinstance(value, int if parameter.kind == "integer" else float)
        seen.append(configuration)
    assert seen[0] == space.default
    again = Space(space.parameters, space.seed)
    assert again.configuration(last) == seen[last]  # without those before it
    if space.size is not None:
        assert len({repr(configuration) for configuration in seen}) == len(seen)


@given(spaces())
def test_a_finite_space_is_used_up_without_repeats(space):
    if space.size is None or space.size > 500:
        return
    found = {repr(space.configuration(k)) for k in range(space.size)}
    assert len(found) == space.size
    with pytest.raises(InvalidSetting, match=f"there are only {space.size}"):
        space.configuration(space.size)


def test_a_condition_on_a_number_whose_bound_depends_on_another():
    a = make_parameter("a", "integer", 3, low=2, high=9)
    b = make_parameter("b", "integer", 1, low=0, high=parse_expression("a", ["a"]))
    c = make_parameter("c", "real", 0.5, low=0, high=1, when={"b": "> 1"})
    space = Space([a, b, c])
    for k in range(200):
        drawn = space.configuration(k)
        assert 0 <= drawn["b"] <= drawn["a"] and ("c" in drawn) == (drawn["b"] > 1)


def test_draws_are_uniform_over_a_small_space():
    sizes = [make_parameter("size", "ordinal", 1, values=[1, 2]), colours()]
    count = make_parameter("count", "integer", 3, low=3, high=5)
    counts = Counter(
        tuple(Space([*sizes, count], seed).configuration(1).values()) for seed in range(3400)
    )
    # The default is number 0 and skipped: 17 cells of the 18 are left.
    assert (1, "red", 3) not in counts
    assert chi_square(counts, 17) < chi_square_limit(16)


@pytest.mark.parametrize("log", [False, True])
def test_numbers_are_spread_evenly_on_their_scale(log):
    parameters = [
        make_parameter("real", "real", 1, low=1, high=10_000, log=log),
        make_parameter("integer", "integer", 1, low=1, high=9999, log=log),
    ]
    space = Space(parameters, 1)
    drawn = [space.configuration(k) for k in range(1, 2001)]

    def cell(value: float) -> int:
        share = math.log10(value) / 4 if log else (value - 1) / 9999
        return min(int(share * 10), 9)

    for name in ("real", "integer"):
        counts = Counter(cell(configuration[name]) for configuration in drawn)
        if log and name == "integer":
            continue  # whole numbers are too few in the first cells
        assert chi_square(counts, 10) < chi_square_limit(9)
    if log:
        assert 300 < sum(configuration["integer"] < 10 for configuration in drawn) < 700


def test_the_sequence_depends_on_the_seed_alone():
    real = make_parameter("x", "real", 0, low=-1, high=1)
    one = [Space([real], 1).configuration(k) for k in range(5)]
    space = Space([real], 1)
    assert [space.configuration(k) for k in (4, 3, 2, 1, 0)] == one[::-1]
    assert one != [Space([real], 2).configuration(k) for k in range(5)]
    with ThreadPoolExecutor(4) as pool:
        shared = Space([real], 1)
        assert list(pool.map(shared.configuration, range(200))) == [
            space.configuration(k) for k in range(200)
        ]


def test_what_is_returned_is_the_callers_own():
    space = Space([colours()])
    space.configuration(0)["colour"] = "black"
    assert space.configuration(0) == {"colour": "red"}


def test_the_unlikely_rest_of_a_finite_space_is_listed():
    chain = [make_parameter("p0", "categorical", "no", values=["no", "yes"])]
    for k in range(1, 25):
        chain.append(
            make_parameter(f"p{k}", "categorical", "no", values=["no", "yes"],
                           when={f"p{k - 1}": "yes"})
        )  # fmt: skip
    space = Space(chain)
    assert space.size == 26  # the last of them has a chance of 1 in 2^25 for each draw
    found = [space.configuration(k) for k in range(26)]
    assert max(len(configuration) for configuration in found) == 25


def test_an_unlikely_rest_of_an_endless_space_repeats_rather_than_hang():
    chain = [make_parameter("p0", "categorical", "no", values=["no", "yes"])]
    for k in range(1, 25):
        chain.append(
            make_parameter(f"p{k}", "categorical", "no", values=["no", "yes"],
                           when={f"p{k - 1}": "yes"})
        )  # fmt: skip
    chain.append(make_parameter("x", "real", 0, low=0, high=1, when={"p24": "yes"}))
    space = Space(chain)
    assert space.size is None
    assert space.configuration(20)


def test_a_space_is_counted_up_to_a_limit(monkeypatch):
    monkeypatch.setattr(space_module, "LARGEST_COUNTED", 1000)
    big = make_parameter("n", "integer", 1, low=1, high=2**53)
    assert Space([big]).size is None
    assert Space([make_parameter("n", "integer", 1, low=1, high=1000)]).size == 1000
    assert Space([make_parameter("n", "integer", 1, low=1, high=1001)]).size is None
    assert Space([big]).configuration(3)["n"] <= 2**53


def test_thousands_of_parameters():
    many = [make_parameter(f"p{k}", "categorical", 1, values=[1, 2]) for k in range(3000)]
    space = Space(many)
    assert space.size is None and len(space.configuration(2)) == 3000


@pytest.mark.parametrize(
    ("when", "active"),
    [
        ({"n": 5}, {5}),
        ({"n": [2, 3]}, {2, 3}),
        ({"n": "> 5"}, {6, 7, 8, 9}),
        ({"n": ">=5"}, {5, 6, 7, 8, 9}),
        ({"n": " < 2.5 "}, {1, 2}),
        ({"n": "<= 2"}, {1, 2}),
    ],
)
def test_conditions_on_numbers(when, active):
    child = make_parameter("child", "categorical", "x", values=["x"], when=when)
    space = Space([child, make_parameter("n", "integer", 1, low=1, high=9)])
    assert space.size == 9
    found = [space.configuration(k) for k in range(9)]
    assert {configuration["n"] for configuration in found if "child" in configuration} == active


@pytest.mark.parametrize(
    ("wanted", "active"),
    [
        ("> low", {"mid", "high"}),
        ("<= mid", {"low", "mid"}),
        ("high", {"high"}),
        (["low"], {"low"}),
    ],
)
def test_conditions_on_ordinals(wanted, active):
    level = make_parameter("level", "ordinal", "low", values=["low", "mid", "high"])
    child = make_parameter("child", "categorical", "x", values=["x"], when={"level": wanted})
    space = Space([level, child])
    found = [space.configuration(k) for k in range(3)]
    assert {c["level"] for c in found if "child" in c} == active


def test_several_conditions_all_hold_and_inactive_parents_count_as_unfulfilled():
    a = make_parameter("a", "categorical", False, values=[True, False])
    b = make_parameter("b", "categorical", True, values=[True, False], when={"a": True})
    c = make_parameter("c", "categorical", 1, values=[1, 2], when={"a": True, "b": True})
    d = make_parameter("d", "categorical", 1, values=[1, 2], when={"b": True})
    space = Space([d, c, b, a])
    assert space.default == {"a": False}
    assert space.size == 1 + 1 + 4
    assert all("d" not in x or x["b"] for x in map(space.configuration, range(6)))


@pytest.mark.parametrize(
    ("when", "problem"),
    [
        ({"n": 0}, "n is never that: it goes from 1 to 9"),
        ({"n": "> 9"}, "n is never that"),
        ({"n": 2.5}, "n is never that"),
        ({"n": "five"}, "'five' says nothing"),
        ({"n": "> x"}, "'> x' says nothing"),
        ({"n": "> nan"}, "says nothing"),
        ({"n": True}, "n is a number, not 'true'"),
        ({"n": ["> 5"]}, "a comparison cannot be in a list"),
        ({"n": []}, "an empty list never holds"),
        ({"x": 1}, "x is real and never exactly 1"),
        ({"x": "> 1"}, "x is never that"),
        ({"x": "< 0"}, "x is never that"),
        ({"colour": "black"}, "'black' is not a value of it"),
        ({"colour": "> red"}, "'> red' is not a value of it"),
        ({"level": "> 3"}, "no value of level is > 3"),
        ({"level": "> 7"}, "'7' is not a value of it"),
        ({"missing": 1}, "there is no parameter 'missing'"),
        ({"child": "x"}, "child depends on child"),
    ],
)
def test_conditions_refused(when, problem):
    others = [
        make_parameter("n", "integer", 1, low=1, high=9),
        make_parameter("x", "real", 1, low=0, high=1),
        make_parameter("level", "ordinal", 1, values=[1, 2, 3]),
        colours(),
    ]
    child = make_parameter("child", "categorical", "x", values=["x"], when=when)
    with pytest.raises(InvalidKey) as caught:
        Space([*others, child])
    assert problem in caught.value.problem
    assert caught.value.key[:3] == ("parameters", "child", "when")


def test_cycles_and_conflicts():
    a = make_parameter("a", "integer", 1, low=1, high=9, when={"b": "> 1"})
    b = make_parameter("b", "integer", 1, low=1, high=9, when={"c": "> 1"})
    c = make_parameter("c", "integer", 1, low=1, high=9, when={"a": "> 1"})
    with pytest.raises(InvalidKey, match=r"\w depends on \w depends on \w depends on \w;"):
        Space([a, b, c])
    first = make_parameter("c", "integer", 1, low=1, high=9)
    low = make_parameter("b", "integer", 1, low=1, high=9, when={"c": "< 6"})
    with pytest.raises(InvalidKey, match=r"parameters.a.when: never active: no value of c"):
        Space(
            [first, low, make_parameter("a", "real", 1, low=0, high=1, when={"b": 1, "c": "> 5"})]
        )
    fits = make_parameter("a", "real", 1, low=0, high=1, when={"b": 1, "c": "> 4"})
    assert Space([first, low, fits]).configuration(5)


def test_no_parameters_or_the_same_twice():
    with pytest.raises(InvalidKey, match="there are none"):
        Space([])
    with pytest.raises(InvalidKey, match="this name is given twice"):
        Space([colours(), colours()])
    with pytest.raises(InvalidSetting):
        Space([colours()], -1)
    with pytest.raises(InvalidSetting):
        Space([colours()]).configuration(-1)


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "true"), (False, "false"), (1, "1"), (1.0, "1.0"), (1e-7, "0.0000001"), ("a b", "a b"),
     (1e22, "10000000000000000000000"), (-0.5, "-0.5")],
)  # fmt: skip
def test_values_as_text(value, text):
    assert text_of(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_reals_as_text_are_exact(number):
    assert float(text_of(number)) == number
    assert "e" not in text_of(number)


@given(
    st.floats(-1e300, 1e300), st.floats(-1e300, 1e300), st.floats(0, 1, exclude_max=True),
    st.booleans(),
)  # fmt: skip
def test_any_range_of_reals(one, other, quantile, log):
    low, high = sorted([abs(one) + 1e-300, abs(other) + 1e-300] if log else [one, other])
    if low < high:
        parameter = make_parameter("x", "real", low, low=low, high=high, log=log)
        assert low <= parameter.at(quantile) <= high
        assert low <= parameter.at(0.0) <= parameter.at(math.nextafter(1, 0)) <= high


def test_narrow_ranges_keep_all_their_digits():
    for low, high in ((1, 1.0000001), (1000, 1000.11), (0.99, 0.9901), (-1e308, 1e308)):
        narrow = make_parameter("x", "real", low, low=low, high=high)
        assert len({narrow.at(k / 1000) for k in range(1000)}) == 1000
    assert make_parameter("x", "real", 0.5, low=0.05, high=0.95).at(1 / 3) == 0.35


def test_the_same_value_in_other_words():
    parameter = make_parameter("x", "categorical", 1, values=["1", "2"])
    assert parameter.default == "1"
    child = make_parameter("y", "categorical", "a", values=["a"], when={"x": 2})
    space = Space([parameter, child])
    assert sorted(len(space.configuration(k)) for k in range(2)) == [1, 2]


@pytest.mark.parametrize("name", ["", "a{b", "a}b", "a\nb", "a\0"])
def test_names_refused(name):
    with pytest.raises(InvalidKey, match="cannot be a parameter's name"):
        make_parameter(name, "categorical", 1, values=[1])


def mostly_forbidden(seed):
    """Of ten draws nine are forbidden; half of the rest are the one configuration of kind b."""
    parameters = [
        make_parameter("kind", "categorical", "a", values=["a", "b"]),
        make_parameter("guard", "integer", 1, low=1, high=10),
        make_parameter("detail", "integer", 1, low=1, high=200, when={"kind": ["a"]}),
    ]
    return Space(parameters, seed, [parse_expression("guard != 1", ["guard"])])


def test_what_is_listed_is_no_draw():
    space = mostly_forbidden(3)
    assert space.size == 201
    listed = space.draws(201)
    assert listed < 200, "most of these were listed, after draws in vain"
    assert space.draws(200) == listed and space.draws(1) == 0
    endless = Space([make_parameter("x", "real", 0.5, low=0.0, high=1.0)], 3)
    assert [endless.draws(size) for size in (1, 2, 100)] == [0, 1, 99]


def test_the_share_that_draws_miss_is_as_promised():
    """Of pools with a gamma below 1/2, few may miss a set that half of the draws are in.

    What is listed has other odds: if that counted as drawn, most of the pools below would.
    """
    error, pools, promised, missed, by_size = 0.05, 300, 0, 0, 0
    for seed in range(pools):
        space = mostly_forbidden(seed)
        misses = all(space.configuration(k)["kind"] == "a" for k in range(1, 6))
        by_size += misses
        if missed_share(space.draws(6), error) < 0.5:
            promised += 1
            missed += misses
    assert promised >= 10 and missed <= most_events(promised, error)
    assert by_size > most_events(pools, error), "the size of a pool is no number of draws"
