"""The language of driver and supervisor: one line of JSON each way, over a socket.

JSON and nothing that could carry code; bytes are written in base 64.
"""

from __future__ import annotations

import json
import os
from binascii import a2b_base64, b2a_base64
from typing import Any

from cunctator.target.measurement import Ending, FunctionCall, Measurement, Request

Message = dict[str, Any]


def encoded(message: Message) -> bytes:
    """A message as a line."""
    return json.dumps(message).encode() + b"\n"


def decoded(line: bytes) -> Message:
    """A line as a message."""
    message: Message = json.loads(line)
    return message


def send_line(channel: int, line: bytes) -> None:
    """Write a line to a blocking descriptor."""
    rest = memoryview(line)
    while rest:
        rest = rest[os.write(channel, rest) :]


def read_line(channel: int) -> bytes:
    """The next line from one who sends a single line at a time; empty at the channel's end."""
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(channel, 1 << 16)
        if not piece:
            return b""
        line += piece
    return line


def request_message(request: Request) -> Message:
    """What the driver sends."""
    message = _fields(request)
    if isinstance(request.target, FunctionCall):
        message["target"] = _fields(request.target)
    return message


def request_from(message: Message) -> Request:
    """What the supervisor makes of it."""
    target = message.pop("target")
    return Request(FunctionCall(**target) if isinstance(target, dict) else tuple(target), **message)


def measurement_message(measurement: Measurement) -> Message:
    """What the supervisor answers."""
    message = _fields(measurement)
    message["ending"] = measurement.ending.name
    for name in ("stdout", "stderr"):
        message[name] = b2a_base64(message[name], newline=False).decode()
    return message


def measurement_from(message: Message) -> Measurement:
    """What the driver makes of it."""
    message["ending"] = Ending[message["ending"]]
    for name in ("stdout", "stderr"):
        message[name] = a2b_base64(message[name])
    return Measurement(**message)


def _fields(record: Request | FunctionCall | Measurement) -> Message:
    return {name: getattr(record, name) for name in record.__dataclass_fields__}
