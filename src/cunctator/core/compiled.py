"""How the core's kernels are compiled.

Two decorators serve all of them, so that the choices are made once:

- Floating point follows IEEE rules to the letter (no `fastmath`), because a study is restored by
  replaying it and must make the same choices again.
- Kernels take the state as a tuple of some seventy arrays. Numba would count references to each of
  them at each call, ten times the cost of the work itself, so they are compiled without its
  run-time for memory (`_nrt=False`): they cannot allocate or return arrays, and do not need to.
  For the same reason they are inlined into each other rather than called.
- Compiled code is cached on disk. Numba looks at a kernel's own file only when it decides whether
  a cached one is stale, not at the files of the kernels it calls; so the cache lies in a folder
  named after a digest of all sources that hold kernels.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numba

config: Any = numba.config
njit: Any = numba.njit
AnyFunction = TypeVar("AnyFunction", bound=Callable[..., object])

PACKAGE = Path(__file__).parent.parent


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


CACHE_FOLDER = cache_folder("kernels-", [*PACKAGE.glob("core/*.py"), PACKAGE / "simulation.py"])


def compiled(function: AnyFunction) -> AnyFunction:
    """Compile `function` with Numba when it is first called; typed as the function itself."""
    return _compile(function, forceinline=True)


def compiled_apart(function: AnyFunction) -> AnyFunction:
    """The same, but called rather than inlined: for long kernels off the hot path.

    Passing the state costs a microsecond; inlining these everywhere would take a minute.
    """
    return _compile(function, forceinline=False)


def _compile(function: AnyFunction, forceinline: bool) -> AnyFunction:
    return kept_in(CACHE_FOLDER, function, forceinline=forceinline, _nrt=False)


def kept_in(folder: Path | None, function: AnyFunction, **options: bool) -> AnyFunction:
    """Compile a kernel with these options; the result is kept in a folder, if there is one."""
    users_folder = config.CACHE_DIR
    config.CACHE_DIR = str(folder or "")
    try:
        kernel: AnyFunction = njit(cache=folder is not None, error_model="numpy", **options)(
            function
        )
    finally:
        config.CACHE_DIR = users_folder
    return kernel
