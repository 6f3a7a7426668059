"""How all pictures look, and how they are saved: the same data make the same file."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Sequence
from pathlib import Path

from rich.cells import cell_len, set_cell_size

from cunctator.base.errors import InvalidSetting, MissingExtra, StudyProblem, one_line

try:
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.colors import to_hex, to_rgb
    from matplotlib.figure import Figure
except ImportError:
    raise MissingExtra("figures", "matplotlib", ", or give --formats none") from None

FORMATS = ("png", "svg", "pdf")

COLOURS = {
    "spc": "#0b6e4f",
    "sp": "#0072b2",
    "lb": "#d55e00",
    "cr": "#e6a000",
    "icar": "#00018b",
    "up": "#2a2aff",
    "oup": "#b24eff",
    "coup": "#2cd0f0",
    "ac-band": "#a6ba64",
    "sh": "#1cd5a2",
    "hyperband": "#232020",
    "uniform": "#4f1a5c",
    "paramils": "#a47f9e",
    "gga": "#6b2400",
}
"""Of methods, by name: a method looks the same in all pictures. Chosen to be as far apart as they
can be, for those too who confuse red and green."""

DASHES: tuple[tuple[float, tuple[float, ...]], ...] = (
    (0, ()),
    (0, (5, 1.5)),
    (0, (5, 1.5, 1, 1.5)),
    (0, (10, 2)),
    (0, (7, 1.5, 1, 1, 1, 1.5)),
)
MARKERS = ("o", "s", "D", "^", "v")
"""Of what is drawn in one panel, by place: colours are not all there is to tell it apart."""

REFERENCE, WORDS = "#a0a0a0", "#606060"
"""Greys of a line that others are held against, and of captions."""

LONGEST_NAME = 90
"""Of a configuration in a title, in letters; wide ones count twice."""


def paler(colour: str, share: float) -> str:
    """A colour with a share of white in it."""
    red, green, blue = (part + share * (1.0 - part) for part in to_rgb(colour))
    return to_hex((red, green, blue))


def tidy(panel: Axes) -> None:
    """Take away what says nothing."""
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(alpha=0.25)


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    """A name that fits where it is to stand, whatever is in it; both ends tell it from others."""
    clean = one_line(name.encode(errors="backslashreplace").decode(), len(name) * 10)
    if cell_len(clean) <= longest:
        return clean
    half = (longest - 3) // 2
    # An end is cut like a beginning, backwards: wide letters count twice there as well.
    return f"{set_cell_size(clean, half)}...{set_cell_size(clean[::-1], half)[::-1]}"


def without_common(names: Sequence[str]) -> list[str]:
    """Names such as `a=1 b=2` without the words that are the same in all of them."""
    words = [name.split() for name in names]
    if len({len(some) for some in words}) > 1:
        return list(names)
    differ = [len(set(column)) > 1 for column in zip(*words, strict=True)]
    if not any(differ):
        return list(names)
    return [" ".join(itertools.compress(some, differ)) for some in words]


def check_formats(names: Sequence[str]) -> list[str]:
    """Complain about formats that are unknown."""
    for name in names:
        if name not in FORMATS:
            raise InvalidSetting("--formats", name, f"expected some of {', '.join(FORMATS)}")
    return list(names)


def save_figure(figure: Figure, to: Path, formats: Sequence[str]) -> None:
    """Save a picture in several formats; files that exist are replaced whole."""
    mpl.rcParams["svg.hashsalt"] = "cunctator"
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": None}
    for ending in formats:
        path = to.with_suffix(f".{ending}")
        part = path.with_name(f".{os.getpid()}.{path.name}")
        try:
            with warnings.catch_warnings():
                # A letter that no font has is drawn as a box: nothing the user could mend.
                warnings.filterwarnings("ignore", message="Glyph .* missing")
                figure.savefig(part, dpi=150, format=ending, metadata=undated[ending])
            part.replace(path)
        except OSError as error:
            problem = f"cannot be written ({error.strerror})"
            raise StudyProblem(path, problem, "make room, or give another --out") from None
        finally:
            part.unlink(missing_ok=True)
