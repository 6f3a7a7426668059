"""Runs a satisficing search of Fast Downward, which takes its whole search as one expression.

Options say what the search is made of; the expression is put together here, from best-first open
lists between which the search alternates. Evaluators that are used twice are bound to a name, so
that they are computed once for each state. Fast Downward prints the expression.

Each run has a folder of its own: the planner leaves files where it runs, always under the same
names, and runs side by side would overwrite each other's.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from cunctator.spaces.launching import Missing, Misused, launch

FACTORIES = {"rhw": "lm_rhw()", "zg": "lm_zg()", "h1": "lm_hm(m=1)"}
HEURISTICS = ("ff", "landmarks", "add", "cg", "cea")
KNOWN = {
    *("planner", "release", "random_seed", *HEURISTICS, "heuristic_cost_type"),
    *("search", "cost_type", "w", "reopen_closed", "epsilon", "type_based"),
    *("randomize_successors", "preferred", "preferred_successors_first", "boost"),
    *("landmark_factory", "reasonable_orders", "landmark_preferred"),
}
SEEDS = 2**30
"""Fast Downward refuses 2^31 - 1, which stands for infinity, and takes none below 0."""

FIRST_WRAPPED = 26
"""The first release that says costs of heuristics by another evaluator around them."""


def plan(options: dict[str, str], file: str) -> int:
    """Search a plan for a task; returns the planner's exit code."""
    for name in options:
        if name not in KNOWN:
            raise Misused(f"there is no option --{name}; expected some of {sorted(KNOWN)}")
    planner = options.get("planner", "fast-downward.py")
    program = shutil.which(planner)
    if program is None:
        raise Missing(f"there is no program {planner!r}; build Fast Downward, give --planner=PATH")
    try:
        search = search_text(options)
    except KeyError as problem:
        raise Misused(f"the option or value {problem} is missing or unknown") from None
    except ValueError:
        raise Misused("--release and --random_seed must be numbers") from None
    command = [str(Path(program).absolute()), str(Path(file).absolute()), "--search", search]
    with TemporaryDirectory() as folder:
        return subprocess.run(command, cwd=folder, check=False).returncode  # noqa: S603


def search_text(options: Mapping[str, str]) -> str:
    """The search, as Fast Downward writes one."""
    options = {**options, "random_seed": str(int(options["random_seed"]) % SEEDS)}
    used = [name for name in HEURISTICS if options[name] == "true"]
    names = [f"h{name}" for name in used]
    preferred = ",".join(names) if options["preferred"] == "true" else ""
    details = [
        f"preferred=[{preferred}]",
        f"reopen_closed={options['reopen_closed']}",
        f"cost_type={options['cost_type']}",
    ]
    if options["search"] == "lazy":
        details += [
            f"randomize_successors={options['randomize_successors']}",
            f"preferred_successors_first={options.get('preferred_successors_first', 'false')}",
            f"random_seed={options['random_seed']}",
        ]
    text = f"{options['search']}({_open_list(names, options)},{','.join(details)})"
    for name in reversed(used):
        text = f"let(h{name},{_heuristic(name, options)},{text})"
    return text


def _open_list(names: list[str], options: Mapping[str, str]) -> str:
    """One list for each heuristic, two with preferred operators, and one to explore with."""
    lists = []
    seed = f"random_seed={options['random_seed']}"  # the planner has none for all of them
    for name in names:
        value = f"sum([g(),weight({name},{options['w']})])" if "w" in options else name
        kind, more = "single", ""
        if "epsilon" in options:
            kind, more = "epsilon_greedy", f",epsilon={options['epsilon']},{seed}"
        lists.append(f"{kind}({value}{more})")
        if options["preferred"] == "true":
            lists.append(f"{kind}({value}{more},pref_only=true)")
    if options["type_based"] == "true":
        lists.append(f"type_based([{','.join(names)},g()],{seed})")
    return f"alt([{','.join(lists)}],boost={options.get('boost', '0')})"


def _heuristic(name: str, options: Mapping[str, str]) -> str:
    """A heuristic that sees the costs it should see."""
    costs = options["heuristic_cost_type"]
    is_wrapped = int(options["release"].partition(".")[0]) >= FIRST_WRAPPED
    arguments = [] if is_wrapped else [f"transform=adapt_costs(cost_type={costs})"]
    kind = name
    if name == "landmarks":
        kind = "landmark_sum"
        factory = FACTORIES[options["landmark_factory"]]
        if options["reasonable_orders"] == "true":
            factory = f"lm_reasonable_orders_hps({factory})"
        pref = options.get("landmark_preferred", "false")
        arguments = [f"lm_factory={factory}", f"pref={pref}", *arguments]
    text = f"{kind}({','.join(arguments)})"
    return f"eval_modify_costs({text},cost_type={costs})" if is_wrapped else text


if __name__ == "__main__":
    sys.exit(launch(plan, sys.argv[1:]))
