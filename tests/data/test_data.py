"""The data set that ships: what its README says of it holds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import cunctator.data
from cunctator.data.formulas import COUNT, FAMILIES, SEED
from cunctator.demo.formulas import make_formula
from cunctator.formats.load import load_table
from cunctator.siblings.table_space import read_parameters

FOLDER = Path(cunctator.data.__file__).parent


def test_it_is_as_large_as_promised_and_no_larger():
    table = load_table("minisat")
    assert table.runtimes.shape == (216, 500) and table.cutoff == 2.0
    assert (FOLDER / "minisat.npz").stat().st_size < 3_000_000
    assert table.source == "minisat"
    assert table.cutoff >= 20 * np.median(table.runtimes)
    assert table.runtimes.min() > 0


def test_configurations_are_a_grid_of_six_parameters():
    space = read_parameters(load_table("minisat"))
    assert sorted(space.sizes) == [2, 2, 2, 3, 3, 3]
    assert all(len(own) == 3 * 1 + 3 * 2 for own in space.neighbours()), "every exchange is there"
    default = load_table("minisat").configurations[0]
    assert default.startswith("var-decay=0.95 phase-saving=2 ccmin-mode=2 luby=true rfirst=100")


def test_counts_are_there_for_all_runs_that_ended():
    table = load_table("minisat")
    solved = table.runtimes < 2.0
    assert 0.99 < solved.mean() < 1.0
    for name in ("conflicts", "decisions", "propagations"):
        assert (np.isnan(table.measures[name]) == ~solved).all()
    # More conflicts take longer: the two measures are of the same runs.
    long = solved & (table.runtimes > 0.05)
    logs = np.log(table.runtimes[long]), np.log(table.measures["propagations"][long])
    assert np.corrcoef(*logs)[0, 1] > 0.8


def test_instances_are_the_generators():
    names = sorted(load_table("minisat").instances)
    assert len(names) == COUNT
    for number in (0, 1, 250, 499):
        family, _ = make_formula(SEED, number, FAMILIES)
        assert names[number] == f"{number:04d}-{family}"


def test_its_facts_are_its_own():
    facts = json.loads((FOLDER / "minisat.json").read_text())
    table = load_table("minisat")
    assert abs(facts["median"] - np.median(table.runtimes)) < 1e-4
    assert abs(facts["total"] - table.runtimes.sum()) < 1.0
    assert facts["noise"]["counts_are_the_same"] is True


def test_a_file_of_that_name_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez(tmp_path / "minisat.npz", runtimes=np.ones((1, 2)))
    assert load_table("minisat").runtimes.shape == (216, 500)
    assert load_table("minisat.npz").runtimes.shape == (1, 2)
