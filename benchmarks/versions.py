"""How long two versions of the sources compile, and how fast they are, in one run.

    python benchmarks/versions.py BEFORE/src AFTER/src

Compiling: CPU seconds from an empty cache until a study could begin. Speed: steps a CPU second of
simulations of log-normal runtimes (`lognormal.py`), one version after the other, several times; the
machine may be busy, so look at the ratios. It takes half an hour.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from cunctator import Simulation
from lognormal import FIRST_CAP, lognormal_table

CASES = {972: (20_118, 600_000), 100_000: (500, 1_000_000)}
"""Configurations: instances, steps."""
PROFILES = ("tight", "proved", "paper")
ROUNDS = 5

HOMES = ("cunctator.study_folder", "cunctator.study.folder")
"""Where `compile_kernels` is at home, in earlier versions and now."""


def compile_all() -> None:
    """What `cunctator run` compiles, and then what `cunctator simulate` needs besides."""
    home = next(name for name in HOMES if find_spec(name) is not None)
    import_module(home).compile_kernels()
    begun = resource.getrusage(resource.RUSAGE_SELF)
    print(begun.ru_utime + begun.ru_stime, flush=True)
    Simulation(lognormal_table(2, 10)).run()
    ended = resource.getrusage(resource.RUSAGE_SELF)
    print(ended.ru_utime + ended.ru_stime, flush=True)


def advance(configurations: int, profile: str) -> None:
    """Make a search whenever a line comes in; say how many steps it made a CPU second."""
    instances, steps = CASES[configurations]
    table = lognormal_table(configurations, instances)
    Simulation(lognormal_table(2, 10), profile=profile).run()
    for line in sys.stdin:
        simulation = Simulation(table, profile=profile, first_cap=FIRST_CAP, seed=int(line))
        begun = time.process_time()
        simulation.advance(steps)
        print(simulation.steps / (time.process_time() - begun), flush=True)


@contextmanager
def version(folder: Path, cache: str, *words: object) -> Iterator[subprocess.Popen[str]]:
    """A process of this script that loads the sources in a folder."""
    process = subprocess.Popen(
        [sys.executable, __file__, "--one", *map(str, words)],
        env={**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": cache},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def answer(process: subprocess.Popen[str], request: str = "") -> float:
    """Its next number."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(request)
    process.stdin.flush()
    return float(process.stdout.readline())


def compare(before: Path, after: Path) -> None:
    """Print all ratios."""
    with tempfile.TemporaryDirectory() as caches:
        folders = [(folder, f"{caches}/{k}") for k, folder in enumerate((before, after))]
        spent = []
        for folder, cache in folders:
            with version(folder, cache, "compile") as process:
                spent.append((answer(process), answer(process)))
        for what, old, new in zip(("a study", "and a simulation"), *spent, strict=True):
            print(f"compiled for {what}: {old:.1f} and {new:.1f} CPU s, {new / old:.2f} times")
        for configurations in CASES:
            for profile in PROFILES:
                compare_speed(folders, configurations, profile)


def compare_speed(folders: list[tuple[Path, str]], configurations: int, profile: str) -> None:
    """Print the median ratio of one case, both versions in turn."""
    (before, old_cache), (after, new_cache) = folders
    rows = []
    with (
        version(before, old_cache, "advance", configurations, profile) as old,
        version(after, new_cache, "advance", configurations, profile) as new,
    ):
        for seed in range(ROUNDS):
            request = f"{seed}\n"
            rows.append((answer(old, request), answer(new, request)))
    slow, fast = (statistics.median(column) for column in zip(*rows, strict=True))
    ratio = statistics.median(new / old for old, new in rows)
    print(
        f"n = {configurations:,}, {profile}: {slow:,.0f} and {fast:,.0f} steps a CPU second,"
        f" {ratio:.2f} times",
        flush=True,
    )


def main() -> None:
    """Compare two versions, or be one of them."""
    words = sys.argv[1:]
    if words[:2] == ["--one", "compile"]:
        compile_all()
    elif words[:2] == ["--one", "advance"]:
        advance(int(words[2]), words[3])
    else:
        before, after = (Path(folder).resolve() for folder in words)
        compare(before, after)


if __name__ == "__main__":
    main()
