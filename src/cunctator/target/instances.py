"""The stream of (instance, seed) pairs that all configurations share.

Pair j is a function of (seed, j) alone, so a study can be replayed, and two configurations that
have both started j pairs have seen the same ones. A finite set is a seeded shuffle, drawn without
replacement and never repeated: once all of it has been run, the mean is exact. For a randomised
target each instance is in it with some seeds; or the stream is endless, and instances come up again
with new seeds. A generator's stream is endless too: each of its instances comes up once.

A generator is run as a target is, under a supervisor: it may hang, fork or print without end.
"""

from __future__ import annotations

import errno
import os
import shlex
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from cunctator.base.errors import CunctatorError, GeneratorFailed, InvalidSetting, MissingInstance
from cunctator.target.folder import remove_folder
from cunctator.target.measurement import Ending, Measurement, Request
from cunctator.target.owner import is_gone, owner
from cunctator.target.supervisor import Supervisor
from cunctator.target.template import Item, fill, names_in

LARGEST_SEED = 2**31 - 1
"""Solvers read seeds as positive 32-bit numbers."""

TEST_STREAM = 2**40
"""Added to the seed for test instances: an instance that is in both sets gets other seeds."""

FIRST_TEST_INDEX = 10**9
"""A generator counts its test instances from here: they are none of those trained on."""

LONGEST_GENERATION = 600.0
"""Seconds that making one instance may take."""

LARGEST_INSTANCE = 10**9
"""Bytes that a generator may write into a file."""

CHUNK, CHUNKS = 1 << 20, 4
"""Positions of a part of a stream with replacement, and parts. Four million in all: the largest
sample that a method of the paper's grids takes is 0.8 million."""

PART = ".part-"
"""What the names of folders begin with in which instances are being made; their owner follows."""

NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
"""What file systems say that have no hard links."""

Runner = Callable[[Request], Measurement]

_makings: WeakValueDictionary[Path, threading.Lock] = WeakValueDictionary()
"""Held by whoever makes an instance, by its place; all slots of this process share them."""
_makings_lock = threading.Lock()


class CalledOff(CunctatorError):
    """The making of an instance was called off: that says nothing of anything."""

    def __init__(self) -> None:
        super().__init__("the making of an instance was called off; go on with the study")


def shuffled(instances: int, seed: int) -> NDArray[np.int64]:
    """Order of a finite set: position j of the stream is instance `result[j]`."""
    return np.random.default_rng([seed, 0]).permutation(instances)


def resampled(instances: int, seed: int, chunk: int) -> NDArray[np.int64]:
    """Part `chunk` of an endless stream in which instances are drawn with replacement."""
    return np.random.default_rng([seed, 2, chunk]).integers(instances, size=CHUNK)


@lru_cache(maxsize=1 << 14)  # all configurations are run on the same pairs
def endless_pair(instances: int, seed: int, position: int) -> tuple[int, int]:
    """(instance, seed of the run) at a position of the endless stream."""
    random = np.random.default_rng([seed, 1, position])
    return int(random.integers(instances)), int(random.integers(1, LARGEST_SEED, endpoint=True))


@dataclass(frozen=True)
class Generator:
    """A command that makes instance number `index`; see `make`."""

    command: tuple[Item, ...]
    directory: Path

    def argv(self, index: int, seed: int, output: Path) -> list[str]:
        """The command line; without `{output}`, what it prints is the instance."""
        numbers = {"index": str(index), "seed": str(seed)}
        values = {**numbers, "output": str(output), "python": sys.executable}
        return [fill(item, values) or "" for item in self.command]

    def make(self, index: int, seed: int, folder: Path, run: Runner | None = None) -> Path:
        """The instance's file in `folder`, made if it is not there; never half of one.

        Of the slots of one process, one makes it and the others wait. Those of other processes or
        machines may make it at the same time: the first one's is kept, and everybody is given that.
        `run` is the supervisor's that runs the command; by default it is a new one.
        """
        place = folder.resolve() / str(index)
        if not place.exists():
            with _making(place):
                if not place.exists():
                    self._make(index, seed, place, run or _run_alone)
        return place

    def _make(self, index: int, seed: int, place: Path, run: Runner) -> None:
        folder = place.parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder, prefix=f"{PART}{owner()}-") as name:
                output = Path(name).resolve() / "instance"
                argv = self.argv(index, seed, output)
                if problem := self._run(argv, output, run):
                    raise GeneratorFailed(shlex.join(argv), problem)
                _publish(output, place)
        except OSError as error:
            command = shlex.join(self.argv(index, seed, place))
            raise GeneratorFailed(command, f"{place} cannot be made ({error})") from None

    def _run(self, argv: list[str], output: Path, run: Runner) -> str:
        """Run it, without a shell; returns what went wrong, if anything."""
        prints_instance = not any("output" in names_in(item) for item in self.command)
        request = Request(
            tuple(argv),
            cap=LONGEST_GENERATION,
            objective="wall",
            directory=str(self.directory),
            printed=str(output) if prints_instance else None,
            largest_file=LARGEST_INSTANCE,
        )
        made = run(request)
        if made.ending is Ending.STOPPED:
            raise CalledOff
        if made.ending is Ending.FAILED_TO_START:
            return f"the generator could not be started ({made.problem})"
        if made.ending is Ending.LOST:
            return f"the generator was lost ({made.problem})"
        if made.ending is not Ending.EXITED:
            return f"the generator took more than {LONGEST_GENERATION:g} s"
        size = output.stat().st_size if output.is_file() else 0
        if made.signal == signal.SIGXFSZ or size >= LARGEST_INSTANCE:
            return f"the instance is larger than {LARGEST_INSTANCE / 1e9:g} GB"
        code = made.exit_code if made.signal is None else -made.signal
        if code == 0:
            return "" if size else "the generator made no instance, or an empty one"
        last = made.stderr[-1000:].decode(errors="replace").strip().splitlines()[-1:]
        return f"the generator ended with code {code} ({''.join(last) or 'no message'})"


