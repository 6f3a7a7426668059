"""The mark that all processes of a supervisor carry, so that they are found when it is gone.

It is a random word, in two places that children inherit. One is a variable of the environment,
which a target may empty. The other is a limit of the kernel that has had no effect for twenty years
(RLIMIT_LOCKS): nobody sets it, it stays over fork and exec, and everybody can read it.
"""

from __future__ import annotations

import os
import re
import resource
from contextlib import suppress
from pathlib import Path

from cunctator.target.tree import ENDED, STATE, all_processes, read_kernel_file, status_fields

MARK = "CUNCTATOR_RUN"
"""The variable."""

LIMIT_ON_LOCKS = 10
"""RLIMIT_LOCKS, for which Python has no name."""

IN_LIMITS = re.compile(rb"^Max file locks +([0-9]+) ", re.MULTILINE)

LIMIT_DIGITS = 15
"""Hexadecimal digits of the word that make a limit: limits have 63 bits."""


def put_mark(identity: str) -> None:
    """Mark this process and all that it will start, besides the variable that it was started with.

    If there is a lower limit already, and we may not raise it, the variable has to do.
    """
    limit = _limit(identity)
    with suppress(OSError, ValueError):
        resource.setrlimit(LIMIT_ON_LOCKS, (limit, limit))


def marked(*identities: str) -> list[int]:
    """All living processes that carry one of these marks, and that we may signal."""
    variables = {f"{MARK}={identity}".encode() for identity in identities}
    limits = {_limit(identity) for identity in identities}
    return [each for each in all_processes() if _carries(each, variables, limits)]


def _carries(process: int, variables: set[bytes], limits: set[int]) -> bool:
    with suppress(OSError):
        found = IN_LIMITS.search(read_kernel_file(f"/proc/{process}/limits"))
        if found is not None and int(found[1]) in limits:
            return _is_ours(process)
    with suppress(OSError):
        environment = Path(f"/proc/{process}/environ").read_bytes()
        return not variables.isdisjoint(environment.split(b"\0"))
    return False


def _is_ours(process: int) -> bool:
    """Whether a process lives and may be signalled: limits of others can be read as well."""
    fields = status_fields(process)
    if not fields or fields[STATE] in ENDED:
        return False
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


def _limit(identity: str) -> int:
    return int(identity[:LIMIT_DIGITS], 16)
