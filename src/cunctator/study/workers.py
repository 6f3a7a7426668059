"""Workers: whoever makes a study's runs. Here are slots on this machine.

A study asks for as many runs as there are slots and goes on whenever one of them is done; no slot
waits for another. What is submitted and what comes back are small plain records, so that slots
may be elsewhere; `docs/decisions/0007-slots.md` says what a backend must do, and
`tests/study/test_workers_contract.py` tries it.
"""

from __future__ import annotations

import math
import os
import queue
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from cunctator.scenario import Scenario
from cunctator.target.execution import Execution, Report
from cunctator.target.instances import Instances
from cunctator.target.slot import Slot, SlotSettings


class Workers(Protocol):
    """Whoever makes runs."""

    slots: int
    """How many runs can be made at a time; at least one. It may change."""
    busy_seconds: float
    """Time on the clock that slots spent on runs, all together."""

    def submit(self, execution: Execution) -> Future[Report]:
        """Begin an execution as soon as a slot is free.

        The future ends with a report, with an exception or cancelled; but see `patience`.
        """

    def patience(self, execution: Execution) -> float:
        """Seconds without a word after which an execution is taken to be lost, from its submission.

        It is submitted again then, and whichever report comes first counts. Infinite if every
        future is sure to end.
        """

    def argv(self, execution: Execution) -> list[str]:
        """The command line of an execution, for people; empty if there is none."""

    def stop(self) -> None:
        """Call off whatever is running, now: all futures end soon, and those to come."""

    def close(self) -> None:
        """Leave nothing behind."""


class LocalWorkers:
    """Slots on this machine, a process for each; the threads do nothing but wait for them."""

    def __init__(self, settings: SlotSettings, slots: int) -> None:
        self.slots = slots
        self.busy_seconds = 0.0
        self._settings = settings
        self._slots = [Slot(settings) for _ in range(slots)]
        self._idle: queue.SimpleQueue[Slot] = queue.SimpleQueue()
        for slot in self._slots:
            self._idle.put(slot)
        self._threads = ThreadPoolExecutor(slots, thread_name_prefix="slot")
        self._lock = threading.Lock()

    def submit(self, execution: Execution) -> Future[Report]:
        """Begin an execution as soon as a slot is free."""
        return self._threads.submit(self._run, execution)

    def patience(self, execution: Execution) -> float:
        """Every future ends: a slot gives its own processes up if they fall silent."""
        return math.inf

    def argv(self, execution: Execution) -> list[str]:
        """The command line of an execution, for people; empty if the target is a function."""
        return self._settings.argv(execution)

    def stop(self) -> None:
        """Call off whatever is running, now; nothing can be run any more."""
        for slot in self._slots:
            slot.stop()

    def close(self) -> None:
        """Leave nothing behind."""
        self.stop()
        self._threads.shutdown(wait=True, cancel_futures=True)
        with ThreadPoolExecutor(self.slots) as closing:  # each may take its time
            list(closing.map(Slot.close, self._slots))

    def _run(self, execution: Execution) -> Report:
        slot = self._idle.get()
        begun = time.monotonic()
        try:
            return slot.run(execution)
        finally:
            took = time.monotonic() - begun
            with self._lock:
                self.busy_seconds += took
            self._idle.put(slot)


def slot_settings(
    scenario: Scenario, instance_folder: Path, instances: Instances | None = None
) -> SlotSettings:
    """What the slots of a scenario must know.

    `instance_folder` is for generated instances; `instances` are the scenario's by default.
    """
    return SlotSettings(
        command=scenario.command,
        function=scenario.target.function,
        objective=scenario.search.objective,
        memory=scenario.target.memory,
        directory=os.fspath(scenario.directory),
        source=(instances or scenario.instances).source(instance_folder),
    )
