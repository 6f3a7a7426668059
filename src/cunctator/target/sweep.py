"""What is left of a supervisor that was killed: its processes, its control group, its folder.

The driver sweeps after a supervisor that it has lost. If both were killed together, their guard
does (`guard.py`). If that was killed too, the next supervisor of the same user on the same machine
finds the folder and sweeps. A folder's name holds a random word, and whose it is. The same word
marks all that ran there (`mark.py`), and the control group has the folder's name. So only what is
certainly ours is touched, and only once its supervisor is certainly gone.
"""

from __future__ import annotations

import os
import re
import stat
import threading
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from cunctator.target.cgroup import find_group, kill_group, own_folder, signal_group
from cunctator.target.folder import remove_folder
from cunctator.target.mark import marked
from cunctator.target.owner import is_gone
from cunctator.target.tree import freeze_and_kill

STALE_PATIENCE = 2.0
"""Seconds to spend on what others left."""

EMPTY_SCANS = 2
"""A process that forks and exits while all are being looked at may be missed, and its child too:
only if the next look finds nothing either is nothing left."""

FOLDER = re.compile(r"cunctator-([0-9a-f]{16})-(.+)", re.DOTALL)

_one_at_a_time = threading.Lock()


def folder_prefix(identity: str) -> str:
    """What the name of a supervisor's folder begins with; its owner follows."""
    return f"cunctator-{identity}-"


class Remains(NamedTuple):
    """What a supervisor may have left."""

    identity: str
    """Its random word."""
    folder: Path
    group: Path | None


def sweep(remains: Collection[Remains], patience: float) -> None:
    """Kill all that carry these marks or are in these groups; remove groups and folders.

    Everybody is killed first, whoever's they are: each look at all processes takes its time.
    """
    groups = [each.group for each in remains if each.group is not None]
    for group in groups:
        signal_group(group)
    identities = [each.identity for each in remains]
    until = time.monotonic() + patience
    empty = 0
    while empty < EMPTY_SCANS and time.monotonic() < until:
        if marked(*identities):
            freeze_and_kill(lambda: marked(*identities))
            empty = 0
            time.sleep(0.001)
        else:
            empty += 1
    for group in groups:
        kill_group(group, patience)
    for each in remains:
        remove_folder(each.folder)


def sweep_stale(place: Path) -> None:
    """Sweep after all supervisors of this user that were killed and had a folder here.

    Or a control group where ours would be: their folder may have been elsewhere.
    """
    with _one_at_a_time:
        for folder, identity in _stale(place):
            group = find_group(folder.name)
            is_ours = group is not None and _is_own(group)
            sweep([Remains(identity, folder, group if is_ours else None)], STALE_PATIENCE)
        above = own_folder()
        for group, identity in _stale(above) if above is not None else ():
            sweep([Remains(identity, place / group.name, group)], STALE_PATIENCE)


def _stale(place: Path) -> list[tuple[Path, str]]:
    """Folders here whose supervisors are gone, and their random words."""
    found = []
    with suppress(OSError):
        for folder in place.iterdir():
            match = FOLDER.fullmatch(folder.name)
            if match is not None and is_gone(match[2]) and _is_own(folder):
                found.append((folder, match[1]))
    return found


def _is_own(folder: Path) -> bool:
    """Whether it is a folder of this user, and no link to one."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
