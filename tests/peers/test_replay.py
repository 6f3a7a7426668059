from __future__ import annotations

import json
import math
import time

import numpy as np
import pytest

from peers.replay import (
    NAMES,
    PARTS_OF_LUCK,
    TEST,
    TRAIN,
    Replay,
    Smooth,
    load_problem,
    normal,
    runtime,
    takes_seed,
)
from peers.replay_encoding import ABSENT, Encoding, shipped_space
from peers.replay_files import arrays_in
from peers.replay_models import FAMILIES, write_models
from peers.replay_moves import near
from peers.replay_trees import Trees, arrays_of
from tests.optional import need


@pytest.fixture(scope="module", params=NAMES)
def problem(request) -> Replay:
    return load_problem(request.param)


def test_it_is_the_same_each_time(problem):
    again = load_problem(problem.name)
    for number in range(5):
        values = problem.space.configuration(number)
        assert (problem.runtimes_of(values) == again.runtimes_of(values)).all()
        assert problem.test_mean(values) == again.test_mean(values)


def test_seeds_have_training_instances_of_their_own_and_share_the_tests(problem):
    other = load_problem(problem.name, 1)
    default = problem.space.default
    assert (problem.runtimes_of(default) != other.runtimes_of(default)).all()
    assert problem.test_mean(default) == other.test_mean(default)


def test_a_run_ends_at_its_cap(problem):
    default = problem.space.default
    runtimes = problem.runtimes_of(default)
    cap = float(np.median(runtimes))
    for instance, seconds in enumerate(runtimes.tolist()):
        found = problem.run(default, instance, instance, cap)
        assert found == ((seconds, True) if seconds < cap else (cap, False))


def test_nothing_takes_longer_than_the_cutoff(problem):
    problem = load_problem(problem.name)
    problem.cutoff = 0.01
    default = problem.space.default
    assert problem.run(default, 0, 0, math.inf)[0] <= 0.01
    assert problem.runtimes_of(default).max() == 0.01
    assert problem.test_mean(default) <= 0.01
    assert problem.expected_mean(default) <= 0.01


def test_runs_tell_instances_and_seeds_apart_and_repeat_themselves(problem):
    values = next(
        values
        for number in range(100)
        if takes_seed(problem.name, values := problem.space.configuration(number))
    )
    runs = [problem.run(values, i, seed, 5.0) for i in range(20) for seed in range(20)]
    assert runs == [problem.run(values, i, seed, 5.0) for i in range(20) for seed in range(20)]
    assert len(set(runs)) >= 399


def test_the_order_of_parameters_does_not_matter(problem):
    values = problem.space.configuration(3)
    turned = dict(reversed(values.items()))
    assert (problem.runtimes_of(values) == load_problem(problem.name).runtimes_of(turned)).all()


def test_the_default_takes_as_long_as_was_measured(problem):
    found = arrays_in(problem.name)
    is_default = (found["configuration"] == 0) & (found["seed"] == 0)
    mean = found["seconds"][is_default].mean()
    default = problem.space.default
    assert problem.expected_mean(default) == pytest.approx(mean, rel=0.15)
    # Some instances are ten times as hard as most, so samples of them differ.
    assert problem.test_mean(default) == pytest.approx(mean, rel=0.3)
    sets = [load_problem(problem.name, seed).default_seconds() for seed in range(6)]
    assert np.mean(sets) == pytest.approx(mean, rel=0.3)


def test_configurations_that_were_measured_on_all_instances_rank_as_they_did(problem):
    found = arrays_in(problem.name)
    is_first = found["seed"] == 0
    pairs = []
    for number, text in enumerate(found["configurations"]):
        cells = is_first & (found["configuration"] == number)
        if cells.sum() == len(found["instances"]):
            modelled = problem.expected_mean(json.loads(str(text)))
            pairs.append((found["seconds"][cells].mean(), modelled))
    assert len(pairs) >= 12
    assert np.corrcoef(np.log(pairs).T)[0, 1] > 0.85


def test_the_best_known_is_better_than_the_default_and_than_most(problem):
    best = problem.expected_mean(problem.best_values())
    drawn = [problem.expected_mean(problem.space.configuration(k)) for k in range(50)]
    assert best < min(drawn)
    assert problem.best_known() < problem.test_mean(problem.space.default)


def test_what_is_expected_is_the_mean_of_many_instances(problem):
    values = problem.space.configuration(2)
    means = [load_problem(problem.name, seed).runtimes_of(values).mean() for seed in range(30)]
    error = np.std(means) / math.sqrt(len(means))
    expected = problem.expected_mean(values)
    assert abs(np.mean(means) - expected) < 3 * error + expected / PARTS_OF_LUCK


