"""The stream of (instance, seed) pairs that all configurations share.

Pair j is a function of (seed, j) alone, so a study can be replayed, and two configurations that
have both started j pairs have seen the same ones. A finite set is a seeded shuffle, drawn without
replacement and never repeated: once all of it has been run, the mean is exact. A randomised
target may ask for an endless stream instead, where instances come up again with new seeds. A
generator's stream is endless too: each of its instances comes up once.
"""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cunctator.errors import GeneratorFailed, InvalidSetting, MissingInstance
from cunctator.target.template import Item, fill, names_in

LARGEST_SEED = 2**31 - 1
"""Solvers read seeds as positive 32-bit numbers."""

TEST_STREAM = 2**40
"""Added to the seed for test instances: an instance that is in both sets gets other seeds."""

FIRST_TEST_INDEX = 10**9
"""A generator counts its test instances from here: they are none of those trained on."""

LONGEST_GENERATION = 600.0
"""Seconds that making one instance may take."""


def shuffled(instances: int, seed: int) -> NDArray[np.int64]:
    """Order of a finite set: position j of the stream is instance `result[j]`."""
    return np.random.default_rng([seed, 0]).permutation(instances)


def endless_pair(instances: int, seed: int, position: int) -> tuple[int, int]:
    """(instance, seed of the run) at a position of the endless stream."""
    random = np.random.default_rng([seed, 1, position])
    return int(random.integers(instances)), int(random.integers(1, LARGEST_SEED, endpoint=True))


@dataclass(frozen=True)
class Generator:
    """A command that makes instance number `index`; see `make`."""

    command: tuple[Item, ...]
    directory: Path
    python: str

    def argv(self, index: int, seed: int, output: Path) -> list[str]:
        """The command line; without `{output}`, what it prints is the instance."""
        numbers = {"index": str(index), "seed": str(seed)}
        values = {**numbers, "output": str(output), "python": self.python}
        return [fill(item, values) or "" for item in self.command]

    def make(self, index: int, seed: int, folder: Path) -> Path:
        """The instance's file in `folder`, made if it is not there; never half of one."""
        place = folder.resolve() / str(index)
        if place.exists():
            return place
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".part-") as name:
            output = Path(name).resolve() / "instance"
            argv = self.argv(index, seed, output)
            problem = self._run(argv, output, Path(name) / "errors")
            if not problem and not (output.is_file() and output.stat().st_size):
                problem = "the generator made no instance, or an empty one"
            if problem:
                raise GeneratorFailed(shlex.join(argv), problem)
            output.replace(place)
        return place

    def _run(self, argv: list[str], output: Path, errors: Path) -> str:
        """Run it, without a shell; returns what went wrong, if anything."""
        prints_instance = not any("output" in names_in(item) for item in self.command)
        printed = output if prints_instance else output.with_name("printed")
        try:
            with printed.open("wb") as out, errors.open("wb") as complaints:
                code = subprocess.run(  # noqa: S603
                    argv,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=complaints,
                    cwd=self.directory,
                    timeout=LONGEST_GENERATION,
                    check=False,
                ).returncode
        except subprocess.TimeoutExpired:
            return f"the generator took more than {LONGEST_GENERATION:g} s"
        except (OSError, ValueError) as error:
            return f"the generator could not be started ({error})"
        if code == 0:
            return ""
        with errors.open("rb") as complaints:
            complaints.seek(max(0, errors.stat().st_size - 1000))
            last = complaints.read().decode(errors="replace").strip().splitlines()[-1:]
        return f"the generator ended with code {code} ({''.join(last) or 'no message'})"


@dataclass(frozen=True)
class Instances:
    """A stream of pairs over a list of instances, or over those that a generator makes."""

    names: tuple[str, ...]
    """What the target is given as its instance; none with a generator."""
    seed: int
    randomised: bool
    """Whether the target takes a seed: then pairs never end."""
    are_files: bool = True
    generator: Generator | None = None
    first_index: int = 0
    """Of the generator."""

    @property
    def count(self) -> int | None:
        """How many pairs there are; None: they never end."""
        return None if self.randomised or self.generator else len(self.names)

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        return shuffled(len(self.names), self.seed)

    def pair(self, position: int) -> tuple[str, int]:
        """(instance, seed of the run) at a position; the seed is 0 if the target takes none.

        The instance that a generator is to make is named by its index; see `locate`.
        """
        if position < 0 or (self.count is not None and position >= self.count):
            expected = f"expected 0 to {self.count - 1}" if self.count else "expected 0 or more"
            raise InvalidSetting("pair", position, expected)
        if not self.randomised and self.generator is None:
            return self.names[self._order[position]], 0
        index, seed = endless_pair(max(len(self.names), 1), self.seed, position)
        name = str(self.first_index + position) if self.generator else self.names[index]
        return name, seed if self.randomised else 0

    def locate(self, instance: str, folder: Path) -> str:
        """What the target is to be given for an instance: a generator makes it in `folder`.

        Raises MissingInstance if a file has vanished since the scenario was read.
        """
        if self.generator is not None:
            random = np.random.default_rng([self.seed, 3, int(instance)])
            seed = int(random.integers(1, LARGEST_SEED, endpoint=True))
            return str(self.generator.make(int(instance), seed, folder))
        if self.are_files and not Path(instance).is_file():
            raise MissingInstance(instance)
        return instance
