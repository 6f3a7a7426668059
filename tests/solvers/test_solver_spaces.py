"""The parameter spaces that ship with Cunctator, against the solvers that they are for.

What needs a solver is skipped where there is none of the right version; what needs only the files
is tested everywhere, with stand-ins for the programs.
"""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cunctator.base.errors import InvalidSetting
from cunctator.base.records import Status
from cunctator.scenario import load_scenario
from cunctator.space.parameters import LISTED, Parameter, text_of
from cunctator.spaces import scenario_text, solver_names, solver_text
from cunctator.target.measurement import Ending, Measurement
from tests.solvers.installed import KNAPSACK, LOGICAL, SOLVERS, load, need, run

SAMPLES = 40
Defaults = dict[str, str]
Ranges = dict[str, tuple[float, float]]


def test_names() -> None:
    assert solver_names() == tuple(sorted(SOLVERS))


@pytest.mark.parametrize("ask", [solver_text, scenario_text])
def test_an_unknown_solver_is_told_with_the_known_ones(ask: Callable[[str], str]) -> None:
    with pytest.raises(InvalidSetting, match=r"'../minisat'.*cadical, clasp, .*, z3"):
        ask("../minisat")


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.parametrize("name", SOLVERS)
def test_the_space_is_of_the_right_size_and_can_be_drawn_from(name: str, tmp_path: Path) -> None:
    scenario = load(name, tmp_path)
    command = scenario.command
    assert 10 <= len(scenario.space.parameters) <= 40
    assert command.takes_seed
    assert scenario.target.answer is not None
    drawn = [scenario.space.configuration(number) for number in range(300)]
    lines = {tuple(command.argv(one, "INSTANCE", 1, 1.0)) for one in drawn}
    assert len(lines) == 300, "configurations that differ must not look alike to the solver"
    seen = {parameter for one in drawn for parameter in one}
    assert seen == {parameter.name for parameter in scenario.space.parameters}


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.parametrize("name", SOLVERS)
def test_the_whole_scenario_needs_nothing_but_instances(name: str, tmp_path: Path) -> None:
    text = scenario_text(name)
    assert text.startswith(solver_text(name))
    assert max(map(len, text.splitlines())) <= 100
    (tmp_path / "scenario.toml").write_text(text)
    pattern = re.search(r'^glob = "(.*)"', text, re.MULTILINE)
    assert pattern is not None
    instance = tmp_path / pattern[1].replace("*", "1")
    instance.parent.mkdir()
    instance.touch()
    scenario = load_scenario(tmp_path / "scenario.toml")
    assert scenario.search.cutoff == 60
    assert scenario.instances.names == (str(instance),)


# What solvers say of their own options.


def number(text: str) -> float:
    """A number as CaDiCaL and Kissat write it: 300, 1e5, 2^18."""
    base, _, power = text.partition("^")
    return float(base) ** float(power) if power else float(base)


def options_of_minisat(program: str) -> tuple[Defaults, Ranges]:
    said = run(program, "--help-verb")
    text = said.stdout + said.stderr
    flags = re.findall(r"^  -(\S+), -no-\S+ +\(default: (on|off)\)", text, re.MULTILINE)
    numbers = re.findall(
        r"^  -(\S+) += <\S+> +[\[(] *(\S+) \.\. +(\S+)[\])] \(default: (\S+)\)", text, re.MULTILINE
    )
    defaults = {name: {"on": "true", "off": "false"}[word] for name, word in flags}
    ends = {"imin": -(2.0**31), "imax": 2.0**31 - 1}
    ranges = {n: tuple(ends.get(e) or float(e) for e in (low, high)) for n, low, high, _ in numbers}
    return defaults | {name: default for name, *_, default in numbers}, ranges  # type: ignore


def options_of_cadical(program: str) -> tuple[Defaults, Ranges]:
    text = run(program, "--help").stdout
    found = re.findall(r"^  --(\w+)=(\S+) .*\[(\S+)\]$", text, re.MULTILINE)
    ranges = {}
    for name, domain, _ in found:
        low, dots, high = domain.partition("..")
        if dots:
            ranges[name] = (number(low), 2.0**31 - 1 if high == "." else number(high))
    return {name: default for name, _, default in found}, ranges


def options_of_cryptominisat() -> tuple[Defaults, Ranges]:
    text = run("cryptominisat5", "--hhelp").stdout
    return dict(re.findall(r"--(\w+) (?:\] )?arg \(=([^)]*)\)", text)), {}


