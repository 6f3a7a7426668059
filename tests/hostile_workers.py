"""Workers that fail, double, delay and lose what others report, as a bad network would."""

from __future__ import annotations

import random
import threading
from concurrent.futures import Future

from cunctator.study.flights import ATTEMPTS
from cunctator.target.execution import Details, Execution, Report

KINDS = ("fails", "refuses", "is cancelled", "is called off", "comes twice", "is late", "is lost")
"""What happens to a report, if it does not just come."""

AT_ONCE = KINDS[:5]
"""Those that no patience is needed for."""


class Doubled(Future):
    """Tells everybody twice that it is done."""

    def add_done_callback(self, callback) -> None:
        super().add_done_callback(callback)
        super().add_done_callback(callback)


class HostileWorkers:
    """Every other report comes to harm, but none so often that its run is given up."""

    def __init__(self, inner, kinds=KINDS, late: float = 0.3) -> None:
        """`late` is how many seconds late reports are; runs are given up after half of that."""
        self.seen: list[str] = []
        """What happened."""
        self._inner = inner
        self._kinds = kinds
        self._late = late
        self._random = random.Random(1)
        self._harm: dict[int, int] = {}
        self._open: list[Future[Report]] = []
        self._timers: list[threading.Timer] = []

    @property
    def slots(self) -> int:
        return self._inner.slots

    @property
    def busy_seconds(self) -> float:
        return self._inner.busy_seconds

    def submit(self, execution: Execution) -> Future[Report]:
        kind = "comes"
        if self._random.random() < 0.5:
            kind = self._random.choice(self._kinds)
        if kind != "comes twice" and self._harm.get(execution.number, 0) == ATTEMPTS - 1:
            kind = "comes"
        self.seen.append(kind)
        if kind == "comes":
            return self._inner.submit(execution)
        if kind != "comes twice":
            self._harm[execution.number] = self._harm.get(execution.number, 0) + 1
        return self._harmed(kind, execution)

    def _harmed(self, kind: str, execution: Execution) -> Future[Report]:
        future: Future[Report] = Doubled() if kind == "comes twice" else Future()
        if kind == "refuses":
            raise ConnectionError("the network is down")
        if kind == "fails":
            future.set_exception(ConnectionError("the worker is gone"))
        elif kind == "is cancelled":
            future.cancel()
        elif kind == "is called off":
            future.set_result(Report(None, 0.0, Details(0.0, 0.0, "was stopped")))
        elif kind == "is lost":
            self._open.append(future)
        elif kind == "is late":
            timer = threading.Timer(
                self._late, self._pass_on, (self._inner.submit(execution), future)
            )
            self._timers.append(timer)
            timer.start()
        else:
            self._inner.submit(execution).add_done_callback(
                lambda inner: self._pass_on(inner, future)
            )
        return future

    def _pass_on(self, inner: Future[Report], future: Future[Report]) -> None:
        if inner.cancelled():
            future.cancel()
        elif future.set_running_or_notify_cancel():
            future.set_result(inner.result())

    def patience(self, execution: Execution) -> float:
        return self._late / 2

    def argv(self, execution: Execution) -> list[str]:
        return self._inner.argv(execution)

    def stop(self) -> None:
        self._inner.stop()
        for future in self._open:
            future.cancel()

    def close(self) -> None:
        self.stop()
        for timer in self._timers:
            timer.join()
        self._inner.close()
