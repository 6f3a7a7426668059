"""Ignores all signals that can be ignored, and so do its children, who use CPU time."""

import os
import signal

for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setpgid(0, 0)
while True:
    pass
