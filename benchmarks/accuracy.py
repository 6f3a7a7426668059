"""How exact recorded CPU times are: recorded ones beside the kernel's, of the same command.

Each command burns 3, 20 or 50 ms of CPU time by its own clock: in one thread, in four threads, or
in ten children one after the other. What it costs to start it and to end it comes on top. Runs by a
supervisor alternate with plain ones (`posix_spawn`), of which `wait4` says what they and all their
children used. That is the independent account; the bias is the difference of a run and the plain
one after it. On one slot and on two, and for both ways of watching, where there are both.

Functions are called in a fork of the supervisor and have no plain counterpart: there the account is
that of the function's own clock, from its first line to its last.

The command is a small program in C if there is a compiler (`cc`), else one in Python. It burns just
as long, but its start takes longer, and that varies. Writes `results/accuracy.md`.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from cunctator.target.measurement import FunctionCall, Request
from cunctator.target.supervisor import METHODS, Supervisor

if TYPE_CHECKING:
    from collections.abc import Callable

RESULTS = Path(__file__).parent / "results" / "accuracy.md"

PAIRS = 40
"""Runs of each kind on each slot."""

IN_C = r"""
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static double now(clockid_t clock) {
    struct timespec t; clock_gettime(clock, &t); return t.tv_sec + t.tv_nsec / 1e9;
}
static void *burn(void *seconds) {
    double begun = now(CLOCK_THREAD_CPUTIME_ID);
    while (now(CLOCK_THREAD_CPUTIME_ID) - begun < *(double *)seconds);
    return 0;
}
int main(int count, char **words) {
    double each = atof(words[1]);
    int threads = atoi(words[2]), children = atoi(words[3]);
    pthread_t others[16];
    for (int i = 1; i < threads; i++) pthread_create(&others[i], 0, burn, &each);
    for (int i = 0; i < children; i++) {
        if (fork() == 0) { burn(&each); _exit(0); }
        wait(0);
    }
    if (!children) burn(&each);
    for (int i = 1; i < threads; i++) pthread_join(others[i], 0);
}
"""

IN_PYTHON = """
import os, sys, threading, time
each, threads, children = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
def burn():
    begun = time.thread_time()
    while time.thread_time() - begun < each:
        pass
others = [threading.Thread(target=burn) for _ in range(threads - 1)]
for other in others:
    other.start()
for _ in range(children):
    if os.fork() == 0:
        burn()
        os._exit(0)
    os.wait()
if not children:
    burn()
for other in others:
    other.join()
"""

FUNCTION = """
import time
def burn(configuration, instance, seed, cap):
    begun = time.process_time()
    while time.process_time() - begun < float(instance):
        pass
    print(time.process_time() - begun)
"""

KINDS = {"one thread": (1, 0), "four threads": (4, 0), "ten children": (1, 10)}
"""Threads, and children."""


def burner(folder: Path) -> tuple[str, ...]:
    """The command that burns; its three arguments follow."""
    compiler = shutil.which("cc")
    if compiler is not None:
        (folder / "burn.c").write_text(IN_C)
        made = [compiler, "-O1", "-pthread", "-o", str(folder / "burn"), str(folder / "burn.c")]
        if subprocess.run(made, check=False, capture_output=True).returncode == 0:
            return (str(folder / "burn"),)
    (folder / "burn.py").write_text(IN_PYTHON)
    return (sys.executable, "-I", "-S", str(folder / "burn.py"))


def plain_cpu(argv: tuple[str, ...]) -> float:
    """What a command uses if it is started and nothing else is done."""
    usage = os.wait4(os.posix_spawn(argv[0], argv, os.environ, setsid=True), 0)[2]
    return usage.ru_utime + usage.ru_stime


def command_pairs(method: str, slots: int, argv: tuple[str, ...]) -> list[tuple[float, float]]:
    """Recorded and plain CPU times, in turn, on so many slots at a time."""
    found: list[tuple[float, float]] = []

    def work() -> None:
        with Supervisor() as supervisor:
            supervisor._methods = (method,)
            supervisor.run(Request(argv, cap=60.0))
            for _ in range(PAIRS):
                found.append((supervisor.run(Request(argv, cap=60.0)).cpu, plain_cpu(argv)))

    in_threads(work, slots)
    return found


def function_pairs(method: str, seconds: float, folder: Path) -> list[tuple[float, float]]:
    """Recorded CPU times of a function, and what its own clock says."""
    (folder / "burning.py").write_text(FUNCTION)
    call = FunctionCall("burning:burn", {}, str(seconds), 0, 60.0)
    found = []
    with Supervisor() as supervisor:
        supervisor._methods = (method,)
        for _ in range(PAIRS):
            made = supervisor.run(Request(call, cap=60.0, directory=str(folder)))
            found.append((made.cpu, float(made.stdout)))
    return found


def in_threads(work: Callable[[], None], slots: int) -> None:
    """The same on each slot."""
    threads = [threading.Thread(target=work) for _ in range(slots)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def is_available(method: str) -> bool:
    """Whether runs can be watched in this way here."""
    with Supervisor() as supervisor:
        supervisor._methods = (method,)
        return supervisor.run(Request(("/bin/true",), cap=10.0)).method == method


def add_row(table: Table, words: tuple[str, ...], pairs: list[tuple[float, float]]) -> None:
    """Both accounts, and how far they are apart, in milliseconds."""
    recorded, other = zip(*pairs, strict=True)
    biases = [one - another for one, another in pairs]
    quartiles = [statistics.quantiles(values, n=4)[0] for values in (recorded, other)]
    figures = (
        statistics.median(recorded),
        statistics.median(other),
        quartiles[0] - quartiles[1],
        statistics.median(biases),
        statistics.quantiles(biases, n=10)[-1],
    )
    table.add_row(*words, *(f"{1000 * figure:.2f}" for figure in figures))


def main() -> None:
    """Measure and print."""
    console = Console(width=120, record=True)
    table = Table(title="CPU time in ms: recorded, by the other account, and how far apart")
    for heading in ("burnt", "in", "slots", "watched by", "recorded", "other"):
        table.add_column(heading, justify="right")
    for heading in ("lower quartiles", "bias: median", "90%"):
        table.add_column(heading, justify="right")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = burner(folder)
        for method in METHODS:
            if not is_available(method):
                console.print(f"runs cannot be watched by {method!r} here: left out")
                continue
            for milliseconds in (3, 20, 50):
                for kind, (threads, children) in KINDS.items():
                    each = milliseconds / 1000 / max(threads, children)
                    argv = (*command, repr(each), str(threads), str(children))
                    for slots in (1, 2):
                        words = (f"{milliseconds}", kind, str(slots), method)
                        add_row(table, words, command_pairs(method, slots, argv))
                pairs = function_pairs(method, milliseconds / 1000, folder)
                add_row(table, (f"{milliseconds}", "a function", "1", method), pairs)
    console.print(table)
    console.print(f"commands: {Path(command[0]).name}")
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(console.export_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
