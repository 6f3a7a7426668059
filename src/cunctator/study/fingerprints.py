"""Whether a study still runs what it ran before: the program, its scripts, the instances.

A solver that is compiled anew, or an instance that is written anew under its old name, makes runs
that do not compare with the earlier ones. Nobody is kept from going on: it may well be meant, as
when a bug is mended that only few runs met. But it is said.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from cunctator.base.notices import log
from cunctator.scenario import Scenario
from cunctator.study.journal.journal import FileState, Journal
from cunctator.target.template import Item, fill, names_in

PROGRAM, GENERATOR, INSTANCE = "program", "generator", "instance"

MOST_READ = 100 * 2**20
"""Bytes of one program, and of all instances together: more are not read to see what is in them,
which would take longer than a look at a study may."""

NAMED = 3
"""Of many files that have changed, so many are named."""


def note_session(journal: Journal, scenario: Scenario, version: str) -> None:
    """Remember who works on a study now, and on what; say what has changed since the last time."""
    before, known = journal.last_version(), journal.files()
    session = journal.add_session(time.time(), version)
    changed: list[FileState] = []
    left = MOST_READ
    for role, name, place in _files(scenario):
        old = known.get((role, name))
        most = left if role == INSTANCE else MOST_READ
        try:
            new = _look(role, name, place, old, most)
        except OSError:
            continue  # whoever needs it will say so
        if role == INSTANCE and new.digest:
            left -= new.size
        if new != old:
            journal.add_file(session, new)
        if old is not None and _differs(old, new):
            changed.append(new)
    journal.commit()
    words = _words(changed)
    if before is not None and before != version:
        words.append(f"Cunctator (it was {before}, and is {version})")
    if words:
        what = " and ".join(words)
        log.warning("changed since the last session: %s; runs may not compare with earlier", what)


def _files(scenario: Scenario) -> Iterator[tuple[str, str, Path]]:
    """Files that runs depend on, as far as the scenario tells: their role, name and place."""
    directory = scenario.directory
    if scenario.target.function is None:
        yield from _words_that_are_files(PROGRAM, scenario.command.items, directory)
    else:
        module = scenario.target.function.partition(":")[0].replace(".", os.sep)
        for name in (f"{module}.py", str(Path(module) / "__init__.py")):
            if (directory / name).is_file():
                yield PROGRAM, name, directory / name
    generator = scenario.instances.generator
    if generator is not None:
        yield from _words_that_are_files(GENERATOR, generator.command, generator.directory)
    elif scenario.instances.are_files:
        for name in scenario.instances.names:
            yield INSTANCE, name, Path(name)


def _words_that_are_files(
    role: str, items: tuple[Item, ...], directory: Path
) -> Iterator[tuple[str, str, Path]]:
    """The program of a command, and those of its arguments that are files, such as scripts."""
    for number, item in enumerate(items):
        word = fill(item, {"python": sys.executable})
        if not word:
            continue
        found: str | None = str(directory / word)
        if number == 0 and os.sep not in word:
            found = shutil.which(word)
        if found is not None and os.path.isfile(found):  # noqa: PTH113  (long names are no error)
            yield role, "{python}" if names_in(item) else word, Path(found)


def _look(role: str, name: str, place: Path, old: FileState | None, most: int) -> FileState:
    """What a file is like; an instance that looks untouched is not read again."""
    found = place.stat()
    size, modified = found.st_size, found.st_mtime_ns
    if role == INSTANCE and old is not None and (old.size, old.modified) == (size, modified):
        return old
    digest = ""
    if size <= most:
        with place.open("rb") as file:
            digest = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    return FileState(role, name, size, modified, digest)


def _differs(old: FileState, new: FileState) -> bool:
    """By content if that is known, and otherwise as far as can be told."""
    if old.size != new.size:
        return True
    if old.digest and new.digest:
        return old.digest != new.digest
    return old.modified != new.modified


def _words(changed: list[FileState]) -> list[str]:
    words = []
    for role in (PROGRAM, GENERATOR, INSTANCE):
        names = [Path(state.name).name for state in changed if state.role == role]
        if not names:
            continue
        named = ", ".join(names[:NAMED])
        if len(names) == 1:
            words.append(f"the {role} {named}")
        else:
            more = ", ..." if len(names) > NAMED else ""
            words.append(f"{len(names):,} {role}s ({named}{more})")
    return words
