"""What a supervisor does: one run after the other, each to its end, for a driver that asks.

It is a process with a single thread that runs one target at a time. So it can be the one who
adopts all orphans of its run (a child subreaper), and knows that all CPU time of its children is
that of the run. When the driver is gone or wants to stop, the channel ends; then the run is killed
and so are we.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

from cunctator.target.cgroup import GroupTree, enter_group, leave_group
from cunctator.target.channel import (
    decoded,
    encoded,
    measurement_message,
    read_line,
    request_from,
    send_line,
)
from cunctator.target.folder import make_folder, remove_folder
from cunctator.target.launch import (
    become_subreaper,
    spawner,
    wake_at_drivers_death,
    words,
)
from cunctator.target.mark import MARK, put_mark
from cunctator.target.measurement import Ending, Measurement
from cunctator.target.owner import owner
from cunctator.target.precedence import become_urgent, keep_precedence
from cunctator.target.process import Surroundings, run_process
from cunctator.target.tree import ProcessTree


def serve(channel: int, prefix: str, methods: list[str]) -> None:
    """Answer the driver's requests, one at a time, until it hangs up.

    `prefix` is what the path of our temporary folder begins with; who we are follows.
    """
    restore_signals()
    put_mark(os.environ[MARK])
    become_subreaper()
    become_urgent()
    keep_precedence()
    spawner()
    wake_at_drivers_death()
    temporary = Path(prefix + owner())
    try:
        make_folder(temporary)
    except OSError as error:
        refuse(channel, f"no temporary folder can be made: {words(error)}")
        return
    group = None
    try:
        group = enter_group(temporary.name) if GroupTree.method in methods else None
        send_line(channel, encoded({"group": None if group is None else str(group)}))
        is_clean = True
        while is_clean:
            # The accounts are opened while the driver thinks, not while it waits for us.
            tree = ProcessTree() if group is None else GroupTree(group)
            if not (line := read_line(channel)):
                break
            surroundings = Surroundings(channel, temporary, group)
            measurement = run_process(request_from(decoded(line)), surroundings, tree)
            is_clean = has_no_child() and is_empty(temporary)
            respond(channel, measurement, is_last=not is_clean)
    except (BrokenPipeError, ConnectionResetError):
        pass  # nobody is there to answer
    finally:
        if group is not None:
            leave_group(group)
        remove_folder(temporary)  # at last: it is by the folder that others find what is left


def respond(channel: int, measurement: Measurement, *, is_last: bool) -> None:
    """Tell the driver what came of a run, and whether we can make another one."""
    message = {"measurement": measurement_message(measurement), "is_last": is_last}
    send_line(channel, encoded(message))


def refuse(channel: int, problem: str) -> None:
    """Answer that nothing can be started, and why."""
    with suppress(BrokenPipeError, ConnectionResetError):
        send_line(channel, encoded({"group": None}))
        if read_line(channel):
            host = os.uname().nodename
            refused = Measurement(Ending.FAILED_TO_START, host=host, problem=problem)
            respond(channel, refused, is_last=True)


def restore_signals() -> None:
    """Targets start with what we have: all signals at their defaults, none blocked.

    But for SIGPIPE and SIGXFSZ, which Python ignores, as we must too.
    """
    for number in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:
        if signal.getsignal(number) in (signal.SIG_IGN, signal.default_int_handler):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def is_empty(folder: Path) -> bool:
    """Whether a folder is there and empty."""
    try:
        return not any(folder.iterdir())
    except OSError:
        return False


def has_no_child() -> bool:
    """Whether nothing is left of any run."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False
