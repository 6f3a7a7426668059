"""What a person sees of a study: a live line while it runs, tables and the story when it ends."""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table as Grid
from rich.text import Text

from cunctator.base.records import StopReason
from cunctator.base.units import counted, format_duration
from cunctator.core.statement import (
    MOST_CUT_OFF,
    USELESS,
    counting_note,
    headline,
    rounded_up,
    versus_default,
)
from cunctator.show.text import printable, sentence, whole
from cunctator.space.parameters import Value, text_of
from cunctator.study.journal.journal import Crash
from cunctator.study.snapshot import Incumbent, PoolStatement, Snapshot
from cunctator.study.view import View

WORTH_A_SHARE = 5.0
"""Seconds charged before a share of them is worth telling."""

PLAIN_EVERY = 10.0
"""Seconds between lines if nobody watches."""

NO_ANSWER = "No run has been solved, so there is no answer."
CLOSING = (
    "closing: the rest of the budget is for what was put off, of the answer, of the default and of"
    " those that may still be better"
)
NOT_TRUSTED = "There is no answer: what was found cannot be relied on."


@contextmanager
def watched(console: Console) -> Iterator[Callable[[View], None]]:
    """A live display that the yielded function updates; plain lines if this is no terminal."""
    if not console.is_terminal:
        last = [-math.inf]

        def print_line(view: View) -> None:
            if time.monotonic() - last[0] >= PLAIN_EVERY:
                last[0] = time.monotonic()
                line = " | ".join(facts(view.snapshot()))
                console.print(line, highlight=False, markup=False, soft_wrap=True)

        yield print_line
        return
    with Live(console=console, transient=True, refresh_per_second=4) as live:
        yield lambda view: live.update(Group(*(Text(line) for line in facts(view.snapshot()))))


def facts(snapshot: Snapshot) -> Iterator[str]:
    """What is going on, a line each."""
    budget = snapshot.budget
    rate = snapshot.runs / snapshot.wall if snapshot.wall else 0.0
    charged = _of(snapshot.charged, budget.charged)
    wall = _of(snapshot.wall, budget.wall)
    runs = counted(snapshot.runs, "run")
    if budget.runs is not None:
        runs = f"{snapshot.runs:,} of {counted(budget.runs, 'run')}"
    yield f"{charged} charged, {wall} on the clock, {runs} ({rate:.3g} a second)"
    # Nothing has come of any slot yet: a share would be about nothing.
    busy = f"slots {snapshot.busy:.0%} busy, " if snapshot.busy else ""
    yield f"{busy}{_own(snapshot)}"
    if snapshot.closing and snapshot.stop is None:
        yield CLOSING
    if snapshot.incumbent is None:
        yield NOT_TRUSTED if snapshot.solved else NO_ANSWER
        return
    yield f"answer: {_means(snapshot, snapshot.incumbent)}"
    faster, close = forecasts(snapshot)
    if snapshot.certificate is not None:
        if snapshot.incumbent.index != 0 and snapshot.certificate.versus_default.headline:
            yield snapshot.certificate.versus_default.headline
            yield from faster
        yield snapshot.certificate.headline
        yield from close


def forecasts(snapshot: Snapshot) -> tuple[list[str], list[str]]:
    """How much longer it takes to certify more: than the default, and against the best."""
    faster, close = None, None
    if snapshot.forecast is not None:
        faster, close = snapshot.forecast.faster, snapshot.forecast.close
    return [faster.headline] if faster else [], [close.headline] if close else []


def _own(snapshot: Snapshot) -> str:
    crashes = counted(snapshot.crashed, "crash", "crashes")
    if snapshot.charged < WORTH_A_SHARE:
        return crashes
    share = snapshot.own_seconds / snapshot.charged
    return f"{share:.1%} of the charged time for scheduling, {crashes}"


def _of(spent: float, most: float | None) -> str:
    words = format_duration(spent)
    return words if most is None else f"{words} of {format_duration(most)}"


def _means(snapshot: Snapshot, incumbent: Incumbent) -> str:
    """The answer, beside the default over the pairs that both have run: other means mislead."""
    compared = snapshot.compared
    words = "the default" if incumbent.index == 0 else f"configuration {incumbent.index}"
    how = " (proposed by the guide)" if incumbent.proposed else ""
    words = f"{words}{how}, {counted(incumbent.started, 'run')}"
    if incumbent.index != 0 and compared is not None and compared.pairs:
        pairs = compared.pairs
        both = f"the {pairs:,} pairs that both have" if pairs > 1 else "the one pair that both have"
        mine, default = _seconds(compared.answer), _seconds(compared.default)
        words = f"{words}; over {both} run, {mine} a run, the default {default}"
        cap = None if compared.exact else compared.cap
    else:
        words, cap = f"{words}, {_seconds(incumbent.mean)} a run", incumbent.known_cap
    return words + _counted(snapshot, cap)


