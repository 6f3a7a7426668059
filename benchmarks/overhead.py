"""What a study costs beside its runs: the driver's CPU time, and the time between runs of a slot.

A shell that counts for 3, 20 and 50 ms of CPU time, on one slot and on two. The driver is this
process. *Between* is what passes from the end of a run to the beginning of the next one in its
slot. Two accounts of it stand side by side: time of which no recorded run says that it was its own,
and how much longer it takes from end to end than in a bare loop that does nothing but start the
same command and wait for it (`posix_spawn`, `wait4`), in as many threads as there are slots.
Studies and loops alternate. Times are the lower quartiles of single runs, so that what else happens
on the machine matters less; shares are of a slot that does nothing else but to use the runs' CPU
time. `make bench` does not run it: it measures this machine, and wants it quiet. Writes
`results/overhead.md`.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from cunctator.scenario import load_scenario
from cunctator.study.folder import begin_study
from cunctator.target.supervisor import Supervisor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cunctator.target.measurement import Measurement, Request

RESULTS = Path(__file__).parent / "results" / "overhead.md"

ROUNDS, SECONDS = 3, 3.0
"""Studies of each kind, and how long each takes; so do the loops between them."""

COUNTING = "i=0; while [ $i -lt {counts} ]; do i=$((i+1)); done"
SCENARIO = """
[target]
command = ["/bin/sh", "-c", "{counting}", "{{level}}", "{{instance}}", "{{seed}}"]
[parameters.level]
type = "integer"
low = 1
high = 1000
default = 1
[instances]
names = ["a"]
[search]
first_cap = "500ms"
cutoff = "2s"
configurations = 50
workers = {slots}
[budget]
wall = "{seconds}s"
"""


@dataclass
class Times:
    """Of the runs of one kind, in seconds."""

    periods: list[float] = field(default_factory=list)
    """From the end of a run to the end of the next one in the same slot."""
    between: list[float] = field(default_factory=list)
    """The same but for what the run itself is said to have taken."""
    bare: list[float] = field(default_factory=list)
    """As the first, in the bare loop."""
    cpu: list[float] = field(default_factory=list)
    """Of the runs."""
    driver: float = 0.0
    """CPU time of this process while it made so many runs."""
    runs: int = 0


@contextmanager
def watched(times: Times) -> Iterator[None]:
    """Note when runs end. The first of each slot starts its supervisor, and is left out."""
    plain = Supervisor.run
    ends: dict[int, float] = {}
    marks: list[tuple[int, float]] = []

    def run(self: Supervisor, request: Request) -> Measurement:
        measurement = plain(self, request)
        now = time.monotonic()
        if id(self) in ends and measurement.exit_code == 0:
            period = now - ends[id(self)]
            times.periods.append(period)
            times.between.append(period - measurement.wall)
            times.cpu.append(measurement.cpu)
            marks.append((len(times.periods), time.process_time()))
        ends[id(self)] = now
        return measurement

    Supervisor.run = run  # type: ignore[method-assign]
    try:
        yield
    finally:
        Supervisor.run = plain  # type: ignore[method-assign]
        times.runs += marks[-1][0] - marks[0][0]
        times.driver += marks[-1][1] - marks[0][1]


def study(argv: tuple[str, ...], slots: int, times: Times) -> None:
    """A study of this command, watched."""
    text = SCENARIO.format(counting=argv[2], slots=slots, seconds=SECONDS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "scenario.toml").write_text(text)
        scenario = load_scenario(folder / "scenario.toml")
        with begin_study(scenario, folder / "study") as begun:
            begun.view()  # load the kernels before anything is measured
            with watched(times):
                begun.run()


def bare(argv: tuple[str, ...], slots: int, times: Times) -> None:
    """The same command in a bare loop on each slot."""
    until = time.monotonic() + SECONDS

    def loop() -> None:
        ended = time.monotonic()
        while ended < until:
            os.wait4(os.posix_spawn(argv[0], argv, os.environ, setsid=True), 0)
            now = time.monotonic()
            times.bare.append(now - ended)
            ended = now

    threads = [threading.Thread(target=loop) for _ in range(slots)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def counting(milliseconds: float) -> tuple[str, ...]:
    """A command that uses about so much CPU time here."""
    fewer, more = 2000, 12000
    used = []
    for counts in (fewer, more):
        argv = ("/bin/sh", "-c", COUNTING.format(counts=counts))
        runs = [os.wait4(os.posix_spawn(argv[0], argv, os.environ), 0)[2] for _ in range(30)]
        used.append(statistics.median(run.ru_utime + run.ru_stime for run in runs))
    each = (used[1] - used[0]) / (more - fewer)
    counts = max(1, round(fewer + (milliseconds / 1000 - used[0]) / each))
    return ("/bin/sh", "-c", COUNTING.format(counts=counts), "1", "a", "1")


def quartile(values: list[float]) -> float:
    """The lower one."""
    return statistics.quantiles(values, n=4)[0]


def main() -> None:
    """Run studies and loops in turn, and show what the studies cost."""
    table = Table(title="time between runs, and the driver's CPU time for a run, in ms")
    headings = ("runs of", "slots", "runs", "CPU", "driver", "between", "share")
    for heading in (*headings, "slower than bare", "share"):
        table.add_column(heading, justify="right")
    for milliseconds in (3, 20, 50):
        for slots in (1, 2):
            argv, times = counting(milliseconds), Times()
            for _ in range(ROUNDS):
                study(argv, slots, times)
                bare(argv, slots, times)
            cpu, between = quartile(times.cpu), quartile(times.between)
            slower = quartile(times.periods) - quartile(times.bare)
            table.add_row(
                f"{milliseconds} ms",
                str(slots),
                str(len(times.periods)),
                f"{1000 * cpu:.2f}",
                f"{1000 * times.driver / times.runs:.2f}",
                f"{1000 * between:.2f}",
                f"{between / (between + cpu):.1%}",
                f"{1000 * slower:.2f}",
                f"{slower / (slower + cpu):.1%}",
            )
    Console().print(table)
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", encoding="utf-8") as file:
        Console(file=file, width=120).print(table)


if __name__ == "__main__":
    main()
