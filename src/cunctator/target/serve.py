"""What a supervisor does: one run after the other, each to its end, for a driver that asks.

It is a process with a single thread that runs one target at a time. So it can be the one who
adopts all orphans of its run (a child subreaper), and knows that all CPU time of its children is
that of the run. When the driver is gone or wants to stop, the channel ends; then the run is killed
and so are we.
"""

from __future__ import annotations

import os
import signal
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
from cunctator.target.launch import become_subreaper, become_urgent
from cunctator.target.process import Surroundings, run_process


def serve(channel: int, folder: str, methods: list[str]) -> None:
    """Answer the driver's requests, one at a time, until it hangs up."""
    restore_signals()
    become_subreaper()
    become_urgent()
    temporary = Path(folder)
    make_folder(temporary)
    group = None
    try:
        group = enter_group(temporary.name) if GroupTree.method in methods else None
        send_line(channel, encoded({"group": None if group is None else str(group)}))
        is_clean = True
        while is_clean and (line := read_line(channel)):
            surroundings = Surroundings(channel, temporary, group)
            measurement = run_process(request_from(decoded(line)), surroundings)
            is_clean = has_no_child() and not any(temporary.iterdir())
            answer = {"measurement": measurement_message(measurement), "is_last": not is_clean}
            send_line(channel, encoded(answer))
    except (BrokenPipeError, ConnectionResetError):
        pass  # nobody is there to answer
    finally:
        remove_folder(temporary)
        if group is not None:
            leave_group(group)


def restore_signals() -> None:
    """Targets start with what we have: all signals at their defaults, none blocked.

    But for SIGPIPE and SIGXFSZ, which Python ignores, as we must too.
    """
    for number in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:
        if signal.getsignal(number) in (signal.SIG_IGN, signal.default_int_handler):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def has_no_child() -> bool:
    """Whether nothing is left of any run."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False
