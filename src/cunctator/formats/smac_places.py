"""Where the paths of SMAC's scenario files begin.

They are relative to the folder in which the tool was started, which the file does not tell: AClib's
tools are started in its root, others beside the file. So the file's folder is tried, then the
folders around it, then the current one; whichever has the files is meant.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MOST_PARENTS = 6


@dataclass(frozen=True, slots=True)
class SmacPlaces:
    """Where the files of a scenario are."""

    folder: Path
    """Of the scenario; paths in our tables are relative to this."""
    roots: tuple[Path, ...]
    """Where its paths may begin, the likeliest first."""
    warnings: list[str]

    @property
    def root(self) -> Path:
        """Where its paths begin."""
        return self.roots[0]

    def find(self, text: str, key: str) -> Path:
        """The file or folder that a path means; where it should be if there is none."""
        for root in self.roots:
            if exists(root / text):
                if root != self.root:
                    self.warnings.append(f"{key}: {text} was found in {root}, not in {self.root}")
                return root / text
        return self.root / text

    def find_file(self, text: str, key: str) -> Path:
        """The same of a file; the last resort is one of the same name beside the scenario."""
        place = self.find(text, key)
        beside = self.folder / place.name
        if exists(place) or not exists(beside):
            return place
        self.warnings.append(f"{key}: there is no {text}; {place.name} beside this file is used")
        return beside

    def written(self, place: Path, text: str = "") -> str:
        """A place as our tables write it; whole if the file's own `text` for it is."""
        if os.path.isabs(text):  # noqa: PTH117 - a text, not a place
            return os.path.normpath(text)
        return os.path.relpath(place, self.folder)


def find_places(path: Path, named: Sequence[str], warnings: list[str]) -> SmacPlaces:
    """The places of a scenario; the first of the `named` paths that exists tells the root."""
    folder = path.parent.resolve()
    around = (folder, *list(folder.parents)[:MOST_PARENTS], Path.cwd())
    roots = list(dict.fromkeys(around))
    for text in named:
        if os.path.isabs(text):  # noqa: PTH117 - a text, not a place
            continue
        found = next((root for root in roots if exists(root / text)), None)
        if found is not None:
            roots.sort(key=lambda root: root != found)
            if found != folder:
                what = f"paths such as {text} are taken from {found}"
                warnings.append(f"{what}, not from the folder of this file")
            break
    return SmacPlaces(folder, tuple(roots), warnings)


def exists(place: Path) -> bool:
    """Whether there is such a file or folder."""
    try:
        return place.exists()
    except (OSError, ValueError):
        return False