def options_of_z3() -> tuple[Defaults, Ranges]:
    text = run("z3", "-pm:sat").stdout
    return dict(re.findall(r"^ +(\S+) \([a-z ]+\) .*\(default: (\S+)\)$", text, re.MULTILINE)), {}


def options_in_python(script: str) -> tuple[Defaults, Ranges]:
    said = run(sys.executable, "-c", script)
    assert said.returncode == 0, said.stderr
    return json.loads(said.stdout), {}


HIGHS = """
import highspy, json, sys
solver = highspy.Highs()
solver.setOptionValue("output_flag", False)
print(json.dumps({name: str(solver.getOptionValue(name)[1]).lower() for name in NAMES}))
"""
SCIP = """
import json, pyscipopt
shown = {name: str(value) for name, value in pyscipopt.Model().getParams().items()}
print(json.dumps({n: v.lower() if v in ("True", "False") else v for n, v in shown.items()}))
"""
OWN_WORDS = {
    "cryptominisat": {"restart"},
    "glucose": {"reduction"},
    "scip": {"branching_rule", "node_rule", "presolving/emphasis", "separating/emphasis"}
    | {"heuristics/emphasis"},
}
"""Parameters of ours that stand for several of the solver's."""


def options_of(name: str, parameters: Sequence[Parameter]) -> tuple[Defaults, Ranges]:
    if name in ("minisat", "glucose"):
        return options_of_minisat(name)
    if name in ("cadical", "kissat"):
        return options_of_cadical(name)
    if name == "highs":
        return options_in_python(HIGHS.replace("NAMES", repr([p.name for p in parameters])))
    if name == "scip":
        return options_in_python(SCIP)
    return options_of_z3() if name == "z3" else options_of_cryptominisat()


@pytest.mark.extra
@pytest.mark.parametrize("name", sorted(set(SOLVERS) - {"clasp", "fast-downward"}))
def test_defaults_and_ranges_are_the_solver_s_own(name: str, tmp_path: Path) -> None:
    need(name)
    parameters = load(name, tmp_path).space.parameters
    defaults, ranges = options_of(name, parameters)
    for parameter in parameters:
        if parameter.name in OWN_WORDS.get(name, ()):
            continue
        own, ours = defaults[parameter.name], text_of(parameter.default)
        is_number = not isinstance(parameter.default, str | bool)
        assert (number(own) == float(ours)) if is_number else (own == ours), parameter.name
        if parameter.name in ranges:
            low, high = ranges[parameter.name]
            values = parameter.values if parameter.kind in LISTED else ()
            assert low <= float(min(values, default=parameter.low)), parameter.name
            assert float(max(values, default=parameter.high)) <= high, parameter.name


CLASP = """
import clingo, json
control = clingo.Control(["--configuration=trendy"])
found = control.configuration
shown = {name: getattr(found.solver[0], name) for name in found.solver[0].keys}
shown |= {"sat_prepro": found.sat_prepro}
print(json.dumps({name: value for name, value in shown.items() if isinstance(value, str)}))
"""


@pytest.mark.extra
def test_defaults_of_clasp_are_its_configuration_for_formulas(tmp_path: Path) -> None:
    need("clasp")
    own, _ = options_in_python(CLASP)
    scenario = load("clasp", tmp_path)
    argv = scenario.command.argv(scenario.space.default, "INSTANCE", 1, 1.0)
    options = [word for word in argv if word.startswith("--") and "seed" not in word][1:]
    assert len(options) > 20
    for option in options:
        name, sign, value = option.removeprefix("--").lower().partition("=")
        if not sign:
            value = "0" if name.startswith("no-") else "1"
        value = {"vsids,95": "vsids,0"}.get(value, value)  # 0: its default, which is 95
        shown = own[name.removeprefix("no-").replace("-", "_")]
        shown = {"no": "0"}.get(shown, shown)
        assert f"{shown},".startswith(re.sub(r"\.0\b", "", value) + ","), option


# Runs of what is there.


def pigeons(count: int, holes: int) -> str:
    """A formula that is satisfiable if there are enough holes."""
    pairs = itertools.combinations(range(count), 2)
    clauses = [[p * holes + h + 1 for h in range(holes)] for p in range(count)]
    clauses += [[-p * holes - h - 1, -q * holes - h - 1] for p, q in pairs for h in range(holes)]
    lines = [" ".join(map(str, [*clause, 0])) for clause in clauses]
    return "\n".join([f"p cnf {count * holes} {len(clauses)}", *lines, ""])