def test_there_are_as_many_instances_as_it_says(problem):
    assert problem.train == TRAIN == len(problem.runtimes_of(problem.space.default))
    assert len(problem._test.measured) == TEST
    with pytest.raises(IndexError):
        problem.run(problem.space.default, TRAIN, 0, 1.0)


def test_it_is_fast(problem):
    values = [problem.space.configuration(number) for number in range(1, 51)]
    problem.runtimes_of(problem.space.default)
    begun = time.process_time()
    for each in values:
        problem.runtimes_of(each)
    assert time.process_time() - begun < 50 * 0.05
    begun = time.process_time()
    for each in values:
        for instance in range(TRAIN):
            problem.run(each, instance, instance, 0.1)
    assert time.process_time() - begun < 50 * TRAIN * 2e-4


def test_luck_is_normal_until_it_is_shaped():
    numbers = np.array([normal(np.uint64(key)) for key in range(20_000)])
    assert abs(numbers.mean()) < 4 / math.sqrt(len(numbers))
    assert numbers.std() == pytest.approx(1, abs=4 / math.sqrt(2 * len(numbers)))


@pytest.mark.parametrize("share", [0.0, 0.6, 1.0])
def test_seeds_have_their_share_of_luck(share):
    quantiles = np.linspace(-1, 1, 801)  # uniform numbers
    times = np.log(
        [
            [runtime(0.0, 1.0, np.uint64(7), pair, seed, share, quantiles) for seed in range(8)]
            for pair in range(3_000)
        ]
    )
    within = times.var(1, ddof=1).mean() / (1 / 3)
    # The correlation of uniform numbers that are made of correlated normal ones (Pearson 1907).
    assert 1 - within == pytest.approx(6 / math.pi * math.asin((1 - share) / 2), abs=0.05)


def test_smooth_functions_are_zero_at_the_origin_and_alike_near_by():
    random = np.random.default_rng(0)
    origin = np.full(30, 0.5)
    smooth = Smooth(origin, 400)
    assert np.allclose(smooth.at(origin), 0)
    place = random.random(30) * 4
    neighbour = place.copy()
    neighbour[0] += 1
    here, there = smooth.at(place), smooth.at(neighbour)
    assert here.var() == pytest.approx(1, abs=0.3)
    assert np.corrcoef(here, there)[0, 1] == pytest.approx(0.82, abs=0.1)


def test_an_encoding_tells_configurations_apart():
    space = shipped_space("minisat")
    encoding = Encoding(space)
    rows = np.array([encoding.row(space.configuration(number)) for number in range(300)])
    assert len(np.unique(rows, axis=0)) == 300
    assert rows.min() == ABSENT
    assert rows.max() <= 1
    clasp = shipped_space("clasp")
    row = Encoding(clasp).row(clasp.default)
    assert len(row) == Encoding(clasp).width > len(clasp.parameters)


@pytest.mark.parametrize("name", NAMES)
def test_near_configurations_are_of_the_space_and_differ(name):
    space = shipped_space(name)
    random = np.random.default_rng(1)
    for number in range(50):
        values = space.configuration(number)
        changed = near(space, values, random)
        assert space.checked(changed) == changed
        shared = values.keys() & changed.keys()
        assert sum(values[key] != changed[key] for key in shared) <= 5


def test_models_are_functions_of_their_number(tmp_path):
    paths = write_models(tmp_path / "one", 30, 4)
    again = write_models(tmp_path / "two", 12, 4)
    assert [p.read_text() for p in paths[:12]] == [p.read_text() for p in again]
    assert {p.stem.partition("-")[2] for p in paths} == {name for name, _ in FAMILIES}


@pytest.mark.extra
def test_arrays_say_what_trees_say():
    ensemble = pytest.importorskip("sklearn.ensemble", reason="pip install scikit-learn")
    random = np.random.default_rng(0)
    rows = random.random((300, 4)).astype(np.float32)
    target = rows[:, 0] + np.sin(6 * rows[:, 1])
    model = ensemble.GradientBoostingRegressor(n_estimators=20, random_state=0).fit(rows, target)
    assert np.allclose(Trees(arrays_of(model)).predict(rows), model.predict(rows), atol=1e-4)


@pytest.mark.extra
def test_highs_solves_the_models(tmp_path):
    highspy = need("highspy")
    for path in write_models(tmp_path, 12, 0):
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.setOptionValue("threads", 1)
        solver.readModel(str(path))
        solver.run()
        assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