def _counted(snapshot: Snapshot, cap: float | None) -> str:
    """What means are of that are known up to a cap; None: to the end."""
    said = snapshot.certificate
    if said is not None and said.penalty > 1 and cap in (None, said.cutoff):
        return f"; timeouts count {said.penalty:g} times the cutoff"
    return "" if cap is None else f"; runs counted up to {format_duration(cap)}"


def _seconds(value: float | None) -> str:
    return "infinity" if value is None else format_duration(value)


def comparison(
    default: Mapping[str, Value], answer: Mapping[str, Value], parameters: int = 0
) -> RenderableType:
    """Both configurations side by side; what differs stands out. Of all `parameters`, those that
    are active in neither are left out.
    """
    grid = Grid(title="The answer beside the default")
    if (left_out := parameters - len({*default, *answer})) > 0:
        grid.caption = f"{counted(left_out, 'more parameter')}, active in neither"
    for heading in ("parameter", "default", "answer"):
        grid.add_column(heading, overflow="fold")
    for name in [*default, *(name for name in answer if name not in default)]:
        before, after = (_value(settings, name) for settings in (default, answer))
        style = "bold" if before != after else "dim"
        grid.add_row(Text(printable(name)), Text(before), Text(after), style=style)
    return grid


def _value(settings: Mapping[str, Value], name: str) -> str:
    return printable(text_of(settings[name])) if name in settings else "-"


def story(view: View, argv: list[str]) -> list[Text]:
    """How it ended, in sentences, with the answer as a command line."""
    snapshot = view.snapshot()
    why = f": {printable(view.problem)}" if view.problem else ""
    stopped = f"Stopped: {view.stop.value if view.stop else 'not yet'}{why}."
    lines: list[str] = []
    if snapshot.incumbent is not None:
        lines.append(f"Answer: {_means(snapshot, snapshot.incumbent)}.")
        faster, close = forecasts(snapshot)
        if view.incumbent.configuration:
            lines.append(versus_default(view.certificate))
            lines.extend(sentence(words) for words in faster)
        lines.append(headline(view.certificate, view.asked_delta))
        lines.extend(sentence(words) for words in close)
        if note := counting_note(view.certificate):
            lines.append(note)
    elif view.spent.solved:
        lines.append(NOT_TRUSTED)
    else:
        is_slow = not view.crashed and view.stop is not StopReason.ABORTED
        lines.append(NO_ANSWER + (" Give it more time, or a longer cutoff." if is_slow else ""))
    spent = view.spent
    lines.append(
        f"{counted(spent.runs, 'run')} charged {format_duration(spent.charged)} in"
        f" {format_duration(spent.wall)}; {_own(snapshot)}."
    )
    command = [whole(f"Command: {shlex.join(argv)}")] if argv and view.has_incumbent else []
    # What there is to say of the stop may hold commands.
    return [whole(stopped), *(Text(line) for line in lines), *command]


def pool_table(pools: Sequence[PoolStatement]) -> RenderableType:
    """The pools of a search without end."""
    grid = Grid(title="Pools: how far the search has looked")
    for heading in ("configurations", "gamma", "of time", "certified"):
        grid.add_column(heading, justify="right")
    for pool in pools:
        point = pool.best_point
        certified = "nothing yet"
        if point is not None and point.epsilon < USELESS and point.delta < MOST_CUT_OFF:
            epsilon, delta = rounded_up(point.epsilon), rounded_up(point.delta)
            certified = f"epsilon {epsilon} at delta {delta}"
        missed = rounded_up(pool.gamma) if pool.gamma else "0: it is all"
        grid.add_row(f"{pool.size:,}", missed, f"{pool.time_share:.0%}", certified)
    grid.caption = (
        "gamma: the share of all configurations, by the sampling distribution, that may be better"
        " than the pool's best"
    )
    return grid


def crash_list(crashes: list[tuple[Crash, list[str]]], total: int) -> list[Text]:
    """Runs that crashed, each with the command that does it again."""
    more = ", some of them:" if total > len(crashes) else ":"
    lines = [Text(counted(total, "run") + " crashed" + more)]
    for crash, argv in crashes:
        place = f"  configuration {crash.configuration}, pair {crash.pair}"
        lines.append(Text(f"{place}: {printable(crash.problem) or 'no message'}"))
        if argv:
            lines.append(whole(f"    {shlex.join(argv)}"))
    return lines
