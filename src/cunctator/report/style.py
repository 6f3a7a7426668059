"""How all pictures look, and how they are saved: the same data make the same file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path

from rich.cells import cell_len, set_cell_size

from cunctator.errors import InvalidSetting, MissingExtra, StudyProblem, one_line

try:
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator
except ImportError:
    raise MissingExtra("figures", "matplotlib", ", or give --formats none") from None

from cunctator.units import format_duration

FORMATS = ("png", "svg", "pdf")

COLOURS = {
    "spc": "#0b6e4f",
    "sp": "#1f6fb4",
    "lb": "#c1272d",
    "cr": "#f0a30a",
    "icar": "#8c564b",
    "up": "#7d5ba6",
    "oup": "#a64ca6",
    "coup": "#d16ba5",
    "ac-band": "#5b7553",
    "sh": "#7fb800",
    "hyperband": "#2f4b7c",
    "uniform": "#6b6b6b",
    "paramils": "#17a2b8",
    "gga": "#9c5221",
}
"""Of methods, by name: a method looks the same in all pictures."""


def new_figure(width: float = 7.0, height: float = 4.5) -> tuple[Figure, Axes]:
    """A picture with one panel."""
    figure = Figure(figsize=(width, height), layout="constrained")
    panel = figure.subplots()
    tidy(panel)
    return figure, panel


def tidy(panel: Axes) -> None:
    """Take away what says nothing."""
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(alpha=0.25)


ROUND_TIMES = (
    *(10.0**power for power in range(-6, 2)),
    *(60.0, 600.0, 3600.0, 36_000.0),
    *(86_400.0 * 4 * 10**power for power in range(6)),
)
"""Seconds that read well: 1 ms, 10 s, 1 min, 10 h, 40 d."""


FEWEST_TICKS, MOST_TICKS = 2, 8
"""With fewer nobody knows the scale; more would run into each other."""

LONGEST_NAME = 90
"""Of a configuration in a title, in letters; wide ones count twice."""


def time_ticks(axis: Axis) -> None:
    """Ticks of a logarithmic axis of times, at round numbers of some unit; limits must be set."""
    low, high = axis.get_view_interval()
    visible = [time for time in ROUND_TIMES if low <= time <= high]
    few = len(visible) < FEWEST_TICKS
    every = 1 + len(visible) // MOST_TICKS
    axis.set_major_locator(MaxNLocator(4) if few else FixedLocator(visible[::every]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda seconds, _: _round_words(seconds)))


def _round_words(seconds: float) -> str:
    return "1 min" if seconds == 60.0 else "1 h" if seconds == 3600.0 else format_duration(seconds)


def time_axis(panel: Axes, least: float) -> None:
    """A logarithmic axis of charged time from `least` on, labelled with units."""
    panel.set_xscale("log")
    panel.set_xlim(left=least)
    time_ticks(panel.xaxis)
    panel.set_xlabel("charged time")


def shortened(name: str) -> str:
    """A name that fits above a picture, whatever is in it."""
    clean = one_line(name.encode(errors="backslashreplace").decode())
    return clean if cell_len(clean) <= LONGEST_NAME else set_cell_size(clean, LONGEST_NAME) + "..."


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
