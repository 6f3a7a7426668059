"""Launchers of solvers that are wheels, or want their search in words: `spaces/run_*.py`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cunctator.space.parameters import text_of
from cunctator.spaces.launching import MISSING, MISUSED, Misused, read_arguments
from cunctator.spaces.run_fast_downward import search_text
from tests.solvers.installed import KNAPSACK, load, need, run


def test_arguments() -> None:
    assert read_arguments(["--a/b=c=d", "--e=", "f g"]) == ({"a/b": "c=d", "e": ""}, "f g")
    for wrong in ([], ["--a=1"], ["--a", "f"], ["-a=1", "f"], ["--=1", "f"], ["a", "f"]):
        with pytest.raises(Misused):
            read_arguments(wrong)
    with pytest.raises(Misused, match="--a is given twice"):
        read_arguments(["--a=1", "--a=1", "f"])


@pytest.mark.parametrize(
    ("launcher", "module", "said"),
    [
        ("run_highs", "highspy", "HiGHS is missing; pip install highspy\n"),
        ("run_scip", "pyscipopt", "SCIP is missing; pip install pyscipopt\n"),
    ],
)
def test_a_missing_wheel_is_told_in_one_line(launcher: str, module: str, said: str) -> None:
    script = f"""
import sys
sys.modules[{module!r}] = None
from cunctator.spaces.{launcher} import launch, solve
light = not {{"numpy", "pydantic", "numba"}} & set(sys.modules)
sys.exit(launch(solve, ["--x=1", "file"]) if light else "loads too much")
"""
    done = run(sys.executable, "-c", script)
    assert (done.returncode, done.stderr, done.stdout) == (MISSING, said, "")


@pytest.mark.extra
@pytest.mark.parametrize("name", ["highs", "scip"])
@pytest.mark.parametrize("wrong", ["--nonsense=1", "--threads=many", "--lp/scaling=7", "--time="])
def test_a_wrong_option_is_told(name: str, wrong: str, tmp_path: Path) -> None:
    need(name)
    (tmp_path / "best.lp").write_text(KNAPSACK.format(more=""))
    module = f"cunctator.spaces.run_{name}"
    done = run(sys.executable, "-P", "-m", module, wrong, str(tmp_path / "best.lp"))
    assert done.returncode == MISUSED
    assert done.stderr.splitlines()[-1].endswith(f"refuses {wrong}; check its name and range")


def test_a_missing_planner_is_told_in_one_line(tmp_path: Path) -> None:
    launcher = (sys.executable, "-P", "-m", "cunctator.spaces.run_fast_downward")
    done = run(*launcher, f"--planner={tmp_path}/none", "task.pddl")
    assert done.returncode == MISSING
    assert done.stderr.startswith(f"there is no program '{tmp_path}/none'; ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--nonsense=1"], "there is no option --nonsense; "),
        (["--ff=true"], "the option or value 'random_seed' is missing"),
        (["--random_seed=x"], "--release and --random_seed must be numbers"),
    ],
)
@pytest.mark.usefixtures("stand_ins")
def test_a_wrong_part_of_a_search_is_told(options: list[str], said: str) -> None:
    launcher = (sys.executable, "-P", "-m", "cunctator.spaces.run_fast_downward")
    done = run(*launcher, *options, "task.pddl")
    assert done.returncode == MISUSED
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1


LAMA = (
    "lazy(alt([single(hff),single(hff,pref_only=true),single(hlandmarks),"
    "single(hlandmarks,pref_only=true)],boost=1000),preferred=[hff,hlandmarks],"
    "reopen_closed=false,cost_type=one,randomize_successors=false,"
    "preferred_successors_first=false,random_seed=0)"
)
NEW = (
    "let(hff,eval_modify_costs(ff(),cost_type=one),let(hlandmarks,eval_modify_costs("
    "landmark_sum(lm_factory=lm_reasonable_orders_hps(lm_rhw()),pref=false),cost_type=one),"
    f"{LAMA}))"
)
OLD = (
    "let(hff,ff(transform=adapt_costs(cost_type=one)),let(hlandmarks,"
    "landmark_sum(lm_factory=lm_reasonable_orders_hps(lm_rhw()),pref=false,"
    f"transform=adapt_costs(cost_type=one)),{LAMA}))"
)


@pytest.mark.parametrize(("release", "expected"), [("26.6", NEW), ("24", OLD)])
def test_the_default_search_is_that_of_lama(release: str, expected: str, tmp_path: Path) -> None:
    default = load("fast-downward", tmp_path).space.default
    options = {name: text_of(value) for name, value in default.items()}
    # The seed is beyond what the planner can take.
    more = {"release": release, "random_seed": str(2**30)}
    assert search_text({**options, **more}) == expected
