"""Temporary folders: one for each supervisor, emptied after each run whatever was left in it."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from itertools import count
from pathlib import Path

PRIVATE = 0o700


def make_folder(folder: Path) -> None:
    """Make a folder that only we can enter; it must not exist yet."""
    folder.mkdir(PRIVATE)


def empty_folder(folder: Path) -> None:
    """Remove all that is in a folder, whatever it forbids; raises OSError if that fails.

    Folders inside are moved up to the top before they are emptied. So the depth does not matter:
    neither recursion, nor the number of open files, nor the length of a path sets a limit. Links
    are never followed. Folders that forbid reading are allowed it first. If it is no folder any
    more, it becomes one again.
    """
    try:
        mode = os.lstat(folder).st_mode
    except FileNotFoundError:
        mode = 0
    if not stat.S_ISDIR(mode):
        folder.unlink(missing_ok=True)
        make_folder(folder)
        return
    if stat.S_IMODE(mode) != PRIVATE:
        folder.chmod(PRIVATE)
    fresh = (folder / f"{os.urandom(8).hex()}-{number}" for number in count())
    while inner := _remove_files(folder):
        for each in inner:
            for deeper in _remove_files(each):
                deeper.rename(next(fresh))
            each.rmdir()


def remove_folder(folder: Path) -> None:
    """Remove a folder and all that is in it, as far as possible."""
    with suppress(OSError):
        empty_folder(folder)
        folder.rmdir()


def _remove_files(folder: Path) -> list[Path]:
    """Remove all but the folders; these are returned, and can be read, changed and moved."""
    folders = []
    with os.scandir(folder) as entries:
        for entry in entries:
            path = Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                path.chmod(PRIVATE)
                folders.append(path)
            else:
                path.unlink()
    return folders