def _making(place: Path) -> threading.Lock:
    with _makings_lock:
        return _makings.setdefault(place, threading.Lock())


def _publish(output: Path, place: Path) -> None:
    """Put a file in its place, whole, unless somebody else was first.

    To replace theirs would be as atomic, but runs may have been made on it: a generator need not
    write the same instance twice, and all configurations must be run on the same one.
    """
    try:
        os.link(output, place, follow_symlinks=False)
    except FileExistsError:
        pass
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        output.replace(place)


def _run_alone(request: Request) -> Measurement:
    with Supervisor() as supervisor:
        return supervisor.run(request)


def sweep_parts(folder: Path) -> None:
    """Remove what is left of instances whose maker was killed."""
    with suppress(OSError):
        for part in folder.glob(f"{PART}*"):
            maker = part.name.removeprefix(PART).rpartition("-")[0]
            if is_gone(maker) and part.is_dir() and not part.is_symlink():
                remove_folder(part)


@dataclass(frozen=True)
class Instances:
    """A stream of pairs over a list of instances, or over those that a generator makes."""

    names: tuple[str, ...]
    """What the target is given as its instance; none with a generator."""
    seed: int
    randomised: bool
    """Whether the target takes a seed."""
    seeds: int | None = None
    """If it does, how many each instance is in the set with; None: pairs never end."""
    are_files: bool = True
    generator: Generator | None = None
    first_index: int = 0
    """Of the generator."""

    @property
    def count(self) -> int | None:
        """How many pairs there are; None: they never end."""
        if self.generator or (self.randomised and self.seeds is None):
            return None
        return len(self.names) * (self.seeds or 1)

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        return shuffled(self.count or 0, self.seed)

    @cached_property
    def _even_order(self) -> NDArray[np.int64]:
        return shuffled(len(self.names), self.seed)

    def pair(self, position: int) -> tuple[str, int]:
        """(instance, seed of the run) at a position; the seed is 0 if the target takes none.

        The instance that a generator is to make is named by its index; see `InstanceSource`.
        """
        if position < 0 or (self.count is not None and position >= self.count):
            expected = f"expected 0 to {self.count - 1}" if self.count else "expected 0 or more"
            raise InvalidSetting("pair", position, expected)
        if self.count is not None:
            member = int(self._order[position])
            seed = endless_pair(1, self.seed, member)[1] if self.randomised else 0
            return self.names[member % len(self.names)], seed
        index, seed = endless_pair(max(len(self.names), 1), self.seed, position)
        name = str(self.first_index + position) if self.generator else self.names[index]
        return name, seed if self.randomised else 0

    def even_pair(self, position: int) -> tuple[str, int]:
        """The same for comparing what was found: every instance comes up equally often.

        A study's own stream draws instances at random, as its guarantees ask; over a hundred
        pairs, that leaves out a third of a hundred instances.
        """
        if not self.randomised or self.generator is not None:
            return self.pair(position)
        _, seed = endless_pair(1, self.seed, position)
        return self.names[self._even_order[position % len(self.names)]], seed

    def source(self, folder: Path) -> InstanceSource:
        """Where slots get these instances from; a generator makes them in `folder`."""
        return InstanceSource(self.are_files, self.seed, self.generator, folder.resolve())


@dataclass(frozen=True, slots=True)
class InstanceSource:
    """Where a slot gets instances from: all that it must know of them, without their names."""

    are_files: bool
    seed: int
    generator: Generator | None
    folder: Path
    """For those that the generator makes; absolute, since slots may be anywhere."""

    def locate(self, instance: str, run: Runner | None = None) -> str:
        """What the target is to be given for an instance, made if a generator is to make it.

        `run` is as in `Generator.make`. Raises MissingInstance if a file has vanished since the
        scenario was read.
        """
        if self.generator is not None:
            random = np.random.default_rng([self.seed, 3, int(instance)])
            seed = int(random.integers(1, LARGEST_SEED, endpoint=True))
            return str(self.generator.make(int(instance), seed, self.folder, run))
        self.check(instance)
        return instance

    def located(self, instance: str) -> str:
        """The same for people: nothing is made, and an instance that was not is its index."""
        place = self.folder / instance
        return str(place) if self.generator is not None and place.exists() else instance

    def check(self, place: str) -> None:
        """Raise MissingInstance if what was located is not there any more."""
        if self.are_files and not Path(place).is_file():
            raise MissingInstance(place)
