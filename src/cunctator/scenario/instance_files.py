"""From `[instances]` to the stream of pairs: which files there are, and that they are there.

All paths are relative to the scenario's folder, and given to the target whole: it may run in
another one. They are taken as they are written; nothing in them is expanded.
"""

from __future__ import annotations

import glob
import math
import os
import shutil
import sys
from pathlib import Path

from cunctator.base.errors import InvalidKey
from cunctator.scenario.models import InstancesTable
from cunctator.target.instances import FIRST_TEST_INDEX, TEST_STREAM, Generator, Instances
from cunctator.target.template import fill, names_in, parse_item

GENERATOR_PLACEHOLDERS = ("index", "seed", "output", "python")

MOST_PAIRS = 10_000_000
"""Of a finite set, whose order is laid out in memory."""

ENOUGH_PAIRS = 100
"""Of a randomised target, instances are run with one seed each if there are so many of them, and
with more if there are fewer. So what is certified is about a set that a study of minutes can run
its answer and the default on. Without an end of pairs that takes longer, by a factor of about the
cutoff over the mean: any run that has not been made may be a long one."""


def make_instances(
    table: InstancesTable,
    folder: Path,
    seed: int,
    takes_seed: bool,
    is_test: bool,
    silent_is_endless: bool = False,
) -> tuple[Instances, tuple[str, ...]]:
    """The stream, and the instances as the file names them.

    `silent_is_endless`: pairs never end if the table does not say how many seeds there are.
    """
    key = "test_instances" if is_test else "instances"
    stream = seed + TEST_STREAM if is_test else seed
    _check_seeds(table, takes_seed, key)
    if table.generator is not None:
        generator = _make_generator(table.generator, folder, (key, "generator"))
        first = FIRST_TEST_INDEX if is_test else 0
        made = Instances((), stream, takes_seed, generator=generator, first_index=first)
        return made, table.generator
    written = _written(table, folder, (key, table.source))
    twice = _first_repeated(written)
    if twice is not None:
        raise InvalidKey((key, table.source), f"{twice!r} is there twice", "keep one of them")
    seeds = table.seeds
    if seeds is None and takes_seed and not is_test and not silent_is_endless:
        seeds = math.ceil(ENOUGH_PAIRS / len(written))
    are_files = table.names is None
    names = _checked(written, folder, (key, table.source)) if are_files else written
    number = seeds if isinstance(seeds, int) else None
    if number is not None and number * len(written) > MOST_PAIRS:
        problem = f"with {number:,} each, {len(written):,} instances make more than"
        fix = 'give fewer, or "endless": then pairs are drawn one after the other'
        raise InvalidKey((key, "seeds"), f"{problem} {MOST_PAIRS:,} pairs", fix)
    return Instances(names, stream, takes_seed, number, are_files), written


def _check_seeds(table: InstancesTable, takes_seed: bool, key: str) -> None:
    if table.seeds is None:
        return
    if not takes_seed:
        problem, fix = "the target takes no seed", "remove it, or give the target {seed}"
        raise InvalidKey((key, "seeds"), problem, fix)
    if table.generator is not None:
        problem = "a generator's instances come up once each"
        raise InvalidKey((key, "seeds"), problem, "remove it")


def is_file(place: Path) -> bool:
    """Whether there is such a file; a name that none can have, being too long, is no error."""
    try:
        return place.is_file()
    except OSError:
        return False


def check_program(word: str, directory: Path, key: tuple[str, ...]) -> None:
    """Complain if there is no such program, as seen from the folder where it would run."""
    place = str(directory / word) if os.sep in word else word
    if shutil.which(place) is None:
        is_there = is_file(directory / word)
        if is_there and os.sep not in word:
            fix = f"write ./{word}: programs without a / are looked for in PATH only"
        elif is_there:
            fix = "make the file executable"
        else:
            fix = "install it, or correct the path"
        raise InvalidKey(key, f"there is no program {word!r} that can be run", fix)


def _make_generator(command: tuple[str, ...], folder: Path, key: tuple[str, ...]) -> Generator:
    items = tuple(parse_item(text, key, GENERATOR_PLACEHOLDERS) for text in command)
    if not any(names_in(item) & {"index", "seed"} for item in items):
        problem = "it would make the same instance again and again"
        raise InvalidKey(key, problem, 'add "{seed}" or "{index}" to it')
    program = fill(items[0], {"python": sys.executable})
    if program is not None:
        check_program(program, folder, key)
    return Generator(items, folder)


def _written(table: InstancesTable, folder: Path, key: tuple[str, ...]) -> tuple[str, ...]:
    """Instances as the scenario, or the file it names, writes them."""
    if table.file is not None:
        return _lines(folder / table.file, key)
    if table.glob is None:
        return table.list or table.names or ()
    # As in a shell: hidden files are left out, and patterns may begin with a slash.
    try:
        found = glob.glob(table.glob, root_dir=folder, recursive=True)  # noqa: PTH207
    except (OSError, ValueError, RecursionError):
        problem = f"no file can match {table.glob!r}"
        raise InvalidKey(key, problem, "write it as in a shell, e.g. cnf/*.cnf") from None
    files = tuple(sorted(name for name in found if is_file(folder / name)))
    if not files:
        problem = f"no file matches {table.glob!r}"
        raise InvalidKey(key, problem, f"check the pattern; it is taken from {folder}")
    return files


def _lines(place: Path, key: tuple[str, ...]) -> tuple[str, ...]:
    """One instance on each line, exactly; empty lines and those that begin with # do not count."""
    fix = "give a file with one instance on each line"
    if not is_file(place):
        raise InvalidKey(key, f"there is no file {str(place)!r}", fix)
    try:
        text = place.read_bytes().decode(errors="surrogateescape")
    except OSError as error:
        raise InvalidKey(key, f"{place} cannot be read ({error.strerror})", fix) from None
    lines = (line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n"))
    found = tuple(line for line in lines if line.strip() and not line.startswith("#"))
    if not found:
        raise InvalidKey(key, f"{place} is empty", fix)
    return found


def _checked(written: tuple[str, ...], folder: Path, key: tuple[str, ...]) -> tuple[str, ...]:
    places = [folder / name for name in written]
    for place in places:
        if not is_file(place):
            problem = f"there is no file {str(place)!r}"
            raise InvalidKey(key, problem, f"correct the path; it is taken from {folder}")
        if not os.access(place, os.R_OK):
            raise InvalidKey(key, f"{str(place)!r} may not be read", "correct its permissions")
    return tuple(str(place) for place in places)


def _first_repeated(names: tuple[str, ...]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
