"""How soon after its cap a run is ended, and what a supervisor costs: run it on a quiet machine.

Busy loops under caps from 5 ms to 1 s, one supervisor on each of 2 threads, both ways of watching.
Overshoot is the CPU time beyond the cap, the end of the process included.
"""

from __future__ import annotations

import statistics
import sys
import threading
import time
from collections.abc import Callable
from functools import partial

from rich.console import Console
from rich.table import Table

from cunctator.target.process import Request
from cunctator.target.supervisor import METHODS, Supervisor
from cunctator.target.tree import process_clock

CAPS = {0.005: 100, 0.02: 60, 0.05: 60, 0.2: 30, 1.0: 10}
"""Seconds, and how many runs each supervisor makes."""

BUSY = (sys.executable, "-S", "-E", "-c", "while True: pass")
SHORT = 0.05


def supervisor(method: str) -> Supervisor:
    """One that watches in a certain way."""
    made = Supervisor()
    made._methods = (method,)
    return made


def overshoots(method: str, slots: int = 2) -> dict[float, list[float]]:
    """Of all caps, with all slots busy."""
    found: dict[float, list[float]] = {cap: [] for cap in CAPS}

    def work() -> None:
        with supervisor(method) as own:
            for cap, runs in CAPS.items():
                for _ in range(runs):
                    measurement = own.run(Request(BUSY, cap=cap, wall_cap=60 * cap + 10))
                    found[cap].append(measurement.overshoot)

    threads = [threading.Thread(target=work) for _ in range(slots)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def quantile(values: list[float], share: float) -> float:
    """The smallest value that is no less than this share of all."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def milliseconds(seconds: float) -> str:
    """For people."""
    return f"{1000 * seconds:.2f}"


def seconds_of(work: Callable[[], object]) -> float:
    """Wall clock."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def costs(method: str, runs: int = 40) -> dict[str, str]:
    """What a supervisor takes for itself."""
    starts = []
    for _ in range(10):
        with supervisor(method) as own:
            starts.append(seconds_of(partial(own.run, Request(("/bin/true",), cap=1.0))))
    with supervisor(method) as own:
        used = own.run(Request(("/bin/true",), cap=1.0)).method
        assert own._worker is not None
        process = own._worker._process.pid
        rows = {"watched by": used, "start and first run": milliseconds(statistics.median(starts))}
        for name, target in (
            ("ended by itself", ("sleep", str(SHORT))),
            ("ended at its cap", BUSY),
        ):
            before = process_clock(process)
            extra = []
            for _ in range(runs):
                begun = time.perf_counter()
                measurement = own.run(Request(target, cap=SHORT, wall_cap=60.0))
                extra.append(time.perf_counter() - begun - measurement.wall)
            cpu = (process_clock(process) - before) / runs
            rows[f"its CPU time for a 50 ms run {name}"] = milliseconds(cpu)
            rows[f"wall clock beside a 50 ms run {name}"] = milliseconds(statistics.median(extra))
        empty = [own.run(Request(("/bin/true",), cap=1.0)).cpu for _ in range(100)]
        rows["charged for /bin/true"] = milliseconds(statistics.median(empty))
    return rows


def main() -> None:
    """Measure and print."""
    console = Console()
    for method in METHODS:
        table = Table("cap", "runs", "median", "99%", "most", title=f"overshoot in ms, {method}")
        found = overshoots(method)
        everything = [value for values in found.values() for value in values]
        for name, values in [*((f"{cap:g} s", found[cap]) for cap in CAPS), ("all", everything)]:
            shown = (statistics.median(values), quantile(values, 0.99), max(values))
            table.add_row(name, str(len(values)), *map(milliseconds, shown))
        console.print(table)
        costs_table = Table("", "ms", title="what a supervisor costs")
        for name, text in costs(method).items():
            costs_table.add_row(name, text)
        console.print(costs_table)


if __name__ == "__main__":
    main()
