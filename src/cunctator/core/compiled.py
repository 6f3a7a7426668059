"""How the core's kernels are compiled.

Two decorators serve all of them, so that the choices are made once:

- Floating point follows IEEE rules to the letter (no `fastmath`), because a study is restored by
  replaying it and must make the same choices again.
- Kernels take the state as a tuple of arrays. Numba would count references to each of them at each
  call, ten times the cost of the work itself, so they are compiled without its run-time for memory
  (`_nrt=False`): they cannot allocate or return arrays, and do not need to. For the same reason
  they are inlined into each other rather than called.
- Each kernel is compiled once. Numba would make another version for each constant that it is called
  with, and with it all that it calls.
- Most kernels are called by other kernels only. The way in from Python, which takes the state
  apart, is longer than most of them; so it is made only for those that Python does call.
- Compiled code is cached on disk. Numba looks at a kernel's own file only when it decides whether
  a cached one is stale, not at the files of the kernels it calls; so the cache lies in a folder
  named after a digest of all sources that hold kernels. Numba believes whatever it finds there, and
  damaged machine code ends the process; so each file begins with a checksum, and one that is
  damaged is made anew.

With `NUMBA_DISABLE_JIT=1` kernels are plain Python, for a debugger, and do the same.
"""

from __future__ import annotations

import hashlib
import pickle
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, TypeVar

import numba
from numba.core import serialize, types

config: Any = numba.config
as_bytes: Any = serialize.dumps
unliteral: Any = types.unliteral
njit: Any = numba.njit
AnyFunction = TypeVar("AnyFunction", bound=Callable[..., object])

PACKAGE = Path(__file__).parent.parent
CHECKSUM_SIZE = 32


def digest_of_files(sources: Iterable[Path]) -> str:
    """Tells these files from others, and from what they were before."""
    digest = hashlib.sha256()
    for path in sorted(sources):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder(prefix: str, sources: Iterable[Path]) -> Path | None:
    """Where kernels made from these sources are kept; None if there is no place to write them."""
    bases = [PACKAGE / "__pycache__"]
    if config.CACHE_DIR:
        bases = [Path(config.CACHE_DIR)]
    else:
        with suppress(RuntimeError):  # nobody's home
            bases.append(Path("~/.cache/cunctator").expanduser())
    name = prefix + digest_of_files(sources)
    for base in bases:
        try:
            (base / name).mkdir(parents=True, exist_ok=True)
            probe = base / name / "writable"
            probe.touch()
            probe.unlink(missing_ok=True)
        except OSError:
            continue
        if base == bases[0] and not config.CACHE_DIR:
            # Only this copy of the package writes here, so other digests are its older sources.
            for old in base.glob(f"{prefix}*"):
                if old.name != name:
                    shutil.rmtree(old, ignore_errors=True)
        return base / name
    return None


CACHE_FOLDER = cache_folder("kernels-", PACKAGE.glob("core/*.py"))


def compiled(function: AnyFunction) -> AnyFunction:
    """Compile `function` with Numba when it is first called; typed as the function itself."""
    return _compile(function, forceinline=True)


def compiled_apart(function: AnyFunction) -> AnyFunction:
    """The same, but called rather than inlined: for long kernels, or those off the hot path.

    Passing the state costs some hundred machine words; inlining these everywhere costs minutes.
    """
    return _compile(function, forceinline=False)


def _compile(function: AnyFunction, forceinline: bool) -> AnyFunction:
    return kept_in(CACHE_FOLDER, function, forceinline=forceinline, _nrt=False)


def kept_in(folder: Path | None, function: AnyFunction, **given: bool) -> AnyFunction:
    """Compile a kernel with these options; the result is kept in a folder, if there is one."""
    options: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True, **given}
    kernel = njit(**options)(function)
    if not config.DISABLE_JIT:
        inner = njit(no_cpython_wrapper=True, **options)(function)
        if folder is not None:
            _keep(kernel, folder, "kernel")
            _keep(inner, folder, "inner")
        _stand_in(inner, kernel)
    return kernel  # type: ignore[no-any-return]


def _keep(kernel: Any, folder: Path, suffix: str) -> None:
    """Have a kernel kept in a file of its own."""
    users_folder = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        kernel.enable_caching()
    finally:
        config.CACHE_DIR = users_folder
    cache = kernel._cache
    name = f"{cache._impl.filename_base}.{numba.__version__}.{suffix}"
    cache._cache_file = KernelFile(Path(cache.cache_path) / name)


def _stand_in(inner: Any, kernel: Any) -> None:
    """Have other kernels call `inner` where they say `kernel`, by the types of the arguments."""

    def template(arguments: Any, keywords: Any) -> Any:
        plain = tuple(unliteral(argument) for argument in arguments)
        named = {name: unliteral(argument) for name, argument in keywords.items()}
        return inner.get_call_template(plain, named)

    kernel.get_call_template = template
    kernel.get_overload = inner.get_overload


class KernelFile:
    """The versions of one kernel as compiled, behind a checksum; in the place of Numba's files."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self, key: object) -> object | None:
        """What was saved under this key; None if there is nothing, or nothing that is intact."""
        return self._load_all().get(key)

    def save(self, key: object, data: object) -> None:
        """Keep this as well, if it can be written; a reader sees all of a file or none of it."""
        content: bytes = as_bytes({**self._load_all(), key: data})
        with suppress(OSError):
            with NamedTemporaryFile(dir=self._path.parent, suffix=".part", delete=False) as part:
                part.write(_checksum(content) + content)
            Path(part.name).replace(self._path)

    def flush(self) -> None:
        """Forget all of it."""
        self._path.unlink(missing_ok=True)

    def _load_all(self) -> dict[object, object]:
        try:
            content = self._path.read_bytes()
        except OSError:
            return {}
        checksum, content = content[:CHECKSUM_SIZE], content[CHECKSUM_SIZE:]
        if checksum != _checksum(content):
            return {}
        entries: dict[object, object] = pickle.loads(content)  # noqa: S301 (we wrote it)
        return entries


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()