BEST_PROFIT = 38
DOMAIN = """(define (domain lamps)
 (:requirements :strips)
 (:predicates (next ?x ?y) (at ?x) (lit ?x) (spare ?x))
 (:action go :parameters (?x ?y) :precondition (and (at ?x) (next ?x ?y))
  :effect (and (at ?y) (not (at ?x))))
 (:action light :parameters (?x ?y) :precondition (and (at ?x) (spare ?y))
  :effect (and (lit ?x) (not (spare ?y)))))
"""
TASK = """(define (problem p) (:domain lamps) (:objects a b c d m n o)
 (:init (at a) (next a b) (next b c) (next c d) (next d a) (spare m) (spare n) {more})
 (:goal (and (lit b) (lit c) (lit d))))
"""


def instances_of(name: str, folder: Path) -> dict[str, str]:
    """Files, and the answers that are right."""
    if name in LOGICAL:
        (folder / "sat.cnf").write_text(pigeons(6, 6))
        (folder / "unsat.cnf").write_text(pigeons(6, 5))
        return {"sat.cnf": "SATISFIABLE", "unsat.cnf": "UNSATISFIABLE"}
    if name in ("highs", "scip"):
        (folder / "best.lp").write_text(KNAPSACK.format(more=""))
        better = "more: 12 a + 9 b + 14 c + 7 d + 10 e + 5 f + 11 g + 6 h >= 39"
        (folder / "none.lp").write_text(KNAPSACK.format(more=better))
        return {"best.lp": "optimal", "none.lp": "infeasible"}
    (folder / "domain.pddl").write_text(DOMAIN)
    for file, more in (("yes", "(spare o)"), ("no", "")):
        (folder / f"{file}.pddl").write_text(TASK.format(more=more))
        out = ("--sas-file", str(folder / f"{file}.sas"))
        run("fast-downward.py", "--translate", *out, str(folder / f"{file}.pddl"))
    return {"yes.sas": "Solution found", "no.sas": "Task is provably unsolvable"}


BATCH = """
import json, sys
from cunctator.spaces.launching import launch
from cunctator.spaces.run_NAME import solve
for arguments in json.load(sys.stdin):
    print("exit", launch(solve, arguments), flush=True)
"""


def outcomes(name: str, lines: list[list[str]]) -> Iterator[tuple[int, str]]:
    """Exit codes and output; wheels that take long to load are loaded once."""
    if name not in ("highs", "scip"):
        with ThreadPoolExecutor(2) as pool:
            for done in pool.map(lambda line: run(*line), lines):
                yield done.returncode, done.stdout
        return
    first = run(*lines[0])
    assert (first.returncode, first.stderr) == (0, "")
    calls = json.dumps([line[4:] for line in lines])
    script = BATCH.replace("NAME", name)
    done = subprocess.run(
        [sys.executable, "-c", script], input=calls, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    parts = re.split(r"exit (\d+)\n", done.stdout)
    assert parts[0] == first.stdout
    yield from zip(map(int, parts[1::2]), parts[::2], strict=False)


@pytest.mark.extra
@pytest.mark.parametrize("name", SOLVERS)
def test_every_configuration_gives_the_right_answer(name: str, tmp_path: Path) -> None:
    need(name)
    scenario = load(name, tmp_path)
    command = scenario.command
    right = instances_of(name, tmp_path)
    calls = list(itertools.product(range(SAMPLES + 1), right))
    lines = [
        command.argv(scenario.space.configuration(k), str(tmp_path / file), 2**31 - 1 - k, 60.0)
        for k, file in calls
    ]
    count = 0
    for (_, file), line, (code, out) in zip(calls, lines, outcomes(name, lines), strict=True):
        measured = Measurement(Ending.EXITED, exit_code=code, stdout=out.encode())
        verdict = command.judge(measured, 60.0)
        assert verdict.status is Status.SOLVED, (verdict, " ".join(line))
        assert verdict.reply == right[file], " ".join(line)
        objective = re.search(r"^objective: (.*)$", out, re.MULTILINE)
        assert (objective is not None) == (right[file] == "optimal")
        assert objective is None or float(objective[1]) == pytest.approx(BEST_PROFIT, abs=1e-4)
        count += 1
    assert count == 2 * (SAMPLES + 1)


# Launchers.
