"""The process beside the agent that makes session files of its spans, where they are so many that it costs the agent.

It goes on when the agent is killed: the agent's end of the pipe closes, and what came so far is written. What comes
over the pipe is told in `helper_process`.
"""

import os
import select
import signal
import sys
import time

import msgspec

from critiqor_otel.decode.otlp_protobuf import decode_traces
from critiqor_otel.emit.helper_process import LENGTH
from critiqor_otel.emit.session_writer import SessionWriter, WriterConfig

__all__ = ["main"]

_LOOK_EVERY = 0.5  # seconds
_CHUNK = 1 << 20


def main() -> None:
    """Be that process, until its standard input ends."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the agent's end ends this one
    source = sys.stdin.fileno()
    first = _frame(source)
    if first is None:
        return
    writer = SessionWriter(msgspec.json.decode(first, type=WriterConfig))
    while True:
        if not select.select([source], [], [], _LOOK_EVERY)[0]:
            writer.look(time.monotonic_ns())
            continue
        frame = _frame(source)
        if frame is None:
            break
        _obey(frame, writer)
    writer.close()


def _obey(frame: bytes, writer: SessionWriter) -> None:
    if frame:
        writer.take(decode_traces(frame).spans, time.monotonic_ns())
        return
    writer.flush(time.monotonic_ns())
    sys.stdout.write(f"{writer.lost}\n")
    sys.stdout.flush()


def _frame(source: int) -> bytes | None:
    """Return the next frame, or None at the end; a frame that the end cuts off is none."""
    head = _exactly(source, LENGTH)
    return None if head is None else _exactly(source, int.from_bytes(head, "big"))


def _exactly(source: int, count: int) -> bytes | None:
    parts: list[bytes] = []
    while count:
        part = os.read(source, min(count, _CHUNK))
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
