"""What a person sees of a validation: answer and default side by side, and a sentence."""

from __future__ import annotations

import math

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from cunctator.base.units import counted, format_duration
from cunctator.core.statement import rounded, timeout_in_words
from cunctator.show.text import printable
from cunctator.study.validate import AT_LEAST, AT_MOST, NO_BOUND, Validation


def validation_table(validation: Validation) -> RenderableType:
    """Both side by side, and a sentence."""
    runs, instances = validation.default.size, validation.instances
    title = f"On {counted(instances, 'test instance')}"
    grid = Grid(title=title if runs == instances else f"{title}, {counted(runs, 'run')} each")
    grid.add_column("")
    for heading in ("mean", "median", "longest", "cut off", "crashed"):
        grid.add_column(heading, justify="right")
    names = ("default", f"configuration {validation.configuration}")
    sides = (validation.default, validation.incumbent)
    for place, (name, runtimes) in enumerate(zip(names, sides, strict=True)):
        capped, median = validation.capped[place] > 0, float(np.median(runtimes))
        is_least = capped and validation.penalty == 1
        grid.add_row(
            name,
            _words(float(validation.counted[place].mean()), is_least),
            _words(median, capped and median >= validation.cutoff),
            _words(float(runtimes.max()), capped),
            str(validation.capped[place]),
            str(validation.crashed[place]),
        )
    return Group(grid, Text(_sentence(validation)))


def _sentence(validation: Validation) -> str:
    why = f"; one of them: {printable(validation.problem)}" if validation.problem else "."
    if any(validation.crashed) and validation.penalty == 1:
        return f"Runs crashed, so there is no speed-up to speak of{why}"
    if validation.configuration == 0:
        return "The answer is the default: there is nothing to compare."
    ratio, bound = f"{validation.speed_up:.3g}", validation.bound
    cutoff = format_duration(validation.cutoff)
    if bound == NO_BOUND:
        return (
            f"Runs of both were cut off: counted up to {cutoff}, the default takes {ratio} times as"
            " long, which bounds the speed-up in neither direction. Give a longer cutoff."
        )
    if bound == AT_LEAST:
        ratio = rounded(validation.speed_up, math.floor)
    elif bound == AT_MOST:
        ratio = rounded(validation.speed_up, math.ceil)
    sentence = f"Speed-up {bound} {ratio}" if bound else f"Speed-up {ratio}"
    if bound:
        whose = "the default" if bound == AT_LEAST else "the answer"
        sentence += f", as runs of {whose} were cut off"
    if validation.penalty > 1:
        counted_as = timeout_in_words(validation.cutoff, validation.penalty)
        sentence += f", counting runs that were cut off or crashed as {counted_as}"
    low, high = validation.interval
    if validation.instances > 1:
        words = f"between {low:.3g} and {high:.3g}"
        if bound == AT_LEAST:
            words = f"at least {rounded(low, math.floor)}"
        elif bound == AT_MOST:
            words = f"at most {rounded(high, math.ceil)}"
        percent = f"{100 * validation.confidence:.6g}%"
        sentence += f": {words} with {percent} confidence, by resampling instances"
    crashes = f" Runs crashed{why}" if any(validation.crashed) else ""
    return sentence + _verdict(low, high) + crashes


def _verdict(low: float, high: float) -> str:
    if low > 1:
        return "."
    return ": it is slower." if high < 1 else ". That does not show which is faster."


def _words(seconds: float, is_least: bool) -> str:
    words = "never" if math.isinf(seconds) else format_duration(seconds)
    return f"at least {words}" if is_least and math.isfinite(seconds) else words
