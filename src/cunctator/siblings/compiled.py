"""How the siblings' kernels are compiled: as the core's are, but kept apart from them.

They make arrays and call each other, so Numba's run-time for memory stays. All kernels here share
one folder, named after a digest of their sources; see `core/compiled.py`.
"""

from __future__ import annotations

from pathlib import Path

from cunctator.core.compiled import AnyFunction, cache_folder, kept_in

HERE = Path(__file__).parent
CACHE_FOLDER = cache_folder("siblings-", [*HERE.glob("*.py"), HERE.parent / "core/tournament.py"])


def compiled(function: AnyFunction) -> AnyFunction:
    """Compile `function` with Numba when it is first called; typed as the function itself."""
    return kept_in(CACHE_FOLDER, function)
