from __future__ import annotations

import shutil
import subprocess
import sys

import numpy as np
import pytest

from cunctator.base.errors import InvalidSetting
from cunctator.demo import circuits, combinatorial
from cunctator.demo.clauses import Formula, at_most_one, parity_clauses
from cunctator.demo.formulas import FAMILIES, make_formula, write_formulas
from cunctator.demo.real import demo_scenario
from tests.optional import need


def parse(text: str) -> tuple[int, list[list[int]]]:
    """DIMACS read as strictly as the format is written down."""
    lines = [line for line in text.splitlines() if not line.startswith("c")]
    p, cnf, variables, clauses = lines[0].split(" ")
    assert (p, cnf) == ("p", "cnf")
    numbers = [[int(word) for word in line.split(" ")] for line in lines[1:]]
    assert len(numbers) == int(clauses)
    for row in numbers:
        assert row[-1] == 0 and 0 not in row[:-1]
    return int(variables), [row[:-1] for row in numbers]


def simplified(clauses: list[list[int]], literal: int) -> list[list[int]]:
    return [[x for x in clause if x != -literal] for clause in clauses if literal not in clause]


def is_satisfiable(clauses: list[list[int]]) -> bool:
    """The truth, by unit propagation and trying both values."""
    while True:
        if not clauses:
            return True
        shortest = min(clauses, key=len)
        if not shortest:
            return False
        if len(shortest) > 1:
            break
        clauses = simplified(clauses, shortest[0])
    return any(is_satisfiable(simplified(clauses, x)) for x in (shortest[0], -shortest[0]))


def models(variables: int, clauses: list[list[int]]) -> set[tuple[bool, ...]]:
    every = np.indices((2,) * variables).reshape(variables, -1).T.astype(bool)
    return {
        tuple(row.tolist())
        for row in every
        if all(any(row[abs(x) - 1] == (x > 0) for x in clause) for clause in clauses)
    }


def test_formulas_are_a_function_of_seed_and_number(tmp_path):
    first = write_formulas(tmp_path / "a" / "b", 12, seed=5)
    again = write_formulas(tmp_path / "again", 20, seed=5)[:12]
    other = write_formulas(tmp_path / "other", 12, seed=6)
    assert [path.name for path in first] == [path.name for path in again]
    texts = [path.read_bytes() for path in first]
    assert texts == [path.read_bytes() for path in again]
    assert len(set(texts) | {path.read_bytes() for path in other}) == 24


def test_files_are_valid_dimacs(tmp_path):
    paths = write_formulas(tmp_path, 40, seed=1)
    assert len(set(paths)) == 40
    for number, path in enumerate(paths):
        family, formula = make_formula(1, number)
        variables, clauses = parse(path.read_text("ascii"))
        assert family in path.name
        assert (variables, clauses) == (formula.variables, formula.clauses)
        for clause in clauses:
            assert clause and len({abs(literal) for literal in clause}) == len(clause)
            assert all(1 <= abs(literal) <= variables for literal in clause)


def test_families_come_up_as_often_as_their_weights_say():
    drawn = [make_formula(2, number)[0] for number in range(300)]
    assert sum(family.weight for family in FAMILIES) == pytest.approx(1)
    for family in FAMILIES:
        # Five standard deviations of a binomial.
        margin = 5 * np.sqrt(300 * family.weight * (1 - family.weight))
        assert abs(drawn.count(family.name) - 300 * family.weight) < margin


@pytest.mark.parametrize("setting", [{"seed": -1, "number": 0}, {"seed": 0, "number": -1}])
def test_negative_positions_are_refused(setting):
    with pytest.raises(InvalidSetting, match="expected 0 or more"):
        make_formula(**setting)


def test_no_formulas_are_refused(tmp_path):
    with pytest.raises(InvalidSetting, match="count is 0"):
        write_formulas(tmp_path / "none", 0, seed=0)
    assert not (tmp_path / "none").exists()


def test_encodings_have_the_models_they_should():
    for odd in (False, True):
        found = models(4, parity_clauses([1, -2, 3, 4], odd))
        assert len(found) == 8
        assert all((a + (not b) + c + d) % 2 == odd for a, b, c, d in found)
    assert {sum(model) for model in models(4, at_most_one([1, 2, 3, 4]))} == {0, 1}


def test_gates_compute_what_their_names_say():
    circuit = circuits.Circuit()
    a, b, c = circuit.word(3)
    outputs = [
        circuit.all_of([a, b, c]),
        circuit.any_of([a, b, c]),
        circuit.odd_of([a, b, c]),
        circuit.majority_of(a, b, c),
    ]
    found = models(circuit.variables, circuit.clauses)
    assert len(found) == 8
    for model in found:
        true = sum(model[:3])
        values = [model[abs(literal) - 1] == (literal > 0) for literal in outputs]
        assert values == [true == 3, true > 0, true % 2 == 1, true >= 2]


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
def test_multipliers_multiply(order):
    for x in range(4):
        for y in range(8):
            circuit = circuits.Circuit()
            first, second = circuit.word(2), circuit.word(3)
            product = circuit.product_of(first, second, order)
            circuit.fix(first, x)
            circuit.fix(second, y)
            for claimed in {x * y, (x * y + 1) % 2 ** len(product)}:
                trial = circuits.Circuit()
                trial.variables, trial.clauses = circuit.variables, list(circuit.clauses)
                trial.fix(product, claimed)
                assert is_satisfiable(trial.clauses) == (claimed == x * y)


@pytest.mark.parametrize(
    ("make", "fewest", "most"),
    [
        (combinatorial.pigeons, 2, 4),
        (combinatorial.parity, 3, 6),
        (circuits.factoring, 3, 4),
        (circuits.miter, 2, 3),
        (circuits.accumulator, 3, 6),
    ],
)
def test_claimed_answers_are_true(make, fewest, most):
    claims = []
    for seed in range(12):
        formula: Formula = make(np.random.default_rng(seed), fewest, most)
        if formula.satisfiable is not None:
            assert is_satisfiable(formula.clauses) == formula.satisfiable
            claims.append(formula.satisfiable)
    assert claims
    if make in (combinatorial.parity, circuits.factoring):
        assert set(claims) == {False, True}


def clasp(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "cunctator.spaces.run_clasp", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_clasp_says_what_is_wrong_by_its_exit_code(tmp_path):
    need("clingo")
    done = clasp("--no-such-option", str(tmp_path / "none.cnf"))
    assert done.returncode not in (0, 10, 20, 30) and "no-such-option" in done.stderr


@pytest.mark.skipif(shutil.which("minisat") is None, reason="install minisat (Debian: minisat)")
def test_the_demonstration_has_as_many_slots_as_asked_for(tmp_path):
    assert demo_scenario("minisat", 0, 5.0, tmp_path, workers=3).search.workers == 3
